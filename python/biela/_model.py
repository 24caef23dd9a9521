"""Models and instances."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union

import numpy as np

from ._analysis import DescriptorForm, Equilibrium, LinearModel, Mode
from ._biela import NativeInstance, NativeModel
from ._errors import ModelError, SimulationError
from ._inputs import Inputs, Value, native_laws
from ._result import Array, Result
from ._state import State

Start = Union[Literal["initial"], Literal["equilibrium"]]
"""Where a run or an analysis starts: from the initial conditions, or from the static equilibrium next to them."""

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
        inputs: Inputs | None = None,
    ) -> Instance:
        return super().__new__(cls, model, assignments(set), native_laws(inputs, model._inputs, None))

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
        if isinstance(names, str):
            raise TypeError("get takes several names; one value is instance[name]")
        return np.array(self._get(list(names)))

    def set(self, values: Mapping[str, float]) -> None:
        """Sets several inputs and parameters; all of them, or on failure none."""
        self._set(list(values), [float(value) for value in values.values()])

    def sensitivity(self, of: Sequence[str], by: Sequence[str]) -> Array:
        """d of / d by at the present time with positions and velocities fixed, a row for each ``of``.

        ``of`` are outputs, ``by`` inputs or parameters; each entry has the unit of its ``of`` over that of its ``by``.
        """
        return np.array(self._sensitivity(list(of), list(by)))

    def equilibrium(self) -> Equilibrium:
        """Moves to the static equilibrium next to the present position, at rest; prescribed motions keep their positions.

        Counters and energies start again. Raises ``biela.SimulationError`` if there is none, and then nothing has changed.
        """
        found = self._equilibrium()
        outputs = self.outputs
        return Equilibrium(
            time=self.time, outputs=dict(zip(outputs, self._get(outputs))), state=self.save(), **found
        )  # fmt: skip

    def modes(self, count: int | None = None) -> list[Mode]:
        """The modes at the present state, the lowest frequency (Hz) first. The state is not changed."""
        return [
            Mode(frequency, damping, complex(*eigenvalue), {name: complex(*x) for name, x in shape}, dict(energy))
            for frequency, damping, eigenvalue, shape, energy in self._modes(count)
        ]

    def linearize(self) -> LinearModel:
        """The linear model at the present state. The state is not changed."""
        return LinearModel(**self._linearize())

    def descriptor_form(self) -> DescriptorForm:
        """The descriptor form at the present state. The state is not changed."""
        return DescriptorForm(**self._descriptor_form())

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
            return super().__new__(cls, json.dumps(source, default=_plain), "model", folder)
        if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
            return super().__new__(cls, source, "model", folder)
        path = os.fspath(source)
        return super().__new__(cls, None, path, os.path.dirname(os.path.abspath(path)))

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
        self, *, set: Mapping[str, Value] | None = None, inputs: Inputs | None = None
    ) -> Instance:
        """An instance to step by hand. ``set`` and ``inputs`` are those of :meth:`run`; a function needs ``run``."""
        return Instance(self, set=set, inputs=inputs)

    def run(
        self,
        stop: float | None = None,
        interval: float | None = None,
        tolerance: float | None = None,
        set: Mapping[str, Value] | None = None,
        inputs: Inputs | None = None,
        start: Start | None = None,
        error_bars: bool | None = None,
        accuracy: float | None = None,
    ) -> Result:
        """Simulates from the model's start to ``stop``.

        Args:
            stop: end in s; the model's by default.
            interval: distance of the rows in s, by interpolation; the model's by default, else every accepted step.
            tolerance: of the solver; the model's by default.
            set: values of parameters, inputs, dotted names (``"rod.mass"``) and settings (``"solver.formulation"``).
            inputs: laws of inputs over the time in s, by name: a number, a function, an array of points (t, u) with two columns, or
                text as ``biela run --input`` takes it. For all inputs at once: a function that gives a number, a sequence in the
                order of the inputs or a dictionary, or an array with the time in its first column and then a column for each
                input (a structured array has a field ``"time"`` and those of inputs). Points are joined by monotone cubics,
                constant beyond the ends; two points of the same time are a jump. A function is sampled as closely as it needs
                before the run begins, also at its kinks and jumps.
            start: start from the initial conditions or from the static equilibrium; the model's by default.
            error_bars: a companion run, a hundred times looser, states the error of every output: ``result["x.error"]`` over time, and
                ``result.error_bars`` as a whole; the model's by default.
            accuracy: error allowed over the whole run, relative to the range of each output. The solver chooses its tolerance, and
                the run is repeated with a tighter one until the error bars are below; ``result.error_bars["kept"]`` says whether.

        Raises:
            biela.ModelError: a name or value is wrong.
            biela.SimulationError: the run stopped; ``error.result`` has what was computed.
        """
        span = (self._experiment[0], self._experiment[1] if stop is None else stop)
        laws = native_laws(inputs, self._inputs, span)
        settings = assignments(set) + _start(start) + _error_settings(error_bars, accuracy)
        conditions = (stop, interval, tolerance, settings, laws)
        parts = self._run(*conditions)
        error = parts.pop("error", None)
        result = Result(parts, self, conditions)
        if error is not None:
            if isinstance(error, SimulationError):
                error.result = result
            raise error
        return result

    def equilibrium(self, *, at: float | None = None, set: Mapping[str, Value] | None = None) -> Equilibrium:
        """The static equilibrium next to the initial position, or next to that at the time ``at`` (s).

        Raises ``biela.SimulationError`` if nothing balances the loads.
        """
        return self._point(at, None, set).equilibrium()

    def modes(
        self,
        count: int | None = None,
        *,
        at: float | None = None,
        start: Start | None = None,
        set: Mapping[str, Value] | None = None,
    ) -> list[Mode]:
        """The modes, the lowest frequency (Hz) first; all of them, or ``count``.

        ``at`` is a time in s to which the model is simulated first; ``start="equilibrium"`` begins at rest in the equilibrium.
        """
        return self._point(at, start, set).modes(count)

    def linearize(
        self, *, at: float | None = None, start: Start | None = None, set: Mapping[str, Value] | None = None
    ) -> LinearModel:
        """The linear model x' = A x + B u, y = C x + D u at the start, or at the time ``at`` (s)."""
        return self._point(at, start, set).linearize()

    def descriptor_form(
        self, *, at: float | None = None, start: Start | None = None, set: Mapping[str, Value] | None = None
    ) -> DescriptorForm:
        """The descriptor form E z' = F z at the start, or at the time ``at`` (s)."""
        return self._point(at, start, set).descriptor_form()

    def _point(self, at: float | None, start: Start | None, set: Mapping[str, Value] | None) -> Instance:
        values = {**(set or {}), **dict(_start(start))}
        instance = Instance(self, set=values)
        instance.initialize()
        if at is not None and at != instance.time:
            if not at > instance.time:
                sentence = f"at = {at}: expected {instance.time:g} s, where the model starts, or later"
                raise ModelError(sentence, culprit="at")
            instance.step_to(at)
        return instance

    def __repr__(self) -> str:
        return f"<biela.Model {self.name}>"


def _unpickled(text: str, origin: str, base_dir: str | None) -> Model:
    # The text and not the file: it may have changed, or be on another machine.
    return NativeModel.__new__(Model, text, origin, base_dir)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot stand in a model")


def assignments(values: Mapping[str, Value] | None) -> list[tuple[str, Value]]:
    """Names and values for the solver."""
    if values is not None and not isinstance(values, Mapping):
        raise TypeError("set: expected values by name, such as a dictionary")
    return [(name, value if isinstance(value, str) else float(value)) for name, value in (values or {}).items()]


def _error_settings(error_bars: bool | None, accuracy: float | None) -> list[tuple[str, Value]]:
    settings: list[tuple[str, Value]] = []
    if error_bars is not None:
        settings.append(("solver.error_bars", "true" if error_bars else "false"))
    if accuracy is not None:
        settings.append(("solver.accuracy", float(accuracy)))
    return settings


def _start(start: Start | None) -> list[tuple[str, Value]]:
    known = {"initial": 0.0, "equilibrium": 1.0}
    if start is None:
        return []
    if start not in known:
        raise ModelError(f'start = {start!r}: expected "initial" or "equilibrium"', culprit="start")
    return [("experiment.equilibrium", known[start])]
