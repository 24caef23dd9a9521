"""A sweep on a Dask cluster. usage: python dask_study.py MODEL [SCHEDULER]

Without the address of a scheduler two processes of this machine are the cluster. See docs/studies.md.
"""

from __future__ import annotations

import sys

from distributed import Client, LocalCluster

import biela


def main(path: str, scheduler: str | None = None) -> None:
    cluster = scheduler or LocalCluster(n_workers=2, threads_per_worker=1)  # type: ignore[no-untyped-call]
    with Client(cluster) as client:  # type: ignore[no-untyped-call]
        study = biela.sweep(
            biela.Model(path), {"slider_mass": "uniform(0.5,1.5)", "tau": "normal(0,0.3)"},
            plan="sobol", runs=256, client=client,
        )  # fmt: skip
    study.write("study.parquet")
    print(f"{len(study['run'])} runs, {len(study.failed)} failed; largest bearing force {study['pivot_fx.max'].max():.4g} N")


if __name__ == "__main__":
    main(*sys.argv[1:])
