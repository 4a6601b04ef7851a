"""What `penstock show NAME --beside OTHER` prints: the fields in which two things differ."""

from __future__ import annotations

from typing import Any

from penstock.cli.description import Description
from penstock.errors import refuse

_ABSENT: tuple[Any, list[str]] = (object(), ["", "–", ""])
"""A field that one of the two does not have."""


def difference(name: str, one: Description, other_name: str, other: Description) -> Description:
    """The fields in which two things of one kind differ, with the value of each.

    Raises
    ------
    ScenarioError
        They are of two kinds, or of a kind without fields.
    """
    kind, other_kind = (next(iter(shown.facts)) for shown in (one, other))
    if kind != other_kind:
        kinds = f"of the kind {other_kind.lower()}, and {name} of the kind {kind.lower()}"
        raise refuse("--beside", f"it is {kinds}", "name two of one kind", other_name)
    if kind in ("Experiment", "Metric"):
        message = f"{kind.lower()}s have no fields to put side by side"
        raise refuse("--beside", message, "name schemes, scenarios, topologies or workloads", name)
    here, there = _by_path(one), _by_path(other)
    rows = []
    for path in here | there:
        (value, row), (other_value, other_row) = here.get(path, _ABSENT), there.get(path, _ABSENT)
        if value != other_value:
            texts = [row[1], other_row[1] if row[1] != other_row[1] else f"{other_row[1]}, others"]
            meanings = dict.fromkeys(words for one in (row, other_row) for words in one[2:3])
            rows.append([path, *texts, " / ".join(words for words in meanings if words)])
    facts = {
        kind: f"{name} beside {other_name}",
        "Differ": f"{len(rows)} of {len(here | there)} rows" if rows else "in nothing",
    }
    titles = [one.columns[0], name, other_name, "Meaning"]
    return Description(facts, titles, rows, keys=["field", "value", "other", "meaning"])


def _by_path(shown: Description) -> dict[str, tuple[Any, list[str]]]:
    """The value and the row of each field."""
    return {row[0]: (shown.values.get(row[0], row[1]), row) for row in shown.rows}
