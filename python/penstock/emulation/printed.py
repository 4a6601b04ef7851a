"""What programs print: files beside a run, which replace those of an earlier one."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import refuse

OF_A_PROGRAM = re.compile(r"program-\d+\.(out|err)")
"""Names of the files; others in the directory are the user's."""


@dataclass
class Printed:
    """The output of the programs of one run."""

    is_kept: bool = False
    """Whether it stays, and that of the earlier run goes."""


@contextlib.contextmanager
def replaced(directory: Path, *, is_made: bool) -> Iterator[Printed]:
    """Sets what programs of an earlier run have printed aside while this run writes its own.

    At the end the earlier files go when `is_kept` was set. Else they come back, and those of this
    run go.

    Parameters
    ----------
    is_made
        Whether this run has programs, so that the directory is needed.

    Raises
    ------
    ScenarioError
        The directory's name is that of a file.
    """
    if directory.exists() and not directory.is_dir():
        message = "programs print into a directory of this name, and a file has it"
        raise refuse("--out", message, "move the file, or write another name", str(directory))
    aside = directory.with_name(f".{directory.name}.penstock-earlier")
    _move(directory, aside)
    if is_made:
        directory.mkdir(parents=True, exist_ok=True)
    printed = Printed()
    try:
        yield printed
    finally:
        _remove(aside if printed.is_kept else directory)
        _move(aside, directory)


def _files(directory: Path) -> list[Path]:
    """What programs have printed there."""
    return [path for path in directory.glob("*") if OF_A_PROGRAM.fullmatch(path.name)]


def _move(directory: Path, target: Path) -> None:
    """Moves what programs have printed, and removes a directory that is then empty."""
    for path in _files(directory):
        target.mkdir(parents=True, exist_ok=True)
        path.replace(target / path.name)
    _remove_empty(directory)


def _remove(directory: Path) -> None:
    """Removes what programs have printed, and a directory that is then empty."""
    for path in _files(directory):
        path.unlink()
    _remove_empty(directory)


def _remove_empty(directory: Path) -> None:
    """Removes a directory that has nothing in it."""
    with contextlib.suppress(OSError):
        directory.rmdir()
