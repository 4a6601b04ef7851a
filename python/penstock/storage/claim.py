"""Claims: one writer at a time for a directory. A refused writer learns the name of the first.

A claim is a locked file beside the directory, whose text names the writer. The kernel takes the
lock back when the writer ends, however it ends, so no claim outlives its writer.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import time
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from penstock import interruption
from penstock.errors import Problem, ScenarioError
from penstock.storage.draft import lock

LOCK = ".penstock-lock"
"""How the name of a claim's file ends."""
CLAIM_SECONDS = 2.0
"""How long a claim waits for another writer (our choice: sweeping takes milliseconds; a run, which
takes minutes, is not waited for)."""
_POLL_SECONDS = 0.01
_WRITER_BYTES_MAX = 500
_COMMAND_MAX = 300


class Claim:
    """A directory that this writer alone may write to; a context manager.

    Parameters
    ----------
    patience
        How long to wait for another writer [s].
    option
        What the directory is called in messages.

    Raises
    ------
    ScenarioError
        Another writer has claimed the directory, and the message names it; or nothing can be
        written beside the directory.
    """

    def __init__(
        self, directory: Path, *, patience: float = CLAIM_SECONDS, option: str = "--out"
    ) -> None:
        self._option = option
        self._path = _file_of(directory)
        try:
            directory.parent.mkdir(parents=True, exist_ok=True)
            descriptor = self._locked(directory, patience)
        except OSError as error:
            reason = f"nothing can be written beside it: {error.strerror}"
            remedy = "name another directory"
            raise refuse_out(directory, reason, remedy, option) from None
        self._descriptor: int | None = descriptor
        interruption.temporary.add(self._path)
        with contextlib.suppress(OSError):  # a full disk: the claim holds without its name
            os.ftruncate(descriptor, 0)
            os.write(descriptor, _this_writer().encode()[:_WRITER_BYTES_MAX])

    def _locked(self, directory: Path, patience: float) -> int:
        """The locked file of the claim, as soon as no other writer has it."""
        deadline = time.monotonic() + patience
        while (descriptor := lock(self._path, os.O_CREAT)) is None:
            if time.monotonic() >= deadline:
                raise refuse_out(
                    directory,
                    f"{_named_in(self._path)} is writing there",
                    "wait until it has ended, or name another directory",
                    self._option,
                )
            time.sleep(_POLL_SECONDS)
        return descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    @property
    def is_held(self) -> bool:
        """Whether it was not released."""
        return self._descriptor is not None

    def release(self) -> None:
        """Lets others write."""
        if self._descriptor is not None:
            self._path.unlink(missing_ok=True)
            interruption.temporary.discard(self._path)
            os.close(self._descriptor)
            self._descriptor = None


def writer_of(directory: Path) -> str | None:
    """The writer that has claimed a directory; none where nobody has."""
    path = _file_of(Path(os.path.realpath(directory)))
    try:
        descriptor = lock(path)
    except OSError:  # a file of another user: nobody here can know
        return None
    if descriptor is None:
        return _named_in(path) if path.exists() else None
    os.close(descriptor)
    return None


def refuse_out(directory: Path, message: str, remedy: str, option: str = "--out") -> ScenarioError:
    """The refusal of a directory for results."""
    return ScenarioError([Problem(option, message, remedy, str(directory))])


def _this_writer() -> str:
    command = shlex.join([Path(sys.argv[0] or "python").name, *sys.argv[1:]])
    since = datetime.now().astimezone().isoformat(" ", "seconds")
    return f"process {os.getpid()} on {os.uname().nodename} ({command[:_COMMAND_MAX]}, {since})"


def _file_of(directory: Path) -> Path:
    """The locked file of a claim."""
    return directory.with_name(f".{directory.name}{LOCK}")


def _named_in(path: Path) -> str:
    try:
        with path.open(errors="replace") as file:
            return file.read(_WRITER_BYTES_MAX) or "another process"
    except OSError:
        return "another process"
