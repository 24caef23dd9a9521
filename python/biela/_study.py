"""Sweeps: many runs of one model with other numbers, on threads or on the workers of a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

from ._biela import NativeSweep
from ._errors import ModelError, unknown
from ._inputs import Inputs, Value, native_laws
from ._model import Model, assignments

if TYPE_CHECKING:
    import pandas
    import pyarrow as _pyarrow  # type: ignore[import-untyped]

Values = Union[str, Sequence[Value], npt.NDArray[Any]]
"""Values of a factor: text as ``biela sweep --vary`` takes it (``"0.5:1.5:11"``, ``"log:1:100:5"``, ``"uniform(0,1)"``,
``"normal(1,0.1)"``), or a sequence."""

_Cell = Union[int, float, str, None]
_Outcome = tuple[int, list[_Cell], list[float]]


class Study(Mapping[str, Any]):
    """The table of a sweep: a row a run.

    ``study["slider_x.max"]`` is the array of a column; ``study.units`` has the units. Columns: ``run``, ``seed``, what varies,
    ``status`` (``"ok"`` or ``"failed"``), ``message``, ``time`` (reached, s), each output at the end of the run, its ``.min`` and
    ``.max`` over the run, ``energy_drift`` (J) and the counters of the solver. A value that a failed run does not have is NaN.
    """

    def __init__(self, native: NativeSweep, outcomes: list[_Outcome], width: int) -> None:
        self._native = native
        self._rows = [row for _, row, _ in outcomes]
        self._trajectories: list[list[_Cell]] = []
        for run, _, values in outcomes:
            for k in range(0, len(values), width):
                self._trajectories.append([run, *values[k : k + width]])
        self._columns: dict[str, Any] = {
            name: np.array(column) if isinstance(column, list) else column
            for name, column in native.arrays(self._rows, False).items()
        }

    def __getitem__(self, name: str) -> Any:
        try:
            return self._columns[name]
        except KeyError:
            raise unknown(name, self._columns, "column") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def units(self) -> dict[str, str]:
        """Unit of each column; empty for pure numbers and text."""
        return {name: unit for name, unit, _ in self._native.columns(False)}

    @property
    def failed(self) -> dict[int, str]:
        """The sentence of each run that failed, by its number."""
        rows = zip(self["run"], self["status"], self["message"])
        return {int(run): str(message) for run, status, message in rows if status != "ok"}

    @property
    def trajectories(self) -> dict[str, Any]:
        """``run``, ``time`` (s) and outputs of all runs over time, if they were asked for."""
        return self._native.arrays(self._trajectories, True)

    def write(self, path: str | os.PathLike[str], trajectories: str | os.PathLike[str] | None = None) -> None:
        """Writes the table as .csv or .parquet, and that of the trajectories: the bytes of ``biela sweep``."""
        self._native.write(os.fspath(path), self._rows, False)
        if trajectories is not None:
            self._native.write(os.fspath(trajectories), self._trajectories, True)

    def to_pandas(self) -> pandas.DataFrame:
        """A ``pandas.DataFrame``; ``frame.attrs["units"]`` has the units."""
        import pandas

        frame = pandas.DataFrame(self._columns)
        frame.attrs["units"] = self.units
        return frame

    def to_arrow(self) -> _pyarrow.Table:
        """A ``pyarrow.Table``; each field has its unit in its metadata."""
        import pyarrow

        units = self.units
        arrays = [pyarrow.array(column) for column in self._columns.values()]
        fields = [
            pyarrow.field(name, array.type, metadata={"unit": units[name]})
            for name, array in zip(self._columns, arrays)
        ]
        return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))

    def __repr__(self) -> str:
        return f"<biela.Study of {len(self._rows)} runs, {len(self.failed)} failed; {', '.join(self._columns)}>"


class _Task:
    """What a worker needs besides its runs: the model and what is asked. It travels once."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.arguments = arguments
        self._sweep: NativeSweep | None = None

    def sweep(self) -> NativeSweep:
        if self._sweep is None:
            self._sweep = NativeSweep(*self.arguments)
        return self._sweep

    def __reduce__(self) -> tuple[Any, ...]:
        return _Task, (self.arguments,)


def _simulate(task: _Task, planned: list[tuple[int, int, list[Value]]]) -> list[_Outcome]:
    return task.sweep().execute_planned(planned, 1)


def sweep(
    model: Model,
    vary: Mapping[str, Values] | None = None,
    *,
    plan: str | Mapping[str, Sequence[Value] | npt.NDArray[Any]] = "grid",
    runs: int | None = None,
    seed: int = 0,
    outputs: Sequence[str] = (),
    stop: float | None = None,
    interval: float | None = None,
    trajectories: bool = False,
    set: Mapping[str, Value] | None = None,
    inputs: Inputs | None = None,
    jobs: int | None = None,
    shard: tuple[int, int] | None = None,
    client: Any = None,
    chunk: int | None = None,
) -> Study:
    """Simulates a model many times with other numbers.

    Args:
        model: the model.
        vary: names that ``set`` takes (parameters, inputs, dotted names, settings) and their values.
        plan: ``"grid"`` (every value with every other; distributions are drawn in every run), ``"lhs"`` (Latin hypercube),
            ``"sobol"``, or the columns of a table with a row a run, such as a dictionary of arrays.
        runs: number of runs of ``"lhs"`` and ``"sobol"``; of a grid, runs at each of its points.
        seed: of everything random in the plan.
        outputs: outputs, or quantities by their dotted names; all outputs by default.
        stop: end of each run in s; the model's by default.
        interval: distance of the rows of trajectories in s.
        trajectories: whether outputs over time are kept.
        set: what is the same in all runs.
        inputs: laws of inputs, the same in all runs; see :meth:`Model.run`.
        jobs: threads on this machine; by default as many as it has.
        shard: ``(i, n)`` does part i of n of the runs, i from 1 to n.
        client: a ``dask.distributed.Client``, or the module ``ray`` after ``ray.init()``: the runs are done there. The model
            travels once, and the rows are the same bits as on one machine.
        chunk: runs of one task on a cluster; by default about eight tasks for each worker.

    A run that fails is a row with its sentence. Mistakes of the study raise ``biela.ModelError`` before anything runs.
    """
    if isinstance(outputs, str):
        raise TypeError("outputs takes several names, such as a list")
    rows: list[list[Value]] | None = None
    if isinstance(plan, str):
        if not vary:
            raise ModelError("nothing varies: name what does in vary, or give a plan with a row a run", culprit="vary")
        factors = [(name, _values(values)) for name, values in vary.items()]
        kind = plan
    else:
        if vary:
            raise ModelError("a plan with a row a run has all values: vary is not possible beside it", culprit="vary")
        columns = {name: _list(values) for name, values in plan.items()}
        lengths = {len(column) for column in columns.values()}
        if len(lengths) != 1:
            raise ModelError("the columns of a plan have different lengths, or there is none", culprit="plan")
        factors = [(name, "") for name in columns]
        rows = [list(row) for row in zip(*columns.values())]
        kind = "grid"
    start = model.experiment.start
    span = (start, model.experiment.stop if stop is None else stop)
    laws = native_laws(inputs, model._inputs, span)
    arguments = (
        model, factors, kind, rows, runs, seed, list(outputs), stop, interval, trajectories, assignments(set), laws,
    )  # fmt: skip
    native = NativeSweep(*arguments)
    first, parts = (1, 1) if shard is None else shard
    if not 1 <= first <= parts:
        raise ModelError(f"shard = {shard}: expected (i, n) with i from 1 to n", culprit="shard")
    numbers = list(range(first, native.runs + 1, parts))
    if client is None:
        outcomes = native.execute(numbers, jobs or os.cpu_count() or 1)
    else:
        # Workers check the names again, but need no plan: each run travels with its values.
        small = (
            model, [(name, "") for name, _ in factors], kind, _examples(native, len(factors)), None, seed,
            list(outputs), stop, interval, trajectories, assignments(set), laws,
        )  # fmt: skip
        outcomes = _on_cluster(client, _Task(small), native.planned(numbers), chunk)
    outcomes.sort(key=lambda outcome: outcome[0])
    return Study(native, outcomes, len(native.columns(True)) - 1)


def _examples(native: NativeSweep, factors: int) -> list[list[Value]]:
    """The values of one run, and of others until each factor that has words shows one: its column is text then."""
    rows = [values for _, _, values in native.planned([1])]
    kinds = [kind for _, _, kind in native.columns(False)][2 : 2 + factors]
    for i, kind in enumerate(kinds):
        run = 1
        while kind == "text" and not any(isinstance(row[i], str) for row in rows) and run < native.runs:
            run += 1
            rows.extend(values for _, _, values in native.planned([run]) if isinstance(values[i], str))
    return rows


def _list(values: Any) -> list[Value]:
    plain = values.tolist() if hasattr(values, "tolist") else list(values)
    return [value if isinstance(value, str) else float(value) for value in plain]


def _values(values: Values) -> str | list[Value]:
    return values if isinstance(values, str) else _list(values)


def _on_cluster(
    client: Any, task: _Task, planned: list[tuple[int, int, list[Value]]], chunk: int | None
) -> list[_Outcome]:
    is_ray = getattr(client, "__name__", "") == "ray"
    if is_ray:
        workers = int(client.cluster_resources().get("CPU", 1))
    else:
        workers = sum(client.nthreads().values())
    size = chunk or max(1, len(planned) // (8 * max(1, workers)))
    chunks = [planned[k : k + size] for k in range(0, len(planned), size)]
    if is_ray:
        held = client.put(task)
        remote = client.remote(_simulate)
        parts: list[list[_Outcome]] = client.get([remote.remote(held, part) for part in chunks])
    else:
        held = client.scatter(task, broadcast=True)
        parts = client.gather([client.submit(_simulate, held, part, pure=False) for part in chunks])
    return [outcome for part in parts for outcome in part]
