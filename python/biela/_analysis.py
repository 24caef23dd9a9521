"""What analyses of a model find."""

from __future__ import annotations

from dataclasses import dataclass, field

from ._result import Array
from ._state import State


@dataclass(frozen=True)
class Equilibrium:
    """A static equilibrium. ``instance.restore(found.state)`` continues from it."""

    time: float
    """s"""
    outputs: dict[str, float]
    """Outputs in the equilibrium, in their units."""
    steps: int
    """Newton steps."""
    moved: float
    """Distance from the start in the error norm."""
    relaxed: bool
    """Whether dynamic relaxation was necessary."""
    free: list[str]
    """Coordinates along which nothing holds the mechanism."""
    unstable: list[str]
    """Coordinates along which the equilibrium is unstable."""
    redundant: list[str]
    """Redundant joints: their reactions are not unique."""
    state: State = field(repr=False)

    @property
    def stable(self) -> bool:
        """Whether no coordinate is unstable."""
        return not self.unstable


@dataclass(frozen=True)
class Mode:
    """A mode of vibration; a conjugate pair of eigenvalues is one mode."""

    frequency: float
    """Hz; 0 for a rigid-body mode."""
    damping: float
    """Damping ratio; negative: it grows."""
    eigenvalue: complex
    """1/s; of a pair the one with positive imaginary part."""
    shape: dict[str, complex] = field(repr=False)
    """Amplitudes of joint coordinates, positions and rotations (rad) of bodies by their dotted names; the largest is 1."""
    energy: dict[str, float] = field(repr=False)
    """Share of each body in the kinetic energy."""


@dataclass(frozen=True, eq=False)
class LinearModel:
    """x' = A x + B u, y = C x + D u: deviations from the point of linearisation, in the units of the model."""

    time: float
    """s"""
    states: list[str]
    """Minimal coordinates and their derivatives; ``integral(name)`` where an input prescribes a speed."""
    inputs: list[str]
    """Inputs; ``der(name)`` and ``der(der(name))`` where an input prescribes a position."""
    outputs: list[str]
    """Outputs of the model."""
    a: Array = field(repr=False)
    """A, a row for each state."""
    b: Array = field(repr=False)
    """B, a row for each state, a column for each input."""
    c: Array = field(repr=False)
    """C, a row for each output."""
    d: Array = field(repr=False)
    """D, a row for each output, a column for each input."""


@dataclass(frozen=True, eq=False)
class DescriptorForm:
    """E z' = F z in the coordinates of the formulation, with multipliers."""

    names: list[str]
    """Of z: displacements, velocities, multipliers."""
    e: Array = field(repr=False)
    """E"""
    f: Array = field(repr=False)
    """F"""
