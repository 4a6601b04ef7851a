"""Rows that leave a run while it goes on, so that its memory does not grow with them.

They wait in Parquet files beside the run's checkpoint, each a piece of a table. When the run is
saved, the pieces of a table become one file. Where next: :mod:`penstock.storage.checkpoint`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from penstock.storage.draft import failure

MOST_ROWS = 2**20
"""Rows that a run holds before they leave it (our choice: flows of about 100 MB)."""


class Pieces:
    """The pieces of a run's tables.

    Parameters
    ----------
    folder
        Where they are written.
    digests
        Those that are there already, by table: the SHA-256 of each; others are written anew.
    """

    def __init__(self, folder: Path, digests: Mapping[str, Sequence[str]]) -> None:
        self._folder = folder
        self._digests = {table: list(found) for table, found in digests.items()}

    def add(self, frames: Mapping[str, pl.DataFrame]) -> None:
        """Writes the next rows of some tables.

        Raises
        ------
        StorageError
            The disk does not take them.
        """
        for table, frame in frames.items():
            if frame.is_empty():
                continue
            digests = self._digests.setdefault(table, [])
            path = self._path(table, len(digests))
            try:
                frame.write_parquet(path)
                digests.append(_digest(path))
            except OSError as error:
                raise failure(path, error, int(frame.estimated_size()), False) from None

    def before(self, table: str, last: pl.DataFrame) -> pl.DataFrame | pl.LazyFrame:
        """A table whose last rows these are: in memory if it has no pieces, else to be read."""
        paths = self.paths(table)
        return pl.concat([pl.scan_parquet(paths), last.lazy()]) if paths else last

    def digests(self) -> dict[str, list[str]]:
        """The SHA-256 of each piece, by table; tables without pieces are left out."""
        return {table: list(found) for table, found in self._digests.items() if found}

    def damaged(self) -> Path | None:
        """The first piece that is not as it was written; none where all are whole."""
        for table, found in self._digests.items():
            for number, digest in enumerate(found):
                path = self._path(table, number)
                if not path.is_file() or _digest(path) != digest:
                    return path
        return None

    def paths(self, *tables: str) -> list[Path]:
        """The files of some tables, or of all, in the order of their rows."""
        wanted = tables or self._digests
        return [
            self._path(one, number)
            for one in wanted
            for number in range(len(self._digests.get(one, [])))
        ]

    def _path(self, table: str, number: int) -> Path:
        return self._folder / f"{table}-{number}.parquet"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
