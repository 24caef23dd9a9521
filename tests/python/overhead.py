"""Time of one communication step in Ecos: the unit written by hand in C against a mechanism, less the solver's own time.
Argument: {trivial, unit, alone_ns, steps, rounds, h}; alone_ns is the component's step without FMI."""
import time

from units import ecos, task


def cost(path, steps, rounds, h):
    ecospy = ecos()
    best = float("inf")
    for _ in range(rounds):
        structure = ecospy.EcosSimulationStructure()
        structure.add_model("m", path)
        sim = ecospy.EcosSimulation(structure=structure, step_size=h)
        sim.init(0)
        sim.step(10)
        began = time.perf_counter()
        sim.step(steps)
        best = min(best, (time.perf_counter() - began) / steps)
        sim.terminate()
    return best * 1e9


t = task()
trivial, ours = (cost(t[which], t["steps"], t["rounds"], t["h"]) for which in ("trivial", "unit"))
print(f"trivial {trivial:.0f} ns, unit {ours:.0f} ns, component alone {t['alone_ns']:.0f} ns, "
      f"overhead {ours - t['alone_ns']:.0f} ns")
