"""The command that runs, as it was typed: in a shell, or in Python for :func:`penstock.cli.main`.

Reports and datasets record it, so that somebody can run it again.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_words: ContextVar[Sequence[str] | None] = ContextVar("words", default=None)


@contextmanager
def typed(words: Sequence[str]) -> Iterator[None]:
    """Lets :func:`command_line` tell these words for a time."""
    token = _words.set(words)
    try:
        yield
    finally:
        _words.reset(token)


def command_line() -> str:
    """The command as it was typed, for what records it."""
    words = _words.get()
    return shlex.join(["penstock", *(sys.argv[1:] if words is None else words)])
