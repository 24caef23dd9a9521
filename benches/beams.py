"""The spin-up of a beam of 8 elements, 20 s, in Biela and in Exudyn: CPU time, in turns. Started by `benches/peers.sh beams`.

Exudyn: ObjectBeamGeometricallyExact2D, generalised alpha with rho = 0.7, 4,000 steps of 5 ms, modified Newton, dense matrices (the
faster of its solvers here), one thread; its CPU time is that of SolveDynamic. Biela: `biela run --json` of models/beams/spin_up.toml with
8 elements and its default settings, the CPU time that it prints. Smallest of three of each.
"""

import json
import math
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import exudyn as exu
from exudyn.utilities import (
    CoordinateConstraint, MarkerNodeCoordinate, NodePointGround, NodeRigidBody2D, ObjectBeamGeometricallyExact2D,
)

ELEMENTS, LENGTH, END = 8, 10.0, 20.0
MODEL = Path(__file__).parent.parent / "models/beams/spin_up.toml"


def angle(mbs, t, number, offset):
    if t < 15:
        return 0.4 * (t * t / 2 + (7.5 / math.pi) ** 2 * (math.cos(2 * math.pi * t / 15) - 1))
    return 6 * t - 45


def run_exudyn():
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    at = [LENGTH * i / ELEMENTS for i in range(ELEMENTS + 1)]
    nodes = [mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[x, 0, 0])) for x in at]
    for pair in zip(nodes, nodes[1:]):
        mbs.AddObject(ObjectBeamGeometricallyExact2D(
            nodeNumbers=list(pair), length=LENGTH / ELEMENTS, massPerLength=1.2, crossSectionInertia=6e-4,
            bendingStiffness=1.4e4, axialStiffness=2.8e7, shearStiffness=1e7))
    ground = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=mbs.AddNode(NodePointGround()), coordinate=0))
    for coordinate in range(3):
        marker = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=coordinate))
        law = {"offsetUserFunction": angle} if coordinate == 2 else {}
        mbs.AddObject(CoordinateConstraint(markerNumbers=[ground, marker], **law))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = 4000
    settings.timeIntegration.endTime = END
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.7
    settings.solutionSettings.writeSolutionToFile = False
    settings.parallel.numberOfThreads = 1
    start = time.process_time()
    mbs.SolveDynamic(settings)
    spent = time.process_time() - start
    return spent, list(mbs.GetNodeOutput(nodes[-1], exu.OutputVariableType.Position))[:2]


def run_biela(program, model):
    said = subprocess.run([program, "run", model, "--json"], check=True, capture_output=True, text=True).stdout
    result = json.loads(said)
    return result["cpu_seconds"], [result["final"]["tip_x"], result["final"]["tip_y"]]


def main():
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "spin_up.toml"
        text = MODEL.read_text().replace("elements = 16", f"elements = {ELEMENTS}").replace("rod.16", f"rod.{ELEMENTS}")
        model.write_text(text)
        rounds = [(run_exudyn(), run_biela(sys.argv[1], str(model))) for _ in range(3)]
    exudyn, biela = (min(both[i] for both in rounds) for i in range(2))
    for name, (spent, tip) in (("Exudyn", exudyn), ("Biela", biela)):
        print(f"{name:<8} {spent:7.3f} s CPU, tip at the end {tip[0]:.5f} {tip[1]:.5f} m")
    print(f"ratio    {biela[0] / exudyn[0]:7.3f}     at most 0.333")


main()
