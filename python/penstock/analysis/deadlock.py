"""Buffer dependencies: which links may wait for which, and where a deadlock can close.

The core finds the dependencies from its own routes (`_core.dependencies`); this module gives them
names. Link `a` depends on link `b` when packets that wait for `a` wait for `b` next. Congestion at
`b` then pauses `a`. Without a cycle no deadlock is possible (BFC, NSDI 2022, Theorem 1). The
summary of a run has the deadlock that the run met.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from penstock import _core
from penstock.analysis.runs import MeasuredRun
from penstock.errors import core_refusals
from penstock.scenario import Scenario


@dataclass(frozen=True)
class Turn:
    """A way through a switch: what packets wait for first, and what next."""

    first: str
    """Link into the switch, e.g. ``S0->T1``."""
    then: str
    """Link out of it."""
    switch: str
    """The switch in between, whose backpressure is meant."""
    nodes: tuple[int, int, int]
    """The node before it, the switch and the node behind it: a row of BFC's match table `elide`."""


@dataclass(frozen=True)
class Cycle:
    """Links that depend on each other."""

    links: tuple[str, ...]
    example: tuple[str, ...]
    """A shortest cycle: each link waits for the next, the last for the first."""

    @property
    def nodes(self) -> str:
        """The example in short: ``T1->S0->T2->S1->T1``."""
        names = [link.split("->")[0] for link in self.example]
        return "->".join([*names, names[0]])


@dataclass(frozen=True)
class Dependencies:
    """The buffer dependencies of a network and its routes."""

    links: tuple[str, ...]
    """The links between switches."""
    routes: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Rows (edge switch, switch, links from the switch towards it); empty unless listed."""
    turn_count: int
    """How many dependencies routes in use have."""
    turns: tuple[Turn, ...]
    """All of them; empty unless listed."""
    cycles: tuple[Cycle, ...]
    """None when no deadlock is possible."""
    elided: tuple[Turn, ...]
    """Backpressure that is to be skipped so that no cycle is left."""
    down_up_suffices: bool
    """Whether skipping it for all packets from a higher tier to a higher tier is enough."""

    def as_json(self) -> dict[str, Any]:
        """Everything but the routes, for programs."""
        turns = [[turn.first, turn.then] for turn in self.turns]
        return {
            "links": list(self.links),
            "dependencies": turns,
            "cycles": [
                {"links": list(one.links), "example": list(one.example)} for one in self.cycles
            ],
            "elided": [vars(turn) for turn in self.elided],
            "down_up_suffices": self.down_up_suffices,
        }


def dependencies(
    scenario: Scenario, *, any_route: bool = False, listed: bool = True
) -> Dependencies:
    """The buffer dependencies of a scenario's network and routes.

    Of several routes that follow one another, because links fail and recover, all of them together.

    Parameters
    ----------
    any_route:
        Take all routes that there could be: what is elided then rules deadlocks out under any
        failure and any routing error (BFC App. B).
    listed:
        List all routes and dependencies, of which a large network has many millions.

    Raises
    ------
    ScenarioError
        The core refuses the scenario.
    """
    with core_refusals(scenario.file):
        answer = _core.dependencies(scenario.handed_over(), any_route=any_route, listed=listed)
    found = json.loads(answer)
    links = {link["link"]: link["name"] for link in found["links"]}
    ends = {link["link"]: (link["from"], link["to"]) for link in found["links"]}
    names = scenario.topology.node_names()

    def turns(pairs: Sequence[tuple[int, int]]) -> tuple[Turn, ...]:
        return tuple(
            Turn(links[a], links[b], names[ends[a][1]], (*ends[a], ends[b][1])) for a, b in pairs
        )

    def named(numbers: Sequence[int]) -> tuple[str, ...]:
        return tuple(links[number] for number in numbers)

    return Dependencies(
        links=tuple(links.values()),
        routes=tuple(
            (names[edge], names[switch], named(hops)) for edge, switch, hops in found["next_hops"]
        ),
        turn_count=found["dependency_count"],
        turns=turns(found["dependencies"]),
        cycles=tuple(Cycle(named(one["links"]), named(one["example"])) for one in found["cycles"]),
        elided=turns(found["elided"]),
        down_up_suffices=found["down_up_suffices"],
    )


def deadlocks(runs: Sequence[MeasuredRun]) -> pl.DataFrame:
    """A row per run that a deadlock ended: seed, time_ns, nodes, stuck_pauses."""
    rows = [
        {
            "seed": run.summary["seed"],
            "time_ns": run.summary["deadlock"]["time_ps"] / 1e3,
            "nodes": "->".join(
                run.summary["node_names"][node] for node in run.summary["deadlock"]["nodes"]
            ),
            "stuck_pauses": run.summary["deadlock"]["stuck_pauses"],
        }
        for run in runs
        if run.summary["deadlock"]
    ]
    columns = {
        "seed": pl.UInt64,
        "time_ns": pl.Float64,
        "nodes": pl.String,
        "stuck_pauses": pl.Int64,
    }
    return pl.DataFrame(rows, schema=columns)
