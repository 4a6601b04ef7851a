"""Plain tables (dicts as TOML gives them): merging, setting one key, writing TOML.

Of all keys only `scheme` is known here: its text stands for a preset, into which a path may lead.
Validation comes after. Invariant: inputs are not changed.
"""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Mapping
from typing import Any

import tomli_w

from penstock.errors import nearest, refuse

Table = dict[str, Any]

DEFAULT_PRESET = "bfc"
"""The scheme of a scenario that names none: the paper whose fabric is the default, too."""

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_NUMBERS_OVER_LINES = re.compile(r"\[\n\s*((?:[-+.\w]+,\s*)+)\]")


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
    steps = [name or int(index) for name, index in _STEP.findall(path)]
    if not steps:
        raise refuse(path, "this is no path to a field", "write e.g. topology.racks=4")
    result: Table = copy.deepcopy(dict(table))
    here: Any = result
    for step in steps[:-1]:
        here = _enter(here, step, path)
    _place(here, steps[-1], path, value)
    return result


def _enter(here: Any, step: str | int, path: str) -> Any:
    if isinstance(here, list):
        return here[_index(here, step, path)]
    if not isinstance(here, dict):
        raise refuse(path, f'there is no table to hold "{step}"', "set the whole field instead")
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
        raise refuse(path, f'there is no table to hold "{step}"', "set the whole field instead")
    here[str(step)] = _merged(here.get(str(step)), value)


def _index(entries: list[Any], step: str | int, path: str) -> int:
    if isinstance(step, str) and not step.isdigit():
        labels = [str(entry.get("label", entry.get("kind"))) for entry in entries]
        if step not in labels:
            raise refuse(path, f'no entry is labelled "{step}"', nearest(step, labels))
        return labels.index(step)
    if int(step) >= len(entries):
        raise refuse(path, f"there is no entry {step}", f"there are {len(entries)}, from 0")
    return int(step)


def parse_value(text: str) -> Any:
    """A value as typed after ``--set key=``: TOML when it is that, else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def to_toml(table: Mapping[str, Any]) -> str:
    """`table` as TOML: kinds first, rows of numbers on a line, null (which TOML lacks) left out."""
    text = tomli_w.dumps(_without_none(table), indent=2)
    return _NUMBERS_OVER_LINES.sub(_on_one_line, text)


def _on_one_line(match: re.Match[str]) -> str:
    return "[" + ", ".join(word for word in re.split(r",\s*", match.group(1)) if word) + "]"


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        kind_first = sorted(value.items(), key=lambda item: item[0] != "kind")
        return {key: _without_none(one) for key, one in kind_first if one is not None}
    if isinstance(value, list | tuple):
        return [_without_none(one) for one in value]
    return value
