"""What a shell offers for a word that is being typed: names of things, and fields of a scenario.

A shell waits for the answer, so this module looks at file names and at the schema of the core. It
imports neither the models of a scenario nor tables. Invariant: what is offered is accepted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from penstock.named import SUFFIX, Folder, own_files

PACKAGE = Path(__file__).resolve().parents[1]
BUILT_IN: dict[Folder, Path] = {
    "schemes": PACKAGE / "schemes",
    "scenarios": PACKAGE / "scenarios",
    "experiments": PACKAGE / "experiments" / "catalogue",
}
"""Where the built-in files of each kind are."""

SHORT = ("scheme=", "load=")
"""What ``--set`` takes beside paths: a scheme by its name, the load of the only such traffic."""

_STEP = re.compile(r"\[[0-9]+\]|[^.\[]+")


def schemes(incomplete: str) -> list[str]:
    """Names of schemes, built in or of ``./schemes``."""
    return _beginning(incomplete, _names("schemes"))


def scheme_list(incomplete: str) -> list[str]:
    """Names of schemes for the last place of a list: ``bfc,dc`` is offered ``bfc,dctcp``."""
    before, comma, last = incomplete.rpartition(",")
    chosen = set(before.split(","))
    return [f"{before}{comma}{one}" for one in schemes(last) if one not in chosen]


def scenarios(incomplete: str) -> list[str]:
    """Names of scenarios, built in or of ``./scenarios``, and TOML files."""
    return _beginning(incomplete, _names("scenarios")) + _files(incomplete)


def experiments(incomplete: str) -> list[str]:
    """Names of experiments, built in or of ``./experiments``, and TOML files."""
    return _beginning(incomplete, _names("experiments")) + _files(incomplete)


def anything(incomplete: str) -> list[str]:
    """What ``penstock show`` takes: all names of all kinds, and TOML files."""
    from penstock.workload import WORKLOADS

    topologies = [one for place in _at(("topology", "kind")) for one in _constants(place)]
    others = [one.name for one in WORKLOADS] + topologies
    named = [name for folder in BUILT_IN for name in _names(folder)]
    return _beginning(incomplete, [*named, *others]) + _files(incomplete)


def settings(incomplete: str) -> list[str]:
    """Fields of a scenario for ``--set``, one step of the path at a time.

    A field that holds fields ends with a point, a list of such with the number of its first entry
    and a point, any other field with an equals sign.
    """
    if "=" in incomplete:
        return []
    before, point, _ = incomplete.rpartition(".")
    found = [] if before else list(SHORT)
    for place in _at(tuple(_STEP.findall(before))):
        for name, held in place.get("properties", {}).items():
            found.append(f"{before}{point}{name}{_ending(held)}")
    return _beginning(incomplete, dict.fromkeys(found))


def _ending(held: dict[str, Any]) -> str:
    """How a field goes on: with fields, with an entry, or with its value."""
    places = list(_unfolded(held))
    if any("properties" in one for one in places):
        return "."
    entries = [inner for one in places if "items" in one for inner in _unfolded(one["items"])]
    return "[0]." if any("properties" in one for one in entries) else "="


def _names(folder: Folder) -> list[str]:
    """The names of a kind: those that are built in, then the user's."""
    root = BUILT_IN[folder]
    paths = root.rglob(f"*{SUFFIX}")
    built_in = [path.relative_to(root).as_posix().removesuffix(SUFFIX) for path in paths]
    return list(dict.fromkeys([*sorted(built_in), *own_files(folder)]))


def _files(incomplete: str) -> list[str]:
    """TOML files and directories that a path that is being typed may mean."""
    folder, separator, start = incomplete.rpartition("/")
    place = Path(f"{folder}{separator}")
    if not place.is_dir() or not incomplete:
        return []
    found = (one for one in sorted(place.iterdir()) if one.name.startswith(start))
    return [
        f"{folder}{separator}{one.name}{'/' if one.is_dir() else ''}"
        for one in found
        if one.is_dir() or one.suffix == SUFFIX
    ]


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [one for one in names if one.startswith(incomplete)]


def _at(path: tuple[str, ...]) -> list[dict[str, Any]]:
    """The parts of the schema at a path; several where a field may be of several kinds."""
    places = [_schema()]
    for step in path:
        places = [inner for place in places for inner in _entered(place, step)]
    return places


def _entered(place: dict[str, Any], step: str) -> Iterator[dict[str, Any]]:
    """What a step leads to; a list is entered by the number or by the label of an entry."""
    if "items" in place:
        yield from _unfolded(place["items"])
    elif step in place.get("properties", {}):
        yield from _unfolded(place["properties"][step])


def _unfolded(place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A part of the schema without references, and each of its kinds."""
    if "$ref" in place:
        name = place["$ref"].rpartition("/")[2]
        yield from _unfolded(_schema()["$defs"][name])
    kinds = [one for key in ("oneOf", "anyOf", "allOf") for one in place.get(key, [])]
    for one in kinds:
        yield from _unfolded(one)
    if "$ref" not in place and (not kinds or "properties" in place):
        yield place


def _constants(place: dict[str, Any]) -> list[str]:
    return [place["const"]] if "const" in place else list(place.get("enum", []))


@cache
def _schema() -> dict[str, Any]:
    from penstock import _core

    read: dict[str, Any] = json.loads(_core.schema())
    return read
