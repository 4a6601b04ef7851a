"""What commands print: tables and JSON on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

NAMED = 8
"""How many of several runs are named (our choice: a line)."""

PLAIN_WIDTH = 160
"""Columns of a table that is not shown on a terminal (our choice: a wide log)."""


FITTING_WIDTH = 80
"""Columns of a table that fits a terminal, where there is none (the usual width of one)."""


WITHOUT_END = 10_000
"""Columns of a terminal on which every table fits."""


def print_json(value: Any) -> None:
    """Prints a value as JSON; numbers that are none become null.

    Where standard output has no Unicode, other characters than ASCII are written as escapes.
    """
    # A stream in memory has no encoding and takes all of Unicode.
    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    typer.echo(json.dumps(_finite(value), indent=2, ensure_ascii=not is_unicode))


def print_table(
    titles: Sequence[str], rows: Iterable[Sequence[str | Text]], *, right: int = 99
) -> None:
    """Prints a table; columns from number `right` on are aligned to the right."""
    console().print(_table(titles, list(rows), right))


def print_fitting(
    titles: Sequence[str], rows: Sequence[Sequence[str | Text]], *, least_first: Sequence[str]
) -> list[str]:
    """Prints a table as wide as the terminal, and returns the titles that it leaves out.

    Of several rows, columns go first that say the same in each; then those of `least_first`, in
    this order. Columns that are not in it stay. The first column is aligned to the left.
    """
    out = console(FITTING_WIDTH)
    kept = list(range(len(titles)))
    same = [
        title
        for place, title in enumerate(titles)
        if len(rows) > 1 and len({str(row[place]) for row in rows}) == 1
    ]
    order = [one for one in least_first if one in same] + [
        one for one in least_first if one not in same
    ]
    left_out: list[str] = []
    while True:
        chosen = [[row[place] for place in kept] for row in rows]
        table = _table([titles[place] for place in kept], chosen, 1)
        wanted = Measurement.get(out, out.options.update(width=WITHOUT_END), table).maximum
        if not order or wanted <= out.width:
            out.print(table)
            return left_out
        title = order.pop(0)
        if title in titles:
            kept.remove(titles.index(title))
            left_out.append(title)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str | Text]], right: int) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for number, name in enumerate(titles):
        side: JustifyMethod = "right" if number >= right else "left"
        table.add_column(Text(name), justify=side, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def console(plain_width: int = PLAIN_WIDTH) -> Console:
    """Standard output; where it is no terminal, as wide as that."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else plain_width)


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


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
