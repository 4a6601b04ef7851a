"""A switch: five choices, one per axis (admission, assignment, scheduling, marking, backpressure).

Each choice is a model discriminated by ``kind``. Which choices go together is not said here but in
:mod:`penstock.scenario.scheme_checks`. Defaults of single parameters stand with their source;
complete schemes are the presets in ``penstock/schemes``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from penstock.scenario.backpressure import (
    FAFC,
    Bfc,
    Capfc,
    Credits,
    Fafc,
    NoBackpressure,
    Pfc,
    Ppfc,
)
from penstock.scenario.base import (
    BFC_SIMULATOR,
    HPCC_SIMULATOR,
    OUR_CHOICE,
    Count,
    Node,
    Number,
    Part,
    Switch,
    field,
)
from penstock.scenario.credit_control import CreditShaping
from penstock.scenario.homa import PriorityAssignment
from penstock.scenario.rate_control import QCN_STANDARD
from penstock.units import PositiveSize, PositiveTime, Rate, Size

MMU = f"{HPCC_SIMULATOR}, whose shared buffer BFC 6.2.1 uses"
QUEUES_MAX = 4096
"""Largest number of queues per port: all that a Tofino2 has (BFC 3.3.1)."""
CLASSES_MAX = 8
"""Most priority classes: Ethernet has eight (IEEE 802.1Q)."""
ALPHA_MAX = 64
"""Largest alpha; our choice: the core's bound. An ingress may then hold 64/65 of the memory."""
TABLE_FACTOR_MAX = 10_000
"""Most flow-table entries per queue; our choice: the core's bound, a hundred times BFC's."""
STICKY_MAX = 1e6
"""Longest sticky threshold [hop RTTs]; our choice: the core's bound, seconds in any fabric."""
QUANTUM_MAX = 2**20
"""Largest DRR quantum [B]; our choice: the core's bound, a thousand packets."""
ROUND_MAX = 2**20
"""Most bytes of a flow in a round of AFQ [B]; our choice: the core's bound, a thousand packets."""
SKETCH_ROWS_MAX = 16
"""Most rows of a sketch: a stage of the pipeline each, and a switch has 12 to 16 (AFQ 3.2)."""
SKETCH_COLUMNS_MAX = 2**20
"""Most columns of a sketch; our choice: the core's bound, 16 stages' registers (AFQ 3.2)."""
QCN_SIZE_MAX = 1_000_000_000
"""Largest set point and sampling distance of QCN [B]; our choice: the core's bound."""


# -- admission: is there room? --------------------------------------------------------------


class InfiniteBuffer(Part):
    """Nothing is ever dropped (BFC's Ideal-FQ)."""

    kind: Literal["infinite"]


class BdpHeadroom(Part):
    """Headroom as a multiple of the link's one-way bandwidth-delay product."""

    kind: Literal["bdp"]
    factor: Number = field("times rate x delay of the link", 3.0, source=MMU, gt=0)


class FixedHeadroom(Part):
    """The same headroom for every ingress."""

    kind: Literal["bytes"]
    size: Size = field("headroom of each ingress")


class IngressThreshold(Part):
    """Dynamic thresholds per ingress, as lossless classes need them."""

    alpha: Number = field(
        "share of the free buffer that one ingress may hold",
        0.125,
        source=MMU,
        gt=0,
        le=ALPHA_MAX,
    )
    reserve: Size = field("guaranteed to each ingress", "4096 B", source=MMU)
    headroom: Annotated[BdpHeadroom | FixedHeadroom, Field(discriminator="kind")] = field(
        "room for what arrives after a pause was sent", {"kind": "bdp", "factor": 3.0}, source=MMU
    )


class SharedBuffer(Part):
    """One packet memory for all ports."""

    kind: Literal["shared"]
    buffer: PositiveSize = field(
        "memory of the switch", "12 MiB", source="BFC 6.2.1 (12 MB; 12 x 2^20 B in its simulator)"
    )
    other_buffers: tuple[tuple[Node, PositiveSize], ...] = field(
        "switches with another memory, as [node, size]",
        (),
        source=f"{OUR_CHOICE}: all switches are alike",
    )
    ingress: IngressThreshold | None = field(
        "thresholds per ingress; null: only the whole memory limits",
        None,
        source=f"{BFC_SIMULATOR}: so without PFC",
    )


class StaticBuffer(Part):
    """A memory of its own for each egress port."""

    kind: Literal["static"]
    per_port: PositiveSize = field("memory of each egress port")


# -- assignment: which queue of the egress port? --------------------------------------------


class ClassAssignment(Part):
    """One queue per traffic class."""

    kind: Literal["class"]
    classes: Count = field(
        "classes, each with a queue",
        1,
        source=f"{OUR_CHOICE}: no priorities",
        ge=1,
        le=CLASSES_MAX,
    )


class _SharedQueues(Part):
    """A fixed number of queues that flows share."""

    queues: Count = field(
        "queues of a port, the control queue included",
        32,
        source="BFC 6.2.1: 32 queues per port",
        ge=2,
        le=QUEUES_MAX,
    )
    classes: Count = field(
        "priority classes that share them evenly",
        1,
        source="BFC 6.2.1: one class; A.3: four",
        ge=1,
        le=CLASSES_MAX,
    )


class StochasticAssignment(_SharedQueues):
    """A queue by a hash of the flow (SFQ)."""

    kind: Literal["stochastic"]


class PerFlowAssignment(Part):
    """A queue for every flow, however many (ideal fair queueing)."""

    kind: Literal["per-flow"]


class IngressAssignment(Part):
    """A queue for each port that packets come from (FAFC's fair queueing)."""

    kind: Literal["ingress"]


class DynamicAssignment(_SharedQueues):
    """BFC's flow table: an empty queue for a new flow, a random one when none is empty."""

    kind: Literal["dynamic"]
    table_factor: Count = field(
        "flow-table entries per queue", 100, source="BFC 3.3.1", ge=1, le=TABLE_FACTOR_MAX
    )
    sticky_hop_rtts: Number = field(
        "a flow keeps its queue for this long without packets",
        2.0,
        source="BFC 3.3.2",
        unit="hop RTTs",
        ge=0,
        le=STICKY_MAX,
    )
    incast_queue: Switch = field(
        "all flows of incast traffic share one queue of an egress", False, source="BFC A.7: off"
    )
    sampling: Number = field(
        "share of the packets whose bookkeeping is done",
        1.0,
        source="BFC A.8: 1 unless sampled",
        gt=0,
        le=1,
    )
    avoid_paused: Switch = field(
        "a new flow shares a queue that can send rather than get an empty one that is paused",
        False,
        source="BFC 3.3.1: any empty queue",
    )
    classes_share: Switch = field(
        "classes keep one queue each and share the others, instead of an even part",
        False,
        source="BFC A.3: a static part; sharing is proposed there",
    )
    full_port: Literal["random", "closest-remaining"] = field(
        "the queue of a new flow when none is empty: any, or that of the nearest remaining size",
        "random",
        source="BFC 3.3.1: a random one; a similar size is proposed in A.2",
    )


class RoundAssignment(Part):
    """AFQ: a queue for each of the next rounds; a flow that has used them up loses its packet."""

    kind: Literal["rounds"]
    queues: Count = field(
        "queues of a port, the control queue included",
        33,
        source="AFQ 6.2.2: 32 FIFO queues per port",
        ge=3,
        le=QUEUES_MAX,
    )
    bytes_per_round: PositiveSize = field(
        "what a flow may send in a round, on the wire",
        "1048 B",
        le=ROUND_MAX,
        source="AFQ 6.2.2: one packet",
    )
    rows: Count = field(
        "rows of the count-min sketch", 2, source="AFQ 6.2.2", ge=1, le=SKETCH_ROWS_MAX
    )
    columns: Count = field("its columns", 16_384, source="AFQ 6.2.2", ge=1, le=SKETCH_COLUMNS_MAX)
    bids: Literal["sketch", "per-flow", "audited"] = field(
        "where the bids of flows are kept; audited: in the sketch, its errors counted",
        "sketch",
        source="AFQ 3.2",
    )
    round: Literal["scheduler", "occupancy"] = field(
        "who says which round it is; occupancy: the queues that are empty",
        "scheduler",
        source="AFQ fig. 3; 4: by occupancy where the scheduler cannot tell",
    )


# -- scheduling: which queue next? ----------------------------------------------------------


class Fifo(Part):
    """First in, first out."""

    kind: Literal["fifo"]


class StrictPriority(Part):
    """The lowest-numbered queue with data first."""

    kind: Literal["strict"]


class DeficitRoundRobin(Part):
    """Deficit round robin over the queues."""

    kind: Literal["drr"]
    quantum: PositiveSize = field(
        "bytes a queue may send per round, at most 1 MiB",
        "1048 B",
        le=QUANTUM_MAX,
        source=f"{OUR_CHOICE}: one full packet, the finest that takes constant time (DRR)",
    )


class IdealFair(Part):
    """Bit-by-bit round robin between flows."""

    kind: Literal["ideal-fair"]


class ShortestRemaining(Part):
    """The queue whose head packet's flow has the fewest bytes left (BFC A.2)."""

    kind: Literal["srf"]


class RotatingStrict(Part):
    """AFQ: the queue of the current round until it is empty, then that of the next round."""

    kind: Literal["rotating-strict"]


class ScanningDrr(Part):
    """Deficit round robin in the order of the queues' numbers, by which AFQ emulates its rounds."""

    kind: Literal["scanning-drr"]
    quantum: PositiveSize = field(
        "bytes a queue may send per turn, at most 1 MiB",
        "1 MiB",
        le=QUANTUM_MAX,
        source="AFQ 4: more than flows send in a round; our choice: more than AFQ's ports store",
    )


class PriorityGroups(Part):
    """Two halves of the queues that take turns at going first, by which AFQ emulates its rounds."""

    kind: Literal["priority-groups"]
    period: PositiveTime = field("longest time that a half goes first", "10 us", source="AFQ 4")


# -- marking: what does the packet learn? ---------------------------------------------------


class NoMarking(Part):
    """Packets learn nothing."""

    kind: Literal["none"]


class RateProfile(Part):
    """The RED profile of the ports of one rate."""

    rate: Rate = field("rate of the ports")
    kmin: Size = field("queue below which nothing is marked")
    kmax: Size = field("queue above which everything is marked")
    pmax: Number = field("marking probability at kmax", gt=0, le=1)


class EcnMarking(Part):
    """RED marking on the instantaneous queue length."""

    kind: Literal["ecn"]
    kmin: Size = field("queue below which nothing is marked", "100 kB", source="BFC 6.2.1")
    kmax: Size = field("queue above which everything is marked", "400 kB", source="BFC 6.2.1")
    pmax: Number = field(
        "marking probability at kmax",
        1.0,
        gt=0,
        le=1,
        source=f"{BFC_SIMULATOR}; the paper is silent",
    )
    at: Literal["dequeue", "enqueue"] = field(
        "when the queue is looked at", "dequeue", source=HPCC_SIMULATOR
    )
    per_rate: tuple[RateProfile, ...] = field(
        "profiles of the ports of certain rates, in place of this one",
        (),
        source=f"{OUR_CHOICE}: the same at every port",
    )


class NonPauseEcnMarking(Part):
    """Mark every packet that leaves others behind, unless it waited for a pause to end (PCN)."""

    kind: Literal["non-pause-ecn"]


class TelemetryMarking(Part):
    """In-band telemetry: each switch stamps queue, bytes sent, rate and time (HPCC)."""

    kind: Literal["telemetry"]
    multiplier: Count = field(
        "units of HPCC's header per step of a field; 0: exact numbers",
        0,
        ge=0,
        source=f"{OUR_CHOICE}: exact; {HPCC_SIMULATOR} has INT_MULTI 4 at 100 Gb/s",
    )


class QcnMarking(Part):
    """QCN's congestion point: tell the source of a sampled packet how congested its queue is."""

    kind: Literal["qcn"]
    set_point: PositiveSize = field(
        "the queue Qeq that is aimed at",
        "26 kB",
        le=QCN_SIZE_MAX,
        source=f"{QCN_STANDARD}: cpQSizeSetPoint",
    )
    weight: Number = field(
        "weight w of the queue's growth", 2.0, ge=0, le=1e6, source=f"{QCN_STANDARD}: cpWeight"
    )
    sample_base: PositiveSize = field(
        "bytes from sample to sample without congestion",
        "150 kB",
        le=QCN_SIZE_MAX,
        source=f"{QCN_STANDARD}: cpMinSampleBase",
    )
    jitter: Number = field(
        "share by which that varies either way", 0.15, ge=0, lt=1, source=f"{QCN_STANDARD}: 15 %"
    )


class PredictedMarking(Part):
    """Marking by the queue that FAFC predicts; what came during a pause does not count."""

    kind: Literal["predicted"]
    threshold: Size = field(
        "predicted queue of a port beyond which packets are marked",
        "200 kB",
        source=f"{FAFC} IV-A: 200 kB with a pause threshold of 350 kB",
    )


class RoundMarking(Part):
    """AFQ: mark a packet whose flow is many rounds ahead."""

    kind: Literal["rounds"]
    rounds: Count = field("rounds that a flow may be ahead unmarked", 8, source="AFQ 5", ge=0)


Admission = InfiniteBuffer | SharedBuffer | StaticBuffer
Assignment = (
    ClassAssignment
    | StochasticAssignment
    | PerFlowAssignment
    | DynamicAssignment
    | IngressAssignment
    | RoundAssignment
    | PriorityAssignment
)
Scheduling = (
    Fifo
    | StrictPriority
    | DeficitRoundRobin
    | IdealFair
    | ShortestRemaining
    | RotatingStrict
    | ScanningDrr
    | PriorityGroups
    | CreditShaping
)
Marking = (
    NoMarking
    | EcnMarking
    | NonPauseEcnMarking
    | TelemetryMarking
    | QcnMarking
    | PredictedMarking
    | RoundMarking
)
Backpressure = NoBackpressure | Pfc | Bfc | Fafc | Capfc | Ppfc | Credits


class SwitchPolicies(Part):
    """The five choices that make a switch."""

    admission: Admission = field("is there room?", discriminator="kind")
    assignment: Assignment = field("which queue of the egress port?", discriminator="kind")
    scheduling: Scheduling = field("which queue next?", discriminator="kind")
    marking: Marking = field("what does the packet learn?", discriminator="kind")
    backpressure: Backpressure = field("what does the upstream learn?", discriminator="kind")

    def class_count(self) -> int:
        """Priority classes of the queues."""
        assignment = self.assignment
        match assignment:
            case ClassAssignment() | StochasticAssignment() | DynamicAssignment():
                return assignment.classes
            case _:
                return 1

    def queue_count(self) -> int | None:
        """Queues of a port, the control queue included; `None`: one per flow or ingress."""
        match self.assignment:
            case PerFlowAssignment() | IngressAssignment():
                return None
            case ClassAssignment() as assignment:
                return assignment.classes + 1
            case PriorityAssignment() as assignment:
                return assignment.levels + 1
            case assignment:
                return assignment.queues
