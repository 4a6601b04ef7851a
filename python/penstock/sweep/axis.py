"""The axes of a sweep: what ``--set KEY=VALUES`` says, as values in their order.

Values are separated by commas (those inside brackets and quotes separate nothing), or they are a
range ``a:b:step`` whose ends are included, of numbers with the same kind of unit. A field with one
value is no axis. Decimal arithmetic keeps ``0.3:0.9:0.1`` exact.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from penstock.errors import refuse
from penstock.scenario.base import label_of
from penstock.scenario.scheme import scheme_label
from penstock.scenario.table import SCHEME_KEYS, setting_value
from penstock.units import NUMBER_WIDTH, RATE, SIZE, TIME, Quantity

VALUES_MAX = 10_000
"""Most values of an axis (our choice: a typing error in a step is found before the grid is)."""

_PART = re.compile(r"\s*(?P<number>[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]{1,2})?)\s*(?P<unit>\D*)")
_OPENING, _CLOSING, _QUOTES = "[{", "]}", "\"'"


@dataclass(frozen=True)
class Value:
    """A value of an axis."""

    label: str
    """Its name in tables, figures and the dataset; equal values have equal labels."""
    written: Any
    """What the scenario's field is set to."""
    number: float | None = None
    """Its place on the axis of a figure, in the axis's unit; none where it is a word."""


@dataclass(frozen=True)
class Axis:
    """A field that is varied."""

    key: str
    """The scenario's field, as a path; the column of the dataset."""
    values: tuple[Value, ...]
    """In the order of the command, each once."""
    unit: str = ""
    """Unit of the values' numbers."""

    @property
    def is_numeric(self) -> bool:
        """Whether every value has a place on an axis of numbers."""
        return all(value.number is not None for value in self.values)


def read_axis(key: str, text: str) -> Axis:
    """The axis that ``KEY=VALUES`` means; one of a single value is a constant.

    Raises
    ------
    ScenarioError
        It has no value, an empty one, one twice, or a range without values.
    """
    words = list(_range(key, text)) or split_values(text)
    if not words:
        raise refuse(key, "it has no value", "write values separated by commas, or a:b:step", text)
    if not all(words):
        remedy = "write one between two commas, or leave a comma out"
        raise refuse(key, "one of its values is empty", remedy, text)
    if len(words) > VALUES_MAX:
        raise refuse(key, f"there are {len(words):,} values", f"write at most {VALUES_MAX:,}", text)
    quantity = _quantity(words)
    values = [_value(key, word, quantity) for word in words]
    labels = [value.label for value in values]
    for value in values:
        if labels.count(value.label) > 1:
            message = f'two values are called "{value.label}"'
            remedy = "write each once, and give each scheme's file a name of its own"
            raise refuse(key, message, remedy, text)
    return Axis(key, tuple(values), quantity.base if quantity else "")


def axis_of(key: str, labels: Sequence[str]) -> Axis:
    """The axis whose values have these labels, numbers in rising order: an axis of a dataset."""
    distinct = list(dict.fromkeys(labels))
    quantity = None if key in SCHEME_KEYS else _quantity(distinct)
    values = [_value(key, label, quantity) for label in distinct]
    if all(value.number is not None for value in values):
        values.sort(key=lambda value: value.number or 0.0)
    return Axis(key, tuple(values), quantity.base if quantity else "")


def split_values(text: str) -> list[str]:
    """The parts of a text between commas that are in no brackets and no quotes; none of an empty
    text."""
    parts, depth, quote = [""], 0, ""
    for one in text:
        if quote:
            quote = "" if one == quote else quote
        elif one in _QUOTES:
            quote = one
        elif one in _OPENING + _CLOSING:
            depth += 1 if one in _OPENING else -1
        elif one == "," and depth == 0:
            parts.append("")
            continue
        parts[-1] += one
    return [part.strip() for part in parts] if text.strip() else []


def _range(key: str, text: str) -> Iterator[str]:
    """The values of ``a:b:step``; none where the text is no range."""
    found = [_PART.fullmatch(part) for part in text.split(":")]
    if len(found) not in (2, 3) or len(text) > NUMBER_WIDTH or not all(found):
        return
    if len(found) == 2:
        raise refuse(key, "a range needs its step", "write a:b:step, e.g. 0.3:0.9:0.1", text)
    parts = [one for one in found if one]
    quantity = _quantity([one[0] for one in parts])
    if quantity is None and any(one["unit"].strip() for one in parts):
        remedy = "write the same kind of unit three times, e.g. 10us:50us:10us"
        raise refuse(key, "its units do not go together", remedy, text)
    if quantity is None:
        first, last, step = (Decimal(one["number"]) for one in parts)
    else:
        first, last, step = (Decimal(quantity.parse(one[0])) for one in parts)
    if step <= 0:
        raise refuse(key, "the step of a range is above 0", "write a:b:step with a step > 0", text)
    if last < first:
        raise refuse(key, "the range is empty", "write the smaller end first", text)
    count = int((last - first) / step) + 1
    if count > VALUES_MAX:
        raise refuse(key, f"the range has {count:,} values", f"take at most {VALUES_MAX:,}", text)
    for index in range(count):
        value = first + index * step
        yield quantity.format(int(value)) if quantity else _plain(value)


def _quantity(words: list[str]) -> Quantity | None:
    """The kind of quantity that every word is; none where they are not of one kind."""
    for quantity in (TIME, SIZE, RATE):
        found = [_PART.fullmatch(_bare(word)) for word in words]
        units = [one["unit"].strip() if one else None for one in found]
        if units and all(unit in quantity.units for unit in units):
            return quantity
    return None


def _value(key: str, word: str, quantity: Quantity | None) -> Value:
    written = setting_value(key, word)
    if key in SCHEME_KEYS and isinstance(written, str):
        return Value(scheme_label(written), written)
    if quantity is not None:
        base = quantity.parse(_bare(word))
        return Value(quantity.format(base), _bare(word), float(base))
    if isinstance(written, bool):
        return Value(str(written).lower(), written)
    if isinstance(written, int | float):
        number = _PART.fullmatch(word)
        label = _plain(Decimal(number["number"])) if number else str(written)
        return Value(label, written, float(written))
    return Value(label_of(written if isinstance(written, str) else json.dumps(written)), written)


def _bare(word: str) -> str:
    """A text without its quotes."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in _QUOTES else word


def _plain(value: Decimal) -> str:
    """A number without zeros behind: 0.30 -> 0.3, 1E+2 -> 100."""
    short = value.normalize()
    return f"{short:f}" if abs(short.adjusted()) < 15 else str(short)
