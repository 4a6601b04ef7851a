"""Run directories: claimed by one writer, written beside their place, put there by one rename.

A writer claims a directory before the work, so a second writer is refused before it works in
vain. The files are written into the directory's draft. Then draft and directory change places
in one step, and the files of the earlier run are removed. Files that no run wrote move along.
Invariant: at any moment the directory is a whole run or has none, and an earlier run stays until
the new one is whole.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from penstock.errors import ScenarioError, describe
from penstock.storage.checkpoint import Checkpoints, Resumable
from penstock.storage.claim import CLAIM_SECONDS, LOCK, Claim, refuse_out
from penstock.storage.draft import DRAFT, draft_of, failure, is_full, lock, sweep_files
from penstock.storage.record import (
    LATER_FILES,
    SUMMARY_FILE,
    Checksum,
    Record,
    read_record,
    sealed,
)
from penstock.storage.unfinished import UNFINISHED, has_checkpoint, how_to_resume

SAVE_SECONDS = 60.0
"""How long saving waits for another writer (our choice: others save for seconds)."""
MARK = ".unfinished"
"""A file in every draft that is being written; a directory without it may hold files of others."""
_EXCHANGE = 2
"""`RENAME_EXCHANGE` of Linux's renameat2(2)."""
_AT_FDCWD = -100
_CANNOT_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)

Writer = Callable[[Checksum], object]
"""Writes a file."""


class Place:
    """A directory for a run that this writer has claimed; a context manager.

    Parameters
    ----------
    directory
        Where the run shall stand.
    scenario_hash
        Of the scenario that will be saved there.
    names
        Of the files that will be put there, the summary aside.
    force
        Another scenario's run may be replaced, and files of others may stand beside it.
    patience
        How long to wait for another writer [s].
    resumed
        The run that did not end there and goes on, whose claim is taken over; without it the
        checkpoint there is lost.

    Raises
    ------
    ScenarioError
        Another writer has claimed the directory, or what stands there must not be replaced.
    """

    def __init__(
        self,
        directory: Path,
        scenario_hash: str,
        names: Collection[str],
        *,
        force: bool = False,
        patience: float = CLAIM_SECONDS,
        resumed: Resumable | None = None,
    ) -> None:
        self.directory = Path(os.path.realpath(directory))
        self.shown = directory
        check_path(self.directory, directory)
        self._draft = draft_of(self.directory)
        self._last = resumed.last if resumed else None
        self._claim = resumed.claim if resumed else Claim(self.directory, patience=patience)
        try:
            if resumed:
                _take_up(self._draft, self.directory)
            else:
                _check_checkpoint(self._draft, directory, force)
                retire(self._draft, self.directory)
            sweep(self.directory.parent)
            sweep_files(self.directory)
            self.earlier = _earlier(self.directory, directory, scenario_hash, force)
            if self.earlier is None:
                _check_names(self.directory, directory, {*names, SUMMARY_FILE, *LATER_FILES})
            self._draft.mkdir(exist_ok=resumed is not None)
            (self._draft / MARK).touch()
            (self._draft / UNFINISHED).mkdir(exist_ok=resumed is not None)
        except OSError as error:
            self.release()
            raise failure(directory, error, 0, directory.exists()) from None
        except ScenarioError:
            self.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def release(self) -> None:
        """Lets others write here; what was not put is gone, but for a checkpoint."""
        if self._claim.is_held:
            if not _is_unfinished(self._draft):
                retire(self._draft, self.directory)
            self._claim.release()

    def checkpoints(self, every_seconds: float | None = None) -> Checkpoints:
        """What the run leaves here while it goes on; see :class:`Checkpoints`."""
        return Checkpoints(self._draft / UNFINISHED, every_seconds, self._last)

    def put(self, summary: dict[str, Any], files: Mapping[str, Writer]) -> Path:
        """Writes a run; it stands in the directory when this returns.

        Parameters
        ----------
        files
            Name and writer of each file but the summary.

        Raises
        ------
        StorageError
            The disk is full, or does not take the files; an earlier run is still there.
        """
        try:
            entries = {name: write_file(self._draft / name, write) for name, write in files.items()}
            (self._draft / SUMMARY_FILE).write_bytes(sealed(summary, entries))
            # Without a checkpoint nothing there is needed any more. It goes first, so that a kill
            # leaves a whole run and nothing beside it.
            keeps_checkpoint = has_checkpoint(self._draft)
            if not keeps_checkpoint:
                shutil.rmtree(self._draft / UNFINISHED, ignore_errors=True)
            (self._draft / MARK).unlink()
            self._publish()
            if keeps_checkpoint and not summary["cancelled"]:
                shutil.rmtree(self.directory / UNFINISHED, ignore_errors=True)
        except OSError as error:
            # Before the draft goes: what is written may be read from it.
            size = _room(self.directory.parent, summary, files) if is_full(error) else 0
            with contextlib.suppress(OSError):
                (self._draft / MARK).touch()
            if not _is_unfinished(self._draft):
                retire(self._draft, self.directory)
            raise failure(self.shown, error, size, self.earlier is not None) from None
        return self.shown

    def _publish(self) -> None:
        try:
            self._draft.rename(self.directory)  # there is nothing, or an empty directory
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            exchange(self._draft, self.directory)


def sweep(parent: Path) -> None:
    """Removes from a directory what killed writers have left in it."""
    sweep_files(parent)
    for path in sorted(parent.glob(f".*{LOCK}")):
        descriptor = lock(path)
        if descriptor is not None:
            hidden = path.name.removesuffix(LOCK)
            if not _is_unfinished(parent / (hidden + DRAFT)):
                retire(parent / (hidden + DRAFT), parent / hidden.removeprefix("."))
                path.unlink(missing_ok=True)
            os.close(descriptor)


def remove_runs(parent: Path, *, but: Collection[str] = ()) -> None:
    """Removes the runs in a directory, but those of some names, and no file that no run wrote."""
    sweep(parent)
    for path in sorted(parent.glob(f"*/{SUMMARY_FILE}")):
        if path.parent.name not in but:
            remove_run(path.parent)


def remove_run(directory: Path) -> None:
    """Removes the run in a directory, if there is one, and no file that no run wrote."""
    with contextlib.suppress(ScenarioError):
        _remove(read_record(directory))


def _earlier(directory: Path, shown: Path, scenario_hash: str, force: bool) -> Record | None:
    """The run in the directory, which may be replaced; none when there is none."""
    if not directory.exists() or not any(directory.iterdir()):
        return None
    try:
        record = read_record(directory)
    except ScenarioError:
        record = None
    if record is not None and (force or record.summary["scenario_hash"] == scenario_hash):
        return record
    if record is not None:
        raise refuse_out(
            shown,
            f'it holds a run of another scenario, "{record.summary["scenario"]}" under '
            f"{record.summary['scheme']}",
            "name another directory, or add --force to replace that run",
        )
    some = describe(min(path.name for path in directory.iterdir()))
    if not force:
        raise refuse_out(
            shown,
            f"it holds files that are no run, such as {some}",
            "name another directory, or add --force to write beside them",
        )
    return None


def _check_names(directory: Path, shown: Path, names: Collection[str]) -> None:
    """No file of somebody else has the name of one that will be put there."""
    clash = sorted(name for name in names if (directory / name).exists())
    if clash:
        raise refuse_out(
            shown,
            f"its {clash[0]} is of no run that this version wrote, and would be replaced",
            "remove that file, or name another directory",
        )


def check_path(directory: Path, shown: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise refuse_out(shown, "a file has this name", "name a directory")
    if Path.cwd().is_relative_to(directory):
        raise refuse_out(
            shown, "it is the working directory, or above it", "name a directory below it"
        )
    if directory.is_mount():
        raise refuse_out(
            shown, "a file system is mounted there", "name a directory below it, or beside it"
        )


def write_file(path: Path, write: Writer) -> Any:
    with path.open("wb") as file:
        through = Checksum(file)
        try:
            write(through)
        except Exception:
            if through.error is not None:
                raise through.error from None
            raise
    return through.entry()


def _room(parent: Path, summary: dict[str, Any], files: Mapping[str, Writer]) -> int:
    """What a run takes on the disk, in whole blocks [B]; nothing is written."""
    entries = {}
    for name, write in files.items():
        counted = Checksum()
        write(counted)
        entries[name] = counted.entry()
    sizes = [len(sealed(summary, entries)), *(entry.size for entry in entries.values())]
    block = os.statvfs(parent).f_bsize
    return sum(-(-size // block) * block for size in [1, *sizes])  # the directory takes one, too


def exchange(draft: Path, directory: Path) -> None:
    """Lets a draft and a directory change places: in one step where the system can do that."""
    if sys.platform == "linux":
        library = ctypes.CDLL(None, use_errno=True)
        ends = (_AT_FDCWD, os.fsencode(draft), _AT_FDCWD, os.fsencode(directory))
        if library.renameat2(*ends, _EXCHANGE) == 0:
            return
        code = ctypes.get_errno()
        if code not in _CANNOT_EXCHANGE:
            raise OSError(code, os.strerror(code), str(directory))
    between = _between(draft)
    directory.rename(between)
    draft.rename(directory)
    between.rename(draft)


def retire(draft: Path, directory: Path) -> None:
    """Removes a draft: one that was not finished, or what the directory held before."""
    between = _between(draft)
    if between.is_dir():  # killed between two renames
        between.rename(draft if directory.exists() else directory)
    if not draft.is_dir():
        return
    record = Record(draft, {}, {})
    if (draft / MARK).exists():
        shutil.rmtree(draft / UNFINISHED, ignore_errors=True)
        _clear(draft)
        (draft / MARK).unlink()
    else:
        with contextlib.suppress(ScenarioError):
            record = read_record(draft)
    _remove(record, directory)


def _clear(draft: Path) -> None:
    """Removes the files of a draft but its mark: they are ours as long as it is there."""
    for path in draft.iterdir():
        if path.name not in (MARK, UNFINISHED):
            path.unlink()


def _is_unfinished(draft: Path) -> bool:
    """Whether a draft is of a run that can be resumed."""
    return (draft / MARK).exists() and has_checkpoint(draft)


def _check_checkpoint(draft: Path, shown: Path, force: bool) -> None:
    """No checkpoint is lost by mistake."""
    if _is_unfinished(draft) and not force:
        raise refuse_out(
            shown,
            "a run that did not end has left a checkpoint for it",
            f"go on with `{how_to_resume(shown)}`, or add --force to begin anew",
        )


def _take_up(draft: Path, directory: Path) -> None:
    """Makes a draft of what a run has left that did not end: its checkpoint and its pieces."""
    if _is_unfinished(draft):
        _clear(draft)
        return
    retire(draft, directory)
    draft.mkdir()
    (draft / MARK).touch()
    (directory / UNFINISHED).rename(draft / UNFINISHED)


def _between(draft: Path) -> Path:
    """Where an earlier run is while two renames stand for an exchange."""
    return draft.with_name(f"{draft.name}-earlier")


def _remove(record: Record, directory: Path | None = None) -> None:
    """Removes a run; files of others move to `directory`, or stay where they are."""
    names = record.names() if record.files else set()
    if names:
        shutil.rmtree(record.directory / UNFINISHED, ignore_errors=True)
    if directory is not None and directory.is_dir():
        for path in list(record.directory.iterdir()):
            if path.name not in names and not os.path.lexists(directory / path.name):
                path.rename(directory / path.name)
    for name in sorted(names - {SUMMARY_FILE}):
        (record.directory / name).unlink(missing_ok=True)
    if names:
        (record.directory / SUMMARY_FILE).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not while files of others are in it
        record.directory.rmdir()
