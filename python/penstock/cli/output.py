"""What commands print: tables and JSON on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

UNSTARTED_NAMED = 8
"""How many of the runs that were not made are named (our choice: a line)."""

PLAIN_WIDTH = 160
"""Columns of a table that is not shown on a terminal (our choice: a wide log)."""


def print_json(value: Any) -> None:
    """Prints a value as JSON; numbers that are none become null."""
    typer.echo(json.dumps(_finite(value), indent=2, ensure_ascii=False))


def print_table(
    titles: Sequence[str], rows: Iterable[Sequence[str | Text]], *, right: int = 99
) -> None:
    """Prints a table; columns from number `right` on are aligned to the right."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for number, name in enumerate(titles):
        table.add_column(name, justify="right" if number >= right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    console().print(table)


def console() -> Console:
    """Standard output, wide enough for a table where it is no terminal."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else PLAIN_WIDTH)


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - UNSTARTED_NAMED
    return ", ".join(names[:UNSTARTED_NAMED]) + (f" and {more} more" if more > 0 else "")


def _finite(value: Any) -> Any:
    match value:
        case dict():
            return {key: _finite(one) for key, one in value.items()}
        case list() | tuple():
            return [_finite(one) for one in value]
        case float() if value != value or value in (float("inf"), float("-inf")):
            return None
        case _:
            return value
