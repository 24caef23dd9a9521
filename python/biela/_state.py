"""Saved states."""

from __future__ import annotations


class State:
    """A saved state. It can be pickled and restored in another process, by an instance of the same model."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = bytes(data)

    def __bytes__(self) -> bytes:
        return self._data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self._data == other._data

    def __hash__(self) -> int:
        return hash(self._data)

    def __repr__(self) -> str:
        return f"<biela.State of {len(self._data)} bytes>"
