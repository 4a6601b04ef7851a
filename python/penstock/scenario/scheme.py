"""A scheme: a switch's five choices, an end host and the routing, usually a named preset.

A preset is a TOML file: a built-in one of ``penstock/schemes``, or a user's. It has the scheme's
table, `title`, `cite`, a `source` for each number that no default explains, and `preset` when it
varies another preset, by name or by a path relative to the file. In a scenario ``scheme = "bfc"``
or ``scheme = "./mine.toml"`` names a preset, ``scheme = {preset = "bfc", ...}`` varies a preset at
any depth, and a table without `preset` is complete. ``scheme = "./mine.py:Mine"`` is a class in
Python in place of one part of the scheme that the class names as its `base`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from penstock.errors import nearest, quoted
from penstock.named import CODE, check_meaning, is_code, is_path, own_files
from penstock.own_class import absolute_class, find, is_class, kind_of, sha256_of
from penstock.scenario.base import Text, field, label_of, path_beside
from penstock.scenario.declared import scheme as declared
from penstock.scenario.table import Table, merge
from penstock.toml_text import NESTING_MAX, read_toml
from penstock.units import refusal


class Scheme(declared.Scheme):
    """How switches and hosts control the flows: `switch`, `host` and `routing`, with a `name`.

    Examples
    --------
    >>> from penstock import Scenario
    >>> scheme = Scenario.from_name("quickstart").scheme
    >>> scheme.name, scheme.switch.backpressure.kind, scheme.host.controller.kind
    ('bfc', 'bfc', 'line-rate')
    """

    title: Text = field("What it is, in a line", "")
    cite: Text = field("Where it is published", "")


def preset_names() -> list[str]:
    """Every built-in preset, sorted."""
    return list(_preset_names())


def scheme_names() -> list[str]:
    """Every scheme that has a name: the presets, then the files of ``./schemes``."""
    return list(dict.fromkeys([*preset_names(), *own_files("schemes")]))


def scheme_label(reference: str) -> str:
    """A scheme as figures and tables name it: the name of a class, a file without its ending."""
    if is_class(reference):
        return label_of(reference.rpartition(":")[2])
    return label_of(Path(reference).stem) if is_path(reference) else reference


@cache
def _preset_names() -> tuple[str, ...]:
    names = (entry.name for entry in (files("penstock") / "schemes").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def load_preset(reference: str, directory: Path = Path()) -> Table:
    """A preset's complete table, with those it varies merged in.

    Its keys are those of :class:`Scheme`, `source` (dotted field to where its value comes from)
    and `wire` (the packets' weights that belong to it).

    Parameters
    ----------
    reference
        A name, built-in or of ``./schemes``; the path of a file; or a class in Python.
    directory
        What a path is relative to.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names the nearest presets, or the file and what is wrong with it.
    """
    return _load(reference, directory, ())


def find_preset(reference: str, directory: Path = Path()) -> str | Path:
    """The name of a built-in preset or of a class, or the file of a user's; see `load_preset`."""
    if is_class(reference):
        return reference
    if is_code(reference):
        remedy = f"name a class in it: write {reference}:CLASS"
        raise refusal(f"{reference} is a file of Python code", remedy)
    if is_path(reference):
        remedy = "write the path of a scheme's TOML file"
        return path_beside(reference, directory, remedy)
    if reference in preset_names():
        check_meaning(reference, "schemes", _file(reference))
        return reference
    own = own_files("schemes")
    if reference not in own:
        remedy = nearest(reference, scheme_names())
        raise refusal(
            f"there is no scheme {quoted(reference)}",
            f"{remedy}; or write the path of a TOML file; `penstock list schemes` lists them",
        )
    return own[reference].resolve()


def _load(reference: str, directory: Path, above: tuple[Path, ...]) -> Table:
    found = find_preset(reference, directory)
    if isinstance(found, str):
        if is_class(found):
            return _of_class(absolute_class(found, directory), directory, above)
        return built_in_preset(found)
    if found in above or len(above) > NESTING_MAX:
        raise refusal(f"{found} varies itself", "let `preset` name another scheme there")
    table = read_toml(found, "name a scheme of `penstock list schemes`, or its TOML file")
    base = table.pop("preset", None)
    if base is not None and not isinstance(base, str):
        raise refusal(f"{found}: `preset` is no text", "write the name or path of a scheme")
    for key in ("source", "wire"):
        if not isinstance(table.get(key, {}), Mapping):
            raise refusal(f"{found}: `{key}` is no table", f"write a table [{key}]")
    base_table = _load(base, found.parent, (*above, found)) if base is not None else None
    own = with_classes({"name": label_of(found.stem)} | table, found.parent)
    return _merged(base_table, own)


def _of_class(name: str, directory: Path, above: tuple[Path, ...]) -> Table:
    """The scheme that a class in Python makes of its base."""
    found = find(name)
    if not isinstance(found.base, str) or not found.base:
        remedy = 'write the scheme that it varies into the class, such as base = "dctcp"'
        raise refusal(f"{name} alone is no scheme", remedy)
    if Path(name) in above or len(above) > NESTING_MAX:
        raise refusal(f"{name} varies itself", "let `base` name another scheme there")
    beside = Path(name).parent if CODE in name else directory
    kind, part = kind_of(found), {"kind": "python", "class": name}
    table: Table = {"name": label_of(found.__name__), "title": _title(found), "cite": ""}
    outer, inner = next(path for path, one in _CLASS_PLACES.items() if one == kind)
    return _merged(_load(found.base, beside, (*above, Path(name))), table | {outer: {inner: part}})


def _title(found: type) -> str:
    """What a class says that it is, in a line."""
    return label_of((found.__doc__ or "").strip().partition("\n")[0] or found.__name__)


_CLASS_PLACES = {
    ("host", "controller"): "Controller",
    ("switch", "marking"): "Marking",
    ("switch", "scheduling"): "Scheduler",
}
"""The tables of a scheme that may name a class in Python, and what the class derives from."""


def with_classes(scheme: Any, directory: Path) -> Any:
    """A scheme's table, each class in it found, its file in full and with its SHA-256.

    Raises
    ------
    PydanticCustomError
        A `ValueError`: there is no such class, or it is of another kind.
    """
    if not isinstance(scheme, Mapping):
        return scheme
    whole: Table = dict(scheme)
    for (outer, inner), kind in _CLASS_PLACES.items():
        table = whole.get(outer)
        if isinstance(table, Mapping) and inner in table:
            whole[outer] = {**table, inner: _with_class(table[inner], kind, directory)}
    host = whole.get("host")
    if isinstance(host, Mapping) and isinstance(host.get("other_controllers"), list):
        others = [_in_entry(entry, directory) for entry in host["other_controllers"]]
        whole["host"] = {**host, "other_controllers": others}
    return whole


def _in_entry(entry: Any, directory: Path) -> Any:
    if not isinstance(entry, Mapping) or "controller" not in entry:
        return entry
    return {**entry, "controller": _with_class(entry["controller"], "Controller", directory)}


def _with_class(part: Any, kind: str, directory: Path) -> Any:
    if not isinstance(part, Mapping) or part.get("kind") != "python":
        return part
    written = part.get("class")
    if not isinstance(written, str) or not isinstance(part.get("sha256") or "", str):
        return part
    name = absolute_class(written, directory)
    find(name, kind, part.get("sha256") or "")
    return {**part, "class": name, "sha256": sha256_of(name) or None}


@cache
def built_in_preset(name: str) -> Table:
    """The complete table of a built-in preset, whatever files there are."""
    table = tomllib.loads(_file(name).read_text())
    base = table.pop("preset", None)
    return _merged(built_in_preset(base) if base else None, table | {"name": name})


def _file(name: str) -> Path:
    return Path(str(files("penstock") / "schemes" / f"{name}.toml"))


def _merged(base: Table | None, table: Table) -> Table:
    """A preset over the one that it varies; sources of fields that it replaces are left out."""
    complete = table if base is None else merge(base, table)
    sources = complete.get("source", {})
    kept = {path: source for path, source in sources.items() if _has(complete, path)}
    return complete | {"source": kept}


def _has(table: Table, path: str) -> bool:
    """Whether a table still has a field; what varies a preset may have replaced it."""
    first, _, rest = path.partition(".")
    inner = table.get(first)
    return first in table and (not rest or (isinstance(inner, dict) and _has(inner, rest)))


def expand_scheme(
    written: Any, directory: Path = Path(), *, is_recorded: bool = False
) -> tuple[Any, Table]:
    """The scheme's own keys of what a scenario says, and the `wire` of its preset.

    Parameters
    ----------
    directory
        What paths in the scenario are relative to.
    is_recorded
        Whether it is of a run that has been made: then no class is looked up.
    """
    if isinstance(written, Mapping) and not isinstance(written.get("preset", ""), str):
        raise refusal("`preset` is no text", "write the name or path of a scheme in quotes")
    if isinstance(written, str):
        table = load_preset(written, directory)
    elif isinstance(written, Mapping) and isinstance(written.get("preset"), str):
        over = {key: value for key, value in written.items() if key != "preset"}
        table = merge(load_preset(written["preset"], directory), over)
    else:
        return written if is_recorded else with_classes(written, directory), {}
    scheme = {key: value for key, value in table.items() if key not in ("source", "wire")}
    return with_classes(scheme, directory), table.get("wire", {})
