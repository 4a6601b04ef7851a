"""Signals that end a command: INT (Ctrl-C), TERM and HUP.

While simulations run, a signal stops them, and what they have finished is saved. At any other
moment the process ends at once: every file is whole at every moment, so nothing needs repair.
A signal raises no exception, because an exception at a random moment may be swallowed or leave work
half done. This module imports little, so it can be in place before other modules are imported.
"""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXIT_CODE = 1
"""Of a command that a signal has ended."""

AGAIN_SECONDS = 1.0
"""Time after a first signal from which on another counts as a second one (our choice: what ends
process groups, such as timeout, sends a signal twice at once)."""

temporary: set[Path] = set()
"""Drafts of files and folders that are being written, and claims; removed when a signal ends the
process."""

_kept = "nothing was run"
_happened = threading.Event()


def install() -> None:
    """Lets signals end this process with a message; those that are ignored stay ignored."""
    for one in SIGNALS:
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, _end)


def ignore() -> None:
    """Ignores signals from now on: the work is done, and only the interpreter has to end."""
    for one in SIGNALS:
        signal.signal(one, signal.SIG_IGN)


def keep(words: str) -> None:
    """Says what a signal from now on leaves behind."""
    global _kept
    _kept = words


def written(*paths: Path) -> None:
    """Says that a command has written all that it was to write; of no path it changes nothing."""
    if paths:
        keep("all is written to " + ", ".join(map(str, paths)))


def kept() -> str:
    """What is left behind by a command that ends now."""
    return _kept


def happened() -> bool:
    """Whether a signal has stopped the last simulations of this process."""
    return _happened.is_set()


@contextmanager
def held() -> Iterator[None]:
    """Holds signals back: those of this time come at its end. A process that is started meanwhile
    goes on to hold them back, until it calls :func:`let_through`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def let_through() -> None:
    """Lets signals come that the process that started this one has :func:`held` back."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


@contextmanager
def stopping(stop: Callable[[], object]) -> Iterator[None]:
    """Lets a signal call `stop` and nothing else.

    A second one, :data:`AGAIN_SECONDS` later, does what it did before: a command ends at once. What
    is stopped may not end by itself, e.g. a user's hook in an endless loop.

    Only the main thread may handle signals; elsewhere they are its business. A signal that nobody
    handles or that is ignored stays so: only INT is always handled in Python.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    first: list[float] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        before = handlers[signal.Signals(number)]
        if first and now - first[0] >= AGAIN_SECONDS and callable(before):
            before(number, frame)
        first[:] = first or [now]
        _happened.set()
        stop()

    _happened.clear()
    handlers = {one: signal.getsignal(one) for one in SIGNALS}
    handled = {one: how for one, how in handlers.items() if callable(how)}
    for one in handled:
        signal.signal(one, on_signal)
    try:
        yield
    finally:
        for one, how in handled.items():
            signal.signal(one, how)


def _end(number: int, frame: FrameType | None) -> None:
    for one in list(temporary):
        if one.is_dir():
            shutil.rmtree(one, ignore_errors=True)
        else:
            one.unlink(missing_ok=True)
    os.write(2, f"\ninterrupted; {_kept}\n".encode())
    os._exit(EXIT_CODE)
