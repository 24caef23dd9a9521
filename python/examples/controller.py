"""A controller in the loop: it holds the speed of the crank by a torque, sampled every 10 ms. usage: python controller.py MODEL"""

from __future__ import annotations

import sys

import biela


def held_speed(model: biela.Model, wanted: float, stop: float, period: float = 0.01, gain: float = 2.0) -> list[float]:
    """Speed of the crank (rad/s) after each period (s)."""
    s = model.instance()
    s.initialize(stop=stop)
    speeds = []
    for k in range(1, round(stop / period) + 1):
        s["tau"] = gain * (wanted - s["crank_speed"])  # N.m
        s.step_to(k * period)
        speeds.append(s["crank_speed"])
    return speeds


if __name__ == "__main__":
    found = held_speed(biela.Model(sys.argv[1]), wanted=12.0, stop=2.0)
    print(f"last second: {min(found[100:]):.2f} to {max(found[100:]):.2f} rad/s")
