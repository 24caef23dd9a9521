"""Biela: mechanisms as components.

>>> import biela
>>> model = biela.Model("models/slider_crank.toml")
>>> result = model.run(stop=2.0, set={"slider_mass": 0.9})     # s, kg
>>> x = result["slider_x"]                                     # NumPy, m
>>> study = biela.sweep(model, {"slider_mass": "0.5:1.5:11"})
>>> worst = study["pivot_fx.max"].max()                        # N

Units are SI; ``model.variables`` and ``result.units`` name them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from ._analysis import DescriptorForm, Equilibrium, LinearModel, Mode
from ._biela import __version__
from ._errors import CallError, Error, ModelError, SimulationError, UnknownVariable
from ._inputs import InputLaw, Inputs, Value
from ._library import library_of_units
from ._model import Experiment, Instance, Model, Start, Variable
from ._result import Array, Result
from ._state import State
from ._study import Study, sweep

__all__ = [
    "Array",
    "CallError",
    "DescriptorForm",
    "Equilibrium",
    "Error",
    "Experiment",
    "InputLaw",
    "Inputs",
    "Instance",
    "LinearModel",
    "Mode",
    "Model",
    "ModelError",
    "Result",
    "SimulationError",
    "Start",
    "State",
    "Study",
    "UnknownVariable",
    "Value",
    "Variable",
    "__version__",
    "import_model",
    "pack",
    "sweep",
]


def import_model(
    path: str | os.PathLike[str],
    *,
    free: bool | None = None,
    srdf: str | os.PathLike[str] | None = None,
    package_paths: Sequence[str | os.PathLike[str]] = (),
    keyframe: str | None = None,
    start: Mapping[str, float] | None = None,
    no_limits: bool = False,
    contact: bool = False,
    strict: bool = False,
) -> Model:
    """A model from a robot in another format (URDF or MJCF). ``model.text`` is its model file.

    What was dropped and changes the motion is a warning; ``biela import`` tells what became of every element.

    Args:
        path: the file.
        free: whether the root moves; by default as the files say, else it is fixed.
        srdf: the SRDF file that belongs to a URDF file.
        package_paths: folders in which ``package://`` is sought first.
        keyframe: start pose by name: a keyframe, or a group state of the SRDF file.
        start: joint coordinates at the start by the names of their joints, in rad or m; they count more than a keyframe.
        no_limits: without limits of joint coordinates.
        contact: with contacts of geoms against planes of the world (MJCF).
        strict: raise ``biela.ModelError`` instead of the warning.
    """
    text, lost = Model._import(
        os.fspath(path), free, None if srdf is None else os.fspath(srdf), [os.fspath(folder) for folder in package_paths],
        keyframe, [(name, float(value)) for name, value in (start or {}).items()], no_limits, contact,
    )  # fmt: skip
    if lost:
        sentence = f"{os.fspath(path)}: the motion differs without {', '.join(lost)}"
        if strict:
            raise ModelError(sentence, culprit=lost[0])
        warnings.warn(sentence, stacklevel=2)
    return Model(text, base_dir=os.path.dirname(os.path.abspath(path)))


def pack(
    model: Model | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    fmi: int = 2,
    library: str | os.PathLike[str] | None = None,
) -> Path:
    """Packs a model as an FMU (FMI 2.0 or 3.0, Co-Simulation) and returns its path.

    The FMU holds the shared library of Biela: ``library``, else the one of the environment variable ``BIELA_LIBRARY``, else the
    one that came with this package. ``out`` is ``NAME.fmu`` in the working directory by default.
    """
    if not isinstance(model, Model):
        model = Model(model)
    if library is None:
        library = library_of_units()
    data, identifier = model._pack(fmi, None if library is None else os.fspath(library))
    path = Path(f"{identifier}.fmu" if out is None else out)
    path.write_bytes(data)
    return path
