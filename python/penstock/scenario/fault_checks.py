"""Outages against the network and the scheme: links that exist, times that do not overlap.

What an outage cuts off needs routes, and is for the core to say.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.errors import Problem
from penstock.scenario.node_checks import joined
from penstock.scenario.parts import ScenarioParts
from penstock.scenario.recovery import PerfectRecovery


def fault_problems(scenario: ScenarioParts) -> Iterator[Problem]:
    """What is wrong with the outages of a scenario."""
    outages = scenario.faults.outages
    if not outages:
        return
    if scenario.fidelity != "exact":
        yield Problem(
            "faults.outages",
            "the simulator of fidelity ns3-hpcc has no routes that change",
            'leave them out, or use fidelity "exact"',
        )
    if isinstance(scenario.scheme.host.recovery, PerfectRecovery):
        yield Problem(
            "scheme.host.recovery.kind",
            "nobody tells a source of what a failed link loses",
            "use another recovery, or leave out faults.outages",
            scenario.scheme.host.recovery.kind,
        )
    hosts = scenario.topology.host_count()
    core = joined(scenario, [outage.link for outage in outages if min(outage.link) >= hosts])
    for index, outage in enumerate(outages):
        path = f"faults.outages[{index}]"
        if frozenset(outage.link) not in core:
            yield Problem(
                f"{path}.link",
                "no link joins two switches of these numbers",
                "name the two ends of one",
                f"{outage.link[0]}-{outage.link[1]}",
            )
        if outage.end is not None and outage.end <= outage.start:
            yield Problem(
                f"{path}.end",
                f"it is not after the start, {outage.start} ps",
                "write a later time, or null for never",
                outage.end,
            )
    yield from _overlaps(scenario)


def _overlaps(scenario: ScenarioParts) -> Iterator[Problem]:
    """A link that is down does not fail, nor at the moment at which it recovers."""
    down_until: dict[frozenset[int], int | None] = {}
    for outage in sorted(scenario.faults.outages, key=lambda outage: outage.start):
        link = frozenset(outage.link)
        end = down_until.get(link, -1)
        if end is None or end >= outage.start:
            yield Problem(
                "faults.outages",
                f"two of the link {outage.link[0]}-{outage.link[1]} overlap or touch",
                "write one",
            )
        down_until[link] = outage.end
