"""Runs of an experiment that are there already: made of the same scenario by the same code.

A run depends on nothing else, so it need not be made again. A file names the code of the runs.
Runs with real frames are made again, as they depend on the machine; so are those with classes in
Python, which may import what nobody has looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from penstock.errors import ScenarioError
from penstock.experiments.grid import Cell
from penstock.own_run import classes_in
from penstock.provenance import code_digest
from penstock.results import Run
from penstock.storage.draft import write_whole
from penstock.storage.place import remove_runs

RUNS_FOLDER = "runs"
"""The runs of an experiment in its directory."""
CODE_FILE = "made-by.txt"
"""Beside it; names the code that has made the runs: the digest of `code_digest`."""


def kept_runs(directory: Path, grid: Sequence[Cell]) -> dict[str, Run]:
    """The runs of the cells of `grid` that are whole in an experiment's directory, by name.

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
        run = _whole(directory / RUNS_FOLDER / cell.name)
        if run is None or classes_in(run.scenario):
            continue
        if run.summary["scenario_hash"] == cell.scenario().content_hash():
            found[cell.name] = run
    return found


def _whole(directory: Path) -> Run | None:
    """A run that has ended and whose files are as they were written."""
    try:
        run = Run.load(directory)
    except (ScenarioError, OSError):
        return None
    return None if run.is_cancelled else run


def begin(directory: Path, kept: Collection[str]) -> None:
    """Removes an experiment's runs but those `kept`; the code of today makes what follows."""
    remove_runs(directory / RUNS_FOLDER, but=kept)
    directory.mkdir(parents=True, exist_ok=True)
    write_whole(directory / CODE_FILE, (code_digest() + "\n").encode())
