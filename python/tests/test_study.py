"""Sweeps: against single runs, against the command, and on clusters."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biela

ROOT = Path(__file__).resolve().parents[2]
CRANK = ROOT / "models" / "slider_crank.toml"
BIELA = os.environ.get("BIELA_COMMAND")


def study(**more: Any) -> biela.Study:
    vary = {"slider_mass": "normal(0.8,0.5)", "tau": "uniform(-1,1)"}
    model = biela.Model(CRANK)
    return biela.sweep(model, vary, plan="lhs", runs=23, seed=5, stop=0.1, trajectories=True, **more)


def test_rows_are_single_runs() -> None:
    model = biela.Model(CRANK)
    masses = np.linspace(0.5, 1.5, 3)
    found = biela.sweep(model, {"slider_mass": masses, "solver.formulation": ["absolute", "relative"]}, stop=0.3, jobs=2)
    assert list(found["run"]) == [1, 2, 3, 4, 5, 6]
    assert list(found["solver.formulation"]) == ["absolute", "relative"] * 3
    assert np.array_equal(found["slider_mass"], np.repeat(masses, 2))
    for k in range(6):
        values: dict[str, Any] = {name: found[name][k] for name in ("slider_mass", "solver.formulation")}
        result = model.run(stop=0.3, set=values)
        for name in result:
            assert found[name][k] == result[name][-1], name
            assert found[f"{name}.max"][k] >= result[name].max() - 1e-9 * abs(result[name]).max()
        assert found["solver.steps"][k] == result.statistics["steps"]
    assert found.units["slider_x.max"] == "m" and found.units["slider_mass"] == "kg"
    assert found.failed == {}


def test_the_table_has_the_bytes_of_the_command(tmp_path: Path) -> None:
    if BIELA is None:
        pytest.skip("BIELA_COMMAND does not name the program")
    for ending in ("csv", "parquet"):
        theirs, ours = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
        long, our_long = tmp_path / f"al.{ending}", tmp_path / f"bl.{ending}"
        arguments = ["--vary", "slider_mass=normal(0.8,0.5)", "--vary", "tau=uniform(-1,1)", "--plan", "lhs", "--runs", "23"]
        arguments += ["--seed", "5", "--stop", "0.1", "-o", str(theirs), "--trajectories", str(long), "-q"]
        subprocess.run([BIELA, "sweep", str(CRANK), *arguments], check=True)
        found = study(jobs=2)
        found.write(ours, our_long)
        assert ours.read_bytes() == theirs.read_bytes()
        assert our_long.read_bytes() == long.read_bytes()
    with pytest.raises(ValueError, match="expected the ending .csv or .parquet"):
        study().write(tmp_path / "a.txt")


def test_parquet_is_read_by_others_with_units(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    model = biela.Model(CRANK)
    found = biela.sweep(model, {"slider_mass": [0.8, -1.0, 0.9]}, stop=0.1)
    found.write(path)
    assert found.failed[2].startswith("slider_mass = -1")
    assert np.isnan(found["slider_x"][1])
    units = {name: unit for name, unit in found.units.items() if unit}
    readers = 0
    pyarrow = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.read_table(path)
    assert json.loads(table.schema.metadata[b"units"]) == units
    assert table["status"].to_pylist() == ["ok", "failed", "ok"]
    assert table["slider_x"].to_pylist()[1] is None and table["slider_x"].to_pylist()[0] == found["slider_x"][0]
    readers += 1
    polars = pytest.importorskip("polars")
    frame = polars.read_parquet(path)
    assert frame["slider_x.max"].to_list()[2] == found["slider_x.max"][2] and frame["message"].to_list()[1] == found.failed[2]
    assert frame["run"].to_list() == [1, 2, 3]
    assert json.loads(polars.read_parquet_metadata(path)["units"]) == units
    readers += 1
    duckdb = pytest.importorskip("duckdb")
    rows = duckdb.sql(f"select run, slider_x from '{path}' where status = 'ok' order by run").fetchall()
    assert rows == [(1, found["slider_x"][0]), (3, found["slider_x"][2])]
    metadata = dict(duckdb.sql(f"select key, value from parquet_kv_metadata('{path}')").fetchall())
    assert json.loads(metadata[b"units"]) == units
    readers += 1
    assert readers == 3


def test_plans_and_shards() -> None:
    model = biela.Model(CRANK)
    table = biela.sweep(model, plan={"slider_mass": [0.5, 0.7], "tau": np.array([1.0, 2.0])}, stop=0.05)
    assert list(table["tau"]) == [1.0, 2.0]
    parts = [study(shard=(k, 3)) for k in (1, 2, 3)]
    whole = study()
    assert sorted(run for part in parts for run in part["run"]) == list(whole["run"])
    assert set(parts[1]["slider_x"]) <= set(whole["slider_x"])
    long = whole.trajectories
    assert set(long["run"]) <= set(range(1, 24)) and long["time"].max() == pytest.approx(0.1)
    for bad, sentence in (
        ({"vary": {"slider_mas": "1:2:3"}}, "did you mean"),
        ({"vary": {"slider_mass": "1:2"}}, "a:b:n"),
        ({"vary": {"slider_mass": "1:2:3"}, "plan": "random"}, "expected"),
        ({"vary": {"slider_mass": "1:2:3"}, "shard": (0, 2)}, "from 1 to n"),
        ({"vary": {"slider_mass": "1:2:3"}, "outputs": ["slider_xx"]}, "did you mean"),
        ({}, "nothing varies"),
        ({"plan": {"tau": [1.0], "slider_mass": [1.0, 2.0]}}, "different lengths"),
    ):
        with pytest.raises(ValueError, match=sentence):
            biela.sweep(model, **bad)


def test_one_name_is_no_list_of_outputs() -> None:
    with pytest.raises(TypeError, match="several names"):
        biela.sweep(biela.Model(CRANK), {"tau": "0:1:2"}, outputs="slider_x")


def rows(found: biela.Study) -> list[list[Any]]:
    return found._rows + found._trajectories


class OneWorker:
    """A client as Dask's, whose only worker gets everything pickled."""

    def nthreads(self) -> dict[str, int]:
        return {"worker": 1}

    def scatter(self, task: Any, broadcast: bool) -> bytes:
        return pickle.dumps(task)

    def submit(self, function: Any, held: bytes, part: Any, pure: bool) -> Any:
        return pickle.loads(pickle.dumps(function(pickle.loads(held), pickle.loads(pickle.dumps(part)))))

    def gather(self, parts: Any) -> Any:
        return list(parts)


def test_words_and_numbers_of_one_factor_travel() -> None:
    model = biela.Model(CRANK)
    vary: dict[str, Any] = {"tau": [0.0, "500 N.mm", 1.0], "slider_mass": "0.5:1:2"}
    there, here = (biela.sweep(model, vary, stop=0.05, client=client) for client in (OneWorker(), None))
    assert rows(there) == rows(here)
    assert list(here["tau"]) == ["0.0", "0.0", "500 N.mm", "500 N.mm", "1.0", "1.0"]


def test_dask_gives_the_same_bits() -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            assert rows(study(client=client)) == rows(study())


ON_RAY = """
import sys
sys.path.insert(0, sys.argv[1])
import ray
from test_study import rows, study
try:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
except Exception as reason:  # it gives up after half a minute on a busy machine
    print("Ray does not start:", reason)
    sys.exit(77)
assert rows(study(client=ray)) == rows(study())
"""


def test_ray_gives_the_same_bits() -> None:
    """In a process of its own: what Ray starts ends with it, also where Ray does not answer."""
    pytest.importorskip("ray")
    arguments = [sys.executable, "-c", ON_RAY, str(Path(__file__).parent)]
    # Ray's workers look for modules in the folder of their driver first: not where the source of the package is.
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, cwd=Path(__file__).parent
    )  # fmt: skip
    try:
        said, _ = process.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        pytest.skip("Ray does not answer within four minutes")
    if process.returncode == 77:
        pytest.skip(said.strip().splitlines()[-1])
    assert process.returncode == 0, said
