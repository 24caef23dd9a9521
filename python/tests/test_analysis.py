"""Equilibrium, modes and linear models: against closed forms and the command."""

from __future__ import annotations

import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biela

ROOT = Path(__file__).resolve().parents[2]
PENDULUM = ROOT / "models" / "pendulum.toml"
CRANK = ROOT / "models" / "slider_crank.toml"
BIELA = os.environ.get("BIELA_COMMAND")


def command(*arguments: object) -> Any:
    if BIELA is None:
        pytest.skip("BIELA_COMMAND does not name the program")
    said = subprocess.run([BIELA, *map(str, arguments)], check=True, capture_output=True, text=True).stdout
    return json.loads(said)


def test_a_pendulum_hangs_down_and_swings() -> None:
    model = biela.Model(PENDULUM)
    found = model.equilibrium()
    # One metre below the pivot; Newton's method ends at rounding.
    assert found.outputs["y"] == pytest.approx(-1.0, abs=1e-12)
    assert found.stable and found.free == [] and found.redundant == []
    (mode,) = model.modes(start="equilibrium")
    assert mode.frequency == pytest.approx(math.sqrt(9.81) / (2.0 * math.pi), rel=1e-12)
    assert mode.damping == 0.0 and mode.eigenvalue.imag == pytest.approx(math.sqrt(9.81), rel=1e-12)
    assert max(abs(x) for x in mode.shape.values()) == pytest.approx(1.0)
    assert mode.energy == {"bob": pytest.approx(1.0)}
    s = model.instance()
    s.initialize()
    s.restore(found.state)
    s.step(1.0)
    assert s["y"] == pytest.approx(-1.0, abs=1e-9)


def test_a_linear_model_is_that_of_the_pendulum() -> None:
    linear = biela.Model(PENDULUM).linearize(start="equilibrium")
    assert linear.states == ["pivot.position", "pivot.speed"] and linear.inputs == []
    assert np.allclose(linear.a, [[0.0, 1.0], [-9.81, 0.0]], rtol=1e-12, atol=1e-12)
    assert linear.b.shape == (2, 0) and linear.d.shape == (5, 0)
    assert np.allclose(linear.c[linear.outputs.index("angle")], [1.0, 0.0], rtol=0.0, atol=1e-12)
    form = biela.Model(PENDULUM).descriptor_form(start="equilibrium")
    assert form.e.shape == form.f.shape == (len(form.names), len(form.names))


def test_analyses_have_the_numbers_of_the_command() -> None:
    model = biela.Model(CRANK)
    said = command("linearize", CRANK, "--at", 0.3, "--format", "json")
    linear = model.linearize(at=0.3)
    for name in ("A", "B", "C", "D"):
        assert np.array_equal(getattr(linear, name.lower()), said[name]), name
    assert (linear.states, linear.inputs, linear.outputs) == (said["states"], said["inputs"], said["outputs"])
    said = command("modes", CRANK, "--from", "equilibrium", "--set", "slider_mass=2", "--json")["modes"]
    modes = model.modes(start="equilibrium", set={"slider_mass": 2.0})
    assert [mode.frequency for mode in modes] == [mode["frequency"] for mode in said]
    assert modes[0].shape["slider.x"].real == said[0]["shape"]["slider"]["x"]
    said = command("equilibrium", CRANK, "--json")
    found = model.equilibrium()
    assert found.outputs == said["final"] and found.steps == said["steps"] and found.stable == said["stable"]


def test_an_instance_goes_on_unchanged() -> None:
    s = biela.Model(CRANK).instance()
    s.initialize()
    s.step(0.1)
    before = s.save()
    assert len(s.modes(1)) == 1
    s.linearize()
    s.descriptor_form()
    assert s.save() == before


def test_where_there_is_no_equilibrium_or_point() -> None:
    falling = """format = 1
dimension = 2
gravity = [0.0, -9.81]
[[body]]
name = "stone"
mass = 1.0
inertia = 1.0
"""
    with pytest.raises(biela.SimulationError, match="stone") as caught:
        biela.Model(falling).equilibrium()
    assert caught.value.time == 0.0
    for at in (-1.0, float("nan")):
        with pytest.raises(biela.ModelError) as wrong:
            biela.Model(PENDULUM).modes(at=at)
        assert wrong.value.culprit == "at"
    with pytest.raises(biela.CallError):
        biela.Model(PENDULUM).instance().linearize()
