"""What a run must record so that all of it can be watched.

What it is: the fields below `measure` that `--watch` sets. Invariant: a field that records more
than the page needs stays as the user wrote it.
"""

from __future__ import annotations

from typing import Any

from penstock import _core
from penstock.errors import core_refusals, refuse
from penstock.estimate import estimate
from penstock.results import Run
from penstock.scenario import Scenario

NODES_MAX = 4_096
"""Largest network that is drawn (our choice: a host is a pixel wide then)."""
CELLS_MAX = 1_500_000
"""Samples of links within the traffic (our choice: some 4 MB of the page)."""
CELLS_END_MAX = 12_000_000
"""The same to the end of the drain, should the run last so long (our choice: 600 MB of memory)."""
INTERVAL_MIN_PS = 100_000
"""Shortest interval of samples [ps] (our choice: about a packet at 100 Gb/s)."""
HOPS_MAX = 300_000
"""Packet-hops of a run whose packets are traced, too (our choice: half a million rows)."""


def check_size(nodes: int, field: str) -> None:
    """Refuses a network of more nodes than a page draws; `field` names where it came from."""
    if nodes > NODES_MAX:
        remedy = "watch a smaller network; `penstock report` shows networks of any size"
        message = f"a page draws at most {NODES_MAX:,} nodes, and this network has {nodes:,}"
        raise refuse(field, message, remedy)


def for_watching(scenario: Scenario) -> Scenario:
    """The scenario with the measurements that a page needs.

    Events and samples of every link are recorded, at the interval of :func:`sample_interval_ps`
    or a shorter one of the scenario. Packets are traced where the run is small.

    Raises
    ------
    ScenarioError
        The network has more nodes than a page draws.
    """
    topology = scenario.topology
    check_size(topology.host_count() + topology.switch_count(), "topology")
    fields: dict[str, Any] = {"measure.events": True, "measure.series": every_link(scenario)}
    wanted = sample_interval_ps(scenario)
    written = int(scenario.measure.sample_interval)
    fields["measure.sample_interval"] = f"{max(wanted, INTERVAL_MIN_PS)} ps"
    if 0 < written < wanted and _cells(scenario, written) <= CELLS_MAX:
        del fields["measure.sample_interval"]
    if scenario.measure.trace is None and estimate(scenario).packet_hops <= HOPS_MAX:
        fields["measure.trace"] = {"nodes": []}
    return scenario.with_overrides(fields)


def sample_interval_ps(scenario: Scenario) -> int:
    """The shortest of 1, 2, 5, 10, … [ps] with which samples have room in the page."""
    links = 2 * scenario.topology.cable_count()
    traffic, whole = int(scenario.duration), int(scenario.duration) + int(scenario.drain)
    least = max(links * traffic / CELLS_MAX, links * whole / CELLS_END_MAX, INTERVAL_MIN_PS)
    unit = 1
    while 5 * unit < least:
        unit *= 10
    return next(factor * unit for factor in (1, 2, 5) if factor * unit >= least)


def every_link(scenario: Scenario) -> list[list[int]]:
    """All links, as [from, to] by number of node."""
    with core_refusals(scenario.file):
        return [list(ends) for ends in _core.link_ends(scenario.handed_over())]


def what_is_missing(run: Run) -> dict[str, str]:
    """Views that a page cannot fill, and the option that records what they need."""
    measure = run.scenario.measure
    found = {}
    if run.series.is_empty():
        found["samples"] = (
            "Use of links and queues of ports over time were not recorded. They need "
            "measure.series with every link: penstock run --watch."
        )
    if run.buffers.is_empty():
        found["buffers"] = (
            "What switches store was not recorded. That needs measure.sample_interval."
        )
    if not measure.events:
        found["events"] = (
            "Pauses and drops were not recorded. They need --set measure.events=true, or "
            "penstock run --watch."
        )
    if run.packets.is_empty():
        found["packets"] = (
            "Packets were not traced: which flow waits in which queue, thresholds, and each "
            "decision of a switch need --trace packets, or --trace packets:NODES for some switches."
        )
    return found


def _cells(scenario: Scenario, interval_ps: int) -> float:
    return 2 * scenario.topology.cable_count() * int(scenario.duration) / interval_ps
