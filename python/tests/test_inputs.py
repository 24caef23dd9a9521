"""Inputs as numbers, text, arrays and functions: against the law as text, and against its integral."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import biela
from biela._inputs import Inputs

ROOT = Path(__file__).resolve().parents[2]
CRANK = ROOT / "models" / "slider_crank.toml"

# A mass on a rail that a force moves: v = ∫F dt / m.
CART = """
format = 1
name = "cart"
dimension = 2
[solver]
tolerance = 1e-8
[experiment]
stop = 2.0
[[body]]
name = "cart"
mass = 1.0
inertia = 1.0
[[joint]]
name = "rail"
type = "prismatic"
bodies = ["ground", "cart"]
point = [0.0, 0.0]
axis = [1.0, 0.0]
[[force]]
name = "push"
type = "actuator"
joint = "rail"
[[input]]
name = "f"
target = "push.force"
[[output]]
name = "v"
source = "cart.vx"
"""


def speed(law: Inputs, stop: float = 2.0) -> float:
    return float(biela.Model(CART).run(stop=stop, inputs=law)["v"][-1])


@pytest.mark.parametrize(
    "law, integral",
    [
        (lambda t: 3.0, 6.0),
        (lambda t: math.sin(5.0 * t), (1.0 - math.cos(10.0)) / 5.0),
        (lambda t: math.exp(-20.0 * t), (1.0 - math.exp(-40.0)) / 20.0),
        (lambda t: math.sin(400.0 * t), (1.0 - math.cos(800.0)) / 400.0),
        (lambda t: 10.0 if t >= 0.7 else 0.0, 13.0),
        (lambda t: abs(t - 0.6), 0.5 * (0.36 + 1.96)),
        (lambda t: math.floor(4.0 * t), 0.25 * sum(range(8))),
    ],
    ids=["constant", "sine", "decay", "fast", "jump", "kink", "stairs"],
)
def test_a_function_acts_by_its_integral(law: Inputs, integral: float) -> None:
    # Sampling is to 1e-6 of the largest value, 10 at most, over 2 s; the solver's tolerance is 1e-8 a step.
    assert speed(law) == pytest.approx(integral, abs=1e-5)


def test_a_smooth_function_is_met_up_to_the_ends() -> None:
    """A spline that ends with slope zero would miss the first points of a sine by a thousandth."""
    short = 0.004
    # ∫ sin 5t = 5/2 t² there; the start of the span is what counts.
    exact = (1.0 - math.cos(5.0 * short)) / 5.0
    law = "sin(5*t)"
    found = biela.Model(CART).run(inputs={"f": lambda t: math.sin(5.0 * t)}, interval=short)["v"][1]
    assert found == pytest.approx(exact, rel=1e-6)
    assert biela.Model(CART).run(inputs={"f": law}, interval=short)["v"][1] == pytest.approx(exact, rel=1e-6)


def test_all_inputs_at_once() -> None:
    t = np.linspace(0.0, 2.0, 401)
    ramp = 2.0 * t
    structured = np.zeros(len(t), dtype=[("time", float), ("f", float)])
    structured["time"], structured["f"] = t, ramp
    for law in (
        {"f": "2*t"}, lambda t: 2.0 * t, lambda t: [2.0 * t], lambda t: {"f": 2.0 * t},
        np.column_stack([t, ramp]), structured, [[0.0, 0.0], [2.0, 4.0]],
    ):  # fmt: skip
        assert speed(law) == pytest.approx(4.0, abs=1e-7)
    assert speed({"f": 3}) == pytest.approx(6.0, abs=1e-7)
    # Two points of one time are a jump.
    assert speed({"f": [[0.0, 0.0], [0.5, 0.0], [0.5, 2.0], [2.0, 2.0]]}) == pytest.approx(3.0, abs=1e-7)


def test_wrong_laws_are_named() -> None:
    def none(t: float) -> float:
        return math.nan

    cases: list[tuple[Inputs, str]] = [
        ({"g": [[0, 1], [1, 2]]}, "g"),
        ({"f": [1.0, 2.0]}, "f"),
        ({"f": [[0.0, 1.0], [1.0, math.nan]]}, "f"),
        ({"f": [[1.0, 1.0], [0.0, 1.0]]}, "f"),
        ({"f": math.inf}, "f"),
        ({"f": "sin(", }, "f"),
        ({"f": none}, "f"),
        (lambda t: (1.0, 2.0), "inputs"),
        (lambda t: {"g": 1.0}, "inputs"),
        (np.zeros((3, 3)), "inputs"),
        (np.zeros(3), "inputs"),
    ]  # fmt: skip
    for law, culprit in cases:
        with pytest.raises(biela.ModelError) as caught:
            speed(law)
        assert caught.value.culprit == culprit, str(caught.value)
    with pytest.raises(ZeroDivisionError):
        speed({"f": lambda t: 1.0 / t})
    with pytest.raises(TypeError):
        speed("2*t")
    with pytest.raises(TypeError, match="between steps"):
        biela.Model(CART).instance(inputs={"f": lambda t: t})
