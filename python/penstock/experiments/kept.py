"""Runs of an experiment that are there already: made of the same scenario by the same code.

A run depends on nothing else, so it need not be made again. A file names the code of the runs.
Runs with real frames are made again, as they depend on the machine; so are those with classes in
Python, which may import what nobody has looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.errors import ScenarioError
from penstock.experiments.grid import Cell
from penstock.own_run import classes_in
from penstock.provenance import code_digest
from penstock.storage.draft import write_whole
from penstock.storage.place import remove_runs
from penstock.storage.record import read_record

RUNS_FOLDER = "runs"
"""The runs of an experiment in its directory."""
CODE_FILE = "made-by.txt"
"""Beside it; names the code that has made the runs: the digest of `code_digest`."""


def kept_runs(directory: Path, grid: Sequence[Cell]) -> dict[str, dict[str, Any]]:
    """The cells of `grid` whose run is whole in an experiment's directory: name -> its summary.

    Raises
    ------
    ScenarioError
        A scenario of a user's experiment cannot be run.
    """
    try:
        if (directory / CODE_FILE).read_text("utf-8").strip() != code_digest():
            return {}
    except (OSError, ValueError):
        return {}
    found = {}
    for cell in grid:
        if cell.missing or cell.frames:
            continue
        scenario = cell.scenario()
        summary = _whole(directory / RUNS_FOLDER / cell.name)
        is_same = summary and summary["scenario_hash"] == scenario.content_hash()
        if summary and is_same and not classes_in(scenario.resolve()):
            found[cell.name] = summary
    return found


def _whole(directory: Path) -> dict[str, Any] | None:
    """The summary of a run that has ended and whose files are as they were written."""
    try:
        record = read_record(directory)
        record.verify()
    except (ScenarioError, OSError):
        return None
    return None if record.summary["cancelled"] else record.summary


def begin(directory: Path, kept: dict[str, dict[str, Any]]) -> None:
    """Removes an experiment's other runs, and says that the code of today makes what follows."""
    remove_runs(directory / RUNS_FOLDER, but=kept)
    directory.mkdir(parents=True, exist_ok=True)
    write_whole(directory / CODE_FILE, (code_digest() + "\n").encode())
