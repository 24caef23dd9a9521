"""The error bars of units in FMPy: outputs `x.error` that only grow, and whether the accuracy is kept."""
import json
import sys

from fmpy import read_model_description, simulate_fmu

for path in json.loads(sys.argv[1]):
    names = {v.name for v in read_model_description(path, validate=True).modelVariables}
    outputs = ["x1", "y1", "x2", "y2", "energy"]
    missing = [f"{name}.error" for name in outputs if f"{name}.error" not in names]
    assert not missing, f"{path}: no {missing}"
    shown = [f"{name}.error" for name in outputs] + ["x2", "solver.accuracy_kept"]
    rows = simulate_fmu(path, stop_time=1.0, output_interval=0.1, output=shown)
    for name in shown[:-2]:
        bars = list(rows[name])
        assert bars == sorted(bars) and 0 < bars[-1] < 1e-4, f"{path}: {name} {bars}"
    assert all(rows["solver.accuracy_kept"][1:]), f"{path}: {rows['solver.accuracy_kept']}"
    print(f"{path}: the bars end at {[float(rows[name][-1]) for name in shown[:-2]]}")
