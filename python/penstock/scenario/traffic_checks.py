"""Traffic against the network and the clock: pairs that there are, times that fit.

The Rust core checks again what needs routes: the load that each link would carry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator

from penstock.errors import Problem
from penstock.scenario.node_checks import link_problems
from penstock.scenario.parts import ScenarioParts
from penstock.scenario.traffic import (
    BetweenPairs,
    CoreLoad,
    FanInPairs,
    Incast,
    LinksLoad,
    Listed,
    OpenLoop,
    Pairs,
    RackLocalPairs,
    SynchronousPairs,
)

LONGEST_RUN = 60 * 10**12
"""Longest simulated time of a run [ps]: a minute, the core's bound."""


def traffic_problems(scenario: ScenarioParts) -> Iterator[Problem]:
    """What is wrong with the traffic of a resolved scenario."""
    yield from _times(scenario)
    yield from _traffic(scenario)


def _times(scenario: ScenarioParts) -> Iterator[Problem]:
    if scenario.duration + scenario.drain > LONGEST_RUN:
        yield Problem(
            "duration",
            "with drain this is more than a minute of simulated time",
            "shorten either; a minute at 100 Gb/s is a billion packets per link",
            scenario.duration,
        )
    for index, entry in enumerate(scenario.traffic):
        path = f"traffic[{index}]"
        if isinstance(entry, OpenLoop | Incast):
            stop = scenario.duration if entry.stop is None else entry.stop
            if entry.start >= stop:
                yield Problem(
                    f"{path}.start",
                    f"it is not before the end of this traffic at {stop} ps",
                    "start earlier, or raise stop or duration",
                    entry.start,
                )
            if stop > scenario.duration:
                yield Problem(
                    f"{path}.stop",
                    f"traffic ends with the scenario's duration, {scenario.duration} ps",
                    "stop earlier, or raise duration",
                    stop,
                )
        if isinstance(entry, Listed):
            yield from _starts(entry, path, scenario.duration)


def _starts(entry: Listed, path: str, duration: int) -> Iterator[Problem]:
    """Every flow starts before the traffic ends, however much later its spread lets it."""
    late = [row for row, flow in enumerate(entry.flows) if flow[3] >= duration]
    if late:
        yield Problem(
            f"{path}.flows[{late[0]}][3]",
            f"it starts at {entry.flows[late[0]][3]} ps, after the scenario's duration "
            f"of {duration} ps ({len(late)} such flow(s))",
            "raise duration",
        )
    if entry.spread and max(flow[3] for flow in entry.flows) + entry.spread >= duration:
        yield Problem(
            f"{path}.spread",
            f"the last flow may start after the scenario's duration of {duration} ps",
            "make it smaller, or raise duration",
            entry.spread,
        )
    if len(entry.destination_ports) not in (0, len(entry.flows)):
        yield Problem(
            f"{path}.destination_ports",
            f"there are {len(entry.destination_ports)} for {len(entry.flows)} flows",
            "write one for each flow, or none",
        )


def _traffic(scenario: ScenarioParts) -> Iterator[Problem]:
    hosts = scenario.topology.host_count()
    labels: dict[str, int] = {}
    for index, entry in enumerate(scenario.traffic):
        path = f"traffic[{index}]"
        if entry.label in labels:
            yield Problem(
                f"{path}.label",
                f"traffic[{labels[entry.label]}] has the same label",
                "give each traffic a label of its own; results are shown by label",
                entry.label,
            )
        labels.setdefault(entry.label, index)
        if isinstance(entry, OpenLoop):
            yield from _open_loop(scenario, entry, path)
        elif isinstance(entry, Incast):
            yield from _incast(entry, path, hosts)
        elif isinstance(entry, Listed):
            for row, (source, destination, _, _) in enumerate(entry.flows):
                if source == destination:
                    yield Problem(
                        f"{path}.flows[{row}][1]",
                        f"a flow from host {source} to itself",
                        "name two different hosts",
                    )


def _open_loop(scenario: ScenarioParts, entry: OpenLoop, path: str) -> Iterator[Problem]:
    if isinstance(entry.load_on, CoreLoad) and not scenario.topology.has_core():
        yield Problem(
            f"{path}.load_on.kind",
            "this topology has no link between switches to load",
            'use load_on = {kind = "edge"} or {kind = "links", links = [[from, to]]}',
            "core",
        )
    if entry.load_counts == "all" and not isinstance(entry.load_on, CoreLoad):
        yield Problem(
            f"{path}.load_counts",
            f"it counts flows against the core, and the load is on {entry.load_on.kind}",
            'write "crossing", or load_on = {kind = "core"}',
            entry.load_counts,
        )
    if isinstance(entry.load_on, LinksLoad):
        yield from link_problems(scenario, f"{path}.load_on.links", entry.load_on.links)
        yield from _repeated(f"{path}.load_on.links", entry.load_on.links)
    yield from _pairs(scenario, entry.pairs, f"{path}.pairs")


def _pairs(scenario: ScenarioParts, pairs: Pairs, path: str) -> Iterator[Problem]:
    if isinstance(pairs, BetweenPairs):
        yield from _repeated(f"{path}.sources", pairs.sources)
        yield from _repeated(f"{path}.destinations", pairs.destinations)
        if len({*pairs.sources, *pairs.destinations}) == 1:
            yield Problem(
                path,
                f"the only pair is host {pairs.sources[0]} with itself",
                "name another source or destination",
            )
    if isinstance(pairs, FanInPairs) and pairs.most < pairs.least:
        words = f"it is below least, {pairs.least}"
        yield Problem(f"{path}.most", words, "write it the other way", pairs.most)
    if isinstance(pairs, FanInPairs) and pairs.most >= scenario.topology.host_count():
        hosts = scenario.topology.host_count()
        remedy = f"a host has {hosts - 1} others; write at most that"
        yield Problem(f"{path}.most", "more senders than there are", remedy, pairs.most)
    if isinstance(pairs, SynchronousPairs):
        yield from _repeated(f"{path}.sources", pairs.sources)
        if pairs.receiver in pairs.sources:
            yield _own_sender(path, pairs.receiver)
    if isinstance(pairs, RackLocalPairs):
        hosts = scenario.topology.host_count()
        ends = ((min(a, b), max(a, b)) for a, b in scenario.topology.cables())
        racks = Counter(switch for host, switch in ends if host < hosts)
        if pairs.fraction > 0 and min(racks.values()) < 2:
            yield Problem(
                f"{path}.fraction",
                "a switch has one host only, which has no neighbour in its rack",
                "write 0",
                pairs.fraction,
            )
        if pairs.fraction < 1 and len(racks) < 2:
            yield Problem(
                f"{path}.fraction",
                "all hosts are under one switch, so no flow can leave its rack",
                'write 1, or pairs = {kind = "uniform"}',
                pairs.fraction,
            )


def _repeated(path: str, entries: Iterable[Hashable]) -> Iterator[Problem]:
    """Nothing is named twice."""
    first: dict[Hashable, int] = {}
    for row, entry in enumerate(entries):
        if first.setdefault(entry, row) != row:
            yield Problem(
                f"{path}[{row}]", f"it repeats {path}[{first[entry]}]", "name each once", entry
            )


def _own_sender(path: str, receiver: int | None) -> Problem:
    return Problem(
        f"{path}.receiver",
        "it is among those that send, and a host does not send to itself",
        "take it out of them",
        receiver,
    )


def _incast(entry: Incast, path: str, hosts: int) -> Iterator[Problem]:
    pool = hosts - 1
    if entry.senders is not None:
        yield from _repeated(f"{path}.senders", entry.senders)
        # A receiver that is drawn may be one of the senders, and does not send to itself.
        pool = len(entry.senders) - (1 if entry.receiver is None else 0)
    if pool == 0:
        yield Problem(
            f"{path}.senders",
            "when the only sender is drawn as the receiver nobody can send",
            "name another sender, or a receiver",
        )
    if entry.senders is not None and entry.receiver in entry.senders:
        yield _own_sender(path, entry.receiver)
    if not entry.replace and entry.degree > pool > 0:
        yield Problem(
            f"{path}.degree",
            f"only {pool} hosts can send, each once",
            f"use at most {pool}, or set replace = true",
            entry.degree,
        )
    if entry.size < entry.degree:
        yield Problem(
            f"{path}.size",
            f"{entry.degree} senders share it, so each would send less than a byte",
            f"use at least {entry.degree} B",
            entry.size,
        )
