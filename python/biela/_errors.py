"""Exceptions of Biela. Each carries what a program needs to act."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class Error(Exception):
    """Any error of Biela.

    Attributes:
        line: line of the model text, from 1; ``None`` if there is no place in a text.
        column: column in characters, from 1; ``None`` likewise.
        culprit: name of the body, joint, variable, argument or file that is wrong; ``None`` if there is none.
        time: time of the state that was reached, in s; ``None`` if nothing ran.
    """

    def __init__(
        self,
        sentence: str,
        *,
        line: int | None = None,
        column: int | None = None,
        culprit: str | None = None,
        time: float | None = None,
    ) -> None:
        super().__init__(sentence)
        self.line = line
        self.column = column
        self.culprit = culprit
        self.time = time

    def __reduce__(self) -> tuple[object, ...]:
        return _error, (type(self), self.args[0], self.line, self.column, self.culprit, self.time)


def _error(
    kind: type[Error],
    sentence: str,
    line: int | None,
    column: int | None,
    culprit: str | None,
    time: float | None,
) -> Error:
    return kind(sentence, line=line, column=column, culprit=culprit, time=time)


class ModelError(Error, ValueError):
    """A mistake in a model, or a name or value that it does not take."""


class UnknownVariable(ModelError, KeyError):
    """A name that does not exist; the sentence says which is near."""

    def __str__(self) -> str:
        return str(self.args[0])  # without the quotes of a KeyError


class SimulationError(Error, RuntimeError):
    """A mechanism that cannot be assembled, or a run that stopped; the state is that of ``time``.

    ``model.run`` puts what was computed before into ``result``.
    """

    result: object = None


class CallError(Error, RuntimeError):
    """A call that is not possible in this state, such as a step before ``initialize``."""


def unknown(name: object, known: Iterable[str], what: str) -> UnknownVariable:
    """The exception for a name that is not among those known."""
    near = difflib.get_close_matches(str(name), list(known), 1)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    return UnknownVariable(f'there is no {what} "{name}"{hint}', culprit=str(name))
