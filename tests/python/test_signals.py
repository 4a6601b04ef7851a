"""Signals at random moments: exit code and message as documented, whole runs or none, no drafts.

As a command: ``test_signals.py COUNT SEED LONGEST_SECONDS DIRECTORY``.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock import Run
from penstock.interruption import AGAIN_SECONDS, EXIT_CODE
from penstock.results import RUN_FILES
from penstock.storage.place import sweep
from penstock.storage.record import LATER_FILES, SUMMARY_FILE

pytestmark = pytest.mark.slow

SIGNALS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "KILL": signal.SIGKILL}
DURATION = os.environ.get("PENSTOCK_DURATION", "2 ms")
COMMAND = ["compare", "quickstart", "--set", f"duration={DURATION}", "--scheme", "bfc,dctcp,hpcc"]
"""A command of seconds: it starts up, simulates, saves three runs and writes a report."""
SUITE_SIGNALS = 6
"""One in three of each kind (our choice: ten seconds)."""
PYTHON_STARTS_SECONDS = 0.1
"""Within this time the interpreter is not ready to handle signals, and the system's rule holds: the
process ends, without a word."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    message: str
    after: float
    """How long it had run when the signal was sent [s]."""


def send(one: signal.Signals, after: float, directory: Path) -> Ended:
    """Starts the command, sends it a signal after a time, and waits for its end."""
    command = [sys.executable, "-m", "penstock", *COMMAND, "--out", str(directory / "out")]
    with (directory / "log").open("w+") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, cwd=directory, start_new_session=True
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after)
        process.send_signal(one)
        process.wait(60)
        log.seek(0)
        return Ended(process.returncode, log.read(), after)


def judge(ended: Ended, one: signal.Signals, out: Path) -> str:
    """Checks what a command left; says in a word how it ended."""
    # Before the first line of this package runs, a traceback is the interpreter's own.
    assert "Traceback" not in ended.message or (
        ended.after < PYTHON_STARTS_SECONDS and "penstock" not in ended.message
    ), ended
    for directory in out.glob("[!.]*"):
        if directory.is_dir():
            Run.load(directory)
            assert {path.name for path in directory.iterdir()} <= {*RUN_FILES, SUMMARY_FILE}
    if one is not signal.SIGKILL:
        drafts = [path for path in out.parent.rglob(".*") if path.name != ".git"]
        assert drafts == [], ended
    if ended.code == 0:
        return "done"
    if one is signal.SIGKILL or ended.after < PYTHON_STARTS_SECONDS:
        assert ended.code in (-one, EXIT_CODE), ended
        return "killed"
    assert ended.code == EXIT_CODE, ended
    assert "interrupted; " in ended.message, ended
    return "interrupted"


def next_run_sweeps(out: Path) -> None:
    """What a killed command left is gone when the next one writes there."""
    if out.is_dir():
        sweep(out)
        assert [path.name for path in out.rglob(".*")] == []


def attack(seed: int, count: int, longest: float, directory: Path) -> dict[str, int]:
    """Sends `count` signals at random moments; counts how the commands ended."""
    draw, counts = random.Random(seed), {}
    for number in range(count):
        name = list(SIGNALS)[number % len(SIGNALS)]
        here = directory / f"{seed}-{number}"
        here.mkdir(parents=True)
        ended = send(SIGNALS[name], draw.uniform(0, longest), here)
        how = f"{name} {judge(ended, SIGNALS[name], here / 'out')}"
        counts[how] = counts.get(how, 0) + 1
        next_run_sweeps(here / "out")
    return counts


def test_signals_leave_whole_runs_or_none(tmp_path: Path) -> None:
    began = time.monotonic()
    (tmp_path / "whole").mkdir()
    assert send(signal.SIGTERM, 60, tmp_path / "whole").code == 0
    whole = time.monotonic() - began
    counts = attack(1, SUITE_SIGNALS, whole, tmp_path)
    assert sum(counts.values()) == SUITE_SIGNALS


def test_a_stop_that_comes_after_the_last_run_is_heard(tmp_path: Path) -> None:
    """The report is being written then; the runs stay, and nothing else."""
    script = (
        "import os, signal, sys\n"
        "from penstock import __main__, interruption\n"
        "from penstock.report import frame\n"
        "frame.looks_of = lambda names: os.kill(os.getpid(), signal.SIGTERM)\n"
        "__main__.entry()\n"
    )
    out = tmp_path / "out"
    command = [sys.executable, "-c", script, *COMMAND[:4], "--out", str(out)]
    command[3] = "run"
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == EXIT_CODE
    assert f"interrupted; the runs are kept: {out}" in ended.stderr
    assert not Run.load(out).is_cancelled
    assert not (out / LATER_FILES[0]).exists()


def test_a_second_signal_ends_a_command_whose_hook_never_returns(tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(
        "from penstock import Controller\n"
        "class Loop(Controller):\n"
        '    base = "dctcp"\n'
        "    def on_start(self):\n"
        "        print('begun', flush=True)\n"
        "        while True: pass\n"
    )
    command = [sys.executable, "-m", "penstock", "run", "quickstart", "--scheme", "./loop.py:Loop"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(AGAIN_SECONDS + 0.5)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        try:
            _, told = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == EXIT_CODE
    assert "interrupted; " in told


if __name__ == "__main__":
    print(attack(int(sys.argv[2]), int(sys.argv[1]), float(sys.argv[3]), Path(sys.argv[4])))
