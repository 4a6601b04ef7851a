"""A scheme: a switch's five choices, an end host and the routing, usually a named preset.

A preset is a TOML file in ``penstock/schemes``. It has the scheme's table, `title`, `cite`, a
`source` for each number that no default explains, and `preset` when it varies another preset. In a
scenario ``scheme = "bfc"`` names a preset, ``scheme = {preset = "bfc", ...}`` varies a preset at
any depth, and a table without `preset` is complete.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from penstock.errors import nearest, quoted
from penstock.scenario.base import Text, field
from penstock.scenario.declared import scheme as declared
from penstock.scenario.table import Table, merge
from penstock.units import refusal


class Scheme(declared.Scheme):
    """How switches and hosts control the flows."""

    title: Text = field("What it is, in a line", "")
    cite: Text = field("Where it is published", "")


def preset_names() -> list[str]:
    """Every preset, sorted."""
    names = (entry.name for entry in (files("penstock") / "schemes").iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


@cache
def load_preset(name: str) -> Table:
    """A preset's complete table, with those it varies merged in.

    Its keys are those of :class:`Scheme`, `source` (dotted field to where its value comes from)
    and `wire` (the packets' weights that belong to it).

    Raises
    ------
    PydanticCustomError
        A `ValueError` that lists the presets.
    """
    if name not in preset_names():
        remedy = nearest(name, preset_names())
        raise refusal(f"there is no scheme {quoted(name)}", remedy)
    table = tomllib.loads((files("penstock") / "schemes" / f"{name}.toml").read_text())
    base = table.pop("preset", None)
    complete = merge(load_preset(base), table) if base else table
    sources = complete.get("source", {})
    kept = {path: source for path, source in sources.items() if _has(complete, path)}
    return complete | {"name": name, "source": kept}


def _has(table: Table, path: str) -> bool:
    """Whether a table still has a field; what varies a preset may have replaced it."""
    first, _, rest = path.partition(".")
    inner = table.get(first)
    return first in table and (not rest or (isinstance(inner, dict) and _has(inner, rest)))


def expand_scheme(written: Any) -> tuple[Any, Table]:
    """The scheme's own keys of what a scenario says, and the `wire` of its preset."""
    if isinstance(written, str):
        table = load_preset(written)
    elif isinstance(written, Mapping) and isinstance(written.get("preset"), str):
        over = {key: value for key, value in written.items() if key != "preset"}
        table = merge(load_preset(written["preset"]), over)
    else:
        return written, {}
    scheme = {key: value for key, value in table.items() if key not in ("source", "wire")}
    return scheme, table.get("wire", {})
