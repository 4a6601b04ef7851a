"""The flows of files as most are, and those of a record, read at once and not line by line.

What it is: a second way to the same flows, six times as fast. What it is not: a judge of what is
wrong. Invariant: :mod:`penstock.trace` and :mod:`penstock.toml_text` read the same flows from the
same text. A text with anything else in it is left to them.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from penstock.dependency import FLOWS_MAX, SIZE_MAX
from penstock.flow_rows import FlowRows
from penstock.hpcc.flow_file import PORT_MAX, SECOND_NS
from penstock.topology_file import NODE_MAX
from penstock.units import DIGITS_MAX, TIME

_NO_SEPARATOR = "\x1f"
"""Polars' reader of CSV is to give whole lines."""

_WIDTH_MAX = 64
"""Most columns of a plain file; our choice: few files have ten, and a pattern grows with them."""

_LINE = pl.col("line")
_SOURCE, _DESTINATION = pl.col("source"), pl.col("destination")
_SIZE, _START = pl.col("size"), pl.col("start")
_IS_SOUND = (
    (_SOURCE != _DESTINATION)
    & (pl.max_horizontal(_SOURCE, _DESTINATION) <= NODE_MAX)
    & _SIZE.is_between(1, SIZE_MAX)
    & (_START.shift(1, fill_value=0) <= _START)
)
"""Whether a flow is as :func:`penstock.dependency.checked_flows` wants it."""


def plain_flows(
    text: str, width: int, flow: Mapping[str, int], start: tuple[int, str]
) -> FlowRows | None:
    """The flows of a CSV file of whole numbers, no part of a picosecond, with nothing wrong.

    Parameters
    ----------
    width
        How many columns its header has.
    flow, start
        The places of source, destination and size; that of the start, and its unit.
    """
    if width > _WIDTH_MAX or not _is_plain(text):
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
    part = pl.col("fraction").fill_null("").str.pad_end(decimals or 1, "0")
    start_ps = _START.cast(pl.UInt64) * factor + part.cast(pl.UInt64)
    rows = _rows(_told(text).slice(1), f"^{','.join(cells)}$", start_ps)
    is_sound = rows.select(_IS_SOUND.all(ignore_nulls=False)).item()
    return FlowRows(rows) if 0 < rows.height <= FLOWS_MAX and is_sound else None


def plain_hpcc_flows(text: str, count: int) -> tuple[FlowRows, list[int]] | None:
    """The flows of the HPCC simulator's flow file with nothing wrong, and their ports.

    Parameters
    ----------
    count
        How many flows its first line announces, from 1 to :data:`~penstock.dependency.FLOWS_MAX`.
    """
    if not _is_plain(text):
        return None
    size = rf"(?P<size>[0-9]{{1,{DIGITS_MAX - 1}}})"
    start = r"(?P<start>[0-9]{1,7}(?:\.[0-9]{1,30})?)"  # below the longest time, and no long text
    cells = ["(?P<source>[0-9]{1,10})", "(?P<destination>[0-9]{1,10})", "[0-9]{1,10}"]
    cells += [r"(?:(?P<port>[0-9]{1,5})[ \t]+)?" + size, start]
    pattern = r"^[ \t]*" + r"[ \t]+".join(cells) + r"[ \t]*$"
    ports = pl.col("port").fill_null("0").cast(pl.UInt32)
    begins = _LINE.str.contains("^[0-9]").alias("begins")  # with a number, as words below do not
    start_ps = TIME.units["ns"] * _time_ns(_START)
    found = _rows(_told(text).slice(1), pattern, start_ps, ports, begins)
    rows = found.head(count)
    is_sound = rows.select(_IS_SOUND.all(ignore_nulls=False) & (pl.col("port") <= PORT_MAX).all())
    if rows.height != count or found["begins"][count:].any() or not is_sound.item():
        return None
    second = TIME.units["s"]
    base = pl.col("start").first() // second * second
    flows = FlowRows(rows.select("source", "destination", "size", _START - base))
    return flows, rows["port"].to_list()


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


def _is_plain(text: str) -> bool:
    """Whether Polars finds the lines of a text as Python does."""
    return _NO_SEPARATOR not in text and text.count("\r") == text.count("\r\n")


def _told(text: str) -> pl.LazyFrame:
    """The lines of a text that are no comments."""
    return _lines(text).filter(_LINE.is_not_null(), ~_LINE.str.starts_with("#"))


def _time_ns(seconds: pl.Expr) -> pl.Expr:
    """The nanoseconds of numbers below 2^32 s, as :func:`penstock.hpcc.quantity.seconds_ns`."""
    number = seconds.cast(pl.Float64)
    fixed_point = ((number - number.floor()) * 2.0**64).cast(pl.UInt64)
    high, low = fixed_point // 2**32, fixed_point % 2**32
    part = (high * SECOND_NS + low * SECOND_NS // 2**32) // 2**32
    return number.floor().cast(pl.UInt64) * SECOND_NS + part


def _rows(lines: pl.LazyFrame, pattern: str, start_ps: pl.Expr, *more: pl.Expr) -> pl.DataFrame:
    """The flows of lines, by the groups of a pattern; null where a line or a number is another."""
    return (
        lines.select(_LINE, _LINE.str.extract_groups(pattern).struct.unnest())
        .select(
            _SOURCE.cast(pl.UInt32, strict=False),
            _DESTINATION.cast(pl.UInt32, strict=False),
            _SIZE.cast(pl.UInt64, strict=False),
            start_ps.alias("start"),
            *more,
        )
        .collect(engine="streaming")
    )
