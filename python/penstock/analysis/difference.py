"""How scenarios that have one scheme are told apart: by the fields in which they differ.

Invariant: scenarios that are not run alike have different names, or are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from penstock.errors import refuse
from penstock.toml_text import parse_toml

FIELDS_MAX = 3
"""Fields in a name (our choice: more do not fit beside a line of a figure)."""

VALUE_MAX = 40
"""Characters of a value in a name (our choice: a quantity or a word, and no list of flows)."""

_NEVER_NAMED = ("seed", "description", "scheme.title", "scheme.cite")
"""Fields that decide nothing, and the seed, in which repetitions differ."""

_KIND = ".kind"


def names_by_difference(scheme: str, scenarios: Sequence[Any]) -> list[str]:
    """A name for each scenario: "dctcp, kmin = 20 kB" beside "dctcp, kmin = 200 kB".

    Raises
    ------
    ScenarioError
        They differ in more than a name can say.
    """
    tables = [dict(_fields(parse_toml(one.to_toml()))) for one in scenarios]
    differing = _deciding(
        path
        for path in dict.fromkeys(path for table in tables for path in table)
        if path not in _NEVER_NAMED and any(one.get(path) != tables[0].get(path) for one in tables)
    )
    short = [path.removesuffix(_KIND).rpartition(".")[2] for path in differing]
    titles = [
        last if short.count(last) == 1 else path
        for path, last in zip(differing, short, strict=True)
    ]
    values = [[_text(table.get(path)) for path in differing] for table in tables]
    names = [
        ", ".join([scheme, *(f"{key} = {one}" for key, one in zip(titles, own, strict=True))])
        for own in values
    ]
    is_long = len(differing) > FIELDS_MAX or any(
        len(text) > VALUE_MAX for own in values for text in own
    )
    if is_long or len(set(names)) < len(names):
        listed = ", ".join(differing[:FIELDS_MAX]) + (" …" if len(differing) > FIELDS_MAX else "")
        message = f"{len(scenarios)} scenarios have this scheme, and differ in {listed}"
        remedy = (
            'name the runs: {"one name": run, "another": run}, a list of runs for several seeds'
        )
        raise refuse("runs", message, remedy, scheme)
    return names


def _fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a table, by their paths as ``--set`` takes them."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _fields(one, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for index, one in enumerate(value):
            yield from _fields(one, f"{path}[{index}]")
    else:
        yield path, value


def _deciding(paths: Iterator[str]) -> list[str]:
    """The paths without those of parts whose kind differs, which come with the kind."""
    listed = list(paths)
    parts = [path.removesuffix(_KIND) for path in listed if path.endswith(_KIND)]
    return [
        path
        for path in listed
        if not any(path.startswith(f"{part}.") and path != part + _KIND for part in parts)
    ]


def _text(value: Any) -> str:
    """A value of a field, as short as it can be."""
    if value is None:
        return "unset"
    return str(value).lower() if isinstance(value, bool) else str(value)
