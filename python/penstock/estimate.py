"""How much memory, work and time a run will take, before the run starts.

The core forecasts flows and packet-hops. The cost of flows, packet-hops and the network was
measured on the machine of ``docs/validation.md`` and is rounded up. An estimate is right to a
factor of two or so. Its purpose is to refuse what no machine can run.
"""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from penstock import _core
from penstock.errors import core_refusals, refuse
from penstock.own_run import classes_in
from penstock.readable import bytes_text, number_text
from penstock.scenario import Scenario
from penstock.scenario.declared.assignment import (
    Assignment,
    ClassAssignment,
    IngressAssignment,
    PerFlowAssignment,
    PriorityAssignment,
    RoundsAssignment,
)
from penstock.scenario.declared.backpressure import FafcBackpressure
from penstock.scenario.declared.traffic import ListedTraffic

PROCESS_BYTES = 100 * 2**20
"""Python with this package and its libraries [B]; measured: 102 MB."""
LINK_BYTES, HOST_BYTES, QUEUE_BYTES = 1_100, 1_500, 56
"""A directed link, a host with its name and routes, a queue of a switch port [B]; measured with
4,096 hosts under DCTCP, SFQ, Homa and BFC, every port in use."""
CUT_HOSTS, CROSSING_BYTES = 2_048, 2_300
"""From so many hosts on the core cuts a network into parts, and what crosses takes so much for each
directed link in use [B]; measured with 4,096 hosts under BFC."""
ROUTE_BYTES = 6
"""The routes from a switch to an edge switch [B], where no two switches are alike; in a Clos with
65,536 hosts they take 2."""
FAFC_PAIR_BYTES = 140
"""A pair of ports of a switch under FAFC [B]; measured with 4,096 hosts."""
FLOW_BYTES, SAMPLE_BYTES, TRACED_BYTES, EVENT_BYTES = 120, 50, 1_300, 40
"""A row of flows, a sampled switch or link, a data packet at a traced switch, and what is kept for
each data packet-hop where events are listed [B]; measured on `bfc-demo` and `quickstart`."""
OPEN_BYTES = 1_400
"""A flow that is open, with its packets on their way [B]; measured with 560,000 flows on 8,192
hosts, which took 1,100 under TCP, 1,350 under PCN and BFC, 2,000 under ExpressPass."""
LISTED_BYTES = 570
"""A flow of a list or a trace, as it is read and handed to the core [B]; measured with flow files
of the HPCC simulator of 0.5 and 2 million flows, which took 580 and 550. A long plain CSV file
takes 200 to 300."""
HOP_NS, HOP_LINKS, HOP_GROWTH = 200.0, 384, 0.2
"""A packet-hop [ns] up to so many links, and by which share it grows when they double; measured by
``make bench`` with 128 and 8,192 hosts."""
CLASS_NS = 2_500.0
"""A packet-hop with a class in Python [ns], the second run included; measured with the classes of
``docs/python-schemes.md``: 500 to 1,100 a run."""
SAMPLE_NS = 1_000.0
"""A sampled switch or link [ns]; measured with an interval of 10 ns."""


@dataclass(frozen=True)
class FullestLink:
    """The link that all traffic together loads most, bursts aside."""

    name: str
    """Such as ``T0->S1``."""
    layer: str
    """The group of links that it is in."""
    load: float
    """Mean payload over the rate of the link, in (0, 1)."""

    def __str__(self) -> str:
        share = f"{100 * self.load:.3g} % of its rate"
        return f"{self.name} ({self.layer}) carries {share} in payload, no link more"


@dataclass(frozen=True)
class Estimate:
    """What one run will take, or several."""

    parts: dict[str, float]
    """Field of the scenario that decides it -> memory [B]."""
    packet_hops: float
    """Packets put on a wire; infinite where the network alone is too large to look at."""
    seconds: float
    """Processor time [s]."""
    fullest_link: FullestLink | None = None
    """The link of one run that open loops and repeated incasts load most, if there are such."""

    @property
    def memory_bytes(self) -> float:
        """Memory of the process [B]."""
        return PROCESS_BYTES + sum(self.parts.values())

    def __str__(self) -> str:
        memory = f"about {bytes_text(self.memory_bytes)}"
        if not math.isfinite(self.packet_hops):
            return f"{memory} for the network alone"
        return f"{memory}, {_power(self.packet_hops)} packet-hops, {_clock(self.seconds)}"


def estimate(scenario: Scenario) -> Estimate:
    """What a run of a scenario will take.

    Raises
    ------
    ScenarioError
        The core refuses the scenario.
    """
    network = _network_bytes(scenario)
    if network > available_bytes():
        return Estimate({"topology": network}, math.inf, math.inf)
    with core_refusals(scenario.file):
        forecast = json.loads(_core.forecast(scenario.handed_over()))
    hops, samples = float(forecast["packet_hops"]), _samples(scenario)
    flows = FLOW_BYTES * float(forecast["flows"]) + OPEN_BYTES * float(forecast["open_flows"])
    lists = (one for one in scenario.resolve().traffic if isinstance(one, ListedTraffic))
    listed = sum(len(one.flows) for one in lists)
    measure, switches = scenario.measure, scenario.topology.switch_count()
    parts = {
        "topology": network,
        "traffic": flows + LISTED_BYTES * listed,
        "measure.sample_interval": SAMPLE_BYTES * samples,
        "measure.events": EVENT_BYTES * hops / 2 if measure.events else 0.0,
        "measure.trace": 0.0,
    }
    if measure.trace:
        traced = (len(measure.trace.nodes) or switches) / switches
        parts["measure.trace"] = TRACED_BYTES * traced * hops / 4
    links = 2 * scenario.topology.cable_count()
    growth = 1 + HOP_GROWTH * math.log2(max(links / HOP_LINKS, 1))
    hop = CLASS_NS if classes_in(scenario) else HOP_NS * growth
    seconds = (hops * hop + samples * SAMPLE_NS) / 1e9
    found = forecast["fullest_link"]
    return Estimate(parts, hops, seconds, FullestLink(**found) if found else None)


def together(estimates: Iterable[Estimate], workers: int) -> Estimate:
    """What several runs will take, so many at a time; each leaves its flows in memory."""
    every = list(estimates)
    largest = heapq.nlargest(workers, every, key=lambda one: one.memory_bytes)
    parts = {name: sum(one.parts.get(name, 0.0) for one in largest) for name in every[0].parts}
    hops, seconds = (sum(getattr(one, key) for one in every) for key in ("packet_hops", "seconds"))
    return Estimate(parts, hops, seconds / workers)


def check(needed: Estimate) -> None:
    """Refuses what is larger than the memory of this machine.

    Raises
    ------
    ScenarioError
        Names the field that decides the memory.
    """
    free = available_bytes()
    if needed.memory_bytes <= free:
        return
    field = max(needed.parts, key=lambda name: needed.parts[name])
    raise refuse(
        field,
        f"the run needs {needed}, most of it because of this field; {bytes_text(free)} are free",
        "make it smaller, run fewer at a time (--jobs), or add --force to try all the same",
    )


def available_bytes() -> float:
    """Memory that this process can still have: the machine's, or its control group's [B]."""
    found = [_meminfo("MemAvailable"), *_group_bytes()]
    return min((one for one in found if one is not None), default=math.inf)


def _network_bytes(scenario: Scenario) -> float:
    topology, switch = scenario.topology, scenario.scheme.switch
    hosts, switches, cables = (
        topology.host_count(),
        topology.switch_count(),
        topology.cable_count(),
    )
    ports = 2 * cables - hosts
    queues = queue_count(switch.assignment)
    port_bytes = float(QUEUE_BYTES * queues)
    if isinstance(switch.assignment, RoundsAssignment):
        port_bytes += 4 * switch.assignment.rows * switch.assignment.columns * switches / ports
    if isinstance(switch.backpressure, FafcBackpressure):
        port_bytes += FAFC_PAIR_BYTES * ports / switches
    routes = ROUTE_BYTES * float(switches) ** 2
    link_bytes = LINK_BYTES + (CROSSING_BYTES if hosts >= CUT_HOSTS else 0)
    return 2 * cables * link_bytes + hosts * HOST_BYTES + ports * port_bytes + routes


def queue_count(assignment: Assignment) -> int:
    """Queues of a port, the control queue included; 1 where each flow or ingress has one."""
    match assignment:
        case PerFlowAssignment() | IngressAssignment():
            return 1
        case ClassAssignment(classes=queues) | PriorityAssignment(levels=queues):
            return queues + 1
        case _:
            return assignment.queues


def _samples(scenario: Scenario) -> float:
    """Rows of samples until the traffic ends. Those behind are left out: `drain` is the longest
    that flows may take then, and few runs do."""
    measure = scenario.measure
    if not measure.sample_interval:
        return 0.0
    rows = scenario.topology.switch_count() + len(measure.series)
    return rows * scenario.duration / measure.sample_interval


def _meminfo(key: str) -> float | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    values = (line.split() for line in lines)
    return next((1024.0 * float(words[1]) for words in values if words[0] == f"{key}:"), None)


def _group_bytes() -> Iterable[float | None]:
    """What is left of the limit of this process's control group, version 2 and version 1."""
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        try:
            yield float(Path(limit).read_text()) - float(Path(used).read_text())
        except (OSError, ValueError):  # no such group, or no limit ("max")
            yield None


def _power(value: float) -> str:
    """A count in the notation of papers: 4·10⁹."""
    if value < 1_000:
        return f"{value:.0f}"
    exponent = math.floor(math.log10(value))
    raised = str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value / 10**exponent:.1f}·10{raised}"


def _clock(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{number_text(seconds / size)} {unit}"
    return f"{seconds:.0f} s"
