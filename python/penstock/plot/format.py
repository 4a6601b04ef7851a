"""Texts in Matplotlib's form, and axes ticked with readable numbers."""

from __future__ import annotations

import math

from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from penstock.readable import SIZE_UNIT, bytes_text


def plain(text: str) -> str:
    """`text` as Matplotlib writes it letter by letter: a dollar sign begins no formula."""
    return text.replace("$", r"\$")


def size_axis(axis: Axis) -> None:
    """Write the ticks of an axis in bytes as sizes."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: bytes_text(value)))
    axis.set_minor_formatter(NullFormatter())


def measured_words(axis: Axis, title: str) -> str:
    """The title of a measured number, without the unit of a size: each tick of `axis` gets it."""
    words = title.removesuffix(SIZE_UNIT)
    if words != title:
        size_axis(axis)
    return words


def plain_log_ticks(axis: Axis, low: float, high: float) -> None:
    """Tick a logarithmic axis from `low` to `high` with plain numbers: 1, 2, 5, 10, 20 …

    A range of more than two decades is ticked at the decades alone, one of less than a factor of
    five more densely.
    """
    steps: tuple[float, ...] = (1, 2, 5) if high / low <= 200 else (1,)
    if high / low < 5:
        steps = (1, 1.5, 2, 3, 4, 5, 7)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks = [s * 10.0**e for e in range(first, last + 1) for s in steps]
    axis.set_major_locator(FixedLocator([t for t in ticks if low <= t <= high * 1.001]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())
