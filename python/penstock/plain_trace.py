"""The flows of a CSV file as most are, and those of a record, read at once and not line by line.

What it is: a second way to the same flows, six times as fast. What it is not: a judge of what is
wrong. Invariant: :mod:`penstock.trace` and :mod:`penstock.toml_text` read the same flows from the
same text. A text with anything else in it is left to them.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from penstock.dependency import SIZE_MAX
from penstock.flow_rows import FlowRows
from penstock.topology_file import NODE_MAX
from penstock.units import DIGITS_MAX, TIME

_NO_SEPARATOR = "\x1f"
"""Polars' reader of CSV is to give whole lines."""

_WIDTH_MAX = 64
"""Most columns of a plain file; our choice: few files have ten, and a pattern grows with them."""

_SOURCE, _DESTINATION = pl.col("source"), pl.col("destination")
_SIZE, _START = pl.col("size"), pl.col("start")


def plain_flows(
    text: str, width: int, flow: Mapping[str, int], start: tuple[int, str], most: int
) -> FlowRows | None:
    """The flows of a CSV file of whole numbers, no part of a picosecond, with nothing wrong.

    Parameters
    ----------
    width
        How many columns its header has.
    flow, start
        The places of source, destination and size; that of the start, and its unit.
    most
        Most flows of a file.
    """
    if width > _WIDTH_MAX or _NO_SEPARATOR in text or text.count("\r") > text.count("\r\n"):
        return None
    place, unit = start
    factor = TIME.units[unit]
    decimals = len(str(factor)) - 1
    digits = DIGITS_MAX - 1  # a number with so many digits is below 2^64
    cells = ["[^,]*"] * width
    for name, cell in flow.items():
        cells[cell] = rf"[ \t]*(?P<{name}>[0-9]{{1,{digits}}})[ \t]*"
    fraction = rf"(?:\.(?P<fraction>[0-9]{{0,{decimals}}}))?"
    cells[place] = rf"[ \t]*(?P<start>[0-9]{{1,{digits - decimals}}}){fraction}[ \t]*"
    line, part = pl.col("line"), pl.col("fraction").fill_null("").str.pad_end(decimals or 1, "0")
    lines = _lines(text).filter(line.is_not_null(), ~line.str.starts_with("#")).slice(1)
    start_ps = _START.cast(pl.UInt64) * factor + part.cast(pl.UInt64)
    rows = _rows(lines, f"^{','.join(cells)}$", start_ps)
    is_sound = (
        (_SOURCE != _DESTINATION)
        & (pl.max_horizontal(_SOURCE, _DESTINATION) <= NODE_MAX)
        & _SIZE.is_between(1, SIZE_MAX)
        & (_START.shift(1, fill_value=0) <= _START)
    )
    if not 0 < rows.height <= most or not rows.select(is_sound.all(ignore_nulls=False)).item():
        return None
    return FlowRows(rows)


def recorded_flows(text: str, most: int) -> FlowRows | None:
    """The flows of a long list as a resolved scenario has them: lines such as ``  [0, 1, 9, 0],``.

    None where the core has no room for a number. As in a trace, a flow may have `SIZE_MAX` bytes.
    """
    names = ("source", "destination", "size", "start")
    cells = ", ".join(rf"(?P<{name}>0|[1-9][0-9]*)" for name in names)
    rows = _rows(_lines(text), rf"^  \[{cells}\],?$", _START.cast(pl.UInt64, strict=False))
    is_sound = pl.all_horizontal(pl.all().is_not_null()) & (_SIZE <= SIZE_MAX)
    is_whole = rows.height <= most and rows.select(is_sound.all(ignore_nulls=False)).item()
    return FlowRows(rows) if is_whole else None


def _lines(text: str) -> pl.LazyFrame:
    """The lines of a text, in a column `line`."""
    return pl.scan_csv(
        text.encode(),
        has_header=False,
        separator=_NO_SEPARATOR,
        quote_char=None,
        schema={"line": pl.String},
    )


def _rows(lines: pl.LazyFrame, pattern: str, start_ps: pl.Expr) -> pl.DataFrame:
    """The flows of lines, by the groups of a pattern; null where a line or a number is another."""
    return (
        lines.select(pl.col("line").str.extract_groups(pattern).struct.unnest())
        .select(
            _SOURCE.cast(pl.UInt32, strict=False),
            _DESTINATION.cast(pl.UInt32, strict=False),
            _SIZE.cast(pl.UInt64, strict=False),
            start_ps.alias("start"),
        )
        .collect(engine="streaming")
    )
