"""Workers as jobs of Slurm: started with a sweep, ended with it.

The scheduler of Dask is in this process, and `dask-jobqueue` writes the jobs' scripts. When this
process dies, however it dies, its workers lose their scheduler and end, and with them the jobs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
from dask_jobqueue.slurm import SLURMCluster

from penstock.errors import nearest, refuse
from penstock.sweep.dask_executor import OPTION, DaskExecutor

DEATH_SECONDS = 60
"""Time that a worker looks for its scheduler before it ends [s]; Dask's own default."""
MEMORY = "2GB"
"""Memory of a job where nothing says it (our choice: twice what Python and a run of 128 hosts
take)."""
KEYWORDS = {
    "partition": "queue",
    "account": "account",
    "time": "walltime",
    "mem": "memory",
    "cpus-per-task": "cores",
    "interface": "interface",
}
"""What `--cluster-option` takes, mostly as `sbatch` calls it -> what dask-jobqueue calls it."""


def read_options(options: Sequence[str]) -> dict[str, str | int]:
    """Keywords of a `SLURMCluster` from texts ``KEY=VALUE``.

    Raises
    ------
    ScenarioError
        A text is none, or nothing is called so.
    """
    keywords: dict[str, str | int] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not value:
            raise refuse("--cluster-option", "this sets nothing", "write KEY=VALUE", option)
        if key not in KEYWORDS:
            message = f"there is no option {key}"
            raise refuse("--cluster-option", message, nearest(key, KEYWORDS), option)
        keywords[KEYWORDS[key]] = value
    if "cores" in keywords:
        cores = str(keywords["cores"])
        if not cores.isdecimal() or int(cores) < 1:
            remedy = "write a whole number from 1 on"
            raise refuse("--cluster-option", "no job has so many", remedy, f"cpus-per-task={cores}")
        keywords["cores"] = int(cores)
    return keywords


@contextmanager
def slurm_executor(
    options: Mapping[str, str | int], jobs: int, threads: int, logs: Path
) -> Iterator[DaskExecutor]:
    """An executor on jobs of Slurm; a job that ends while it is needed is replaced.

    Parameters
    ----------
    options
        Of :func:`read_options`. What they leave out comes from Dask's configuration.
    jobs
        Runs at a time, > 0.
    threads
        Threads of a run, > 0.
    logs
        Directory for what the jobs print.

    Raises
    ------
    ScenarioError
        Slurm is not here, or refuses the job.
    """
    configured = dask.config.get("jobqueue.slurm", {})
    chosen: dict[str, Any] = {"memory": MEMORY} if not configured.get("memory") else {}
    cores = int(options.get("cores") or configured.get("cores") or threads)
    each = max(1, cores // threads)
    logs.mkdir(parents=True, exist_ok=True)
    chosen |= {
        "cores": cores,
        "processes": each,
        "job_name": "penstock",
        "log_directory": str(logs.resolve()),
        "death_timeout": DEATH_SECONDS,
        "scheduler_options": {"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        **options,
    }
    try:
        cluster = SLURMCluster(**chosen)
    except (OSError, ValueError, RuntimeError) as error:
        remedy = "see the options of --cluster-option, and Dask's configuration of jobqueue"
        raise refuse(OPTION, f"no cluster can be made: {error}", remedy, "slurm") from None
    with cluster:
        _check(cluster.job_script())
        wanted = -(-jobs // each)
        cluster.adapt(minimum_jobs=wanted, maximum_jobs=wanted)
        with DaskExecutor(cluster.scheduler_address, awaits_workers=False) as executor:
            yield executor


def _check(script: str) -> None:
    """Refuses a job that Slurm would refuse."""
    try:
        tried = subprocess.run(
            ["sbatch", "--test-only"], input=script, capture_output=True, text=True
        )
    except FileNotFoundError:
        remedy = "run the command where jobs are submitted"
        raise refuse(OPTION, "there is no sbatch on this machine", remedy, "slurm") from None
    if tried.returncode:
        words = tried.stderr.strip().replace("\n", "; ")
        remedy = "see --cluster-option partition=, account=, time=, mem= and cpus-per-task="
        raise refuse(OPTION, f"Slurm refuses the job: {words}", remedy, "slurm")
