"""Checkpoints: what a run leaves on disk while it goes on, so that a killed run can be resumed.

They stand in the folder of :mod:`penstock.storage.unfinished`: the scenario, the state of the
simulation, the pieces of its tables, and ``checkpoint.json``, which is replaced last and in one
step. So at any moment the folder has one whole checkpoint, or none yet. It is read by a writer that
has claimed the directory. Where next: :mod:`penstock.storage.place`.
"""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from penstock.errors import Problem, ScenarioError, StorageError
from penstock.provenance import code_digest
from penstock.scenario import Scenario
from penstock.storage.claim import Claim
from penstock.storage.draft import failure, write_whole
from penstock.storage.pieces import Pieces
from penstock.storage.record import read_record
from penstock.storage.unfinished import CHECKPOINT_FILE, checkpoint_folder

_SCENARIO_FILE = "scenario.toml"


@dataclass(frozen=True)
class Checkpoint:
    """What is known about a run at a checkpoint."""

    state: str
    """Name of the file with the state of the simulation."""
    pieces: dict[str, list[str]]
    """SHA-256 of the pieces of each table."""
    every_seconds: float
    """Time between two checkpoints [s]."""
    threads: int
    """Threads of the run; their number decides the shape of the state."""
    check: bool
    """Whether the invariants are checked."""
    wall_seconds: float
    """Time that the run has taken [s]."""
    cpu_seconds: float
    """Processor time that it has taken [s]."""
    code: str
    """Digest of the package that has written it; no other can read it."""


class Checkpoints:
    """The checkpoints of a run, and the pieces of its tables.

    Parameters
    ----------
    folder
        Where they are written.
    every_seconds
        Time between two checkpoints [s]; none are written without it.
    last
        The checkpoint from which the run goes on.
    """

    def __init__(
        self, folder: Path, every_seconds: float | None = None, last: Checkpoint | None = None
    ) -> None:
        self.folder = folder
        self.every_seconds = every_seconds
        self.last = last
        self.pieces = Pieces(folder, last.pieces if last else {})
        self._written = time.monotonic()
        self._is_last = False
        self._number = int(last.state.removeprefix("state-")) if last else 0

    def begin(self, scenario: Scenario) -> None:
        """Keeps the scenario, without which no checkpoint can be resumed."""
        if self.every_seconds is not None:
            write_whole(self.folder / _SCENARIO_FILE, scenario.to_toml().encode())

    def due(self, *, stops: bool) -> str | None:
        """The file for the state of the simulation, if it is time for a checkpoint.

        Parameters
        ----------
        stops
            The run is to stop: it leaves one checkpoint more, so that nothing is lost.
        """
        if self.every_seconds is None or self._is_last:
            return None
        if not stops and time.monotonic() < self._written + self.every_seconds:
            return None
        self._is_last = stops
        return str(self.folder / f"state-{self._number + 1}")

    def restore(self) -> str | None:
        """The file with the state from which the run goes on."""
        return str(self.folder / self.last.state) if self.last else None

    def failure(self, error: OSError) -> StorageError:
        """What is said when a checkpoint cannot be written."""
        return failure(self.folder, error, 0, self.last is not None)

    def written(self, threads: int, check: bool, wall_seconds: float, cpu_seconds: float) -> None:
        """The state is in the file: from now on this is the checkpoint.

        Raises
        ------
        StorageError
            The disk does not take it; the checkpoint before is still there.
        """
        assert self.every_seconds is not None
        self._number += 1
        state = self.folder / f"state-{self._number}"
        try:
            for path in (state, *self.pieces.paths()):
                _to_disk(path)
        except OSError as error:
            raise self.failure(error) from None
        before = self.last
        self.last = Checkpoint(
            state.name,
            self.pieces.digests(),
            self.every_seconds,
            threads,
            check,
            wall_seconds,
            cpu_seconds,
            code_digest(),
        )
        write_whole(self.folder / CHECKPOINT_FILE, json.dumps(asdict(self.last)).encode())
        if before is not None:
            (self.folder / before.state).unlink(missing_ok=True)
        self._written = time.monotonic()


@dataclass(frozen=True)
class Resumable:
    """A run that did not end, in a directory that this writer has claimed."""

    scenario: Scenario
    last: Checkpoint
    claim: Claim


@contextmanager
def resumable(directory: Path) -> Iterator[Resumable]:
    """Claims the directory of a run that did not end, so that its last checkpoint stays the last.

    The claim ends with the block, or before, once the run is saved.

    Raises
    ------
    ScenarioError
        As :func:`find_checkpoint`; or another writer is at work there, perhaps the run itself.
    """
    place = Path(os.path.realpath(directory))
    if not place.parent.is_dir():
        raise _none(directory)
    with Claim(place, option="checkpoint") as claim:
        yield Resumable(*find_checkpoint(directory), claim)


def find_checkpoint(directory: Path) -> tuple[Scenario, Checkpoint]:
    """The scenario and the last checkpoint of a run that did not end.

    A run that still goes on replaces both at any moment; see :func:`resumable`.

    Parameters
    ----------
    directory
        Where the run shall stand once it has ended.

    Raises
    ------
    ScenarioError
        There is no checkpoint, it is damaged, or another version has written it.
    """
    folder = checkpoint_folder(directory)
    if folder is None:
        raise _none(directory)
    try:
        found = Checkpoint(**json.loads((folder / CHECKPOINT_FILE).read_bytes()))
        scenario = Scenario.from_toml(folder / _SCENARIO_FILE)
        pieces = Pieces(folder, found.pieces)
        (folder / found.state).stat()
    except (ValueError, TypeError, AttributeError, OSError) as error:
        message = f"the checkpoint is damaged: {error}"
        raise _refusal(message, "run it anew with --force", directory) from None
    if found.code != code_digest():
        remedy = "resume it with the version that has written it, or run it anew with --force"
        raise _refusal("another version of Penstock has written the checkpoint", remedy, directory)
    if (damaged := pieces.damaged()) is not None:
        message = f"the checkpoint is damaged: {damaged.name} is not as it was written"
        raise _refusal(message, "run it anew with --force", directory)
    return scenario, found


def _none(directory: Path) -> ScenarioError:
    """The refusal of a directory without a checkpoint."""
    with suppress(ScenarioError):
        if not read_record(directory).summary["cancelled"]:
            remedy = f"see it with {shlex.join(['penstock', 'report', str(directory)])}"
            message = "there is no checkpoint: the run is complete"
            return _refusal(message, remedy, directory)
    remedy = "name the directory of a run that was started with --checkpoint every=10min"
    return _refusal("there is no checkpoint of a run that did not end", remedy, directory)


def _refusal(message: str, remedy: str, directory: Path) -> ScenarioError:
    return ScenarioError([Problem("checkpoint", message, remedy, str(directory))])


def _to_disk(path: Path) -> None:
    """Waits until the content of a file is on the disk, not only on its way."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
