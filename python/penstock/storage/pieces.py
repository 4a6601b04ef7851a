"""Rows that leave a run while it goes on, so that its memory does not grow with them.

They wait in Parquet files in the draft of the run's directory, each a piece of a table. When the
run is saved, the pieces of a table become one file. Where next: :mod:`penstock.storage.place`.
"""

from __future__ import annotations

from collections import defaultdict
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
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[str, list[Path]] = defaultdict(list)

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
            path = self._folder / f"{table}-{len(self._paths[table])}.parquet"
            try:
                frame.write_parquet(path)
            except OSError as error:
                raise failure(path, error, int(frame.estimated_size()), False) from None
            self._paths[table].append(path)

    def before(self, table: str, last: pl.DataFrame) -> pl.DataFrame | pl.LazyFrame:
        """A table whose last rows these are: in memory if it has no pieces, else to be read."""
        if not self._paths[table]:
            return last
        return pl.concat([pl.scan_parquet(self._paths[table]), last.lazy()])
