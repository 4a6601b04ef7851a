"""What `--cluster` means: which executor of other machines a sweep gets.

Dask is imported only here, and only when it is asked for: it is an extra of the installation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import refuse

if TYPE_CHECKING:
    from penstock.sweep.dask_executor import DaskExecutor

SLURM = "slurm"
"""The cluster that is no address."""
LOGS = "slurm"
"""Folder of a sweep's directory for what its jobs print."""
_ADDRESS = re.compile(r"(tcp|tls)://[^/\s]+:[0-9]{1,5}")


def check_cluster(cluster: str, options: Sequence[str], jobs: int | None) -> None:
    """Refuses a choice of `--cluster` and its options that cannot be meant.

    Raises
    ------
    ScenarioError
        It is no address, does not go with the options, or Dask is not installed.
    """
    if cluster != SLURM and not _ADDRESS.fullmatch(cluster):
        remedy = 'write the address of a scheduler, e.g. tcp://10.0.0.1:8786, or "slurm"'
        raise refuse("--cluster", "this is no cluster", remedy, cluster)
    for package in ("distributed", "dask_jobqueue"):
        if find_spec(package) is None:
            remedy = "run: pip install 'penstock[cluster]'"
            raise refuse("--cluster", f"the package {package} is not installed", remedy, cluster)
    if cluster == SLURM:
        if jobs is None:
            message = "nothing says how many runs at a time Slurm shall be asked for"
            raise refuse("--jobs", message, "write e.g. --jobs 32")
        from penstock.sweep.slurm import read_options

        read_options(options)
        return
    if jobs is not None:
        message = "the workers of the cluster decide how many runs there are at a time"
        raise refuse("--jobs", message, "leave it out, and start fewer workers", jobs)
    if options:
        message = "a scheduler that runs already takes no options"
        raise refuse("--cluster-option", message, "leave it out", options[0])


@contextmanager
def cluster_executor(
    cluster: str, options: Sequence[str], jobs: int | None, threads: int, directory: Path
) -> Iterator[DaskExecutor]:
    """The executor of a cluster that :func:`check_cluster` has accepted.

    Parameters
    ----------
    jobs
        Runs at a time, > 0; for Slurm alone.
    threads
        Threads of a run, > 0.
    directory
        That of the sweep.

    Raises
    ------
    ScenarioError
        It cannot be reached, has no worker, or another version of Penstock.
    """
    if cluster == SLURM:
        from penstock.sweep.slurm import read_options, slurm_executor

        chosen = read_options(options)
        with slurm_executor(chosen, jobs or 1, threads, directory / LOGS) as on_slurm:
            yield on_slurm
        return
    from penstock.sweep.dask_executor import DaskExecutor

    with DaskExecutor(cluster) as executor:
        yield executor
