"""A run here beside the same run of the other simulator."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from penstock.hpcc.case import PS
from penstock.hpcc.flow_file import SECOND_NS, base_second
from penstock.results import Run
from penstock.runner import run
from penstock.topology_file import TopologyFile, read_topology
from pyrrha.case import flows_of, scenario_of
from pyrrha.reference import Reference, Tally, tally


@dataclass(frozen=True)
class Outcome:
    """What is equal."""

    flows: int
    equal_flows: int
    """Those that took the same time to the nanosecond."""
    tallies: dict[str, tuple[Tally, Tally]]
    """By kind of event, ours and theirs: choices of a queue, pauses sent, pauses that arrive."""

    @property
    def is_equal(self) -> bool:
        """Whether everything is."""
        return self.flows == self.equal_flows and all(a == b for a, b in self.tallies.values())


KINDS = {"choices": ("A",), "pauses": ("P", "R"), "arrivals": ("PA", "RA")}
"""Kinds of events and what their lines begin with."""


def compare(reference: Reference) -> Outcome:
    """Runs it in the other simulator's arithmetic."""
    finished = run(scenario_of(reference, "ns3-bfc"), progress=None)
    assert isinstance(finished, Run)
    ours = times_of(finished)
    lines = reference.lines()
    theirs = completion_times(lines)
    base_ns = base_second(flows_of(reference)) * SECOND_NS
    events = _Events(read_topology(reference.topology), base_ns, finished)
    mine = events.choices_and_pauses() + events.arrivals()
    tallies = {}
    for kind, starts in KINDS.items():
        kept = tally([line for line in mine if line.split()[0] in starts])
        told = [line.split() for line in lines if line.split()[0] == kind]
        listed = [line for line in lines if line.split()[0] in starts]
        if told:
            tallies[kind] = kept, Tally(int(told[0][1]), told[0][2])
        elif listed:
            tallies[kind] = kept, tally(listed)
    equal = sum(ours.get(flow) == time for flow, time in theirs.items())
    return Outcome(max(len(ours), len(theirs)), equal, tallies)


def times_of(run: Run) -> dict[int, int]:
    """Completion time [ns] of each flow of a run here."""
    finished = run.flows.filter("finished")
    whole = finished.select(pl.col("flow").cast(pl.Int64), pl.col("fct_ns").round().cast(pl.Int64))
    return dict(whole.iter_rows())


def completion_times(lines: list[str]) -> dict[int, int]:
    """Completion time [ns] of each flow, in results of the other simulator."""
    found = [line.split() for line in lines if line.startswith("F ")]
    return {int(flow): int(time) for _, flow, time in found}


class _Events:
    """Events of a run, as lines of the other simulator's results."""

    def __init__(self, topology: TopologyFile, base_ns: int, run: Run) -> None:
        self.run, self.base_ns = run, base_ns
        ports: dict[int, int] = {}
        self.ends: list[tuple[int, int]] = []
        """By directed link: the node that it leaves, and the port there, counted from 1."""
        for cable in topology.cables:
            for node in (cable.a, cable.b):
                ports[node] = ports.get(node, 0) + 1
                self.ends.append((node, ports[node]))

    def choices_and_pauses(self) -> list[str]:
        """Choices of a queue, pauses and resumes that switches send."""
        assert self.run.packets is not None
        columns = (
            "event", "time_ps", "node", "egress", "ingress", "flow", "queue", "upstream_queue",
            "queue_bytes", "threshold_bytes",
        )  # fmt: skip
        found = []
        for row in self.run.packets.select(columns).iter_rows():
            event, time, node, egress, ingress, flow, queue, upstream, size, threshold = row
            out, into = self.ends[egress][1], self.ends[ingress ^ 1][1]
            when = f"{time // PS + self.base_ns} {node}"
            if event == "choose":
                found.append(f"A {when} {out} {into} {flow} {queue}")
                continue
            line = f"{when} {into} {upstream} {out} {queue} {size}"
            found.append(f"P {line} {threshold}" if event == "pause_sent" else f"R {line}")
        return found

    def arrivals(self) -> list[str]:
        """Pauses and resumes that arrive."""
        names = {"pause_received": "PA", "resume_received": "RA"}
        found = []
        for time, link, event, queue in self.run.events.select(
            "time_ps", "link", "event", "queue"
        ).iter_rows():
            if event in names:
                node, port = self.ends[link]
                when = time // PS + self.base_ns
                found.append(f"{names[event]} {when} {node} {port} {queue}")
        return found
