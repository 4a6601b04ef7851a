"""What a cluster costs beside local processes: the same tasks on both, in pairs.

Run it as ``.venv/bin/python benches/cluster.py`` on an idle machine. It starts a scheduler and
workers of Dask on 127.0.0.1, as many as the local executor has processes, finds how long a scenario
must be for a task of so many seconds, and prints the time of both executors pair by pair. Workers
and processes are warm: each works on a task before the first pair.

"Beside the tasks" is the time of a worker in which it had no task, as a share of the time in which
it had one. What else runs on the machine disturbs that share less than the ratio of the times.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock import Scenario
from penstock.processors import processor_count
from penstock.sweep.dask_executor import DaskExecutor
from penstock.sweep.executor import Executor, Result, Task
from penstock.sweep.local import LocalExecutor
from penstock.sweep.work import work

FIRST_US = 2_000
"""Simulated time of the run from which the length of a task follows [us]."""


def task(key: str, simulated_us: int, seed: int) -> Task:
    """A task of the scenario `quickstart`, so long."""
    scenario = Scenario.from_name("quickstart", {"duration": f"{simulated_us} us", "seed": seed})
    return Task(key, scenario.to_toml(), scenario.content_hash(), ("slowdown()",))


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """A scheduler with so many workers of one thread; its address."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        here = ["--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        own = ["--port", "0", "--scheduler-file", str(file)]
        processes = [_started("dask_scheduler", [*here, *own])]
        try:
            while not file.exists() or '"tcp://' not in file.read_text():
                time.sleep(0.1)
            address = file.read_text().partition('"address": "')[2].partition('"')[0]
            for number in range(workers):
                place = ["--local-directory", str(Path(folder) / str(number))]
                arguments = [address, *here, *place, "--no-nanny", "--nthreads", "1"]
                processes.append(_started("dask_worker", arguments))
            yield address
        finally:
            for process in processes:
                process.kill()
                process.wait()


def _started(module: str, arguments: list[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def timed(executor: Executor, tasks: list[Task]) -> tuple[float, float]:
    """The time until all have come back, and the time that workers spent on them [s]."""
    began = time.perf_counter()
    for one in tasks:
        executor.submit(one)
    missing = {one.key for one in tasks}
    worked = 0.0
    while missing:
        for outcome in executor.outcomes(1.0):
            assert isinstance(outcome, Result), outcome
            missing.remove(outcome.key)
            worked += outcome.wall_seconds
    return time.perf_counter() - began, worked


def main() -> None:
    """Prints a line per pair, then the median of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="of a task; default 5")
    parser.add_argument("--tasks", type=int, default=8, help="of each side of a pair; default 8")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=processor_count(), help="workers of each")
    chosen = parser.parse_args()
    first = work(task("first", FIRST_US, 1))
    assert isinstance(first, Result)
    simulated_us = round(FIRST_US * chosen.seconds / first.wall_seconds)
    tasks = [task(str(seed), simulated_us, seed) for seed in range(1, chosen.tasks + 1)]
    warm = [task(f"warm-{number}", 100, 1) for number in range(chosen.jobs)]
    ratios, shares = [], []
    with (
        cluster(chosen.jobs) as address,
        DaskExecutor(address) as far,
        LocalExecutor(chosen.jobs) as near,
    ):
        while far.capacity < chosen.jobs:
            time.sleep(0.1)
        timed(far, warm)
        timed(near, warm)
        for pair in range(chosen.pairs):
            order = [near, far] if pair % 2 == 0 else [far, near]
            seconds = {one: timed(one, tasks) for one in order}
            beside = {one: total * chosen.jobs / own - 1 for one, (total, own) in seconds.items()}
            ratios.append(seconds[far][0] / seconds[near][0])
            shares.append(beside[far])
            print(
                f"local {seconds[near][0]:.2f} s ({beside[near]:.2%} beside the tasks), "
                f"cluster {seconds[far][0]:.2f} s ({beside[far]:.2%}): ratio {ratios[-1]:.3f}"
            )
    print(f"median of {len(ratios)} ratios: {statistics.median(ratios):.3f}")
    print(f"median beside the tasks on the cluster: {statistics.median(shares):.2%}")


if __name__ == "__main__":
    main()
