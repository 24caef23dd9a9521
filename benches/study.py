#!/usr/bin/env python3
"""What a sweep costs: 1,000 runs of the slider-crank against as many single runs, on one and on two threads, and the memory of a
worker. FMPy on the same model from its archive is printed beside it if it is installed.

usage: benches/study.py target/release/biela [RUNS]       best of three rounds; needs two free cores
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODEL = Path(__file__).resolve().parents[1] / "models" / "slider_crank.toml"
ROUNDS = 3
SINGLE_RUNS = 40


def measured(arguments):
    """CPU seconds, wall seconds and largest memory (bytes) of a program."""
    began = time.perf_counter()
    child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{arguments} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - began, usage.ru_maxrss * 1024


def best(rounds):
    return tuple(min(values) for values in zip(*rounds))


def single_runs(biela, folder):
    """CPU seconds of the integration in a run by itself: the mean over the masses of the sweep, as a sweep has it."""
    spent = 0.0
    for k in range(SINGLE_RUNS):
        mass = 0.7 + 0.2 * k / (SINGLE_RUNS - 1)
        arguments = [biela, "run", MODEL, "--set", f"slider_mass={mass}", "--json"]
        said = subprocess.run(arguments, check=True, capture_output=True, text=True, cwd=folder)
        spent += json.loads(said.stdout)["cpu_seconds"]
    return spent / SINGLE_RUNS


def fmpy_run(biela, folder):
    """Wall seconds of a run by FMPy from the archive, or None."""
    try:
        import fmpy
    except ImportError:
        return None
    archive = Path(folder) / "crank.fmu"
    subprocess.run([biela, "pack", MODEL, "-o", archive], check=True, stdout=subprocess.DEVNULL)
    found = []
    for _ in range(5):
        began = time.perf_counter()
        fmpy.simulate_fmu(str(archive), stop_time=2.0, output_interval=0.01)
        found.append(time.perf_counter() - began)
    return min(found)


def main(biela, runs=1000):
    biela = str(Path(biela).resolve())
    with tempfile.TemporaryDirectory() as folder:
        def sweep(jobs, count):
            out = Path(folder) / "r.csv"
            return measured([biela, "sweep", MODEL, "--vary", f"slider_mass=0.7:0.9:{count}", "-j", str(jobs), "-q", "-o", out])

        # In turn, so that what else the machine does meets all of them.
        rounds = [(single_runs(biela, folder), sweep(1, runs), sweep(2, runs)) for _ in range(ROUNDS)]
        single = min(alone for alone, _, _ in rounds)
        one = best(one for _, one, _ in rounds)
        two = best(two for _, _, two in rounds)
        small, large = sweep(1, 64)[2], sweep(9, 64)[2]
        print(f"single run      {1e3 * single:8.2f} ms CPU")
        print(f"sweep, a run    {1e3 * one[0] / runs:8.2f} ms CPU, {one[0] / runs / single:.2f} of a single run (at most 1.1)")
        print(f"two threads     {two[1] / one[1]:8.2f} of the wall time of one (at most 0.6 on two free cores)")
        print(f"a worker        {(large - small) / 8e6:8.2f} MB over the first (at most 2)")
        fmpy = fmpy_run(biela, folder)
        if fmpy is None:
            print("SKIP: FMPy is not installed")
        else:
            print(f"FMPy, a run     {1e3 * fmpy:8.2f} ms, {fmpy * runs / one[0]:.1f} times a run of the sweep on one core")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
