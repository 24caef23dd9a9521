#!/usr/bin/env python3
"""What Python adds to C: reading one value, an empty step, and two threads on two instances. The C program is compiled here.

usage: benches/python_overhead.py target/release/libbiela.so        with the package installed: pip install ./python
Times of calls are CPU times, best of seven rounds. Two threads need two free cores.
"""

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import biela

ROOT = Path(__file__).resolve().parents[1]
MODEL = ROOT / "models" / "slider_crank.toml"
ROUNDS, CALLS = 7, 200_000

PROGRAM = r"""
#define _POSIX_C_SOURCE 200809L
#include <biela.h>
#include <stdio.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
int main(int argc, char **argv) {
    biela_instance *s = NULL; uint32_t x; double value = 0, reached, get = 1, step = 1; (void)argc;
    if (biela_instance_new_from_file(argv[1], &s) || biela_variable_find(s, "slider_x", &x)
        || biela_initialize(s, 0.0, 1e9, 0.0)) return 1;
    for (int round = 0; round < 7; round++) {
        double began = now();
        for (int k = 0; k < 200000; k++) biela_get_real(s, &x, 1, &value);
        double ended = now(); if (ended - began < get) get = ended - began;
        began = now();
        for (int k = 0; k < 200000; k++) biela_step(s, 0.0, 0.0, &reached);
        ended = now(); if (ended - began < step) step = ended - began;
    }
    printf("%g %g\n", get / 200000, step / 200000);
    return 0;
}
"""


def best(call):
    """Smallest CPU time of one call in s: what else the machine does disturbs it little."""
    found = []
    for _ in range(ROUNDS):
        began = time.process_time()
        call()
        found.append((time.process_time() - began) / CALLS)
    return min(found)


def in_c(library):
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "b.c", Path(folder) / "b"
        source.write_text(PROGRAM)
        library = Path(library).resolve()
        flags = ["-O2", "-I", ROOT / "include", source, library, f"-Wl,-rpath,{library.parent}", "-o", program]
        subprocess.run(["cc", *map(str, flags)], check=True)
        said = subprocess.run([program, MODEL], check=True, capture_output=True, text=True).stdout
    return map(float, said.split())


def threads(count):
    """Wall seconds in which `count` threads make one run each."""
    model = biela.Model(MODEL)
    instances = [model.instance(set={"solver.max_step": 1e-4}) for _ in range(count)]
    for instance in instances:
        instance.initialize()
    workers = [threading.Thread(target=lambda s=s: s.step(0.5)) for s in instances]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - began


def main(library):
    s = biela.Model(MODEL).instance()
    s.initialize()

    def get():
        for _ in range(CALLS):
            s["slider_x"]

    def step():
        for _ in range(CALLS):
            s.step(0.0)

    def loop():
        for _ in range(CALLS):
            pass

    empty = best(loop)
    c_get, c_step = in_c(library)
    py_get, py_step = best(get) - empty, best(step) - empty
    print(f"get    {1e9 * py_get:6.0f} ns (at most 200), in C {1e9 * c_get:6.0f} ns, ratio {py_get / c_get:.1f}")
    print(f"step   {1e9 * (py_step - c_step):6.0f} ns over C (at most 400), in C {1e9 * c_step:6.0f} ns, ratio {py_step / c_step:.1f}")
    one, two = (min(threads(count) for _ in range(ROUNDS)) for count in (1, 2))
    print(f"two threads on two instances {2 * one / two:.2f} times one (at least 1.7 on two free cores)")


if __name__ == "__main__":
    main(*sys.argv[1:])
