"""Laws of inputs: what people give, as text or points for the solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ._errors import ModelError

Value = Union[float, str]
"""A number in the unit of its variable, or a word for settings such as ``solver.formulation``."""

InputLaw = Union[float, str, Callable[[float], float], npt.ArrayLike]
"""A law of one input: a number, a function of the time in s, an array of points (t, u) with two columns, or text as
``biela run --input`` takes it."""

Inputs = Union[Mapping[str, InputLaw], Callable[[float], Any], npt.ArrayLike]
"""Laws by the names of their inputs; or, for all inputs at once, a function of the time in s, or an array whose first column is
the time."""

NativeLaw = Union[str, tuple[list[list[float]], str]]
"""Text, or points and the way between them."""

Span = tuple[float, float]


def native_laws(inputs: Inputs | None, names: Sequence[str], span: Span | None) -> list[tuple[str, NativeLaw]]:
    """The laws for the solver. ``names`` are the inputs of the model, ``span`` the start and stop of the run in s."""
    if inputs is None:
        return []
    return [(name, _law(name, law, span)) for name, law in _by_name(inputs, names)]


def _by_name(inputs: Inputs, names: Sequence[str]) -> Iterator[tuple[str, InputLaw]]:
    if isinstance(inputs, str):
        raise TypeError("inputs: expected laws by name, a function or an array; text belongs to the name of its input")
    if isinstance(inputs, Mapping):
        yield from inputs.items()
    elif callable(inputs):
        if not names:
            raise ModelError("inputs: the model has none", culprit="inputs")
        shared = _Shared(inputs, names)
        for k, name in enumerate(names):
            yield name, shared.one(k)
    else:
        yield from _columns(inputs, names)


def _columns(table: npt.ArrayLike, names: Sequence[str]) -> Iterator[tuple[str, InputLaw]]:
    """The columns of an array: by their names beside "time", or in the order of the inputs."""
    array = np.asarray(table)
    fields = array.dtype.names
    if fields is not None:
        if array.ndim != 1 or "time" not in fields:
            raise ModelError('inputs: a structured array has one dimension and a field "time"', culprit="inputs")
        for name in fields:
            if name != "time":
                yield name, np.column_stack([array["time"], array[name]])
        return
    array = np.asarray(table, dtype=float)
    if array.ndim != 2 or array.shape[1] != 1 + len(names):
        raise ModelError(
            f"inputs: expected an array with {1 + len(names)} columns, the time and {', '.join(names) or 'no input'}, "
            f"but its shape is {array.shape}",
            culprit="inputs",
        )
    for k, name in enumerate(names):
        yield name, array[:, [0, k + 1]]


class _Shared:
    """A function that gives all inputs, evaluated once for each time."""

    def __init__(self, function: Callable[[float], Any], names: Sequence[str]) -> None:
        self._function = function
        self._names = names
        self._known: dict[float, list[float]] = {}

    def one(self, k: int) -> Callable[[float], float]:
        return lambda t: self._values(t)[k]

    def _values(self, t: float) -> list[float]:
        found = self._known.get(t)
        if found is None:
            found = self._known[t] = self._checked(self._function(t))
        return found

    def _checked(self, given: Any) -> list[float]:
        if isinstance(given, Mapping):
            if set(given) != set(self._names):
                raise ModelError(f"inputs: the function gives {list(given)}, the inputs are {list(self._names)}", culprit="inputs")
            return [float(given[name]) for name in self._names]
        values = [float(value) for value in np.atleast_1d(given)]
        if len(values) != len(self._names):
            raise ModelError(f"inputs: the function gives {len(values)} values, the inputs are {list(self._names)}", culprit="inputs")
        return values


def _law(name: str, law: InputLaw, span: Span | None) -> NativeLaw:
    if isinstance(law, str):
        return law
    if callable(law):
        if span is None:
            raise TypeError(f"inputs[{name!r}]: a function needs the span of a run; set the input between steps instead")
        return _Sampling(name, law, *span).law()
    points = np.asarray(law, dtype=float)
    if points.ndim == 0:
        if not np.isfinite(points):
            raise ModelError(f"inputs[{name!r}] = {points}: expected a finite number", culprit=name)
        return repr(float(points))
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
        raise ModelError(f"inputs[{name!r}]: expected two or more points (t, u), an array with two columns", culprit=name)
    return points.tolist(), "monotone"


class _Sampling:
    """Points of a function over a span, so close that the law between them meets it."""

    FIRST_PARTS = 256
    MOST_PARTS = 131072
    SPLINE_ERROR = 1e-9
    """Of a smooth function, over its largest value: far below the tolerance of a run."""
    LINEAR_ERROR = 1e-6
    """Of straight lines between the points of another function; the monotone cubic is closer."""
    JUMP = 1e-12
    """Part of the span within which a jump is located."""
    MOST_POINTS = 200_000
    BEYOND = 20
    """Points beyond each end: the slope zero in which the solver's spline ends has decayed by 0.27 for each of them."""

    def __init__(self, name: str, function: Callable[[float], float], start: float, stop: float) -> None:
        self.name, self.function, self.start, self.stop = name, function, start, stop

    def law(self) -> NativeLaw:
        if not (np.isfinite(self.stop) and self.stop > self.start):
            return repr(self._value(self.start))  # the run refuses the span
        uniform = self._uniform()
        if uniform is not None:
            return self._with_ends(uniform), "spline"
        return self._bisected(), "monotone"

    def _value(self, t: float) -> float:
        found = float(self.function(t))
        if not np.isfinite(found):
            raise ModelError(f"inputs[{self.name!r}]({t!r}) = {found}: expected a finite number", culprit=self.name)
        return found

    def _uniform(self) -> list[float] | None:
        """Values at equal distances; ``None`` if halving the distance does not help as it does for a smooth function."""
        count = self.FIRST_PARTS
        length = self.stop - self.start
        values = [self._value(self.start + length * k / count) for k in range(count + 1)]
        before = np.inf
        while count < self.MOST_PARTS:
            middle = [self._value(self.start + length * (k + 0.5) / count) for k in range(count)]
            y = np.array(values)
            cubic = (-y[:-3] + 9.0 * y[1:-2] + 9.0 * y[2:-1] - y[3:]) / 16.0
            errors = np.abs(cubic - np.array(middle[1:-1]))
            error = float(np.max(errors))
            merged = [0.0] * (2 * count + 1)
            merged[0::2], merged[1::2] = values, middle
            values, count = merged, 2 * count
            # With the halved distance the error is a sixteenth.
            allowed = 16.0 * self.SPLINE_ERROR * float(np.max(np.abs(values)))
            if error <= allowed:
                return values
            # A fast oscillation is missed everywhere, a kink or a jump in few places.
            if error > 0.25 * before and np.count_nonzero(errors > allowed) < len(errors) / 8:
                return None
            before = error
        return None

    def _with_ends(self, values: list[float]) -> list[list[float]]:
        """Points with those of the cubics at the ends beyond them."""
        h = (self.stop - self.start) / (len(values) - 1)
        steps = np.arange(1, self.BEYOND + 1)
        x = np.arange(4.0)
        left = np.polyval(np.polyfit(x, values[:4], 3), -steps)
        right = np.polyval(np.polyfit(x, values[:-5:-1], 3), -steps)
        points = [[self.start - h * k, u] for k, u in zip(steps[::-1].tolist(), left[::-1].tolist())]
        points += [[self.start + h * k, u] for k, u in enumerate(values[:-1])]
        points += [[self.stop, values[-1]]]
        return points + [[self.stop + h * k, u] for k, u in zip(steps.tolist(), right.tolist())]

    def _bisected(self) -> list[list[float]]:
        """Points of a function with kinks or jumps, closer where it bends; two of the same time are a jump."""
        length = self.stop - self.start
        times = [self.start + length * k / self.FIRST_PARTS for k in range(self.FIRST_PARTS + 1)]
        known = {t: self._value(t) for t in times}
        allowed = self.LINEAR_ERROR * max(map(abs, known.values()))
        points = [[times[0], known[times[0]]]]
        stack = [(a, b) for a, b in zip(times[:-1], times[1:])][::-1]
        while stack:
            a, b = stack.pop()
            m = 0.5 * (a + b)
            u, v = known[a], known[b]
            if b - a <= self.JUMP * length or not a < m < b:
                if abs(v - u) > allowed:
                    points.append([b, u])
                points.append([b, v])
                continue
            known[m] = self._value(m)
            allowed = max(allowed, self.LINEAR_ERROR * abs(known[m]))
            if abs(known[m] - 0.5 * (u + v)) <= allowed:
                points += [[m, known[m]], [b, v]]
            else:
                stack += [(m, b), (a, m)]
            if len(known) > self.MOST_POINTS:
                sentence = f"inputs[{self.name!r}]: the function varies too fast, or has too many kinks or jumps, to be sampled"
                raise ModelError(sentence, culprit=self.name)
        return points
