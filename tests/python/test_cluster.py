"""Sweeps on the workers of a Dask scheduler: the cells of a local sweep, whatever dies.

Scheduler and workers are processes of this machine on 127.0.0.1, and there is no nanny: a worker
that is killed is gone, and a test starts the next one.
"""

from __future__ import annotations

import itertools
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import penstock
from penstock import Scenario
from penstock.cli import main
from penstock.errors import ScenarioError, SimulationError
from penstock.sweep.dask_executor import DaskExecutor
from penstock.sweep.executor import ATTEMPTS, Failure, Outcome, Result, Task
from penstock.sweep.work import work

pytestmark = pytest.mark.slow

PATIENCE_SECONDS = 120
METRIC = "slowdown(statistic='mean')"
SMALL = {
    "topology": {"kind": "single-switch", "hosts": 3},
    "traffic": [{"kind": "listed", "flows": [[0, 2, 5_000, "0 us"], [1, 2, 5_000, "0 us"]]}],
    "duration": "10 us",
}
LONG = {
    "topology": {"kind": "single-switch", "hosts": 4},
    "traffic": [
        {
            "kind": "open-loop",
            "sizes": {"kind": "fixed", "size": "3 kB"},
            "load": 0.9,
            "load_on": {"kind": "edge"},
        }
    ],
    "duration": "1 s",
}
"""Minutes of simulation."""
GRID = ["--set", "load=0.3,0.6", "--seeds", "1..3"]
PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"


@dataclass
class Cluster:
    """A scheduler and its workers."""

    directory: Path
    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def start_worker(self, **environment: str) -> subprocess.Popen[bytes]:
        arguments = [self.address, "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1"]
        place = self.directory / f"worker-{next(self.numbers)}"
        arguments += ["--local-directory", str(place), "--dashboard-address", "127.0.0.1:0"]
        process = started("dask_worker", arguments, place.with_suffix(".log"), environment)
        self.workers.append(process)
        return process

    def end_workers(self) -> None:
        for process in self.workers:
            process.kill()
            process.wait()
        self.workers.clear()


def started(
    module: str, arguments: list[str], log: Path, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    with log.open("wb") as stream:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard", *arguments],
            stdout=stream,
            stderr=stream,
            env=os.environ | environment,
        )


def until(holds: object, words: str) -> None:
    """Waits until a function says yes."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < deadline, words
        time.sleep(0.05)


@contextmanager
def scheduled(directory: Path) -> Iterator[Cluster]:
    """A scheduler without workers; it ends with its workers."""
    file = directory / "scheduler.json"
    arguments = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"]
    arguments += ["--scheduler-file", str(file)]
    made = Cluster(directory, "", started("dask_scheduler", arguments, directory / "log", {}))
    try:
        until(lambda: file.exists() and '"tcp://' in file.read_text(), "no scheduler")
        made.address = json.loads(file.read_text())["address"]
        yield made
    finally:
        made.end_workers()
        made.scheduler.kill()
        made.scheduler.wait()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One scheduler for all tests: to start one takes a second."""
    with scheduled(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture
def cluster(scheduler: Cluster) -> Iterator[Cluster]:
    """A scheduler without workers."""
    yield scheduler
    scheduler.end_workers()


def task(key: str, scenario: dict[str, object] = SMALL) -> Task:
    made = Scenario.model_validate(scenario | {"seed": len(key)})
    return Task(key, made.to_toml(), made.content_hash(), (METRIC,))


def all_of(executor: DaskExecutor, count: int) -> dict[str, Outcome]:
    """Outcomes until there are so many, by key; none comes twice."""
    found: dict[str, Outcome] = {}

    def is_all() -> bool:
        for one in executor.outcomes(0.1):
            assert one.key not in found
            found[one.key] = one
        return len(found) == count

    until(is_all, f"only {sorted(found)} came back")
    return found


def same(one: Outcome, other: Outcome) -> bool:
    """Whether two results differ in nothing but the time that they took."""
    assert isinstance(one, Result)
    assert isinstance(other, Result)
    return replace(one, wall_seconds=0.0) == replace(other, wall_seconds=0.0)


def the_trial_of_the_page() -> list[str]:
    """The words of the first sweep in the documentation."""
    text = PAGE.read_text().partition("penstock sweep")[2].partition("```")[0]
    return ["penstock", "sweep", *shlex.split(text.replace("\\\n", " "))]


def cells(out: str) -> dict[str, bytes]:
    root = Path(out) / "cells"
    return {str(one.relative_to(root)): one.read_bytes() for one in root.rglob("*.parquet")}


# -- a whole sweep ---------------------------------------------------------------------------------


def test_a_cluster_gives_the_local_cells_though_two_workers_are_killed(
    here: Path, cluster: Cluster
) -> None:
    for _ in range(2):
        cluster.start_worker()
    words = the_trial_of_the_page()
    at, out = words.index("--cluster"), words.index("--out")
    far = [*words[:at], "--cluster", cluster.address, "--out", "far"]
    near = [*words[:at], "--jobs", "2", "--out", "near"]
    assert (words[at + 1], out) == ("tcp://127.0.0.1:8786", at + 2)
    with Path("log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *far], stdout=subprocess.DEVNULL, stderr=log
        )
        for number, wanted in [(0, 1), (1, 3)]:
            until(
                lambda wanted=wanted: len(cells("far")) >= wanted or process.poll() is not None,
                "no cells came",
            )
            cluster.workers[number].kill()
            cluster.start_worker()
        process.wait(PATIENCE_SECONDS)
    assert process.returncode == 0, Path("log").read_text()
    assert main(near[1:]) == 0
    assert len(cells("near")) == 6
    assert cells("far") == cells("near")


def test_ctrl_c_keeps_the_cells_and_the_same_command_goes_on(here: Path, cluster: Cluster) -> None:
    cluster.start_worker()
    slow = ["--set", "duration=50us,1s", "--seeds", "1", "--metric", METRIC, "--force"]
    command = [sys.executable, "-m", "penstock", "sweep", "quickstart", *slow, "--out", "out"]
    with Path("log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--cluster", cluster.address], stdout=subprocess.DEVNULL, stderr=log
        )
        until(lambda: cells("out") or process.poll() is not None, "no cell came")
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_SECONDS)
    assert process.returncode == 1
    assert "1 cells are missing; the same command goes on" in Path("log").read_text()
    assert list(cells("out")) == ["duration=50 us/seed=1/cell.parquet"]


# -- the executor ----------------------------------------------------------------------------------


def test_a_running_task_is_cancelled_and_its_worker_works_on(cluster: Cluster) -> None:
    cluster.start_worker()
    with DaskExecutor(cluster.address) as executor:
        executor.submit(task("a", LONG))
        executor.submit(task("bb", LONG))
        until(lambda: executor._begun, "nothing was begun")
        executor.cancel()
        assert executor.outcomes(0.0) == []
        executor.submit(task("ccc"))
        found = all_of(executor, 1)
        assert same(found["ccc"], work(task("ccc")))
        assert executor._client.sync(executor._client.scheduler.who_has) == {}


def test_a_task_that_ends_its_workers_fails_in_the_end(cluster: Cluster) -> None:
    cluster.start_worker()
    with DaskExecutor(cluster.address) as executor:
        executor.submit(task("a", LONG))
        for number in range(ATTEMPTS):
            begun = f"{executor._name}-{number}"
            until(lambda begun=begun: begun in processing(executor), "the task was not begun")
            cluster.start_worker()
            cluster.workers[number].kill()
        (failure,) = all_of(executor, 1).values()
        assert isinstance(failure, Failure)
        assert f"died {ATTEMPTS} times" in failure.message
        assert any("has gone" in one for one in executor.notices())
        executor.submit(task("bb"))
        assert same(all_of(executor, 1)["bb"], work(task("bb")))


def processing(executor: DaskExecutor) -> set[str]:
    """Keys that workers work on."""
    return {key for keys in executor._client.processing().values() for key in keys}


def test_capacity_follows_the_workers_and_another_version_gets_no_task(
    cluster: Cluster, tmp_path: Path
) -> None:
    package = Path(penstock.__file__).parent
    shutil.copytree(package, tmp_path / "penstock")
    with (tmp_path / "penstock" / "schemes" / "bfc.toml").open("a") as file:
        file.write("# another one\n")
    cluster.start_worker()
    with DaskExecutor(cluster.address) as executor:
        assert executor.capacity == 1
        cluster.start_worker()
        until(lambda: executor.capacity == 2, "the second worker was not seen")
        cluster.start_worker(PYTHONPATH=str(tmp_path))
        notices: list[str] = []
        until(lambda: notices.extend(executor.notices()) or notices, "the third was not seen")
        assert "not used: the worker tcp://127.0.0.1" in notices[0]
        assert executor.capacity == 2
    with pytest.raises(ScenarioError, match=r"has code [0-9a-f]{12} \(here [0-9a-f]{12}\)"):
        DaskExecutor(cluster.address).__enter__()


def test_a_scheduler_that_dies_ends_the_sweep_with_words(tmp_path: Path) -> None:
    with scheduled(tmp_path) as cluster:
        cluster.start_worker()
        with DaskExecutor(cluster.address) as executor:
            executor.submit(task("a", LONG))
            until(lambda: processing(executor), "the task was not begun")
            cluster.scheduler.kill()
            with pytest.raises(SimulationError, match="has gone; with it back"):
                all_of(executor, 1)


# -- refusals --------------------------------------------------------------------------------------


def test_a_scheduler_without_workers_is_refused(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.sweep.dask_executor.WORKERS_SECONDS", 0.5)
    with pytest.raises(ScenarioError, match=r"no worker for 0\.5 s; start some with `dask worker"):
        DaskExecutor(cluster.address).__enter__()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--cluster", "nowhere"], "this is no cluster; write the address"),
        (["--cluster", "tcp://127.0.0.1:1", "--jobs", "2"], "the workers of the cluster decide"),
        (["--cluster", "tcp://127.0.0.1:1", "--cluster-option", "mem=1GB"], "takes no options"),
        (["--cluster-option", "mem=1GB"], "this is no cluster"),
        (["--cluster", "slurm"], "how many runs at a time"),
        (["--cluster", "slurm", "--jobs", "2", "--cluster-option", "mem"], "this sets nothing"),
        (["--cluster", "slurm", "--jobs", "2", "--cluster-option", "m=1"], "no option m"),
        (["--cluster", "slurm", "--jobs", "2", "--cluster-option", "cpus-per-task=0"],
         "no job has so many"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_first(
    here: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    assert main(["sweep", "quickstart", *GRID, *more, "--out", "out"]) == 2
    assert words in capsys.readouterr().err
    assert not Path("out").exists()


def test_without_dask_the_remedy_is_its_command(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.sweep.cluster.find_spec", lambda name: None)
    assert main(["sweep", "quickstart", *GRID, "--cluster", "tcp://127.0.0.1:1"]) == 2
    assert "pip install 'penstock[cluster]'" in capsys.readouterr().err


def test_a_scheduler_that_does_not_answer_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.sweep.dask_executor.CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for port in (1, silent.getsockname()[1]):
            address = f"tcp://127.0.0.1:{port}"
            assert main(["sweep", "quickstart", *GRID, "--cluster", address, "--out", "out"]) == 2
            assert "no scheduler of Dask answers there" in capsys.readouterr().err
