"""Nodes and links that a scenario names: they exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.errors import Problem
from penstock.scenario.admission import SharedBuffer
from penstock.scenario.backpressure import Bfc, Credits
from penstock.scenario.parts import ScenarioParts
from penstock.scenario.traffic import BetweenPairs, Incast, Listed, OpenLoop, SynchronousPairs


def node_problems(scenario: ScenarioParts) -> Iterator[Problem]:
    """Every node that is named exists."""
    hosts = scenario.topology.host_count()
    nodes = hosts + scenario.topology.switch_count()
    for path, host in _named_hosts(scenario):
        if host >= hosts:
            yield Problem(path, "no such host", f"hosts are 0 to {hosts - 1}", host)
    yield from link_problems(scenario, "measure.series", scenario.measure.series)
    yield from _elisions(scenario)
    admission = scenario.scheme.switch.admission
    buffers = admission.other_buffers if isinstance(admission, SharedBuffer) else ()
    for row, (node, _) in enumerate(buffers):
        if not hosts <= node < nodes:
            yield Problem(
                f"scheme.switch.admission.other_buffers[{row}]",
                "no such switch",
                f"switches are {hosts} to {nodes - 1}",
                node,
            )
    for row, node in enumerate(scenario.measure.trace.nodes if scenario.measure.trace else ()):
        if not hosts <= node < nodes:
            yield Problem(
                f"measure.trace.nodes[{row}]",
                "only switches are traced",
                f"switches are {hosts} to {nodes - 1}",
                node,
            )


def link_problems(
    scenario: ScenarioParts, path: str, links: Iterable[tuple[int, int]]
) -> Iterator[Problem]:
    """Every link that is named exists."""
    found = joined(scenario, links)
    for row, link in enumerate(links):
        if frozenset(link) not in found:
            yield Problem(
                f"{path}[{row}]",
                f"there is no link from node {link[0]} to node {link[1]}",
                "name the two ends of a cable",
            )


def joined(scenario: ScenarioParts, pairs: Iterable[tuple[int, int]]) -> set[frozenset[int]]:
    """Of pairs of nodes, those that a cable joins; all cables of a large network fill a memory."""
    wanted = {way for a, b in pairs for way in ((a, b), (b, a))}
    cables = scenario.topology.cables() if wanted else ()
    return {frozenset(ends) for ends in cables if ends in wanted}


def _elisions(scenario: ScenarioParts) -> Iterator[Problem]:
    """The rows of a match table of elisions name ways through switches."""
    path, policy = "scheme.switch.backpressure", scenario.scheme.switch.backpressure
    match policy:
        case Credits():
            path, table = f"{path}.pauses", policy.pauses.elide
        case Bfc():
            table = policy.elide
        case _:
            return
    hosts = scenario.topology.host_count()
    cables = joined(scenario, [ends for way in table for ends in (way[:2], way[1:])])
    for row, way in enumerate(table):
        if way[1] < hosts or not {frozenset(way[:2]), frozenset(way[1:])} <= cables:
            yield Problem(
                f"{path}.elide[{row}]",
                f"no packet comes from node {way[0]} to a switch {way[1]} for node {way[2]}",
                "name a node, a switch that it is linked to, and a node that this is linked to",
                str(list(way)),
            )


def _named_hosts(scenario: ScenarioParts) -> Iterator[tuple[str, int]]:
    for index, entry in enumerate(scenario.traffic):
        path = f"traffic[{index}]"
        if isinstance(entry, Listed):
            for row, (source, destination, _, _) in enumerate(entry.flows):
                yield f"{path}.flows[{row}][0]", source
                yield f"{path}.flows[{row}][1]", destination
        elif isinstance(entry, Incast):
            if entry.receiver is not None:
                yield f"{path}.receiver", entry.receiver
            for row, host in enumerate(entry.senders or ()):
                yield f"{path}.senders[{row}]", host
        elif isinstance(entry, OpenLoop) and isinstance(entry.pairs, SynchronousPairs):
            yield f"{path}.pairs.receiver", entry.pairs.receiver
            for row, host in enumerate(entry.pairs.sources):
                yield f"{path}.pairs.sources[{row}]", host
        elif isinstance(entry, OpenLoop) and isinstance(entry.pairs, BetweenPairs):
            for row, host in enumerate(entry.pairs.sources):
                yield f"{path}.pairs.sources[{row}]", host
            for row, host in enumerate(entry.pairs.destinations):
                yield f"{path}.pairs.destinations[{row}]", host
