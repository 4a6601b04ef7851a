"""Ctrl-C: a command ends early with whole files and says what is in them."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from fake_core import FakeCore

from penstock import Run, Scenario, run_many
from penstock.tables import FILES

pytestmark = pytest.mark.slow

LONG = ["bfc-google-60", "--set", "duration=50 ms"]
PATIENCE_SECONDS = 120
RUNS_SECONDS = 2
"""How long a run goes on behind its estimate, which is the last that is said before it starts."""


@dataclass(frozen=True)
class Interrupted:
    """How a command ended after Ctrl-C."""

    exit_code: int
    message: str
    out: Path


def interrupt(directory: Path, arguments: list[str], at: str, wait: float = 0) -> Interrupted:
    """Starts a command and interrupts it a while [s] after its progress says `at`."""
    out, log = directory / "out", directory / "log"
    command = [sys.executable, "-m", "penstock", *arguments, "--out", str(out)]
    with log.open("w") as stream:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stream, cwd=directory)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while at not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_SECONDS)
    return Interrupted(process.returncode, log.read_text(), out)


def whole(directory: Path) -> Run:
    """The run in a directory, all of whose files can be read."""
    for file in FILES.values():
        pl.read_parquet(directory / file)
    assert [path.name for path in directory.iterdir() if path.name.startswith(".")] == []
    return Run.load(directory)


@pytest.mark.parametrize(
    ("command", "runs"),
    [(["run", *LONG], ["."]), (["compare", *LONG, "--scheme", "bfc,dctcp"], ["bfc", "dctcp"])],
    ids=["run", "compare"],
)
def test_an_interrupted_run_keeps_the_flows_that_have_finished(
    command: list[str], runs: list[str], tmp_path: Path
) -> None:
    ended = interrupt(tmp_path, command, at="estimate:", wait=RUNS_SECONDS)
    assert ended.exit_code == 1
    assert "interrupted; what had finished is kept" in ended.message
    assert "Traceback" not in ended.message
    for name in runs:
        stored = whole(ended.out / name)
        assert stored.is_cancelled
        assert 0 < stored.summary["sim_end_ps"] < stored.scenario.duration
        finished = stored.flows.filter("finished")
        assert finished.height == stored.summary["flows_finished"] > 0
        assert f"{finished.height:,} of {stored.summary['flows_started']:,} flows" in ended.message


def test_an_interrupted_comparison_keeps_the_runs_that_have_finished(tmp_path: Path) -> None:
    schemes = ["quickstart", "--scheme", "bfc,pfc,dctcp,hpcc,sfq,window,ideal-fq", "--jobs", "1"]
    slow = ["--set", "duration=20 ms", "--set", "topology.hosts=16"]
    ended = interrupt(tmp_path, ["compare", *schemes, *slow], at="bfc: done")
    assert ended.exit_code == 1
    assert not whole(ended.out / "bfc").is_cancelled
    assert f"{ended.out / 'bfc'}: complete" in ended.message
    assert "ideal-fq" in ended.message.partition("not made: ")[2]
    assert not (ended.out / "ideal-fq").exists()


def test_an_interrupted_reproduction_keeps_the_runs_that_have_finished(tmp_path: Path) -> None:
    ended = interrupt(tmp_path, ["reproduce", "bfc/fig8", "--jobs", "1"], at="3/150")
    assert ended.exit_code == 1
    assert "Traceback" not in ended.message
    stored = [whole(summary.parent) for summary in ended.out.glob("runs/*/summary.json")]
    assert 3 <= len(stored) < 150
    assert sum(not run.is_cancelled for run in stored) >= 3
    for run in stored:
        assert f"{run.directory}: " in ended.message
    assert "not made: " in ended.message
    assert (ended.out / "report.html").is_file()


def test_ctrl_c_stops_every_run_and_leaves_the_handler_as_it_was(core: FakeCore) -> None:
    core.steps = 100_000
    before = signal.getsignal(signal.SIGINT)
    scenarios = {name: Scenario.from_name("quickstart", {"name": name}) for name in "abcd"}

    def interrupt_both() -> None:
        while len(core.scenarios) < 2:
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt_both, daemon=True).start()
    runs = run_many(scenarios, jobs=2)
    assert list(runs) == ["a", "b"]
    assert all(run.is_cancelled for run in runs.values())
    assert signal.getsignal(signal.SIGINT) is before
