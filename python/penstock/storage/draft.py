"""Drafts: a file or directory that is being written, beside its final place.

The name of a draft begins with a dot and ends with :data:`DRAFT`. A writer locks its draft
(``flock``). The kernel takes the lock back when the writer ends, however it ends. So a draft that
can be locked is stale, and the next writer in that directory removes it. Where next:
:mod:`penstock.storage.place` for directories.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock import interruption
from penstock.errors import StorageError

DRAFT = ".penstock-draft"
"""How the name of a draft ends."""


def draft_of(path: Path) -> Path:
    """The draft of a directory."""
    return path.with_name(f".{path.name}{DRAFT}")


def lock(path: Path, flags: int = 0) -> int | None:
    """A descriptor of a file, locked; none when somebody else holds the lock or removed the file.

    Parameters
    ----------
    flags
        Further flags of `os.open`, e.g. ``os.O_CREAT``.

    Raises
    ------
    OSError
        The file cannot be opened, or not be made with ``os.O_CREAT``.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | flags, 0o666)
    except FileNotFoundError:
        if flags & os.O_CREAT:
            raise
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False)):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file by way of a draft, so that it is never half there.

    Raises
    ------
    StorageError
        The disk does not take it; an earlier file of that name is still there.
    """
    with whole_file(path, len(data)) as draft:
        draft.write_bytes(data)


@contextmanager
def whole_file(path: Path, size: int = 0) -> Iterator[Path]:
    """The draft of a file, to be written; at the end it takes the place of the file.

    Parameters
    ----------
    size
        What will be written, as far as it is known [B]; for the message of a full disk.

    Raises
    ------
    StorageError
        As :func:`write_whole`.
    """
    sweep_files(path.parent)
    try:
        with _new_draft(path) as draft:
            yield draft
            draft.replace(path)
    except OSError as error:
        raise failure(path, error, size, path.exists()) from None


def is_full(error: OSError) -> bool:
    """Whether the disk, or the share of it that the user has, is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def failure(path: Path, error: OSError, size: int, is_kept: bool) -> StorageError:
    """What is said of a write that failed.

    Parameters
    ----------
    size
        What should have been written [B], where the disk is full; 0 where nobody knows.
    is_kept
        Whether something stood there before, and still does.
    """
    reason = error.strerror or str(error)
    remedy = "name another place"
    if is_full(error):
        free = shutil.disk_usage(path.parent).free
        missing = max(size - free, 0)
        reason = "the disk is full"
        reason += f": {size:,} B are needed, {free:,} B are free" if size else ""
        reason += f", {missing:,} B are missing" if missing else ""
        remedy = "make room, or name another place"
    kept = "what stood there before is kept" if is_kept else "nothing was written there"
    return StorageError(f"{path}: {reason}; {kept}; {remedy}")


@contextmanager
def _new_draft(path: Path) -> Iterator[Path]:
    """A locked draft of a file, removed at the end if it is still there."""
    descriptor = None
    while descriptor is None:
        draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}{DRAFT}")
        interruption.temporary.add(draft)
        descriptor = lock(draft, os.O_CREAT | os.O_EXCL)
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)
        interruption.temporary.discard(draft)
        os.close(descriptor)


def sweep_files(directory: Path) -> None:
    """Removes from a directory the drafts of files whose writers were killed."""
    for path in directory.glob(f".*{DRAFT}"):
        descriptor = lock(path) if path.is_file() else None
        if descriptor is not None:
            path.unlink(missing_ok=True)
            os.close(descriptor)
