"""Numbers as people read them: sizes, times, rates."""

from __future__ import annotations

import math

SIZE_UNIT = " [bytes]"
"""How the title of a measured size ends. It is left out where each tick has its unit."""


MILLISECONDS_FROM_NS = 1e7
"""Time from which an axis is in ms, not µs [ns]; our choice: numbers of five digits at most."""


def time_unit(longest_ns: float) -> tuple[str, float]:
    """The unit of an axis of time up to `longest_ns` [ns], and how many ns it has."""
    return ("ms", 1e6) if longest_ns > MILLISECONDS_FROM_NS else ("µs", 1e3)


def bytes_text(value: float) -> str:
    """Size with a decimal unit: 1500 -> "1.5 KB" (the papers' KB is 1000 B)."""
    return _scaled(value, ("B", "KB", "MB", "GB", "TB"))


def time_text(nanoseconds: float) -> str:
    """Time with its unit: 1500 -> "1.5 µs"."""
    return _scaled(nanoseconds, ("ns", "µs", "ms", "s"))


def rate_text(bits_per_second: float) -> str:
    """Rate with its unit: 1e11 -> "100 Gb/s"."""
    return _scaled(bits_per_second, ("b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"))


def number_text(value: float | None, digits: int = 3) -> str:
    """Number with `digits` significant digits; a dash when there is none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    # Rounded first: 99.6 with two digits is 100, which the format above writes as 1e+02.
    return f"{value:,.0f}" if abs(float(text)) >= 10**digits else text


def counted(count: int, one: str, many: str) -> str:
    """A count and what is counted: "1 flow", "1,500 flows"."""
    return f"{count:,} {one if count == 1 else many}"


def _scaled(value: float, units: tuple[str, ...]) -> str:
    if math.isnan(value):
        return "–"
    step = 0
    while abs(value) >= 999.5 and step < len(units) - 1:
        value /= 1_000
        step += 1
    return f"{value:.3g} {units[step]}"
