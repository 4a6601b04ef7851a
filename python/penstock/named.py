"""Schemes, scenarios and experiments of users: what a name or a path means.

A text with a separator of directories, with ``.toml`` at its end, or with a class of a Python file
(``mine.py:Mine``) is a path. Any other text is a
name: of something built in, or of a file in the folder of its kind in the working directory
(``./schemes/mine.toml`` is the scheme ``mine``). A name that means both is refused, so that a file
somewhere never changes what ``bfc`` is.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Literal

from penstock.units import refusal

Folder = Literal["schemes", "scenarios", "experiments"]
"""The folders of a working directory in which names are looked up."""

SUFFIX = ".toml"
"""How the name of each such file ends."""

CODE = ".py:"
"""What stands between a file of Python code and the name of a class in it."""


def is_path(text: str) -> bool:
    """Whether a text means a file by its path."""
    return text.endswith(SUFFIX) or os.sep in text or CODE in text


def is_code(text: str) -> bool:
    """Whether a text means a file of Python code, and no class in it."""
    return text.endswith(CODE.removesuffix(":"))


def absolute(text: str) -> str:
    """A name as it is; a path, which is relative to the working directory, in full.

    A path into the home of somebody whom this machine does not know stays as it is, and is refused
    where it is read.
    """
    if not is_path(text):
        return text
    path = Path(text)
    with contextlib.suppress(RuntimeError):
        path = path.expanduser()
    return str(path.absolute())


def own_files(folder: Folder) -> dict[str, Path]:
    """The user's files of a kind by their names, sorted; those of experiments at any depth."""
    root = Path(folder)
    pattern = f"**/*{SUFFIX}" if folder == "experiments" else f"*{SUFFIX}"
    found = (path for path in root.glob(pattern) if path.is_file())
    return {path.relative_to(root).as_posix().removesuffix(SUFFIX): path for path in sorted(found)}


def hides(built_in: Path, own: Path | None) -> bool:
    """Whether a user's file has the name of another one that is built in."""
    if own is None or own.resolve() == built_in.resolve():
        return False
    return own.read_bytes() != built_in.read_bytes()


def check_meaning(name: str, folder: Folder, built_in: Path) -> None:
    """Refuses a built-in name that a user's file has, too.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names the file.
    """
    own = own_files(folder).get(name)
    if own is not None and hides(built_in, own):
        what = folder.removesuffix("s")
        raise refusal(
            f"{own} has the name of a built-in {what}",
            f"write ./{own} to mean the file, or rename it",
        )
