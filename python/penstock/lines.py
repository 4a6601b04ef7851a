"""Text files line by line, so that a refusal can name the line."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from decimal import Decimal, DecimalException
from pathlib import Path
from typing import TypeVar

from pydantic_core import PydanticCustomError

from penstock.errors import problem_of, quoted
from penstock.text_file import read_text
from penstock.units import NUMBER_WIDTH, TIME, U64_MAX, refusal, whole_number

LINES_MAX = 2**22
"""Most lines of a file; our choice: what is kept of a line takes a few hundred bytes."""

LINE_WIDTH = 2**20
"""Most characters of a line; our choice: the numbers of 4,096 switches take 30,000."""

QUOTES = ("'", '"')
"""Marks that are part of a cell: nothing within them is told apart."""

Value = TypeVar("Value")

_DECIMAL = re.compile(r"([0-9]*\.?[0-9]+|[0-9]+\.)([eE][-+]?[0-9]+)?")


class Line:
    """A line of a text file with its place, which every refusal names."""

    __slots__ = ("number", "path", "text")

    def __init__(self, path: Path, number: int, text: str) -> None:
        self.path, self.number, self.text = path, number, text

    def refuse(self, problem: str, remedy: str, word: str = "") -> PydanticCustomError:
        """An error about the line, or about a word of it.

        The rest of the line is not shown: the file may be one that was never meant.
        """
        shown = f": {quoted(word)}" if word else ""
        return refusal(f"{self.path}, line {self.number}{shown} {problem}", remedy)

    def whole(self, text: str, what: str, most: int = U64_MAX, least: int = 0) -> int:
        """`text` as a whole number from `least` to `most`."""
        word = text.strip()
        value = whole_number(word, most)
        if value is None or value < least:
            is_number = re.fullmatch("[0-9]+", word)
            number = "a whole number" if is_number else "a whole number in digits alone"
            bound = f"at most {most}" if is_number and value is None else f"{least} or more"
            raise self.refuse(f"has {quoted(word)} for {what}", f"write {number}, {bound}")
        return value

    def decimal(self, text: str, what: str) -> float:
        """`text` as a finite number of 0 or more, with a point or an exponent if need be."""
        value = float(text) if _is_decimal(text) else math.inf
        if not math.isfinite(value):
            raise self.refuse(f"has {quoted(text)} for {what}", "write a number, 0 or more")
        return value

    def read(self, reader: Callable[[str], Value], text: str) -> Value:
        """What `reader` makes of `text`; its refusal gets the place of the line."""
        try:
            return reader(text)
        except PydanticCustomError as error:
            found = problem_of(error)
            raise self.refuse(f"is wrong: {found.message}", found.remedy) from None

    def time(self, text: str, unit: str, what: str = "the start") -> int:
        """Picoseconds of a decimal number of `unit`, rounded to the nearest."""
        word = text.strip()
        try:
            value = Decimal(word if _is_decimal(word) else "NaN") * TIME.units[unit]
        except DecimalException:  # an exponent beyond all bounds
            value = Decimal("NaN")
        if not value.is_finite() or value > U64_MAX:
            raise self.refuse(
                f"has {quoted(word)} for {what}",
                f"write a number of {unit}, from 0 to {U64_MAX // TIME.units['s']} s",
            )
        return round(value)


def _is_decimal(text: str) -> bool:
    return len(text) <= NUMBER_WIDTH and _DECIMAL.fullmatch(text) is not None


def unseparated(line: Line) -> str:
    """Why no column of a CSV file may be found in a line."""
    if any(mark in line.text for mark in QUOTES):
        return ", because quotes are not read"
    if "," in line.text:
        return ""
    marks = {";": "a semicolon", "\t": "a tab", "|": "a bar"}
    found = next((words for mark, words in marks.items() if mark in line.text), None)
    return f", because {found} separates none" if found else ""


def announced(lines: list[Line], count: int, header: Line, what: str) -> list[Line]:
    """The lines behind a `header` that announces so many, without words at the end.

    The HPCC simulator reads no further, and its own files explain themselves below: lines that do
    not begin with a number.
    """
    found = len(lines)
    while found and lines[found - 1].text[0] not in "0123456789":
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
        A `ValueError`: the file cannot be read, has more than :data:`LINES_MAX` lines, or nothing
        is in it that should be.
    """
    return numbered_lines(read_text(path), path, may_be_empty=may_be_empty)


def numbered_lines(text: str, path: Path, *, may_be_empty: bool = False) -> list[Line]:
    """The lines of the text of a file, as :func:`read_lines` has them."""
    breaks = max(text.count("\n"), text.count("\r"))
    if breaks > LINES_MAX:
        raise refusal(f"{path} has {breaks:,} lines", f"name a file of at most {LINES_MAX:,}")
    lines = []
    for number, written in enumerate(io.StringIO(text, newline=None), start=1):
        line = Line(path, number, written.strip())
        if len(line.text) > LINE_WIDTH:
            raise line.refuse(f"has {len(line.text):,} characters", f"write at most {LINE_WIDTH:,}")
        if line.text and line.text[0] != "#":
            lines.append(line)
    if not lines and not may_be_empty:
        raise refusal(f"{path} is empty", "name a file with something in it")
    return lines
