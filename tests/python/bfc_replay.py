"""What a BFC switch must do, replayed from its packet trace alone.

Written from the paper's pseudo-code (BFC, NSDI 2022, sec. 3.3.1 and 3.3.2) and not from the switch,
so that the two can disagree. Only what the paper leaves to chance is taken over from the trace:
which of several empty queues a flow gets, which queue when none is empty, and which queue sends
next. Everything else is computed here, and every row is held against it.

The paper's pseudo-code leaves four things open; they are decided as follows. The control queue
takes one queue of a port, so n queues are n - 1 for data. N_active is at least 1. HRTT is the
largest over the ingresses, with the pipelines at both ends. qLength includes the arriving packet.

Two remedies of ours are replayed too, where a scheme has them: new flows that prefer empty queues
without a pause, and the grace of a new flow in an empty and paused queue, which the trace tells as
a resume before it and a pause after it.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from penstock import Scenario

Row = Mapping[str, Any]
"""A row of ``packets.parquet``."""

SIGNALS_SENT = ("pause_sent", "resume_sent")
NO_FLOW = 2**64 - 1
"""The flow of a frame."""


@dataclass(frozen=True)
class Violation:
    """A row that is not as the paper demands."""

    rule: str
    row: int
    found: Any
    expected: Any


class Queued(NamedTuple):
    """A packet that waits, as the trace names it."""

    flow: int
    sequence: int
    size: int
    ingress: int
    upstream_queue: int
    counted: bool


@dataclass
class Entry:
    """An entry of the flow table: `size`, the timestamp, `qAssignment`."""

    size: int = 0
    touched: int = 0
    queue: int = 0


@dataclass
class Port:
    """An egress port: its data queues and which of them the downstream has paused."""

    rate: int
    queues: defaultdict[int, deque[Queued]] = field(default_factory=lambda: defaultdict(deque))
    bytes_in: Counter[int] = field(default_factory=Counter)
    """Bytes queued in each queue."""
    paused: set[int] = field(default_factory=set)

    def put(self, queue: int, packet: Queued) -> None:
        """A packet joins a queue."""
        self.queues[queue].append(packet)
        self.bytes_in[queue] += packet.size

    def take(self, queue: int) -> Queued:
        """The first packet leaves a queue."""
        packet = self.queues[queue].popleft()
        self.bytes_in[queue] -= packet.size
        return packet

    def active(self) -> int:
        """N_active: queues with data to transmit that are not paused."""
        return sum(bool(packets) and q not in self.paused for q, packets in self.queues.items())


class Network(NamedTuple):
    """What a switch must know about its links, by the links' numbers."""

    egress_rates: dict[int, int]
    """Rate of each link that leaves the switch [bit/s]."""
    reverse: dict[int, int]
    """For each link the one in the other direction."""
    hop_rtt: int
    """HRTT [ps]."""


def network_of(scenario: Scenario, node: int) -> Network:
    """The links at a switch of a leaf-spine network, numbered as docs/files.md says."""
    fabric: Any = scenario.topology
    hosts, racks = fabric.racks * fabric.hosts_per_rack, fabric.racks
    cables = [
        (host, hosts + host // fabric.hosts_per_rack, fabric.host_rate, fabric.host_delay)
        for host in range(hosts)
    ]
    for rack in range(racks):
        for spine in range(fabric.spines):
            ends = (hosts + rack, hosts + racks + spine)
            cables.append((*ends, fabric.spine_rate, fabric.spine_delay))
    rates: dict[int, int] = {}
    reverse: dict[int, int] = {}
    round_trips: list[int] = []
    for number, (a, b, rate, delay) in enumerate(cables):
        reverse |= {2 * number: 2 * number + 1, 2 * number + 1: 2 * number}
        if node in (a, b):
            rates[2 * number if node == a else 2 * number + 1] = rate
            neighbour = b if node == a else a
            pipelines = 2 if neighbour >= hosts else 1
            round_trips.append(2 * delay + pipelines * fabric.pipeline_delay)
    return Network(rates, reverse, max(round_trips))


class Replay:
    """One switch: takes the rows of its trace in order and notes every violation.

    `seen` counts the situations that occurred, so that a test can tell that it tested something.
    """

    def __init__(self, scenario: Scenario, node: int) -> None:
        policy: Any = scenario.scheme.switch.assignment
        self.network = network_of(scenario, node)
        self.data_queues = range(1, policy.queues)
        self.entries_per_port = policy.table_factor * policy.queues
        self.sticky = int(policy.sticky_hop_rtts * self.network.hop_rtt)
        self.grace_time = int(policy.grace_hop_rtts * self.network.hop_rtt)
        self.avoids_pauses = policy.empty_queue == "unpaused"
        self.ports = {link: Port(rate) for link, rate in self.network.egress_rates.items()}
        self.table: defaultdict[tuple[int, int], Entry] = defaultdict(Entry)
        self.index_of: dict[tuple[int, int], int] = {}
        self.pause_counter: Counter[tuple[int, int]] = Counter()
        self.signal: tuple[Any, ...] | None = None
        self.grace: dict[tuple[int, int], int] = {}
        self.started: tuple[int, int, int] | None = None
        self.ended: tuple[int, int] | None = None
        self.violations: list[Violation] = []
        self.seen: Counter[str] = Counter()
        self.row = -1

    def run(self, rows: Iterable[Row]) -> Replay:
        """Replays all rows."""
        for row in rows:
            self.step(row)
        self._demand("signal", None, self.signal)
        return self

    def step(self, row: Row) -> None:
        """Replays the next row."""
        self.row += 1
        self._expect_signal(row)
        self._expect_end(row)
        self._expect_start(row)
        match row["event"]:
            case "pause_received" | "resume_received":
                self._receive(row)
            case "assign":
                self._assign(row)
            case "enqueue":
                self._enqueue(row)
            case "depart":
                self._depart(row)
        self._state(row)

    def rules(self) -> set[str]:
        """The rules that were violated."""
        return {violation.rule for violation in self.violations}

    def _demand(self, rule: str, found: Any, expected: Any) -> None:
        if found != expected:
            self.violations.append(Violation(rule, self.row, found, expected))

    def share(self, port: Port, time: int) -> int:
        """What a queue sends in a time [ps] at its share of the port, in whole bytes."""
        return port.rate * time // (8 * 10**12) // max(port.active(), 1)

    def threshold(self, port: Port) -> int:
        """Th = HRTT * mu / N_active in whole bytes."""
        return self.share(port, self.network.hop_rtt)

    def is_old(self, row: Row) -> bool:
        """Whether a packet's entry was last touched longer ago than the sticky threshold."""
        return bool(row["time_ps"] - self.entry(row).touched > self.sticky)

    def empty_queues(self, port: Port) -> list[int]:
        """The data queues of a port without packets."""
        return [queue for queue in self.data_queues if not port.queues[queue]]

    def _state(self, row: Row) -> None:
        """Bytes, N_active and Th of a row."""
        port = self.ports[row["egress"]]
        self._demand("queue bytes", row["queue_bytes"], port.bytes_in[row["queue"]])
        self._demand("port bytes", row["port_bytes"], port.bytes_in.total())
        self._demand("N_active", row["active_queues"], port.active())
        self._demand("threshold", row["threshold_bytes"], self.threshold(port))

    def entry(self, row: Row) -> Entry:
        """The entry of <egressPort, hash(FID)>: one for a flow, in its port's part of the table."""
        index = row["table_index"]
        same = self.index_of.setdefault((row["egress"], row["flow_hash"]), index)
        self._demand("table index", index, same)
        part = self.index_of.setdefault((row["egress"], -1), index // self.entries_per_port)
        self._demand("table index", index // self.entries_per_port, part)
        return self.table[row["egress"], index]

    def _assign(self, row: Row) -> None:
        """On Enqueue of sec. 3.3.1, with the sticky threshold of sec. 3.3.2."""
        entry, port, queue = self.entry(row), self.ports[row["egress"]], row["queue"]
        if entry.queue and (entry.size or not self.is_old(row)):
            self.seen["kept" if entry.size else "kept by stickiness"] += 1
            self._demand("keeps its queue", queue, entry.queue)
        else:
            empty = self.empty_queues(port)
            self.seen["sticky threshold expired"] += bool(entry.queue)
            self.seen["empty queue" if empty else "no empty queue"] += 1
            if empty:
                self._demand("empty queue", queue in empty, True)
                waits = queue in port.paused
                self._demand("grace", waits, waits and not self.grace_time)
                if self.avoids_pauses:
                    self._demand("unpaused queue", self.is_held(row, queue), self._all_held(row))
                self.seen["waits for an older pause"] += waits
            else:
                self._demand("data queue", queue in self.data_queues, True)
        entry.queue, entry.touched = queue, row["time_ps"]
        entry.size += 1

    def is_held(self, row: Row, queue: int) -> bool:
        """Whether the downstream has paused a queue, also one that has a grace."""
        return queue in self.ports[row["egress"]].paused or (row["egress"], queue) in self.grace

    def _all_held(self, row: Row) -> bool:
        """Whether the downstream has paused all empty queues."""
        empty = self.empty_queues(self.ports[row["egress"]])
        return all(self.is_held(row, queue) for queue in empty)

    def _enqueue(self, row: Row) -> None:
        """On Enqueue of sec. 3.3.2."""
        port, queue = self.ports[row["egress"]], row["queue"]
        self._demand("joins its queue", queue, self.entry(row).queue)
        packet = Queued(
            row["flow"], row["sequence"], row["size_bytes"], row["ingress"],
            row["upstream_queue"], False,
        )  # fmt: skip
        port.put(queue, packet)
        exceeds = port.bytes_in[queue] > self.threshold(port)
        self._demand("counted", row["counted"], exceeds)
        if not exceeds:
            return
        port.queues[queue][-1] = packet._replace(counted=True)
        key = (packet.ingress, packet.upstream_queue)
        self.pause_counter[key] += 1
        if self.pause_counter[key] == 1:
            self.signal = ("pause_sent", packet.flow, packet.sequence, *key)
        else:
            self.seen["counted without a pause"] += 1

    def _depart(self, row: Row) -> None:
        """On Dequeue of sec. 3.3.1 and 3.3.2."""
        port, queue = self.ports[row["egress"]], row["queue"]
        self._demand("paused queue", queue in port.paused, False)
        if not port.queues[queue]:
            self._demand("FIFO", "a packet", "an empty queue")
            return
        packet = port.take(queue)
        columns = ("flow", "sequence", "size_bytes", "ingress", "upstream_queue", "counted")
        self._demand("FIFO", tuple(row[name] for name in columns), tuple(packet))
        key = (row["egress"], queue)
        if key in self.grace:
            self.grace[key] -= packet.size
            if self.grace[key] <= 0:
                del self.grace[key]
                self.ended = key
        entry = self.entry(row)
        entry.size -= 1
        entry.touched = row["time_ps"]
        if packet.counted:
            key = (packet.ingress, packet.upstream_queue)
            self.pause_counter[key] -= 1
            if self.pause_counter[key] == 0:
                self.signal = ("resume_sent", packet.flow, packet.sequence, *key)

    def _expect_signal(self, row: Row) -> None:
        """A signal follows at once on what caused it, and on nothing else."""
        is_signal = row["event"] in SIGNALS_SENT
        names = ("event", "flow", "sequence", "ingress", "upstream_queue")
        found = tuple(row[name] for name in names) if is_signal else None
        self._demand("signal", found, self.signal)
        if is_signal:
            self.seen[row["event"]] += 1
        self.signal = None

    def _expect_end(self, row: Row) -> None:
        """A grace that is used up ends at once, behind the signal that the departure causes."""
        if row["event"] in SIGNALS_SENT:
            return
        is_end = row["event"] == "pause_received" and row["flow"] != NO_FLOW
        found = (row["egress"], row["queue"]) if is_end else None
        self._demand("end of a grace", found, self.ended)
        self.seen["end of a grace"] += is_end
        self.ended = None

    def _expect_start(self, row: Row) -> None:
        """A grace starts for the flow that gets the queue next."""
        if self.started:
            found = (row["event"], row["egress"], row["queue"], row["flow"])
            self._demand("start of a grace", found, ("assign", *self.started))
            self.seen["grace"] += 1
        self.started = None

    def _receive(self, row: Row) -> None:
        """A pause or a resume; a bitmap is told as those of them that change something.

        With a flow it is the end or the beginning of that flow's grace.
        """
        port, queue = self.ports[row["egress"]], row["queue"]
        self._demand("both directions", row["ingress"], self.network.reverse[row["egress"]])
        self.seen[row["event"]] += 1
        key = (row["egress"], queue)
        is_paused = queue in port.paused or self.grace.pop(key, None) is not None
        if row["event"] == "pause_received":
            port.paused.add(queue)
            return
        if row["flow"] != NO_FLOW:
            is_new = is_paused and not port.queues[queue]
            self._demand("grace", bool(is_new and self.grace_time), True)
            self.grace[key] = max(self.share(port, self.grace_time), 1)
            self.started = (*key, row["flow"])
        port.paused.discard(queue)


def rows_of(table: Any, node: int) -> Iterator[Row]:
    """The rows of one switch, in the order in which they happened."""
    return table.filter(node=node).iter_rows(named=True)
