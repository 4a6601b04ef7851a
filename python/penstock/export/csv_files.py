"""The tables of a run as CSV files, and a file that says what their columns mean.

Numbers are written so that they are read again as they were; where there is no number, a cell
is empty. Tables are streamed from their Parquet files, whatever their size.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, cast

import polars as pl

from penstock.export.columns import description, stem
from penstock.results import Run
from penstock.storage.folder import put_folder
from penstock.storage.record import Checksum
from penstock.tables import FILES

COLUMNS_FILE = "columns.csv"
"""What says what the columns mean."""


def write_csv(
    run: Run,
    directory: str | Path,
    *,
    force: bool = False,
    progress: Callable[[float, str], None] | None = None,
) -> Path:
    """Writes every table of a run as a CSV file, and ``columns.csv`` beside them.

    Parameters
    ----------
    directory
        A new folder, or an empty one. It has all files, or there is none.
    force
        An earlier export is replaced.
    progress
        Is told the share of the rows that were written before a table, and the table's name.

    Raises
    ------
    ScenarioError
        The folder holds something that must not be replaced.
    StorageError
        The disk does not take the files.
    """
    target = Path(directory)
    frames = {table: run.scan(table) for table in FILES}
    rows = {table: frame.select(pl.len()).collect().item() for table, frame in frames.items()}
    done, every = 0, max(sum(rows.values()), 1)

    def write(table: str, sink: Checksum) -> None:
        nonlocal done
        if progress:
            progress(done / every, stem(table))
        frames[table].sink_csv(cast(IO[bytes], sink))
        done += rows[table]

    files = {f"{stem(table)}.csv": partial(write, table) for table in FILES}
    put_folder(target, files | {COLUMNS_FILE: _write_description}, option="--csv", force=force)
    return target


def _write_description(sink: Checksum) -> None:
    description().write_csv(cast(IO[bytes], sink))
