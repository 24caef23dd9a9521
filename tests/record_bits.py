#!/usr/bin/env python3
"""Records what `biela run` computes, to the bit, so that a change that should not touch the numbers can show it.

    tests/record_bits.py record FILE [MODEL ...]     write one line for each run: name and hash
    tests/record_bits.py compare FILE [MODEL ...]    run again; print every line that differs, exit 1 if any does

Runs every model of models/ (and further files named on the command line) in every formulation, with and without the
corrector, at the model's tolerance and at 1e-4. A run is its table with one row for each accepted step, the positions of
all bodies and the reactions of all joints added to the outputs, and its counters. The two examples that print the tables
of the papers are recorded too. Error sentences are not part of a record; whether a run fails is.

The bits belong to one machine and one C library: a record is made before a change and compared after it, never kept.
BIELA names the command (default: target/release/biela), BIELA_EXAMPLES the folder of the examples beside it.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIELA = pathlib.Path(os.environ.get("BIELA", ROOT / "target/release/biela"))
EXAMPLES = pathlib.Path(os.environ.get("BIELA_EXAMPLES", BIELA.parent / "examples"))
FORMULATIONS = ["auto", "absolute", "relative", "global", "topological", "hybrid"]
COUNTERS = ["steps", "rejected", "newton_failures", "newton_iterations", "residuals", "factorizations", "solves",
            "smallest_step", "largest_step", "worst_error", "energy_drift"]
SECONDS = 60  # a run that takes longer is recorded as such; none of today's does


def extended(model):
    """The model with outputs for all bodies, joints, energies and counters, and without `interval`."""
    model = json.loads(json.dumps(model))
    model.get("experiment", {}).pop("interval", None)
    planar = model.get("dimension", 3) == 2
    body = ["x", "y", "angle", "vx", "ax"] if planar else ["x", "y", "z", "qw", "qx", "vx", "wy", "az"]
    joint = ["fx", "fy"] if planar else ["fx", "fz", "my"]
    sources = [f"{b['name']}.{q}" for b in model.get("body", []) for q in body]
    sources += [f"{j['name']}.{q}" for j in model.get("joint", []) for q in joint if j.get("type") != "coupling"]
    sources += [f"{m['name']}.{q}" for m in model.get("force", []) for q in ["force"]
                if m.get("type") in ("spring_damper", "contact")]
    if model.get("body"):
        sources += ["energy.kinetic", "energy.potential", "energy.dissipated", "energy.supplied"]
    sources += ["solver.step_size", "solver.error", "solver.newton_iterations"]
    outputs = model.setdefault("output", [])
    outputs += [{"name": f"recorded_{i}", "source": s} for i, s in enumerate(sources)]
    return model


def cases(extra):
    for path in sorted(p for p in (ROOT / "models").iterdir() if p.suffix in (".toml", ".json")) + extra:
        text = path.read_text()
        model = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        plain = model.get("system") is not None
        for formulation in ["auto"] if plain else FORMULATIONS:
            for tolerance in [None, 1e-4]:
                for corrector in ["auto", "off"]:
                    yield path, model, {"formulation": formulation, "corrector": corrector,
                                        **({} if tolerance is None else {"tolerance": tolerance})}
        yield path, model, {"integrator": "vsa23"}
        yield path, model, {"step": 1e-3, "alpha": 0.0, "corrector": "off"}


def run(case):
    path, model, settings = case
    name = f"{path.name} " + " ".join(f"{k}={v}" for k, v in settings.items())
    model = extended(model)
    if model.get("system") is not None:
        settings = {k: v for k, v in settings.items() if k != "formulation"}
    model["solver"] = {**model.get("solver", {}), **settings}
    with tempfile.TemporaryDirectory() as folder:
        for neighbour in path.parent.iterdir():  # tables and matrices that the model names
            if neighbour.is_file() and neighbour.suffix not in (".toml", ".json"):
                shutil.copy(neighbour, folder)
        file, table = pathlib.Path(folder, "m.json"), pathlib.Path(folder, "m.csv")
        file.write_text(json.dumps(model))
        try:
            done = subprocess.run([BIELA, "run", file, "--json", "--out", table], capture_output=True, text=True,
                                  timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"{name}: longer than {SECONDS} s"
        digest = hashlib.sha256(table.read_bytes() if table.exists() else b"")
        counters = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        digest.update(json.dumps([counters.get(k) for k in COUNTERS]).encode())
        rows = table.read_bytes().count(b"\n") if table.exists() else 0
        return f"{name}: exit {done.returncode} rows {rows} {digest.hexdigest()[:16]}"


def example(name):
    program = EXAMPLES / name
    if not program.exists():
        return f"example {name}: not built"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program], capture_output=True, cwd=folder)
    # The numbers alone: sentences may change, and a last column of milliseconds is measured.
    lines = [re.sub(r"\s\d+\.\d\d$", "", line) for line in done.stdout.decode().splitlines()]
    numbers = re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", "\n".join(lines))
    return f"example {name}: exit {done.returncode} {hashlib.sha256(' '.join(numbers).encode()).hexdigest()[:16]}"


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("record", "compare"):
        sys.exit(__doc__)
    extra = [pathlib.Path(p) for p in sys.argv[3:]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        lines = list(pool.map(run, cases(extra))) + list(pool.map(example, ["seed1", "seed2"]))
    file = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "record":
        file.write_text("\n".join(lines) + "\n")
        print(f"{len(lines)} runs recorded")
        return
    before = dict(line.rsplit(": ", 1) for line in file.read_text().splitlines())
    differ = [line for line in lines if before.get(line.rsplit(": ", 1)[0]) != line.rsplit(": ", 1)[1]]
    for line in differ:
        name, now = line.rsplit(": ", 1)
        print(f"{name}\n    before {before.get(name, 'not recorded')}\n    now    {now}")
    print(f"{len(lines) - len(differ)} of {len(lines)} runs the same")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
