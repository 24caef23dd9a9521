"""Models and instances."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ._biela import NativeInstance, NativeModel
from ._errors import SimulationError
from ._result import Array, Result

Value = Union[float, str]
"""A number in the unit of its variable, or a word for settings such as ``solver.formulation``."""

InputLaw = Union[str, Callable[[float], float], npt.ArrayLike]
"""A law of an input: a function of the time in s, an array of points (t, u) with two columns, or text such as ``"step(0.5, 0, 10)"``."""


@dataclass(frozen=True)
class Variable:
    """A variable of a model."""

    name: str
    causality: str
    """``"input"``, ``"output"``, ``"parameter"`` or ``"local"``."""
    unit: str
    """Unit; empty for pure numbers."""
    start: float | None
    """Start value of inputs and parameters, in ``unit``."""
    source: str
    """Dotted name of its quantity or target."""
    description: str


@dataclass(frozen=True)
class Experiment:
    """Defaults of a model for its runs."""

    start: float
    """s"""
    stop: float
    """s"""
    interval: float | None
    """Distance of the rows in s; ``None``: every accepted step."""


class State:
    """A saved state. It can be pickled and restored in another process, by an instance of the same model."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __bytes__(self) -> bytes:
        return self._data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self._data == other._data

    def __hash__(self) -> int:
        return hash(self._data)

    def __repr__(self) -> str:
        return f"<biela.State of {len(self._data)} bytes>"


class Instance(NativeInstance):
    """A mechanism that is initialised, set, stepped and read.

    >>> import biela
    >>> s = biela.Model("models/slider_crank.toml").instance()
    >>> s.initialize()
    >>> s["tau"] = 1.0          # N.m
    >>> s.step(0.1)             # s
    0.1
    >>> x = s["slider_x"]       # m

    One thread at a time may use it; while it steps, the other threads of Python go on. Values are in the units of
    ``model.variables``.
    """

    def __new__(
        cls,
        model: Model,
        *,
        set: Mapping[str, Value] | None = None,
        inputs: Mapping[str, InputLaw] | None = None,
    ) -> Instance:
        return super().__new__(cls, model, _assignments(set), _laws(inputs, None))

    def initialize(self, start: float | None = None, stop: float = float("inf"), tolerance: float = 0.0) -> None:
        """Assembles the mechanism and computes consistent initial values.

        ``start`` and ``stop`` are in s; without ``start`` the model's. ``tolerance`` 0 is the model's.
        """
        self._initialize(start, stop, tolerance)

    def save(self) -> State:
        """The present state. Restoring it continues with the same bits."""
        return State(self._save())

    def restore(self, state: State) -> None:
        """Continues from a saved state, also one of another process."""
        self._restore(bytes(state))

    def get(self, names: Iterable[str]) -> Array:
        """Values of several variables, read at once."""
        return np.array(self._get(list(names)))

    def set(self, values: Mapping[str, float]) -> None:
        """Sets several inputs and parameters; all of them, or on failure none."""
        self._set(list(values), [float(value) for value in values.values()])

    def sensitivity(self, of: Sequence[str], by: Sequence[str]) -> Array:
        """d of / d by at the present time with positions and velocities fixed, a row for each ``of``.

        ``of`` are outputs, ``by`` inputs or parameters; each entry has the unit of its ``of`` over that of its ``by``.
        """
        return np.array(self._sensitivity(list(of), list(by)))

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs."""
        return self._names("input")

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return self._names("output")

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters."""
        return self._names("parameter")

    def __repr__(self) -> str:
        return f"<biela.Instance at t = {self.time:g} s>"


class Model(NativeModel):
    """A model: from a file, from text (TOML or JSON), or from a dictionary with the keys of a model file.

    A ``str`` is text if it has a line break or begins with ``{``, else the path of a file. Files that a text names are relative
    to ``base_dir``. Mistakes raise ``biela.ModelError`` with ``line``, ``column`` and ``culprit``.

    Models are immutable, may be used by many threads, and can be pickled: they travel as their text. Files that they name
    must then be reachable from there.
    """

    def __new__(
        cls,
        source: str | os.PathLike[str] | Mapping[str, Any],
        *,
        base_dir: str | os.PathLike[str] | None = None,
    ) -> Model:
        folder = None if base_dir is None else os.fspath(base_dir)
        if isinstance(source, Mapping):
            text = json.dumps(source, default=_plain)
            return super().__new__(cls, text, "model", folder, False)
        if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
            return super().__new__(cls, source, "model", folder, False)
        path = os.fspath(source)
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            text = ""  # the native reader says what is wrong
        return super().__new__(cls, text, path, os.path.dirname(os.path.abspath(path)), True)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, self._parts()

    @property
    def variables(self) -> dict[str, Variable]:
        """Inputs, outputs and parameters by their names."""
        return {row[0]: Variable(*row) for row in self._variables()}

    @property
    def experiment(self) -> Experiment:
        """Start, stop and interval that the model asks for."""
        return Experiment(*self._experiment)

    @property
    def warnings(self) -> list[str]:
        """What ``biela check`` warns of."""
        return self._warnings()

    def instance(
        self, *, set: Mapping[str, Value] | None = None, inputs: Mapping[str, InputLaw] | None = None
    ) -> Instance:
        """An instance to step by hand. ``set`` and ``inputs`` are those of :meth:`run`; a function needs ``run``."""
        return Instance(self, set=set, inputs=inputs)

    def run(
        self,
        stop: float | None = None,
        interval: float | None = None,
        tolerance: float | None = None,
        set: Mapping[str, Value] | None = None,
        inputs: Mapping[str, InputLaw] | None = None,
    ) -> Result:
        """Simulates from the model's start to ``stop``.

        Args:
            stop: end in s; the model's by default.
            interval: distance of the rows in s, by interpolation; the model's by default, else every accepted step.
            tolerance: of the solver; the model's by default.
            set: values of parameters, inputs, dotted names (``"rod.mass"``) and settings (``"solver.formulation"``).
            inputs: laws of inputs over the time in s: a function, an array of points (t, u) with two columns, joined by monotone
                cubics and constant beyond its ends, or text as ``biela run --input`` takes it. A function is sampled as
                closely as it needs before the run begins, and joined by a cubic spline; it should be smooth.

        Raises:
            biela.ModelError: a name or value is wrong.
            biela.SimulationError: the run stopped; ``error.result`` has what was computed.
        """
        span = (self._experiment[0], self._experiment[1] if stop is None else stop)
        parts = self._run(stop, interval, tolerance, _assignments(set), _laws(inputs, span))
        error = parts.pop("error", None)
        result = Result(parts)
        if error is not None:
            if isinstance(error, SimulationError):
                error.result = result
            raise error
        return result

    def __repr__(self) -> str:
        return f"<biela.Model {self.name}>"


def _unpickled(text: str, origin: str, base_dir: str | None) -> Model:
    # The text and not the file: it may have changed, or be on another machine.
    return NativeModel.__new__(Model, text, origin, base_dir, False)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot stand in a model")


def _assignments(values: Mapping[str, Value] | None) -> list[tuple[str, Value]]:
    return [(name, value if isinstance(value, str) else float(value)) for name, value in (values or {}).items()]


def _laws(
    inputs: Mapping[str, InputLaw] | None, span: tuple[float, float] | None
) -> list[tuple[str, str | tuple[list[list[float]], str]]]:
    laws: list[tuple[str, str | tuple[list[list[float]], str]]] = []
    for name, law in (inputs or {}).items():
        if isinstance(law, str):
            laws.append((name, law))
        elif callable(law):
            if span is None:
                raise TypeError(f"inputs[{name!r}]: a function needs the span of a run; set the input between steps instead")
            laws.append((name, (_sampled(name, law, *span), "spline")))
        else:
            points = np.asarray(law, dtype=float)
            if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
                raise ValueError(f"inputs[{name!r}]: expected two or more points (t, u), an array with two columns")
            laws.append((name, (points.tolist(), "monotone")))
    return laws


_PARTS = 64
_MOST_POINTS = 200_000
_RELATIVE_ERROR = 1e-9


def _sampled(name: str, law: Callable[[float], float], start: float, stop: float) -> list[list[float]]:
    """Points of a function, so close that a cubic through four of them meets the function between them."""
    if not (np.isfinite(stop) and stop > start):
        return [[start, float(law(start))], [start + 1.0, float(law(start))]]  # the run refuses the span

    def value(t: float) -> float:
        found = float(law(t))
        if not np.isfinite(found):
            raise ValueError(f"inputs[{name!r}]({t}) = {found}: expected a finite number")
        return found

    count = _PARTS
    values = [value(start + (stop - start) * k / count) for k in range(count + 1)]
    while True:
        middle = [value(start + (stop - start) * (k + 0.5) / count) for k in range(count)]
        y = np.array(values)
        inner = (-y[:-3] + 9.0 * y[1:-2] + 9.0 * y[2:-1] - y[3:]) / 16.0
        error = float(np.max(np.abs(inner - np.array(middle[1:-1]))))
        merged = [0.0] * (2 * count + 1)
        merged[0::2] = values
        merged[1::2] = middle
        values, count = merged, 2 * count
        scale = float(np.max(np.abs(values)))
        # After halving, the cubic's error is a sixteenth.
        if error <= 16.0 * _RELATIVE_ERROR * scale or scale == 0.0 or 2 * count > _MOST_POINTS:
            break
    return [[start + (stop - start) * k / count, u] for k, u in enumerate(values)]
