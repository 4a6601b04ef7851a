"""Rates and times as ns-3 3.17 reads them from text.

A number goes through a C++ ``double``. A time is then cut, not rounded, to whole nanoseconds
(``Time::FromDouble`` with nanosecond resolution): ``2.000000101`` s is 2,000,000,100 ns, because
the nearest double is a little smaller. Confirmed on every start time of both reference traces.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from penstock.errors import quoted
from penstock.units import NUMBER_WIDTH, TIME, U64_MAX, refusal

RATE_UNITS = {
    prefix + unit: factor * bits
    for prefix, factor in {
        "": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30
    }.items()
    for unit, bits in {"bps": 1, "b/s": 1, "Bps": 8, "B/s": 8}.items()
}  # fmt: skip
"""Bits per second in each unit of ns-3's ``DataRate``; a number alone is in bit/s."""

TIME_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Nanoseconds in each unit of ns-3's ``Time``; a number alone is in seconds."""

_DIGITS = r"([0-9]+\.?[0-9]*|\.[0-9]+)"
_NUMBER = re.compile(rf"{_DIGITS}([A-Za-z/]*)")
_DOUBLE = re.compile(rf"{_DIGITS}([eE][-+]?[0-9]+)?")
_TIME_MAX = U64_MAX // TIME.units["ns"]
"""Longest time [ns]: a scenario counts picoseconds in 64 bits."""
_FRACTION_BITS = 64
"""Bits behind the point of ns-3's ``int64x64_t``, through which a double becomes a time."""


def rate_bps(text: str) -> int:
    """The rate that a text such as ``100Gbps`` or ``25000000000.0`` says [bit/s].

    Raises
    ------
    PydanticCustomError
        A `ValueError`: it is no rate above zero, or larger than 64 bits hold.
    """
    number, unit = _split(text, RATE_UNITS, "b/s", "rate", "100Gbps")
    rate = int(Fraction(float(number)) * RATE_UNITS[unit])
    if not 0 < rate <= U64_MAX:
        raise refusal(f"{quoted(text)} is no rate above zero", 'write e.g. "100Gbps"')
    return rate


def time_ns(text: str) -> int:
    """The whole nanoseconds that a text such as ``0.001ms`` or ``2.000000101`` says.

    Raises
    ------
    PydanticCustomError
        A `ValueError`: it is no time, or longer than 64 bits of picoseconds.
    """
    number, unit = _split(text, TIME_UNITS, "s", "time", "0.001ms")
    return _cut(text, float(number), unit, "0.001ms")


def seconds_ns(text: str) -> int:
    """The whole nanoseconds of a number of seconds such as ``2.000000101`` or ``1e-3``.

    That simulator reads it from its file as a ``double``: it may have an exponent, and no unit.

    Raises
    ------
    PydanticCustomError
        As :func:`time_ns`.
    """
    if len(text) > NUMBER_WIDTH or not _DOUBLE.fullmatch(text):
        raise refusal(
            f"{quoted(text)} is no time in seconds", 'write a number alone, e.g. "2.000001"'
        )
    return _cut(text, float(text), "s", "2.000001")


def _cut(text: str, number: float, unit: str, example: str) -> int:
    """Whole nanoseconds of a time; `text` is how it is written."""
    time = _TIME_MAX + 1
    if math.isfinite(number):
        numerator, denominator = number.as_integer_ratio()
        fixed_point = (numerator << _FRACTION_BITS) // denominator
        time = (fixed_point * TIME_UNITS[unit]) >> _FRACTION_BITS
    if time > _TIME_MAX:
        raise refusal(f"{quoted(text)} is no time that can be simulated", f'write e.g. "{example}"')
    return time


def _split(
    text: str, units: dict[str, int], default: str, name: str, example: str
) -> tuple[str, str]:
    match = _NUMBER.fullmatch(text) if len(text) <= NUMBER_WIDTH else None
    if match is None or (match.group(2) or default) not in units:
        raise refusal(f"{quoted(text)} is no {name}", f'write e.g. "{example}"')
    return match.group(1), match.group(2) or default
