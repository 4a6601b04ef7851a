"""What the columns of a run's tables mean, and in which unit."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import polars as pl

from penstock.tables import COLUMNS, FILES

UNITS = {"_ns": "ns", "_ps": "ps", "_bytes": "B", "_bytes_max": "B", "_bps": "bit/s"}
"""The unit of a column, by the end of its name."""


def stem(table: str) -> str:
    """The name of a table's file without its ending."""
    return FILES[table].removesuffix(".parquet")


def unit(column: str) -> str:
    """The unit of a column; empty for numbers, names and truth values.

    Examples
    --------
    >>> unit("fct_ns"), unit("queue_bytes_max"), unit("flow")
    ('ns', 'B', '')
    """
    if column == "bytes":
        return "B"
    return next((name for end, name in UNITS.items() if column.endswith(end)), "")


@cache
def meanings() -> dict[str, dict[str, str]]:
    """The meaning of each column, by table's file and column."""
    return tomllib.loads(files("penstock").joinpath("columns.toml").read_text("utf-8"))


def description() -> pl.DataFrame:
    """A row per column of a run's tables: file, column, type, unit, meaning."""
    rows = [
        (f"{stem(table)}.csv", column, str(kind), unit(column), meanings()[stem(table)][column])
        for table, columns in COLUMNS.items()
        for column, kind in columns.items()
    ]
    return pl.DataFrame(rows, schema=["file", "column", "type", "unit", "meaning"], orient="row")
