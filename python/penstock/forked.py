"""Processes that cannot work on tables: forks of a process in which Polars was at work.

Polars divides work between threads, which it starts at its first work and never again. A fork has
none of them, and so would wait for them for ever. This module refuses that in time. Forks of a
process in which Polars has not worked yet are free, and so are processes that are spawned.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_THREADS = Path("/proc/self/task")
_WORKER = re.compile(r"polars-\d+\n?")
"""Name of a thread that works for Polars."""

_has_workers = False
_is_without = False


def check_fork() -> None:
    """Refuses work in a process whose tables would never be done.

    Raises
    ------
    RuntimeError
        The process is such a fork.
    """
    if _is_without:
        raise RuntimeError(
            "this process is a fork of one that has made or read a run; without the threads of "
            "Polars it would wait for ever; use penstock.run_many, which makes several runs at a "
            'time, or start processes with multiprocessing.get_context("spawn")'
        )


def _before() -> None:
    global _has_workers
    _has_workers = _has_workers or any(_WORKER.fullmatch(name) for name in _thread_names())


def _thread_names() -> Iterator[str]:
    """The names of this process's threads; of those that have just ended, there are none."""
    for file in _THREADS.glob("*/comm"):
        with suppress(OSError):
            yield file.read_text()


def _in_child() -> None:
    global _is_without
    _is_without = _is_without or _has_workers


os.register_at_fork(before=_before, after_in_child=_in_child)
