"""The tables of a run as CSV files, and files that say what their columns and numbers mean.

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
from penstock.storage.place import Writer
from penstock.storage.record import Checksum
from penstock.tables import FILES

COLUMNS_FILE = "columns.csv"
"""What says what the columns mean."""
NAMES_FILE = "names.csv"
"""What says which node, link, label, layer and step of a job a number of the tables is."""


def write_csv(
    run: Run,
    directory: str | Path,
    *,
    force: bool = False,
    progress: Callable[[float, str], None] | None = None,
) -> Path:
    """Writes every table of a run as a CSV file, and ``columns.csv`` and ``names.csv`` beside them.

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

    files: dict[str, Writer] = {COLUMNS_FILE: _write_description}
    files[NAMES_FILE] = partial(_write_names, run)
    files |= {f"{stem(table)}.csv": partial(write, table) for table in FILES}
    put_folder(target, files, option="--csv", force=force)
    return target


def _write_description(sink: Checksum) -> None:
    description().write_csv(cast(IO[bytes], sink))


def _write_names(run: Run, sink: Checksum) -> None:
    """A row per node, link, label, layer and step of a job: what it is, its number, its name."""
    nodes = run.summary["node_names"]
    links = run.links.select("link", "from", "to").rows()
    jobs = (run.summary.get("applications") or {"jobs": {}})["jobs"]
    named = {
        "node": list(enumerate(nodes)),
        "link": [(link, f"{nodes[start]}-{nodes[end]}") for link, start, end in links],
        "label": list(enumerate(run.summary["labels"])),
        "layer": list(enumerate(run.summary["layers"])),
    }
    named |= {
        f"step of {label}": list(enumerate(job.get("steps", []))) for label, job in jobs.items()
    }
    rows = [(what, *row) for what, known in named.items() for row in known]
    table = pl.DataFrame(rows, schema=["what", "number", "name"], orient="row")
    table.write_csv(cast(IO[bytes], sink))
