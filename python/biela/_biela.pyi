"""The native part of biela. Use the names of the package."""

from typing import Any, final

from typing_extensions import Self, disjoint_base

__all__ = ["NativeInstance", "NativeModel", "NativeSweep", "__version__", "run_command"]

__version__: str

def run_command(arguments: list[str]) -> int:
    """The command `biela`: the exit status of a line of arguments that begins with the name of the program."""

_Value = float | str
_Law = str | tuple[list[list[float]], str]
_Cell = int | float | str | None
_Outcome = tuple[int, list[_Cell], list[float]]
_Complex = tuple[float, float]
_ModeParts = tuple[float, float, _Complex, list[tuple[str, _Complex]], list[tuple[str, float]]]

@disjoint_base
class NativeModel:
    def __new__(cls, text: str | None, origin: str, base_dir: str | None) -> Self: ...
    @property
    def name(self) -> str:
        """Name of the model."""

    @property
    def text(self) -> str:
        """The text of the model file."""

    @property
    def _inputs(self) -> list[str]: ...
    @property
    def _experiment(self) -> tuple[float, float, float | None]: ...
    def _parts(self) -> tuple[str, str, str | None]: ...
    def _variables(self) -> list[tuple[str, str, str, float | None, str, str]]: ...
    def _warnings(self) -> list[str]: ...
    def _run(
        self,
        stop: float | None,
        interval: float | None,
        tolerance: float | None,
        set: list[tuple[str, _Value]],
        inputs: list[tuple[str, _Law]],
    ) -> dict[str, Any]: ...
    def _page(
        self,
        stop: float | None,
        interval: float | None,
        tolerance: float | None,
        set: list[tuple[str, _Value]],
        inputs: list[tuple[str, _Law]],
    ) -> str: ...
    @staticmethod
    def _import(
        path: str,
        free: bool | None,
        srdf: str | None,
        package_paths: list[str],
        keyframe: str | None,
        start: list[tuple[str, float]],
        no_limits: bool,
        contact: bool,
    ) -> tuple[str, list[str]]: ...
    def _pack(self, fmi: int, library_path: str | None) -> tuple[bytes, str]: ...

@disjoint_base
class NativeInstance:
    def __new__(cls, model: NativeModel, set: list[tuple[str, _Value]], inputs: list[tuple[str, _Law]]) -> Self: ...
    def __getitem__(self, key: str, /) -> float:
        """Value of a variable, in its unit."""

    def __setitem__(self, key: str, value: float, /) -> None:
        """Sets an input or a parameter, in its unit."""

    def __delitem__(self, key: str, /) -> None: ...
    def step(self, h: float) -> float:
        """Advances by ``h`` (s) and returns the time (s). The other threads of Python go on meanwhile."""

    def step_to(self, t: float) -> float:
        """Advances to the time ``t`` (s) and returns it."""

    def derivative(self, name: str, order: int = 1) -> float:
        """The time derivative of an output, in its unit per s, or per s² with ``order`` 2."""

    def reset(self) -> None:
        """Back to the state after creation."""

    @property
    def time(self) -> float:
        """Time in s."""

    @property
    def statistics(self) -> dict[str, float]:
        """Counters since the start; step sizes in s, ``energy_drift`` in J."""

    def _initialize(self, start: float | None, stop: float, tolerance: float) -> None: ...
    def _get(self, names: list[str]) -> list[float]: ...
    def _set(self, names: list[str], values: list[float]) -> None: ...
    def _sensitivity(self, of: list[str], by: list[str]) -> list[list[float]]: ...
    def _save(self) -> bytes: ...
    def _restore(self, bytes: bytes) -> None: ...
    def _names(self, causality: str) -> list[str]: ...
    def _equilibrium(self) -> dict[str, Any]: ...
    def _modes(self, count: int | None) -> list[_ModeParts]: ...
    def _linearize(self) -> dict[str, Any]: ...
    def _descriptor_form(self) -> dict[str, Any]: ...

@final
class NativeSweep:
    def __new__(
        cls,
        model: NativeModel,
        factors: list[tuple[str, str | list[_Value]]],
        plan: str,
        rows: list[list[_Value]] | None,
        runs: int | None,
        seed: int,
        outputs: list[str],
        stop: float | None,
        interval: float | None,
        trajectories: bool,
        set: list[tuple[str, _Value]],
        inputs: list[tuple[str, _Law]],
    ) -> Self: ...
    @property
    def runs(self) -> int: ...
    def columns(self, trajectories: bool) -> list[tuple[str, str, str]]: ...
    def execute(self, runs: list[int], jobs: int) -> list[_Outcome]: ...
    def planned(self, runs: list[int]) -> list[tuple[int, int, list[_Value]]]: ...
    def execute_planned(self, planned: list[tuple[int, int, list[_Value]]], jobs: int) -> list[_Outcome]: ...
    def arrays(self, rows: list[list[_Cell]], trajectories: bool) -> dict[str, Any]: ...
    def write(self, path: str, rows: list[list[_Cell]], trajectories: bool) -> None: ...
