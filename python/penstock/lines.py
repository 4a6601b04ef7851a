"""Text files line by line, so that a refusal can name the line."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TypeVar

from pydantic_core import PydanticCustomError

from penstock.units import TIME, U64_MAX, refusal

Value = TypeVar("Value")


class Line:
    """A line of a text file with its place, which every refusal names."""

    def __init__(self, path: Path, number: int, text: str) -> None:
        self.path, self.number, self.text = path, number, text.strip()

    def refuse(self, problem: str, remedy: str) -> Exception:
        """An error that shows the line."""
        shown = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        return refusal(f'{self.path}, line {self.number}: "{shown}" {problem}', remedy)

    def whole(self, text: str, what: str) -> int:
        """`text` as a whole number."""
        if not re.fullmatch(r"[0-9]+", text.strip()):
            raise self.refuse(f'has "{text}" for {what}', "write a whole number, 0 or more")
        return int(text)

    def read(self, reader: Callable[[str], Value], text: str) -> Value:
        """What `reader` makes of `text`; its refusal gets the place of the line."""
        try:
            return reader(text)
        except PydanticCustomError as error:
            context = error.context or {}
            raise self.refuse(f"is wrong: {context['problem']}", context["remedy"]) from None

    def time(self, text: str, unit: str) -> int:
        """Picoseconds of a decimal number of `unit`, rounded to the nearest."""
        try:
            value = Decimal(text.strip()) * TIME.units[unit]
        except InvalidOperation:
            raise self.refuse(f'has "{text}" for the start', f"write a number of {unit}") from None
        if not value.is_finite() or not 0 <= value <= U64_MAX:
            raise self.refuse(f'has "{text}" for the start', "write a time from 0 up")
        return round(value)


def announced(lines: list[Line], count: int, header: Line, what: str) -> list[Line]:
    """The lines behind a `header` that announces so many, without words at the end.

    The HPCC simulator reads no further, and its own files explain themselves below: lines that do
    not begin with a number.
    """
    found = len(lines)
    while found and not lines[found - 1].text[0].isdigit():
        found -= 1
    if found != count:
        raise header.refuse(
            f"announces {count} {what}, but {found} follow",
            "the file is truncated, or its first line is wrong",
        )
    return lines[:found]


def read_lines(path: Path, *, may_be_empty: bool = False) -> list[Line]:
    """The lines of a text file, gzipped or not, without empty ones and comments (``#``).

    Raises
    ------
    PydanticCustomError
        A `ValueError`: the file cannot be read, or nothing is in it that should be.
    """
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        texts = raw.decode().splitlines()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise refusal(
            f"{path} cannot be read: {error}", "name a text file, or one gzipped"
        ) from None
    numbered = [Line(path, number, text) for number, text in enumerate(texts, start=1)]
    lines = [line for line in numbered if line.text and not line.text.startswith("#")]
    if not lines and not may_be_empty:
        raise refusal(f"{path} is empty", "name a file with something in it")
    return lines
