"""Numbers as people read them: sizes, times, rates, and log axes ticked with them."""

from __future__ import annotations

import math

from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter


def bytes_text(value: float) -> str:
    """Size with a decimal unit: 1500 -> "1.5 KB" (the papers' KB is 1000 B)."""
    return _scaled(value, ("B", "KB", "MB", "GB", "TB"))


def time_text(nanoseconds: float) -> str:
    """Time with its unit: 1500 -> "1.5 µs"."""
    return _scaled(nanoseconds, ("ns", "µs", "ms", "s"))


def rate_text(bits_per_second: float) -> str:
    """Rate with its unit: 1e11 -> "100 Gb/s"."""
    return _scaled(bits_per_second, ("b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"))


def plain(text: str) -> str:
    """`text` as Matplotlib writes it letter by letter: a dollar sign begins no formula."""
    return text.replace("$", r"\$")


def number_text(value: float | None, digits: int = 3) -> str:
    """Number with `digits` significant digits; a dash when there is none."""
    if value is None or math.isnan(value):
        return "–"
    if value == 0 or math.isinf(value):
        return f"{value:g}"
    if abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def _scaled(value: float, units: tuple[str, ...]) -> str:
    if math.isnan(value):
        return "–"
    step = 0
    while abs(value) >= 999.5 and step < len(units) - 1:
        value /= 1_000
        step += 1
    return f"{value:.3g} {units[step]}"


def size_axis(axis: Axis) -> None:
    """Write the ticks of an axis in bytes as sizes."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: bytes_text(value)))
    axis.set_minor_formatter(NullFormatter())


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
