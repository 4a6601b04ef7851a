"""What a run that did not end has left: whether it is a checkpoint, and how the run goes on.

It stands in the folder :data:`UNFINISHED` of the run's draft, or of its directory when a signal has
stopped the run. Where next: :mod:`penstock.storage.checkpoint`, for what is in the folder.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from penstock.storage.draft import draft_of

UNFINISHED = "unfinished"
"""The folder of a draft for what a run leaves on disk while it goes on."""
CHECKPOINT_FILE = "checkpoint.json"


def has_checkpoint(directory: Path) -> bool:
    """Whether a draft or a run directory has a checkpoint."""
    return (directory / UNFINISHED / CHECKPOINT_FILE).is_file()


def checkpoint_folder(directory: Path) -> Path | None:
    """The folder with the checkpoint of a run that shall stand in this directory, if it has one."""
    places = (draft_of(Path(os.path.realpath(directory))), directory)
    return next((place / UNFINISHED for place in places if has_checkpoint(place)), None)


def how_to_resume(directory: Path) -> str:
    """The command that goes on with the run of this directory, as it is written in a shell."""
    return shlex.join(["penstock", "resume", str(directory)])
