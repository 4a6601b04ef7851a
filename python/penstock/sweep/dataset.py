"""The dataset of a sweep on disk: one row a cell, in a directory that its values name.

``cells/load=0.3/scheme=bfc/seed=1/cell.parquet``: a hive-partitioned Parquet dataset, which Polars,
DuckDB and Spark read as one table. A cell's file is whole or not there, and its bytes follow from
its scenario and the metrics alone. ``flows/`` has the flows of each cell in the same way, when they
are kept. ``sweep.json`` says what all cells have in common; it is written before the first cell.

Invariant: one process at a time writes (:class:`penstock.storage.claim.Claim`), and every cell that
is there belongs to the sweep that ``sweep.json`` describes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from penstock.errors import describe
from penstock.provenance import code_digest, package_version, source_commit
from penstock.storage.claim import refuse_out
from penstock.storage.draft import write_whole
from penstock.storage.record import CELLS
from penstock.sweep.executor import Result
from penstock.sweep.grid import Grid, column, partition

SWEEP_FILE, FLOWS = "sweep.json", "flows"
"""What a sweep's directory holds."""
CELL_FILE, FLOWS_FILE = "cell.parquet", "flows.parquet"
"""The file of a cell in its partition."""
HASH = "scenario_hash"
"""Column with the hash of a cell's scenario."""

_FIXED = {
    "scenario": "another scenario",
    "constants": "other fields with --set",
    "axes": "other axes",
    "metrics": "other metrics",
    "keeps_flows": "another choice of --flows",
    "version": "another version of Penstock",
    "code": "other code of Penstock",
}
"""What all cells have in common, and what is said of a command that differs in it."""


class Dataset:
    """The dataset in a directory, open for the cells of a sweep.

    Parameters
    ----------
    axes
        The fields that are varied, in the order of the partitions.
    """

    def __init__(self, directory: Path, axes: Sequence[str], *, keeps_flows: bool) -> None:
        self.directory = directory
        self.axes = tuple(axes)
        self._keeps_flows = keeps_flows

    def cell(self, labels: Sequence[str], seed: int) -> str:
        """The key of a cell: its partition."""
        return partition(self.axes, labels, seed)

    def has(self, key: str) -> bool:
        """Whether a cell is there."""
        is_there = (self.directory / CELLS / key / CELL_FILE).exists()
        return is_there and (not self._keeps_flows or self._flows(key).exists())

    def read(self, key: str) -> dict[str, Any] | None:
        """The row of a cell; none when it is not there.

        Raises
        ------
        ScenarioError
            Its file is not one that this sweep wrote.
        """
        if not self.has(key):
            return None
        path = self.directory / CELLS / key / CELL_FILE
        try:
            found = pl.read_parquet(path, glob=False, hive_partitioning=False)
            return _numbers(found).row(0, named=True)
        except (pl.exceptions.PolarsError, OSError) as error:
            remedy = "remove it, and run the same command"
            raise refuse_out(path, f"it cannot be read: {error}", remedy) from None

    def write(self, result: Result, scenario_hash: str) -> None:
        """Puts a cell in its place.

        Raises
        ------
        StorageError
            The disk does not take it.
        """
        if result.flows is not None:
            place = self._flows(result.key)
            place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(place, result.flows)
        path = self.directory / CELLS / result.key / CELL_FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        row = {HASH: scenario_hash, **result.facts, **result.values}
        floats = dict.fromkeys(result.values, pl.Float64)
        sink = io.BytesIO()
        pl.DataFrame([row], schema_overrides=floats).fill_nan(None).write_parquet(sink)
        write_whole(path, sink.getvalue())

    def _flows(self, key: str) -> Path:
        return self.directory / FLOWS / key / FLOWS_FILE


def open_dataset(
    directory: Path,
    grid: Grid,
    metrics: Sequence[str],
    *,
    keeps_flows: bool,
    scenario_text: str,
    command: str,
) -> Dataset:
    """The dataset of a sweep, new or to go on with; the directory is claimed already.

    A command that adds values to the axes or adds seeds goes on with the dataset. One that differs
    in anything else is refused: its cells would not belong with those that are there.

    Parameters
    ----------
    scenario_text
        The scenario as its file has it.

    Raises
    ------
    ScenarioError
        The directory holds something else, or another sweep.
    """
    axes = [axis.key for axis in grid.axes]
    mine = {
        "scenario": named_text(grid.reference, scenario_text),
        "constants": dict(grid.constants),
        "axes": sorted(axes),
        "metrics": list(metrics),
        "keeps_flows": keeps_flows,
        "version": package_version(),
        "code": code_digest(),
    }
    more = "more values or seeds"
    there = settled(directory, SWEEP_FILE, mine, _FIXED, more, command, {"order": axes})
    return Dataset(directory, there["order"], keeps_flows=keeps_flows)


def named_text(reference: str, text: str) -> dict[str, str]:
    """A scenario as the description of a directory has it: by its name, or that of its file.

    Which folders lead to the file depends on the working directory. Of two files with one name and
    one text, cells differ in their hashes where the files do.
    """
    return {"name": Path(reference).name, "text": text}


def settled(
    directory: Path,
    name: str,
    mine: Mapping[str, Any],
    fixed: Mapping[str, str],
    more: str,
    command: str,
    rest: Mapping[str, Any],
) -> dict[str, Any]:
    """What a directory's description says that all its cells have in common; new ones are written.

    Parameters
    ----------
    name
        The file of the description.
    mine
        What this command would write there.
    fixed
        The keys of `mine` in which no command may differ, and what is said of one that does.
    more
        What the same command may have more of.
    rest
        What a new description says beside `mine`.

    Raises
    ------
    ScenarioError
        The directory holds something else, or what a command left that differs.
    """
    path = directory / name
    what = name.removesuffix(".json")
    if not path.exists():
        others = sorted(one.name for one in directory.iterdir()) if directory.is_dir() else []
        if others:
            message = f"it holds what no {what} wrote, such as {describe(others[0])}"
            raise refuse_out(directory, message, "name another directory")
        page = {**mine, **rest, "commit": source_commit(), "command": command}
        directory.mkdir(parents=True, exist_ok=True)
        write_whole(path, (json.dumps(page, indent=2, ensure_ascii=False) + "\n").encode())
        return page
    there = read_description(path, {*fixed, *rest, "command"})
    for key, words in fixed.items():
        if there[key] != json.loads(json.dumps(mine[key])):
            remedy = f"name another directory; the same command with {more} goes on"
            message = f"it holds a {what} with {words}: {there['command']}"
            raise refuse_out(directory, message, remedy)
    return there


def read_sweep(directory: Path) -> dict[str, Any]:
    """What ``sweep.json`` says.

    Raises
    ------
    ScenarioError
        It is not there, or is none.
    """
    return read_description(directory / SWEEP_FILE, {*_FIXED, "order", "command"})


def read_description(path: Path, keys: set[str]) -> dict[str, Any]:
    """What the description of a directory says, which has at least these keys.

    Raises
    ------
    ScenarioError
        It is not there, or is none.
    """
    try:
        page = json.loads(path.read_text("utf-8"))
        if not isinstance(page, dict) or not keys <= page.keys():
            raise ValueError("fields are missing")
    except json.JSONDecodeError as error:
        message = f"it is no JSON (line {error.lineno}, column {error.colno})"
        raise refuse_out(path, message, "name another directory") from None
    except (OSError, ValueError) as error:
        raise refuse_out(path, f"it cannot be read: {error}", "name another directory") from None
    return page


def rows(directory: Path, axes: Sequence[str]) -> pl.DataFrame:
    """Every cell of a dataset: the axes as texts, `seed`, facts and metrics; empty without cells.

    The order is that of the partitions' names.
    """
    files = sorted((directory / CELLS).rglob(CELL_FILE))
    if not files:
        return pl.DataFrame()
    names = {column(axis): axis for axis in axes}
    schema = dict.fromkeys(names, pl.String) | {"seed": pl.UInt64}
    found = pl.read_parquet(files, glob=False, hive_partitioning=True, hive_schema=schema)
    return _numbers(found).rename(names)


def _numbers(cells: pl.DataFrame) -> pl.DataFrame:
    """Cells to calculate with: NaN where a run gave no number, for which the file has null."""
    return cells.with_columns(pl.col(pl.Float64).fill_null(float("nan")))
