"""Tables as files beside a page and as its scripts read them: JSON, compressed where it is long.

Invariant: nothing in the text can end the script element that holds it.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

DIGITS = 7
"""Significant digits of a number that is no integer (our choice: more than any figure shows, and
5 ms to the nanosecond)."""

COMPRESSED_FROM = 1_000_000
"""Size of the text from which it is compressed [B] (our choice: below, the text can be read)."""


@dataclass(frozen=True)
class Embedded:
    """The data of a page in the form in which they stand in it."""

    text: str
    form: str
    """"json", or "deflate": JSON, compressed as zlib does, in base64."""


def columns(table: pl.DataFrame) -> dict[str, Any]:
    """A table by columns: numbers as they are, words as places in the list of distinct ones."""
    return {name: _column(table[name]) for name in table.columns}


def as_csv(table: pl.DataFrame) -> bytes:
    """A table as a CSV file; a cell without a number is empty."""
    return table.fill_nan(None).write_csv().encode()


def embed(page: Mapping[str, Any]) -> Embedded:
    """The data of a page as text for its script element."""
    text = json.dumps(page, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c")
    if len(text) < COMPRESSED_FROM:
        return Embedded(text, "json")
    return Embedded(base64.b64encode(zlib.compress(text.encode(), 6)).decode(), "deflate")


def _column(values: pl.Series) -> Any:
    if values.dtype == pl.String:
        words = values.unique(maintain_order=True).drop_nulls()
        places = {word: place for place, word in enumerate(words)}
        return {"words": list(places), "at": [places.get(one) for one in values]}
    if values.dtype.is_float():
        return [_number(one) for one in values]
    return values.to_list()


def _number(value: float | None) -> float | int | str | None:
    """A number with so many digits as count; None for one that is none; JSON has no infinity."""
    if value is None or math.isnan(value):
        return None
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 2**53 else short
