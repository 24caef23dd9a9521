"""The command ``biela``, by the compiled part of the package."""

from __future__ import annotations

import os
import signal
import sys

from ._biela import run_command
from ._library import library_of_units


def main() -> int:
    """Does what the arguments of this program ask for and gives its exit status."""
    # Ctrl-C ends the command as it would the program itself; Python would only note it and wait.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    library = library_of_units()
    if library is not None:
        os.environ["BIELA_LIBRARY"] = os.fspath(library)
    return run_command(sys.argv)
