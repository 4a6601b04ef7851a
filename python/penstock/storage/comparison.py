"""Directories of several runs that are shown together: each run has one of its own below them.

A file names the runs that the last command has made there. So the runs of an earlier command are
known, and none of them is taken for one of the comparison. Invariant: a run that no such command
made is not removed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.storage.claim import refuse_out
from penstock.storage.draft import write_whole
from penstock.storage.place import remove_run
from penstock.storage.record import SUMMARY_FILE

COMPARISON_FILE = "comparison.json"
"""Names the runs of the comparison in its directory: ``{"runs": ["bfc", "pfc"]}``."""


@contextmanager
def compared_in(directory: Path, names: Collection[str], *, force: bool) -> Iterator[None]:
    """While it lasts, a command makes the runs of a comparison in a directory.

    When it ends without an error, the runs of an earlier comparison are removed that are not among
    the new ones.

    Parameters
    ----------
    names
        Of the runs' directories, below `directory`.
    force
        Runs of an earlier comparison may be removed.

    Raises
    ------
    ScenarioError
        The directory is that of a single run; or it holds runs of an earlier comparison that are
        not among the new ones, and `force` is not given.
    StorageError
        The disk does not take the names of the runs.
    """
    refuse_run(directory, "scheme")
    left = [one for one in _earlier(directory) if one not in names]
    if left and not force:
        raise refuse_out(
            directory,
            f"it holds runs of an earlier comparison that this one lacks: {', '.join(left)}",
            "name another directory, or add --force to remove them",
        )
    try:
        yield
        for name in left:
            remove_run(directory / name)
        left = []
    finally:
        if directory.is_dir():
            runs = {"runs": [*names, *left]}
            write_whole(directory / COMPARISON_FILE, (json.dumps(runs, indent=2) + "\n").encode())


def refuse_run(directory: Path, what: str) -> None:
    """Refuses the directory of a single run, as one for several.

    Parameters
    ----------
    what
        What has a directory of its own below it.

    Raises
    ------
    ScenarioError
        A run stands in the directory itself.
    """
    if (directory / SUMMARY_FILE).exists():
        remedy = f"name another directory: each {what} has one of its own below it"
        raise refuse_out(directory, "it holds a single run", remedy)


def _earlier(directory: Path) -> list[str]:
    """The directories of the runs of the comparison that is there, as far as they are runs."""
    try:
        names = json.loads((directory / COMPARISON_FILE).read_bytes())["runs"]
        own = [Path(one).name for one in names]
        return [one for one in own if (directory / one / SUMMARY_FILE).is_file()]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []  # nobody has compared anything here, or somebody has written another file
