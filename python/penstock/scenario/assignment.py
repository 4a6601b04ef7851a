"""Assignment: which queue of the egress port?

A model for each policy, discriminated by ``kind``; the axis itself is in
:mod:`penstock.scenario.switch`.
"""

from __future__ import annotations

from typing import Literal

from penstock.scenario.base import (
    OUR_CHOICE,
    Count,
    Number,
    Part,
    Switch,
    Weight,
    field,
)
from penstock.scenario.homa import PriorityAssignment
from penstock.units import PositiveSize

QUEUES_MAX = 4096
"""Largest number of queues per port: all that a Tofino2 has (BFC 3.3.1)."""
CLASSES_MAX = 8
"""Most priority classes: Ethernet has eight (IEEE 802.1Q)."""
TABLE_FACTOR_MAX = 10_000
"""Most flow-table entries per queue; our choice: the core's bound, a hundred times BFC's."""
HOP_RTTS_MAX = 1e6
"""Longest sticky threshold and grace [hop RTTs]; our choice: the core's bound, seconds anywhere."""
ROUND_MAX = 2**20
"""Most bytes of a flow in a round of AFQ [B]; our choice: the core's bound, a thousand packets."""
SKETCH_ROWS_MAX = 16
"""Most rows of a sketch: a stage of the pipeline each, and a switch has 12 to 16 (AFQ 3.2)."""
SKETCH_COLUMNS_MAX = 2**20
"""Most columns of a sketch; our choice: the core's bound, 16 stages' registers (AFQ 3.2)."""


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
        le=HOP_RTTS_MAX,
    )
    incast_queue: Switch = field(
        "all flows of incast traffic share one queue of an egress", False, source="BFC A.7: off"
    )
    sampling: Weight = field(
        "share of the packets whose bookkeeping is done",
        1.0,
        source="BFC A.8: 1 unless sampled",
    )
    grace_hop_rtts: Number = field(
        "a new flow sends so long from an empty queue that is paused, at the queue's share of the "
        "port; 0: it waits",
        1.0,
        source="BFC 3.3.1: no blocking with fewer active flows than queues; how is our choice",
        unit="hop RTTs",
        ge=0,
        le=HOP_RTTS_MAX,
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


Assignment = (
    ClassAssignment
    | StochasticAssignment
    | PerFlowAssignment
    | DynamicAssignment
    | IngressAssignment
    | RoundAssignment
    | PriorityAssignment
)
