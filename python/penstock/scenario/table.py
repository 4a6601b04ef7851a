"""Plain tables (dicts as TOML gives them): merging, setting one key, writing TOML.

The module knows one key, `scheme`: its text stands for a preset, into which a path may lead.
Validation comes after. Invariant: inputs are not changed.
"""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterator, Mapping
from numbers import Integral
from secrets import token_hex
from typing import Any

import tomli_w
from pydantic import BaseModel
from pydantic_core import PydanticCustomError

from penstock.errors import ScenarioError, nearest, quoted, refuse
from penstock.flow_rows import FlowRows
from penstock.named import absolute
from penstock.own_class import KINDS, name_of
from penstock.toml_text import NESTING_MAX, ROWS_LONG, parse_toml
from penstock.units import whole_number

Table = dict[str, Any]

DEFAULT_PRESET = "bfc"
"""The scheme of a scenario that names none: the paper whose fabric is the default, too."""

SCHEME_KEYS = ("scheme", "scheme.preset")
"""Fields whose text is the name or the file of a scheme."""

_STEP = re.compile(r"([^.\[\]]+)|\[([0-9]+)\]")
_ROW_OVER_LINES = re.compile(r'\[\n\s*((?:(?:[-+.\w]+|"[-+.\w]+(?: [\w/]+)?"),\s*)+)\]')


def plain(value: Any, depth: int = 0) -> Any:
    """A copy of `value` without models and tuples: what the same thing would be in a file.

    A class of a user's scheme becomes its name.

    Raises
    ------
    ScenarioError
        Its tables and lists are nested too deeply, perhaps in themselves.
    """
    if depth > NESTING_MAX:
        raise refuse("", f"there are more than {NESTING_MAX} levels", "nest tables and lists less")
    match value:
        case BaseModel():
            return plain(value.model_dump(by_alias=True), depth)
        case Mapping():
            return {key: plain(one, depth + 1) for key, one in value.items()}
        case list() | tuple() if are_numbers(value):
            return list(value)
        case list() | tuple():
            return [plain(one, depth + 1) for one in value]
        case Integral() if not isinstance(value, int):
            return int(value)  # a number of NumPy
        case type():
            return name_of(value) if issubclass(value, tuple(KINDS.values())) else value
        case _:
            return value


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> Table:
    """`base` with the keys of `over`, at any depth.

    A table that says its ``kind`` is written whole, so nothing of the old one is kept, not even
    when the kinds are the same: a shared buffer without ingress thresholds stays without.
    """
    if "kind" in over:
        return copy.deepcopy(dict(over))
    merged: Table = copy.deepcopy(dict(base))
    for key, value in over.items():
        merged[key] = _merged(merged.get(key), value)
    return merged


def _merged(old: Any, value: Any) -> Any:
    if isinstance(old, Mapping) and isinstance(value, Mapping):
        return merge(old, value)
    return copy.deepcopy(value)


def with_key(table: Mapping[str, Any], path: str, value: Any) -> Table:
    """`table` with the key at `path` set, e.g. ``traffic[0].load`` or ``traffic.background.load``.

    A step into a list is an index or the label of an entry.
    """
    steps = field_of(path)
    if not 0 < len(steps) <= NESTING_MAX:
        raise refuse(path, "this is no path to a field", "write e.g. topology.racks=4")
    value = plain(value)
    result: Table = copy.deepcopy(dict(table))
    here: Any = result
    for step in steps[:-1]:
        here = _enter(here, step, path)
    _place(here, steps[-1], path, value)
    return result


Field = tuple[str | int, ...]
"""The place of a field, whichever way its path is written: the keys and numbers that lead there."""


def field_of(path: str) -> Field:
    """The steps of a path as it is written."""
    return tuple(name or _position(index, path) for name, index in _STEP.findall(path))


def fields_set(table: Mapping[str, Any], path: str, value: Any) -> list[Field]:
    """The fields that setting `path` replaces: those of a table one by one, unless it has a kind.

    The scheme's text and its `preset` are one field.
    """
    steps: list[str | int] = []
    here: Any = table
    for step in field_of(path):
        if isinstance(here, list):
            step = _index(here, step, path)
            here = here[step]
        else:
            here = here.get(step) if isinstance(here, Mapping) else None
        steps.append(step)
    field = tuple(steps)
    if field in (("scheme",), ("scheme", "preset")):
        return [("scheme",)]
    return list(_leaves(field, plain(value)))


def replaces(field: Field, other: Field) -> bool:
    """Whether setting `field` replaces `other`: it is the same, or a table that holds it."""
    return other[: len(field)] == field


def _leaves(field: Field, value: Any) -> Iterator[Field]:
    if not isinstance(value, Mapping) or not value or "kind" in value:
        yield field
        return
    for key, one in value.items():
        yield from _leaves((*field, key), one)


def _enter(here: Any, step: str | int, path: str) -> Any:
    if isinstance(here, list):
        return here[_index(here, step, path)]
    if not isinstance(here, dict):
        raise _no_table(path, step)
    if step == "scheme" and not isinstance(here.get("scheme"), dict):
        here["scheme"] = {"preset": here.get("scheme", DEFAULT_PRESET)}
    if here.get(step) is None:
        here[step] = {}
    return here[step]


def _place(here: Any, step: str | int, path: str, value: Any) -> None:
    if isinstance(here, list):
        here[_index(here, step, path)] = value
        return
    if not isinstance(here, dict):
        raise _no_table(path, step)
    here[str(step)] = _merged(here.get(str(step)), value)


def _no_table(path: str, step: str | int) -> ScenarioError:
    held = quoted(str(step))
    return refuse(path, f"there is no table to hold {held}", "set the whole field instead")


def _index(entries: list[Any], step: str | int, path: str) -> int:
    if isinstance(step, str) and not re.fullmatch("[0-9]+", step):
        tables = [entry if isinstance(entry, Mapping) else {} for entry in entries]
        labels = [str(one.get("label", one.get("kind", ""))) for one in tables]
        if step not in labels:
            raise refuse(path, f"no entry is labelled {quoted(step)}", nearest(step, labels))
        return labels.index(step)
    index = _position(step, path) if isinstance(step, str) else step
    if index >= len(entries):
        raise refuse(path, f"there is no entry {index}", f"there are {len(entries)}, from 0")
    return index


def _position(digits: str, path: str) -> int:
    """The number of an entry of a list."""
    index = whole_number(digits)
    if index is None:
        raise refuse(path, "no list has that many entries", "write the number of one, from 0")
    return index


def parse_value(text: str) -> Any:
    """A value as typed after ``--set key=``: TOML when it is that, else the text itself."""
    try:
        table = parse_toml(f"value = {text}")
    except (tomllib.TOMLDecodeError, PydanticCustomError):
        return text
    return table["value"] if len(table) == 1 else text


def setting_value(key: str, text: str) -> Any:
    """The value that ``--set key=text`` gives.

    The file of a scheme is relative to the working directory there.
    """
    return absolute(text) if key in SCHEME_KEYS else parse_value(text)


def to_toml(table: Mapping[str, Any]) -> str:
    """`table` as TOML: kinds first, a row of numbers and words on a line, no null.

    The writer needs 10 s for half a million rows, so long lists of rows are put in afterwards.
    """
    lists = Places()
    written = tomli_w.dumps(_without_none(table, lists), indent=2)
    return lists.filled(_ROW_OVER_LINES.sub(_on_one_line, written))


class Places:
    """Long lists that a writer of TOML or JSON leaves out, and that are put in afterwards."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def keep(self, text: str) -> str:
        """The string to be written where `text` belongs."""
        place = f"list {token_hex()}"
        self._texts[place] = text
        return place

    def filled(self, written: str) -> str:
        """What was written, with each text in its place."""
        for place, text in self._texts.items():
            written = written.replace(f'"{place}"', text)
        return written


def _on_one_line(match: re.Match[str]) -> str:
    return "[" + ", ".join(word for word in re.split(r",\s*", match.group(1)) if word) + "]"


def _without_none(value: Any, lists: Places) -> Any:
    """`value` without null; a long list of rows of numbers goes to `lists` and leaves a place."""
    if isinstance(value, Mapping):
        kind_first = sorted(value.items(), key=lambda item: item[0] != "kind")
        return {key: _without_none(one, lists) for key, one in kind_first if one is not None}
    if isinstance(value, FlowRows):
        rows = "  [" + value.joined("],\n  [", ", ") + "]"
    elif not isinstance(value, list | tuple):
        return value
    elif len(value) >= ROWS_LONG and all(map(are_numbers, value)):
        rows = ",\n".join(f"  {list(row)}" for row in value)
    else:
        return [_without_none(one, lists) for one in value]
    return lists.keep(f"[\n{rows}\n]")


def are_numbers(value: Any) -> bool:
    """Whether it is a row of whole numbers."""
    return isinstance(value, list | tuple) and set(map(type, value)) == {int}
