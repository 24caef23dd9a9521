"""The shared library that goes into units."""

from __future__ import annotations

import os
from pathlib import Path


def library_of_units() -> Path | None:
    """The library of the environment variable ``BIELA_LIBRARY``, else the one of this package, if it came as a wheel."""
    chosen = os.environ.get("BIELA_LIBRARY")
    if chosen:
        return Path(chosen)
    named = Path(__file__).with_name("library_of_units.txt")
    return named.with_name(named.read_text().strip()) if named.exists() else None
