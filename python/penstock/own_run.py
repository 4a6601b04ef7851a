"""Runs whose scheme is a user's class in Python: what does not go with it, and if it repeats.

A run must depend on its scenario and seed alone. Nobody can see that of a user's class, so such a
run is made twice, and two runs that differ are refused (:func:`repeated`). What it is not: the
calls of the class, which the core makes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from penstock import _core
from penstock.errors import SchemeError, refuse
from penstock.scenario import Scenario

NOT_REAL = "it takes longer than real frames may wait"
"""Why a class does not go with real frames."""


def classes_in(scenario: Scenario) -> tuple[str, ...]:
    """The classes in Python that a scenario's scheme names, each once."""
    scheme = scenario.scheme
    others = (other.controller for other in scheme.host.other_controllers)
    parts = (scheme.host.controller, *others, scheme.switch.marking, scheme.switch.scheduling)
    return tuple(dict.fromkeys(_class_names(parts)))


def _class_names(parts: tuple[Any, ...]) -> Iterator[str]:
    for part in parts:
        if part.kind == "python":
            yield part.model_dump(by_alias=True)["class"]


def refuse_classes(scenario: Scenario, field: str, reason: str, remedy: str) -> None:
    """Refuses a scenario with a class in Python.

    Parameters
    ----------
    field
        What the user asked for, e.g. ``--checkpoint``.
    reason
        Why that does not go with a class, after "NAME is Python code: ".
    """
    for name in classes_in(scenario):
        raise refuse(field, f"{name} is Python code: {reason}", remedy)


def repeated(
    scenario: Scenario,
    first: _core.Output,
    *,
    check: bool,
    on_progress: Callable[[int, int, int, int], bool | str],
) -> bool:
    """Makes a run again and compares; false when it was stopped and there is nothing to compare.

    Parameters
    ----------
    scenario
        Resolved.
    first
        What the core returned the first time.
    check, on_progress
        Those of the first run.

    Raises
    ------
    SchemeError
        The runs differ; it names the first flow that does.
    """
    if _summary(first)["cancelled"]:
        return False
    second = _core.run(scenario.handed_over(), on_progress=on_progress, check=check)
    if _summary(second)["cancelled"]:
        return False
    if _summary(first)["digest"] != _summary(second)["digest"]:
        listed = ", ".join(classes_in(scenario))
        found = first_difference(first["tables"]["flows"], second["tables"]["flows"])
        raise SchemeError(f"{listed} gives another result every time: {found}; {_REMEDY}")
    return True


_REMEDY = (
    "leave out the module random, the clock, and whatever outlives a run, such as attributes of "
    "the class; a hook of Marking may return a probability, which the switch draws"
)


def _summary(output: _core.Output) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output["summary"])
    return found


def first_difference(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """The first row in which two tables of flows differ, in words."""
    rows, others = len(first["flow"]), len(second["flow"])
    shared = min(rows, others)
    unequal = ((one[:shared] != second[name][:shared]).nonzero()[0] for name, one in first.items())
    found = [int(places[0]) for places in unequal if len(places)]
    if not found:
        return f"one run has {rows:,} flows and another {others:,}"
    row = min(found)
    name = next(name for name, column in first.items() if column[row] != second[name][row])
    values = f"{name} {first[name][row]} in one run and {second[name][row]} in another"
    return f"flow {first['flow'][row]} is the first that differs, with {values}"


def note(names: tuple[str, ...], ns_per_packet_hop: float, *, repeats: bool) -> str:
    """What a summary says of such a run.

    Parameters
    ----------
    repeats
        Whether a second run gave the same; false when there was none.
    """
    checked = "a second run gave the same" if repeats else "not run a second time to compare"
    speed = f"{ns_per_packet_hop:,.0f} ns per packet-hop on one thread"
    return f"{', '.join(names)}: Python code, {speed}; {checked}"
