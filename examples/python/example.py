"""A slider-crank driven from Python, a step taken back, and a bouncing ball as equations of one's own.

    cargo build --release
    python3 examples/python/example.py models/slider_crank.toml
"""

import math
import sys

import biela


def crank(model):
    crank = biela.Instance(model)
    crank.initialize(stop=2.0)
    print("time   slider_x")
    for k in range(20):
        crank["tau"] = 0.5 * math.sin(3.0 * crank.time)
        crank.step(0.1)
        if k % 5 == 4:
            print(f"{crank.time:.2f}   {crank['slider_x']:.6f}")
        if k == 9:
            here = crank.save()
    end = crank.get(["slider_x", "slider_v"])

    crank.restore(here)  # back to t = 1 and on again: the same bits
    for _ in range(10):
        crank["tau"] = 0.5 * math.sin(3.0 * crank.time)
        crank.step(0.1)
    assert crank.get(["slider_x", "slider_v"]) == end
    print("steps:", crank.statistics["steps"])
    try:
        crank["tua"] = 1.0
    except biela.Error as error:
        print(error.status, "-", error)


def ball():
    ball = biela.System(
        q=[1.0], ne=1, parameters={"gravity": 9.81}, solver="tolerance = 1e-8", flags=["constant_mass"],
        mass=lambda at: [1.0],
        force=lambda at: [-at.p[0]],
        events=lambda at: [at.q[0]],
        crossing=lambda modes, event: "falling",
        fire=lambda at, event, modes: (0.5, 0.0, [1.0]),  # restitution, slowest, gradient
    )
    ball.initialize()
    ball.step(1.5 * math.sqrt(2.0 / 9.81))  # down, and up to the top of the first hop
    print(f"height of the first hop: {ball['q1']:.9f} (a quarter of a metre)")
    assert abs(ball["q1"] - 0.25) < 1e-6


if __name__ == "__main__":
    print("biela", biela.version())
    crank(sys.argv[1])
    ball()
