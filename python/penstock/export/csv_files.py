"""The tables of a run as CSV files, and two that say what their columns and their numbers mean.

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

NAMES_FILE = "names.csv"
"""What says what the numbers of labels, layers, nodes and steps stand for."""


def write_csv(
    run: Run,
    directory: str | Path,
    *,
    force: bool = False,
    progress: Callable[[float, str], None] | None = None,
) -> Path:
    """Writes every table of a run as a CSV file, with ``columns.csv`` and ``names.csv``.

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

    files: dict[str, Callable[[Checksum], object]] = {
        f"{stem(table)}.csv": partial(write, table) for table in FILES
    }
    files |= {COLUMNS_FILE: _write_description, NAMES_FILE: partial(_write_names, run)}
    put_folder(target, files, option="--csv", force=force)
    return target


def _write_description(sink: Checksum) -> None:
    description().write_csv(cast(IO[bytes], sink))


def _write_names(run: Run, sink: Checksum) -> None:
    """A row per name that a number of a table stands for: list of the summary, number, name."""
    lists = {key: run.summary[key] for key in ("labels", "layers", "node_names")}
    jobs = (run.summary.get("applications") or {"jobs": {}})["jobs"]
    lists |= {f"steps of {label}": job.get("steps", []) for label, job in jobs.items()}
    rows = [(key, *row) for key, names in lists.items() for row in enumerate(names)]
    frame = pl.DataFrame(rows, schema=["list", "number", "name"], orient="row")
    frame.write_csv(cast(IO[bytes], sink))
