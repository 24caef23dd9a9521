"""The result of a run."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._biela import NativeModel
from ._errors import unknown

if TYPE_CHECKING:
    import pandas
    import pyarrow as _pyarrow  # type: ignore[import-untyped]

Array = npt.NDArray[np.float64]


class Result(Mapping[str, Array]):
    """Outputs over time, events and counters of a run.

    ``result["slider_x"]`` is the array of an output, in its unit (``result.units``). It is the memory that the solver wrote: no
    access copies it. ``result.time`` has the times in s. Results can be pickled.
    """

    def __init__(self, parts: dict[str, Any], model: NativeModel, conditions: tuple[Any, ...]) -> None:
        self._time: Array = parts["time"]
        self._columns: dict[str, Array] = parts["columns"]
        self._units: dict[str, str] = parts["units"]
        self._events: list[tuple[float, str]] = parts["events"]
        self._statistics: dict[str, float] = parts["statistics"]
        self._name: str = parts["name"]
        self._reached: float = parts["reached"]
        self._error_bars: dict[str, Any] | None = parts.get("error_bars")
        self._model = model
        self._conditions = conditions

    def __getitem__(self, name: str) -> Array:
        try:
            return self._columns[name]
        except KeyError:
            raise unknown(name, self._columns, "output") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._name

    @property
    def time(self) -> Array:
        """Times of the rows, in s."""
        return self._time

    @property
    def reached(self) -> float:
        """Time of the last state, in s."""
        return self._reached

    @property
    def units(self) -> dict[str, str]:
        """Unit of each output; empty for pure numbers."""
        return dict(self._units)

    @property
    def events(self) -> list[tuple[float, str]]:
        """Time (s) and name of each event: impacts, contacts, joint limits, changes of friction, jumps of laws."""
        return list(self._events)

    @property
    def statistics(self) -> dict[str, float]:
        """Counters of the solver, step sizes in s, ``energy_drift`` in J."""
        return dict(self._statistics)

    @property
    def error_bars(self) -> dict[str, Any] | None:
        """What the error bars say as a whole; ``None`` without error bars.

        ``worst``: largest error bar over the range of its output. ``event_time``: the bar in time of values that jump (s).
        ``undetermined_after``: time from which on an output is not determined (s), or ``None``. ``left_out``, ``jumping``: names of
        outputs. ``stopped``: why the companion run stopped, or ``None``. ``kept``: whether the accuracy asked for is kept.
        ``tolerance``: that of the run. ``text``: the same in words.
        """
        return None if self._error_bars is None else dict(self._error_bars)

    def to_pandas(self) -> pandas.DataFrame:
        """A ``pandas.DataFrame`` with the outputs as columns over ``time`` (s); ``frame.attrs["units"]`` has the units."""
        import pandas

        frame = pandas.DataFrame(self._columns, index=pandas.Index(self._time, name="time"), copy=False)
        frame.attrs["units"] = {"time": "s", **self._units}
        return frame

    def to_arrow(self) -> _pyarrow.Table:
        """A ``pyarrow.Table`` with ``time`` (s) and the outputs; each field has its unit in its metadata."""
        import pyarrow

        names = ["time", *self._columns]
        units = {"time": "s", **self._units}
        fields = [pyarrow.field(name, pyarrow.float64(), metadata={"unit": units[name]}) for name in names]
        arrays = [pyarrow.array(column) for column in (self._time, *self._columns.values())]
        return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the page of the run: moving mechanism, outputs, steps, energy. One file that needs no network.

        The run is done once more for it, with the same bits.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._page())

    def _page(self) -> str:
        return self._model._page(*self._conditions)

    def _repr_html_(self) -> str:
        """The page in a notebook, in a frame of its own."""
        page = html.escape(self._page(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width:100%;height:640px;border:0" '
            f'title="{html.escape(self._name, quote=True)}"></iframe>'
        )

    def __repr__(self) -> str:
        steps = self._statistics["steps"]
        outputs = ", ".join(self._columns)
        return f"<biela.Result {self._name}: {len(self._time)} rows to {self._reached:g} s, {steps} steps; {outputs}>"
