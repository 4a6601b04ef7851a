"""Folders of files that are written together: all of them are there, or none.

The files are written into the draft of the folder, and one rename puts the folder in place. A
folder is replaced only if it holds nothing but files of the names that are written. Where next:
:mod:`penstock.storage.place`, which does the same for runs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from penstock import interruption
from penstock.errors import ScenarioError, describe, refuse
from penstock.storage.claim import Claim
from penstock.storage.draft import draft_of, failure
from penstock.storage.place import MARK, Writer, exchange, retire, sweep, write_file


def put_folder(
    shown: Path, files: Mapping[str, Writer], *, option: str, force: bool = False
) -> None:
    """Writes a folder.

    Parameters
    ----------
    files
        Name and writer of each file.
    option
        What a refusal calls the folder.
    force
        An earlier folder of such files is replaced.

    Raises
    ------
    ScenarioError
        Something stands there that must not be replaced, or somebody else is writing there.
    StorageError
        The disk does not take the files; what stood there is kept.
    """
    directory = Path(os.path.realpath(shown))
    check_folder(directory, shown, files, option, force)
    draft = draft_of(directory)
    try:
        with Claim(directory, option=option):
            sweep(directory.parent)
            retire(draft, directory)
            interruption.temporary.add(draft)
            draft.mkdir()
            try:
                (draft / MARK).touch()
                for name, write in files.items():
                    write_file(draft / name, write)
                check_folder(directory, shown, files, option, force)
                (draft / MARK).unlink()
                if directory.exists():
                    exchange(draft, directory)
                else:
                    draft.rename(directory)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
                interruption.temporary.discard(draft)
    except OSError as error:
        raise failure(shown, error, 0, directory.exists()) from None


def check_folder(
    directory: Path, shown: Path, names: Mapping[str, Writer], option: str, force: bool
) -> None:
    """Refuses a folder that must not be written."""
    if not directory.exists():
        return
    if not directory.is_dir():
        raise refuse(option, "a file has this name", "name a directory", str(shown))
    found = sorted(path.name for path in directory.iterdir())
    if others := [name for name in found if name not in names]:
        raise _in_the_way(option, shown, f"it holds other files, such as {describe(others[0])}")
    if found and not force:
        message = "it holds an earlier export"
        remedy = "name another directory, or add --force to replace it"
        raise refuse(option, message, remedy, str(shown))


def _in_the_way(option: str, shown: Path, message: str) -> ScenarioError:
    return refuse(option, message, "name another directory, which may be new", str(shown))
