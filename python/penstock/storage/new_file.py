"""Files that a user names for what a command writes: refused before the work.

What it is: the rule of what is replaced. What it is not: the writing, which is in
:mod:`penstock.storage.draft`. Invariant: no file of a run is replaced, and no other one unasked.
"""

from __future__ import annotations

import os
from pathlib import Path

from penstock.errors import refuse
from penstock.storage.record import is_of_run


def check_file(path: Path, force: bool, option: str) -> None:
    """Refuses a file that cannot be written or must not be replaced; `option` asked for it.

    Raises
    ------
    ScenarioError
        It is a directory or a file of a run; or it is there, and `force` is not given; or nothing
        can be written to its directory.
    """
    shown = str(path)
    if path.is_dir():
        raise refuse(option, "this is a directory", "name a file in it", shown)
    if path.exists() and is_of_run(path):
        raise refuse(option, "this file is part of a run", "name another file", shown)
    if path.exists() and not force:
        remedy = "name another file, or add --force to replace it"
        raise refuse(option, "a file has this name", remedy, shown)
    place = next(one for one in path.absolute().parents if one.exists())
    if not place.is_dir():
        raise refuse(option, "this is no directory", "name another file", str(place))
    if not os.access(place, os.W_OK):
        raise refuse(option, "this cannot be written to", "name another file", str(place))
