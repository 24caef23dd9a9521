"""Models, runs, instances, states, errors."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import biela

ROOT = Path(__file__).resolve().parents[2]
CRANK = ROOT / "models" / "slider_crank.toml"
BIELA = os.environ.get("BIELA_COMMAND")


def command(*arguments: object) -> str:
    if BIELA is None:
        pytest.skip("BIELA_COMMAND does not name the program")
    return subprocess.run([BIELA, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def test_a_run_has_the_bits_of_the_command(tmp_path: Path) -> None:
    table = tmp_path / "r.csv"
    said = json.loads(command("run", CRANK, "--stop", 1, "--interval", 0.05, "--set", "slider_mass=0.9", "--json", "-o", table))
    result = biela.Model(CRANK).run(stop=1.0, interval=0.05, set={"slider_mass": 0.9})
    lines = table.read_text().splitlines()
    assert lines[0].split(",") == ["time", *result]
    values = np.array([[float(x) for x in line.split(",")] for line in lines[1:]])
    assert np.array_equal(values[:, 0], result.time)
    for k, name in enumerate(result):
        assert np.array_equal(values[:, k + 1], result[name]), name
    assert result.statistics["steps"] == said["steps"]
    assert result.statistics["energy_drift"] == said["energy_drift"]


def test_columns_are_arrays_that_nobody_copies() -> None:
    result = biela.Model(CRANK).run(stop=0.2)
    x = result["slider_x"]
    assert x.dtype == np.float64 and x.flags.c_contiguous
    assert result["slider_x"] is x
    assert result.units["slider_x"] == "m" and result.units["pivot_fx"] == "N"
    assert len(x) == len(result.time) == 21
    with pytest.raises(KeyError, match='there is no output "slider_y"; did you mean "slider_x"'):
        result["slider_y"]
    assert "slider_y" not in result and "slider_x" in result
    x[0] = 7.0
    assert result["slider_x"][0] == 7.0  # the same memory
    copied = pickle.loads(pickle.dumps(result))
    assert np.array_equal(copied["slider_v"], result["slider_v"]) and copied.events == result.events


def test_a_model_comes_from_a_path_a_text_or_a_dictionary() -> None:
    text = CRANK.read_text()
    twin = json.loads((ROOT / "models" / "slider_crank.json").read_text())
    finals = {
        float(biela.Model(source).run(stop=0.3)["slider_x"][-1]) for source in (CRANK, str(CRANK), text, twin, json.dumps(twin))
    }
    assert len(finals) == 1


def test_other_numbers_are_seen_by_the_run() -> None:
    model = biela.Model(CRANK)
    plain = model.run(stop=0.3)["slider_x"][-1]
    assert model.run(stop=0.3, set={"slider.mass": 3.0})["slider_x"][-1] != plain
    assert model.run(stop=0.3, set={"tau": 2.0})["slider_x"][-1] != plain
    relative = model.run(stop=0.3, set={"solver.formulation": "relative"})["slider_x"][-1]
    # Two formulations of one mechanism at the tolerance 1e-6 of a length of 0.5 m, over some twenty steps.
    assert relative == pytest.approx(plain, abs=2e-5)
    assert model.run(stop=0.3, tolerance=1e-9).statistics["steps"] > model.run(stop=0.3).statistics["steps"]


def test_inputs_are_functions_arrays_and_text() -> None:
    model = biela.Model(CRANK)
    law = "2*sin(5*t)"
    text = model.run(inputs={"tau": law})["crank_angle"]
    function = model.run(inputs={"tau": lambda t: 2.0 * np.sin(5.0 * t)})["crank_angle"]
    t = np.linspace(0.0, 2.0, 2001)
    array = model.run(inputs={"tau": np.column_stack([t, 2.0 * np.sin(5.0 * t)])})["crank_angle"]
    # The function is met to 1e-9; the steps differ by rounding and their errors by the tolerance 1e-6 a step.
    assert np.max(np.abs(function - text)) < 2e-5 * np.max(np.abs(text))
    assert np.max(np.abs(array - text)) < 1e-4 * np.max(np.abs(text))
    assert np.max(np.abs(model.run()["crank_angle"] - text)) > 0.1
    with pytest.raises(biela.ModelError, match="tau"):
        model.run(inputs={"ta": [[0, 1], [1, 2]]})
    with pytest.raises(ValueError, match="two columns"):
        model.run(inputs={"tau": [1.0, 2.0]})
    with pytest.raises(ZeroDivisionError):
        model.run(inputs={"tau": lambda t: 1.0 / t})


def test_instances_step_and_states_travel() -> None:
    model = biela.Model(CRANK)
    s = model.instance()
    s.initialize()
    s["tau"] = 1.0
    assert s.step(0.1) == 0.1 == s.time
    state = s.save()
    s.step(0.2)
    ahead = s.get(s.outputs)
    s.restore(state)
    assert s.time == 0.1 and s["tau"] == 1.0
    s.step(0.2)
    assert np.array_equal(s.get(s.outputs), ahead)
    other = copy.deepcopy(pickle.loads(pickle.dumps(model))).instance()
    other.restore(pickle.loads(pickle.dumps(state)))
    other.step_to(0.1 + 0.2)
    assert np.array_equal(other.get(other.outputs), ahead)
    foreign = biela.Model(ROOT / "models" / "pendulum.toml").instance()
    with pytest.raises(biela.ModelError, match="saved state"):
        foreign.restore(state)
    with pytest.raises(biela.ModelError):
        other.restore(biela.State(b"nothing"))
    random = np.random.default_rng(1)
    for _ in range(64):
        damaged = bytearray(bytes(state))
        damaged[random.integers(len(damaged))] ^= 1 << int(random.integers(8))
        with pytest.raises(biela.ModelError, match="saved state"):
            other.restore(biela.State(bytes(damaged)))
    assert np.array_equal(other.get(other.outputs), ahead)
    with pytest.raises(biela.CallError, match="initialize first"):
        model.instance().step(0.1)
    s.reset()
    s.initialize(stop=1.0)
    s.set({"tau": 0.5, "slider_mass": 1.0})
    assert (s["tau"], s["slider_mass"]) == (0.5, 1.0)
    with pytest.raises(KeyError, match='did you mean "slider_x"'):
        s["slider_xx"]
    with pytest.raises(biela.ModelError, match="output") as caught:
        s["slider_x"] = 1.0
    assert caught.value.culprit == "slider_x"


def test_derivatives_are_those_of_the_motion() -> None:
    s = biela.Model(CRANK).instance()
    s.initialize()
    s.step(0.05)
    # A position has its speed as an exact derivative.
    assert s.derivative("slider_x") == pytest.approx(s["slider_v"], rel=1e-12)
    before, h = s.save(), 1e-5
    s.step(h)
    after = s["slider_v"]
    s.restore(before)
    # A forward difference: h/2 times the jerk, which is below 1e4 m/s3 here.
    assert s.derivative("slider_x", 2) == pytest.approx((after - s["slider_v"]) / h, abs=0.1)
    feed = s.sensitivity(["pivot_fx", "slider_x"], ["tau"])
    assert feed.shape == (2, 1) and feed[1, 0] == 0.0
    force, tau = s["pivot_fx"], s["tau"]
    s["tau"] = tau + 1.0
    # Forces are linear in the torque.
    assert s["pivot_fx"] - force == pytest.approx(feed[0, 0], rel=1e-9)


def test_errors_say_where_and_what() -> None:
    text = CRANK.read_text()
    for right, wrong, culprit in (
        ("mass = 1.5", "mas = 1.5", "mas"),
        ("mass = 1.5", "mass = -1.5", "-1.5"),
        ("[[body]]", "[[bdy]]", "bdy"),
        ('name = "rod"', 'name = "r od"', "r od"),
    ):
        broken = text.replace(right, wrong, 1)
        before = broken[: broken.index(wrong)]
        with pytest.raises(biela.ModelError) as caught:
            biela.Model(broken)
        error = caught.value
        assert error.culprit == culprit and error.line == before.count("\n") + 1
        assert error.column == wrong.index(culprit) + 1 - (culprit == "r od")  # of a text: where its quotes begin
        copied = pickle.loads(pickle.dumps(error))
        assert (copied.line, copied.culprit, str(copied)) == (error.line, error.culprit, str(error))
    with pytest.raises(biela.ModelError) as caught:
        biela.Model("/does/not/exist.toml")
    assert caught.value.culprit == "/does/not/exist.toml" and caught.value.line is None
    with pytest.raises(biela.ModelError) as caught:
        biela.Model(CRANK).run(set={"slider_mas": 1.0})
    assert caught.value.culprit == "slider_mas"
    with pytest.raises(biela.ModelError) as caught:
        biela.Model(CRANK).run(stop=-1.0)
    assert caught.value.culprit == "stop"
    for interval in (0.0, -1.0, float("nan"), 1e-30):
        with pytest.raises(biela.ModelError):
            biela.Model(CRANK).run(interval=interval)


def test_a_run_that_stops_keeps_what_it_has() -> None:
    with pytest.raises(biela.SimulationError) as caught:
        biela.Model(CRANK).run(set={"solver.step": 1e-9, "solver.max_substeps": 5.0})
    error = caught.value
    assert error.time is not None and 0.0 < error.time < 1.0
    result = error.result
    assert isinstance(result, biela.Result) and result.time[-1] == error.time == result.reached


def test_two_threads_step_at_the_same_time() -> None:
    model = biela.Model(CRANK)
    alone = model.run()["slider_x"][-1]
    finals: list[float] = []

    def work() -> None:
        for _ in range(3):
            finals.append(float(model.run()["slider_x"][-1]))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert finals == [alone] * 12


def test_other_threads_go_on_while_one_steps() -> None:
    """The lock of the interpreter is released: a thread counts while this one is inside of calls of step."""
    s = biela.Model(CRANK).instance(set={"solver.step": 1e-4})
    s.initialize()
    ticks, running = [0], [True]

    def count() -> None:
        while running[0]:
            ticks[0] += 1
            time.sleep(0.0)  # gives the lock back after each tick

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)  # no switch unless the lock is given away
    try:
        thread = threading.Thread(target=count)
        thread.start()
        before = ticks[0]
        for _ in range(500):
            s.step(0.1)
            if ticks[0] > before:
                break
    finally:
        running[0] = False
        sys.setswitchinterval(interval)
        thread.join()
    assert ticks[0] > before


def test_the_page_is_in_a_file_and_in_a_notebook(tmp_path: Path) -> None:
    result = biela.Model(CRANK).run(stop=0.2)
    page = tmp_path / "r.html"
    result.report(page)
    assert page.read_text().rstrip().endswith("</html>")
    shown = result._repr_html_()
    assert shown.startswith("<iframe") and "slider_crank" in shown
    assert "slider_crank" in repr(result)


def test_events_have_times_and_names() -> None:
    result = biela.Model(ROOT / "models" / "bouncing_linkage.toml").run(stop=1.0)
    assert result.events
    times = [time for time, _ in result.events]
    assert times == sorted(times) and 0.0 < times[0] <= 1.0
    assert all(name for _, name in result.events)


def test_tables_go_to_pandas_and_arrow() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    result = biela.Model(CRANK).run(stop=0.2)
    frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame.index.name == "time"
    assert np.array_equal(frame["slider_x"].to_numpy(), result["slider_x"]) and frame.attrs["units"]["slider_x"] == "m"
    table = result.to_arrow()
    assert isinstance(table, pyarrow.Table) and table.schema.field("slider_v").metadata == {b"unit": b"m/s"}
    assert np.array_equal(table["slider_v"].to_numpy(), result["slider_v"])


def test_variables_tell_their_units() -> None:
    model = biela.Model(CRANK)
    tau = model.variables["tau"]
    assert (tau.causality, tau.unit, tau.start, tau.source) == ("input", "N.m", 0.0, "motor.torque")
    assert model.experiment == biela.Experiment(0.0, 2.0, 0.01)
    assert model.name == "slider_crank" and model.warnings == []


def test_a_robot_is_imported(tmp_path: Path) -> None:
    robot = tmp_path / "arm.urdf"
    robot.write_text(
        """<robot name="arm"><link name="base"/>
        <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
        <inertia ixx="0.08" iyy="0.08" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="pin" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""
    )
    model = biela.import_model(robot)
    assert model.name == "arm"
    s = model.instance()
    s.initialize()
    assert s.step(0.1) == 0.1
    with pytest.raises(biela.ModelError):
        biela.import_model(tmp_path / "none.urdf")
    with pytest.raises(biela.ModelError, match='did you mean "pin"'):
        biela.import_model(robot, start={"pins": 0.1})
    with pytest.raises(biela.ModelError, match='no group state "home"'):
        biela.import_model(robot, keyframe="home")


MUJOCO = """<mujoco model="arm"><compiler angle="radian"/><worldbody>
<body name="rod" pos="0 0 1"><joint name="pin" type="hinge" axis="0 1 0"/>
<inertial pos="0 0 -0.5" mass="2" diaginertia="0.2 0.2 0.01"/></body></worldbody>
<actuator><motor name="drive" joint="pin" gear="3"/></actuator>
<keyframe><key name="side" qpos="0.7"/></keyframe></mujoco>"""


def test_a_mujoco_model_is_imported(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(MUJOCO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is lost
        model = biela.import_model(path, keyframe="side")
    [mode] = model.modes(start="equilibrium")
    # Hanging: I + m l² = 0.7 kg.m2 under m g l.
    assert mode.frequency == pytest.approx(np.sqrt(2 * 9.81 * 0.5 / 0.7) / (2 * np.pi), rel=1e-9)
    s = model.instance()
    s.initialize()
    assert s["pin_position"] == pytest.approx(0.7)
    # The control of the motor is a third of its torque.
    assert s.sensitivity(["pin_position"], ["drive"])[0, 0] == 0.0
    assert model.linearize().b[1, 0] == pytest.approx(3 / 0.7, rel=1e-9)
    s = biela.import_model(path, keyframe="side", start={"pin": -0.2}).instance()
    s.initialize()
    assert s["pin_position"] == pytest.approx(-0.2)
    for wrong, sentence in (
        ({"keyframe": "sid"}, 'no keyframe "sid"'),
        ({"start": {"pim": 0.1}}, 'did you mean "pin"'),
    ):
        with pytest.raises(biela.ModelError, match=sentence):
            biela.import_model(path, **wrong)
    path.write_text(MUJOCO.replace('axis="0 1 0"', 'axis="0 1 q"'))
    with pytest.raises(biela.ModelError, match="finite numbers") as caught:
        biela.import_model(path)
    assert (caught.value.line, caught.value.column) == (2, 61)


def test_a_model_is_packed(tmp_path: Path) -> None:
    library = os.environ.get("BIELA_LIBRARY")
    if library is None:
        pytest.skip("BIELA_LIBRARY does not name the library")
    for fmi in (2, 3):
        path = biela.pack(CRANK, tmp_path / f"{fmi}.fmu", fmi=fmi)
        with zipfile.ZipFile(path) as archive:
            assert b"slider_x" in archive.read("modelDescription.xml")
    text = biela.pack(biela.Model(CRANK.read_text()), tmp_path / "text.fmu")
    assert zipfile.ZipFile(text).testzip() is None
    with pytest.raises(ValueError, match="expected 2 or 3"):
        biela.pack(CRANK, tmp_path / "1.fmu", fmi=1)


def test_error_bars_state_the_error_and_change_no_bit() -> None:
    model = biela.Model(CRANK)
    plain = model.run(stop=0.5)
    barred = model.run(stop=0.5, error_bars=True)
    np.testing.assert_array_equal(plain["slider_x"], barred["slider_x"])
    bars = barred["slider_x.error"]
    assert bars[0] == 0 and bars[-1] > 0 and (np.diff(bars) >= 0).all()
    assert plain.error_bars is None
    exact = model.run(stop=0.5, tolerance=1e-11)
    assert abs(barred["slider_x"][-1] - exact["slider_x"][-1]) <= bars[-1]
    kept = model.run(stop=0.5, accuracy=1e-5).error_bars
    assert kept is not None and kept["kept"] and kept["worst"] <= 1e-5
