"""Kills a writer of a run at its first step in the file system, at its second, and so on.

After each the directory must hold a whole run, and nothing else but a file of somebody else. Usage:
``killed_writer.py DIRECTORY with|without``: runs `0` and `1` are in the directory, and the system
can exchange two directories in one step, or cannot. Prints the number of steps.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

from penstock import Run
from penstock.results import RUN_FILES
from penstock.storage import place
from penstock.storage.record import SUMMARY_FILE

STEPS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "open"}
"""Python's audit events before a change of the file system."""


def save_and_die(source: Path, target: Path, step: int) -> None:
    """Saves a run, and is killed at a step if it has so many."""
    left = step

    def kill(event: str, arguments: object) -> None:
        nonlocal left
        if event in STEPS:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    run = Run.load(source)
    sys.addaudithook(kill)
    run.save(target, force=True)
    os._exit(0)


def main(root: Path, exchanges: bool) -> int:
    """Kills at every step; returns how many there are."""
    if not exchanges:
        place.sys = SimpleNamespace(platform="one that cannot")  # type: ignore[attr-defined]
    target, step, status, seeds = root / "in" / "run", 0, -1, set()
    while status:
        step += 1
        shutil.rmtree(target.parent, ignore_errors=True)
        shutil.copytree(root / "0", target)
        (target / "notes.md").write_text("mine")
        child = os.fork()
        if child == 0:
            save_and_die(root / "1", target, step)
        status = os.waitpid(child, 0)[1]
        assert status in (0, signal.SIGKILL), (step, status)
        if exchanges or target.is_dir():
            seeds.add(Run.load(target).summary["seed"])
            names = {path.name for path in target.iterdir()}
            assert names <= {*RUN_FILES, SUMMARY_FILE, "notes.md"}, (step, names)
        place.sweep(target.parent)
        assert [path.name for path in target.parent.iterdir()] == ["run"], step
        assert (target / "notes.md").read_text() == "mine"
        seeds.add(Run.load(target).summary["seed"])
    assert seeds == {1, 2}
    return step


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), sys.argv[2] == "with"))
