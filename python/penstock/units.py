"""Quantities: whole numbers of picoseconds, bytes and bits per second.

People write ``"12 us"``, ``"100 Gb/s"``, ``"12 MiB"``, or an integer in the base unit; programs
see integers. Parsing and printing follow ``crates/penstock-units`` digit for digit (a test compares
the two), so a printed quantity reads back exactly. Floats are refused: ``1e-6`` of a
second is a rounding error waiting to happen.

Where next: :mod:`penstock.scenario.base` declares fields of these types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import SerializationInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from penstock.errors import TEXT_WIDTH, printable, quoted

U64_MAX = 2**64 - 1
"""The largest quantity: the Rust core keeps every quantity in an unsigned 64-bit integer."""

DIGITS_MAX = len(str(U64_MAX))
"""Most digits of a whole number: those of the largest quantity."""

NUMBER_WIDTH = 64
"""Most characters of a number with a point or an exponent; our choice: a double needs 24, the
sizes of decimal numbers in simulators' files stay below 32."""

_NUMBER = re.compile(r"([0-9._]*)(.*)", re.DOTALL)


def refusal(problem: str, remedy: str) -> PydanticCustomError:
    """An error for a pydantic validator to raise: what is wrong, and what would be right."""
    context = {
        name: printable(text, TEXT_WIDTH)
        for name, text in (("problem", problem), ("remedy", remedy))
    }
    return PydanticCustomError("refused", "{problem}", context)


def whole_number(text: str, most: int = U64_MAX) -> int | None:
    """`text` as a whole number of at most `most`; None when it is none.

    Every reader of text uses it: ``int`` takes signs, underscores and the digits of other scripts,
    and raises an error of its own on thousands of digits.
    """
    if not (text.isdecimal() and text.isascii() and len(text) <= DIGITS_MAX):
        return None
    value = int(text)
    return value if value <= most else None


@dataclass(frozen=True, eq=False)
class Quantity:
    """A kind of quantity, its units (largest printed first) and an example for messages."""

    name: str
    base: str
    units: Mapping[str, int]
    printed: tuple[str, ...]
    listed: str
    example: str
    binary: tuple[str, ...] = ()
    """Units printed where the value is a whole number of them and no multiple of 1000."""

    def parse(self, text: str) -> int:
        """The number of base units that `text` says, exactly.

        Raises
        ------
        PydanticCustomError
            A `ValueError`: the text is no number and unit, or no whole number of base units.
        """
        match = _NUMBER.fullmatch(text.strip())
        assert match is not None, "the pattern matches every text"
        number, unit = match.group(1).replace("_", ""), match.group(2).strip()
        factor = self.units.get(unit)
        if unit.startswith("-") and not number:
            raise self._refuse(text, "it is negative")
        if unit.startswith(","):
            raise self._refuse(text, "a comma is no part of a number")
        if factor is None:
            raise self._refuse(text, "its unit is unknown")
        if len(number) > NUMBER_WIDTH:
            raise self._refuse(text, "its number is too long")
        whole, _, fraction = number.partition(".")
        if not (whole or fraction):
            raise self._refuse(text, "it has no number")
        if "." in fraction:
            raise self._refuse(text, "it has two decimal points")
        power: int = 10 ** len(fraction)
        total, rest = divmod(int(whole + fraction or "0") * factor, power)
        if rest or total > U64_MAX:
            raise self._refuse(text, "it is too large or too fine")
        return total

    def format(self, value: int) -> str:
        """`value` in the largest unit that leaves at most three exact decimals."""
        for unit in self.binary:
            count, rest = divmod(value, self.units[unit])
            if count and not rest and value % 1000:
                return f"{count} {unit}"
        for unit in self.printed:
            factor = self.units[unit]
            step = max(factor // 1000, 1)
            if value >= factor and value % step == 0:
                whole, rest = divmod(value, factor)
                decimals = f"{rest // step:03d}".rstrip("0")
                return f"{whole}.{decimals} {unit}" if decimals else f"{whole} {unit}"
        return f"{value} {self.printed[-1]}"

    def validate(self, value: Any) -> int:
        """`value` as an integer of base units, from a text with a unit or an integer."""
        remedy = f'write a whole number of {self.base} or a text such as "{self.example}"'
        if isinstance(value, str):
            return self.parse(value)
        if isinstance(value, bool) or not isinstance(value, int):
            kind = "a number with a fraction" if isinstance(value, float) else "no quantity"
            raise refusal(f"this is {kind}, and a {self.name} is exact", remedy)
        if value < 0:
            raise refusal(f"a {self.name} cannot be negative", remedy)
        if value > U64_MAX:
            raise refusal(f"a {self.name} is at most {U64_MAX} {self.base}", remedy)
        return value

    def serialize(self, value: int, info: SerializationInfo) -> int | str:
        """A text with a unit when the context asks for it (TOML), else the integer (JSON)."""
        if isinstance(info.context, Mapping) and info.context.get("with_units"):
            return self.format(value)
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        """How a model checks and writes a field of this kind.

        Built here, because pydantic looks at the signatures of annotated functions for each field
        again: a fifth of the time in which a scenario's models are built.
        """
        written = core_schema.plain_serializer_function_ser_schema(self.serialize, info_arg=True)
        return core_schema.no_info_plain_validator_function(self.validate, serialization=written)

    def _refuse(self, text: str, reason: str) -> PydanticCustomError:
        return refusal(
            f"{quoted(text)} is not a {self.name}: {reason}",
            f'write a number and a unit, one of {self.listed}, such as "{self.example}"',
        )


TIME = Quantity(
    name="time",
    base="picoseconds",
    units={"ps": 1, "ns": 10**3, "us": 10**6, "µs": 10**6, "μs": 10**6, "ms": 10**9, "s": 10**12},
    printed=("s", "ms", "us", "ns", "ps"),
    listed="ps, ns, us, ms, s",
    example="12 us",
)
"""Time and spans of time [ps]."""

SIZE = Quantity(
    name="size",
    base="bytes",
    units={
        "B": 1,
        "kB": 10**3,
        "KB": 10**3,
        "MB": 10**6,
        "GB": 10**9,
        "KiB": 2**10,
        "MiB": 2**20,
        "GiB": 2**30,
    },
    printed=("GB", "MB", "kB", "B"),
    listed="B, kB, MB, GB, KiB, MiB, GiB",
    example="12 MiB",
    binary=("GiB", "MiB", "KiB"),
)
"""Amounts of data [B]."""

RATE = Quantity(
    name="rate",
    base="bits per second",
    units={
        "b/s": 1,
        "kb/s": 10**3,
        "Mb/s": 10**6,
        "Gb/s": 10**9,
        "Tb/s": 10**12,
        "Mbps": 10**6,
        "Gbps": 10**9,
    },
    printed=("Tb/s", "Gb/s", "Mb/s", "kb/s", "b/s"),
    listed="b/s, kb/s, Mb/s, Gb/s, Tb/s",
    example="100 Gb/s",
)
"""Data rates [bit/s]."""

Time = Annotated[int, TIME]
"""A time or span [ps], >= 0."""

Size = Annotated[int, SIZE]
"""An amount of data [B], >= 0."""

Rate = Annotated[int, RATE]
"""A data rate [bit/s], >= 0."""
