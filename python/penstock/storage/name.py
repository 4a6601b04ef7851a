"""File names from the names of runs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from penstock.errors import refuse

LENGTH_MAX = 100
"""Characters of a file's name (our choice: file systems allow 255 bytes, drafts add some)."""

_UNSAFE = re.compile(r"[^\w+=,@.-]+")


def file_name(text: str) -> str:
    """`text` as the name of one file: no directory, hidden file or control character.

    >>> file_name("../../x y")
    'x-y'
    >>> file_name("load 0.5")
    'load-0.5'
    >>> file_name("\\0")
    'unnamed'
    """
    return _UNSAFE.sub("-", text).lstrip("-.")[:LENGTH_MAX] or "unnamed"


def file_names(names: Iterable[str]) -> dict[str, str]:
    """The file name of each of several names.

    >>> file_names(["bfc", "load 0.5"])
    {'bfc': 'bfc', 'load 0.5': 'load-0.5'}

    Raises
    ------
    ScenarioError
        Two of them have the same one.
    """
    found: dict[str, str] = {}
    owners: dict[str, str] = {}
    for name in names:
        found[name] = file_name(name)
        other = owners.setdefault(found[name], name)
        if other != name:
            message = f'its run would stand in "{found[name]}", as that of "{other}"'
            raise refuse("name", message, "name one of them otherwise", name)
    return found
