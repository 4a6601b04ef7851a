"""What a run directory says of itself: its files with their checksums, and a seal.

``summary.json`` is the run's summary with three more keys: `format`, `files` (each file's size and
SHA-256) and `seal` (SHA-256 of all other keys). So a reader finds damage to any file first.
Invariant: a directory with a summary has every file that the summary lists.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from penstock.errors import Problem, ScenarioError
from penstock.storage.claim import writer_of
from penstock.storage.unfinished import checkpoint_folder, how_to_resume

SUMMARY_FILE = "summary.json"
REPORT_FILE = "report.html"
WATCH_FILE = "watch.html"
CELLS = "cells"
"""Directory in that of a sweep or a search: a row of numbers for each of its runs."""
LATER_FILES = (REPORT_FILE, WATCH_FILE, "fct.txt", "pfc.txt", "comparison.png")
"""What commands add to a run directory once it is there."""
FORMAT = 2
"""Number of the layout of run directories; another number is another layout. In the first one NaN
stood where there is no number, and now null does."""
SUMMARY_BYTES_MAX = 64 * 2**20
"""Largest summary that is read [B]; our choice: a million switches and flows named take 50 MB."""
PAGE_MARK = b'<meta name="generator" content="Penstock'
"""What is at the beginning of every HTML page of this package."""
PAGE_HEAD_BYTES = 1024
_OWN = ("format", "files", "seal")
_REMEDY = "name a directory that `penstock run` wrote, or run the scenario again"
NAMED_MAX = 3
"""Most runs of a directory that a refusal names (our choice: they fit a line)."""


class Sink(Protocol):
    """What takes bytes."""

    def write(self, data: bytes, /) -> int:
        """Takes some bytes and says how many."""


@dataclass(frozen=True)
class Entry:
    """A file of a run directory."""

    size: int
    """[B]"""
    sha256: str


class Checksum:
    """A file to be written through: counts and digests what passes.

    Parameters
    ----------
    sink
        Where the bytes go; without one they are only counted.
    """

    def __init__(self, sink: Sink | None = None) -> None:
        self._sink = sink
        self._digest = hashlib.sha256()
        self.size = 0
        self.error: OSError | None = None
        """What `sink` refused with; Polars forgets the error's number."""

    def write(self, data: bytes) -> int:
        """Passes bytes on."""
        if self._sink is not None:
            try:
                self._sink.write(data)
            except OSError as error:
                self.error = error
                raise
        self._digest.update(data)
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is kept back."""

    def entry(self) -> Entry:
        """Size and digest of all that passed."""
        return Entry(self.size, self._digest.hexdigest())


@dataclass(frozen=True)
class Record:
    """A run directory whose summary is whole."""

    directory: Path
    summary: dict[str, Any]
    """The summary without the keys of this module."""
    files: dict[str, Entry]

    def verify(self) -> None:
        """Refuses a directory in which a file is missing, or is not as it was written.

        Raises
        ------
        ScenarioError
            Names the file.
        """
        for name, entry in self.files.items():
            path = self.directory / name
            if not path.is_file():
                raise damaged(path, "it is missing")
            if path.stat().st_size != entry.size:
                raise damaged(path, f"it has {path.stat().st_size:,} of {entry.size:,} B")
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest != entry.sha256:
                raise damaged(path, "its checksum is not the one in the summary")

    def names(self) -> set[str]:
        """Names of all files that this package writes there."""
        return {*self.files, SUMMARY_FILE, *LATER_FILES}


def sealed(summary: dict[str, Any], files: dict[str, Entry]) -> bytes:
    """The text of ``summary.json``."""
    listed = {name: vars(entry) for name, entry in files.items()}
    table = summary | {"format": FORMAT, "files": listed}
    return (json.dumps(table | {"seal": _seal(table)}, indent=2) + "\n").encode()


def runs_in(directory: Path) -> list[Path]:
    """The run directories right below a directory, such as that of a comparison."""
    return sorted(summary.parent for summary in directory.glob(f"*/{SUMMARY_FILE}"))


def no_run(directory: Path, remedy: str = _REMEDY) -> tuple[str, str]:
    """Why a directory that was named is no run, and what to do.

    Parameters
    ----------
    remedy
        What to do where nothing better is known.
    """
    reason = "there is no such directory"
    if cells := _cells_remedy(directory):
        reason, remedy = f"it has no {SUMMARY_FILE}", cells
    elif writer := writer_of(directory):
        reason, remedy = f"{writer} is writing there", "wait until it has ended"
    elif checkpoint_folder(directory):
        reason, remedy = "the run did not end", f"go on with it: {how_to_resume(directory)}"
    elif directory.is_dir():
        reason = f"it has no {SUMMARY_FILE}"
    elif directory.exists():
        reason = "this is a file"
    return f"there is no complete run: {reason}", remedy


def _cells_remedy(directory: Path) -> str:
    """How to read a directory of cells, where it is one; else nothing."""
    cells, page = directory / CELLS, directory / REPORT_FILE
    if not cells.is_dir():
        return ""
    opened = f"open {page}, or " if page.is_file() else ""
    read = f"polars.read_parquet({str(cells)!r}, hive_partitioning=True)"
    return f"it has the cells of a sweep or a search, a row each: {opened}read them with {read}"


def read_record(directory: Path) -> Record:
    """The record of a run directory; :meth:`Record.verify` compares the files with it.

    Raises
    ------
    ScenarioError
        There is no run, or its summary is damaged.
    """
    path = directory / SUMMARY_FILE
    if not path.is_file():
        message, remedy = no_run(directory)
        if inside := ", ".join(str(one) for one in runs_in(directory)[:NAMED_MAX]):
            remedy = f"name one of the runs in it, such as {inside}"
        raise ScenarioError([Problem("run", message, remedy, str(directory))])
    try:
        if path.stat().st_size > SUMMARY_BYTES_MAX:
            raise damaged(path, f"it has more than {SUMMARY_BYTES_MAX:,} B")
        table = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise damaged(path, "it is no JSON") from None
    if not isinstance(table, dict) or "seal" not in table:
        raise damaged(path, "it has no seal, so this version did not write it")
    seal = table.pop("seal")
    if seal != _seal(table):
        raise damaged(path, "its seal is not that of its content")
    if table["format"] != FORMAT:
        raise damaged(path, f"it has format {table['format']}, and this version reads {FORMAT}")
    files = {name: Entry(**entry) for name, entry in table["files"].items()}
    return Record(directory, _without(table, _OWN), files)


def is_of_run(path: Path) -> bool:
    """Whether a file is the summary of a run, or one that its summary names."""
    if not (path.parent / SUMMARY_FILE).is_file():
        return False
    return path.name == SUMMARY_FILE or path.name in read_record(path.parent).files


def is_own_page(path: Path) -> bool:
    """Whether a file is an HTML page that this package wrote: it says so at its beginning."""
    try:
        with path.open("rb") as file:
            return PAGE_MARK in file.read(PAGE_HEAD_BYTES)
    except OSError:
        return False


def damaged(path: Path, reason: str) -> ScenarioError:
    """The refusal of a file of a run directory."""
    return ScenarioError([Problem("", f"the file is damaged: {reason}", _REMEDY, file=str(path))])


def _seal(table: dict[str, Any]) -> str:
    text = json.dumps(table, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _without(table: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    left_out = set(keys)
    return {key: value for key, value in table.items() if key not in left_out}
