"""Rows that leave a run while it goes on, so that its memory does not grow with them.

They wait in Parquet files beside the run's checkpoint, each a piece of a table. When the run is
saved, the pieces of a table become one file. Where next: :mod:`penstock.storage.checkpoint`.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    counts
        How many there are already, by table; others that are there are written anew.
    """

    def __init__(self, folder: Path, counts: Mapping[str, int]) -> None:
        self._folder = folder
        self._counts = dict(counts)

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
            count = self._counts.get(table, 0)
            path = self._path(table, count)
            try:
                frame.write_parquet(path)
            except OSError as error:
                raise failure(path, error, int(frame.estimated_size()), False) from None
            self._counts[table] = count + 1

    def before(self, table: str, last: pl.DataFrame) -> pl.DataFrame | pl.LazyFrame:
        """A table whose last rows these are: in memory if it has no pieces, else to be read."""
        paths = self.paths(table)
        return pl.concat([pl.scan_parquet(paths), last.lazy()]) if paths else last

    def counts(self) -> dict[str, int]:
        """How many pieces each table has; tables without pieces are left out."""
        return dict(self._counts)

    def paths(self, *tables: str) -> list[Path]:
        """The files of some tables, or of all, in the order of their rows."""
        wanted = tables or self._counts
        return [self._path(one, n) for one in wanted for n in range(self._counts.get(one, 0))]

    def _path(self, table: str, number: int) -> Path:
        return self._folder / f"{table}-{number}.parquet"
