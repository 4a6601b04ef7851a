"""File names from the names of runs."""

from __future__ import annotations

import re

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
