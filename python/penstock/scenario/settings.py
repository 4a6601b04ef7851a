"""What ``--set`` and overrides do to a scenario: fields of its table, set before it is checked.

What it is not: a check of the values, which the scenario has. Invariant: no setting replaces
another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.errors import quoted, refuse
from penstock.scenario.catalogue import read_scenario, scenario_file
from penstock.scenario.table import SCHEME_KEYS, Field, Table, fields_set, replaces, with_key


def check_settings(reference: str, overrides: Mapping[str, Any]) -> None:
    """Refuses settings of a scenario that no values make right; see :meth:`Scenario.load`.

    Raises
    ------
    ScenarioError
        There is no such scenario, its file cannot be read, a path leads nowhere, or two lead to one
        field.
    """
    with_settings(read_scenario(scenario_file(reference)), overrides)


def with_settings(table: Table, overrides: Mapping[str, Any]) -> Table:
    """`table` with some fields set: the scheme first, so that the others may be a part of it.

    Raises
    ------
    ScenarioError
        Of two paths the later one replaces what the other has set.
    TypeError
        There are no paths and values.
    """
    if not isinstance(overrides, Mapping) or not all(isinstance(one, str) for one in overrides):
        raise TypeError(
            f"overrides are {overrides!r:.80}, and no paths with values; "
            'write a dict, e.g. {"load": 0.5, "topology.racks": 4}'
        )
    ordered = sorted(overrides.items(), key=lambda item: item[0] not in SCHEME_KEYS)
    seen: list[tuple[str, Field]] = []
    for path, value in ordered:
        full = full_path(path, table)
        fields = fields_set(table, full, value)
        for other, field in seen:
            if any(replaces(one, field) for one in fields):
                message = f"it replaces {quoted(other)}, which is set as well"
                raise refuse(path, message, "leave one of them out", value)
        seen += [(path, field) for field in fields]
        table = with_key(table, full, value)
    return table


def full_path(path: str, table: Table) -> str:
    """The path behind the short name `load`; any other path as it is.

    Raises
    ------
    ScenarioError
        No entry of `traffic`, or more than one, has a load.
    """
    if path != "load":
        return path
    entries = table.get("traffic")
    if isinstance(entries, Mapping):
        return "traffic.load"  # a table is refused where the scenario is read, and not its load
    tables = entries if isinstance(entries, list) else []
    kinds = [entry.get("kind") if isinstance(entry, Mapping) else None for entry in tables]
    if kinds.count("open-loop") != 1:
        raise refuse(
            "load",
            f"{kinds.count('open-loop')} traffics have a load",
            "say which: traffic.LABEL.load",
        )
    return f"traffic[{kinds.index('open-loop')}].load"
