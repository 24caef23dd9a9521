"""The shared library that goes into units."""

from __future__ import annotations

import os
from pathlib import Path


def library_of_units() -> Path | None:
    """The library of the environment variable ``BIELA_LIBRARY``, else the one that came with this package, if it has one."""
    chosen = os.environ.get("BIELA_LIBRARY")
    if chosen:
        return Path(chosen)
    own = Path(__file__).with_name("libbiela.so")
    return own if own.exists() else None
