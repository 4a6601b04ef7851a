"""The fields of a search: what ``--field`` says, as the values that each may have.

``KEY=LOW:HIGH`` is a range, ``KEY=LOW:HIGH:log`` one whose decades count alike. An end that is left
out is the bound that the core declares. ``KEY=a,b,c`` lists choices, which have no order. Values of
a range have at most four digits that differ, so that they can be read, and points are met again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import PydanticCustomError

from penstock.errors import Problem, ScenarioError, problem_of, refuse
from penstock.scenario import Scenario
from penstock.scenario.table import SCHEME_KEYS
from penstock.sweep.axis import Value, read_axis, split_values
from penstock.tune.tree import Leaf, Tree
from penstock.units import whole_number

OPTION = "--field"
"""What messages call the option."""

DIGITS = 4
"""Digits of a value that differ over its range (our choice: a thousandth of a range is finer than
what a threshold is set to)."""

FIELDS_MAX = 20
"""Most fields of a search (our choice: a budget of a few hundred runs cannot tell more apart)."""

_LOG = "log"


@dataclass(frozen=True)
class Field:
    """A field that is varied: a range of numbers, or choices."""

    key: str
    """The field's path as the user writes it."""
    choices: tuple[Value, ...] = ()
    """Its values where they are listed; empty for a range."""
    low: float = 0
    """Least value of a range, in base units; an integer where the field holds whole numbers."""
    high: float = 0
    """Largest value, above `low`."""
    is_log: bool = False
    """Whether a range is gone through by its logarithm."""
    leaf: Leaf | None = field(default=None, compare=False)
    """What the core declares of it; none of the name of a scheme."""

    @property
    def unit(self) -> str:
        """The base unit of a range of quantities; empty for plain numbers."""
        quantity = self.leaf.quantity if self.leaf else None
        return quantity.base if quantity else ""

    @property
    def is_whole(self) -> bool:
        """Whether a range holds whole numbers."""
        return bool(self.leaf and self.leaf.is_whole)

    @property
    def start(self) -> float | int | None:
        """What the scenario itself has, as the sampler knows it; none outside of the values."""
        written = self.leaf.value if self.leaf else None
        if self.choices:
            quantity = self.leaf.quantity if self.leaf else None
            shown = quantity.format(written) if quantity and written is not None else written
            found = [at for at, one in enumerate(self.choices) if shown in (one.written, one.label)]
            return found[0] if found else None
        if isinstance(written, bool) or not isinstance(written, int | float):
            return None
        return written if self.low <= written <= self.high else None

    def value(self, raw: float) -> Value:
        """The value for a number of the sampler: a place in the range, or that of a choice."""
        if self.choices:
            return self.choices[int(raw)]
        number = raw if raw == self.start else self._readable(raw)
        quantity = self.leaf.quantity if self.leaf else None
        if quantity is not None:
            text = quantity.format(int(number))
            return Value(text, text, float(number))
        return Value(str(number), number, float(number))

    def words(self) -> str:
        """The values in words: "10 kB to 1 MB, logarithmic"."""
        if self.choices:
            return ", ".join(one.label for one in self.choices)
        ends = " to ".join(self.value(end).label for end in (self.low, self.high))
        return f"{ends}, logarithmic" if self.is_log else ends

    def _readable(self, raw: float) -> float:
        """The number with few digits that is nearest, within the range."""
        scale = min(abs(raw), self.high - self.low) if self.is_log else self.high - self.low
        digits = DIGITS - 1 - math.floor(math.log10(scale))
        number = round(raw, min(digits, 0) if self.is_whole else digits)
        return min(max(number, self.low), self.high)


def read_fields(texts: Sequence[str], scenario: Scenario) -> tuple[Field, ...]:
    """The fields that a command line names, checked against the scenario.

    Raises
    ------
    ScenarioError
        Everything that is wrong with them.
    """
    if not texts:
        raise refuse(OPTION, "nothing is varied", "write e.g. --field load=0.3:0.9")
    if len(texts) > FIELDS_MAX:
        raise refuse(OPTION, f"there are {len(texts)} fields", f"vary at most {FIELDS_MAX}")
    tree = Tree(scenario)
    found: dict[str, Field] = {}
    problems: list[Problem] = []
    for text in texts:
        try:
            one = read_field(text, tree)
            path = one.leaf.path if one.leaf else one.key
            if path in found:
                raise refuse(OPTION, f"{one.key} is varied twice", "write it once", text)
            found[path] = one
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return tuple(found.values())


def read_field(text: str, tree: Tree) -> Field:
    """The field that ``KEY=VALUES`` means.

    Raises
    ------
    ScenarioError
        There is no such field, or it cannot have these values.
    """
    key, _, values = (part.strip() for part in text.partition("="))
    if not key:
        raise refuse(OPTION, "it names no field", "write e.g. load=0.3:0.9", text)
    if key == "seed":
        raise refuse(OPTION, "seeds are repetitions", "write --seeds 1..3", text)
    leaf = None if key in SCHEME_KEYS else tree.find(key, OPTION)
    words = split_values(values)
    if leaf is None or len(words) > 1 or (leaf.words and not leaf.is_number):
        return _choices(key, words, leaf, text)
    if not leaf.is_number:
        remedy = "list its values: KEY=a,b,c"
        raise refuse(OPTION, f"{key} holds no number, so that it has no range", remedy, text)
    return _range(key, values, leaf, text)


def _choices(key: str, words: list[str], leaf: Leaf | None, text: str) -> Field:
    if not words and leaf:
        words = [str(one).lower() if isinstance(one, bool) else str(one) for one in leaf.words]
    if len(words) < 2:
        remedy = "list at least two values: KEY=a,b,c; --set fixes a field"
        raise refuse(OPTION, f"{key} has {len(words)} value{'s' * (not words)}", remedy, text)
    axis = read_axis(key, ",".join(words))
    allowed = leaf.words if leaf else ()
    for value in axis.values:
        if allowed and value.written not in allowed:
            named = ", ".join(str(one) for one in allowed)
            raise refuse(OPTION, f"{key} cannot be {value.label}", f"one of {named}", text)
    return Field(key, axis.values, leaf=leaf)


def _range(key: str, values: str, leaf: Leaf, text: str) -> Field:
    parts = [part.strip() for part in values.split(":")]
    is_log = parts[-1] == _LOG
    parts = parts[:-1] if is_log else parts
    parts = ["", ""] if parts in ([], [""]) else parts
    if len(parts) != 2:
        remedy = "write LOW:HIGH or LOW:HIGH:log, or list values: a,b,c; --set fixes a field"
        raise refuse(OPTION, "this is no range", remedy, text)
    low, high = (
        _number(leaf, part, text) if part else _declared(key, leaf, end, text)
        for part, end in zip(parts, ("low", "high"), strict=True)
    )
    if low >= high:
        remedy = "write the smaller end first, and two ends that differ"
        raise refuse(OPTION, "the range is empty", remedy, text)
    if is_log and low <= 0:
        raise refuse(OPTION, "a logarithmic range begins above 0", "write a LOW above 0", text)
    found = Field(key, (), low, high, is_log, leaf)
    for end in (low, high):
        if not _is_within(leaf, end):
            remedy = f"take values {_bounds_words(found)}"
            raise refuse(OPTION, f"{key} cannot be {found.value(end).label}", remedy, text)
    return found


def _number(leaf: Leaf, part: str, text: str) -> float:
    """An end of a range, in base units."""
    if leaf.quantity is not None:
        plain = whole_number(part)
        try:
            return plain if plain is not None else leaf.quantity.parse(part)
        except PydanticCustomError as error:
            problem = problem_of(error, OPTION)
            raise refuse(OPTION, problem.message, problem.remedy, text) from None
    try:
        number = int(part) if leaf.is_whole else float(part)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        kind = "whole number" if leaf.is_whole else "number"
        raise refuse(OPTION, f"{part or 'nothing'} is no {kind}", "write LOW:HIGH", text)
    return number


def _declared(key: str, leaf: Leaf, end: str, text: str) -> float:
    """The bound that the core declares, moved by the least step where the bound is outside."""
    name = "inimum" if end == "low" else "aximum"
    inclusive, exclusive = leaf.schema.get(f"m{name}"), leaf.schema.get(f"exclusiveM{name}")
    if inclusive is not None:
        return int(inclusive) if leaf.is_whole else float(inclusive)
    if exclusive is not None:
        inward = 1 if end == "low" else -1
        if leaf.is_whole:
            return int(exclusive) + inward
        return float(exclusive) + inward * 10.0**-DIGITS * max(abs(float(exclusive)), 1.0)
    which = "least" if end == "low" else "largest"
    message = f"{key} has no {which} value that the core declares"
    raise refuse(OPTION, message, "write both ends: KEY=LOW:HIGH", text)


def _is_within(leaf: Leaf, number: float) -> bool:
    bounds = leaf.schema
    return bool(
        number >= bounds.get("minimum", -math.inf)
        and number <= bounds.get("maximum", math.inf)
        and number > bounds.get("exclusiveMinimum", -math.inf)
        and number < bounds.get("exclusiveMaximum", math.inf)
    )


def _bounds_words(one: Field) -> str:
    """What the core allows: "from 1 B on", "above 0, up to 1"."""
    bounds, words = (one.leaf.schema if one.leaf else {}), []
    for name, said in (
        ("minimum", "from {} on"),
        ("exclusiveMinimum", "above {}"),
        ("maximum", "up to {}"),
        ("exclusiveMaximum", "below {}"),
    ):
        if name in bounds:
            quantity = one.leaf.quantity if one.leaf else None
            shown: Any = quantity.format(int(bounds[name])) if quantity else bounds[name]
            words.append(said.format(shown))
    return ", ".join(words)
