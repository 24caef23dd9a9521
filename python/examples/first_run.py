"""A run, its outputs with units, and a page to look at. usage: python first_run.py MODEL [PAGE.html]"""

from __future__ import annotations

import sys

import biela


def main(path: str, page: str | None = None) -> None:
    model = biela.Model(path)
    result = model.run()
    for name in result:
        values = result[name]
        print(f"{name:>16}  {values.min():12.5g} to {values.max():12.5g} {result.units[name]}")
    print(f"{result.statistics['steps']} steps, energy drift {result.statistics['energy_drift']:.1e} J")
    if page is not None:
        result.report(page)


if __name__ == "__main__":
    main(*sys.argv[1:])
