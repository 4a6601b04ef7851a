"""Backpressure: what does the upstream learn?

A model for each policy, discriminated by ``kind``; the axis itself is in
:mod:`penstock.scenario.switch`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from penstock.scenario.base import (
    HPCC_SIMULATOR,
    OUR_CHOICE,
    Many,
    Node,
    Number,
    Part,
    Switch,
    Weight,
    field,
)
from penstock.units import PositiveSize, PositiveTime, Size, Time

FAFC = "FAFC (Lu et al.)"
CREDIT_MAX = 2**20
"""Largest size in credits [B]; our choice: the core's bound, a thousand packets."""
HOPS_MAX = 1e6
"""Most hops of data that count as uncongested; our choice: the core's bound, seconds."""


class NoBackpressure(Part):
    """The upstream learns nothing."""

    kind: Literal["none"]


class PfcThresholds(Part):
    """When PFC pauses and resumes a class of an ingress."""

    xon_offset: Size = field(
        "resume this far below the pause threshold",
        "3072 B",
        source=f"{HPCC_SIMULATOR}: 3 x 1024 B",
    )
    xoff: PositiveSize | None = field(
        "pause threshold of an ingress; null: the dynamic one of admission.ingress",
        None,
        source="BFC 6.2.1: dynamic",
    )


class Pfc(PfcThresholds):
    """Priority flow control: pause a class when its ingress holds too much."""

    kind: Literal["pfc"]


class HopRttThreshold(Part):
    """Th = factor x hop RTT x rate / active queues."""

    kind: Literal["hop-rtts"]
    factor: Number = field("hop round-trip times", 1.0, source="BFC 3.3.2", gt=0)


class TimeThreshold(Part):
    """Th = time x rate, however many queues are active (BFC fig. 7 and App. C sweep Th)."""

    kind: Literal["time"]
    time: PositiveTime = field("data of this time at the full rate, at which a queue pauses")


class PauseThreshold(Part):
    """From which length on a queue makes BFC pause."""

    threshold: Annotated[HopRttThreshold | TimeThreshold, Field(discriminator="kind")] = field(
        "pause threshold Th", {"kind": "hop-rtts", "factor": 1.0}, source="BFC 3.3.2"
    )


class QueuePauses(PauseThreshold):
    """When BFC pauses an upstream queue."""

    bitmap_interval: Time = field(
        "how often the paused queues are told again; 0: never",
        "100 us",
        source=f"{OUR_CHOICE}: a 64 B frame per 1,250 kB of a link; BFC 3.3.2 gives no period",
    )
    counts_last: Switch = field(
        "a packet with the last bytes of its flow can cause a pause",
        True,
        source="BFC 3.3.2: any packet",
    )
    elide_down_up: Switch = field(
        "no backpressure for packets that come down and go up again",
        False,
        source=f"{OUR_CHOICE}: shortest paths in a Clos have none (BFC App. B)",
    )
    elide: Many[tuple[Node, Node, Node]] = field(
        "no backpressure for packets that come from a node to a switch for a node: [from, at, to]",
        (),
        source=f"{OUR_CHOICE}: shortest paths in a Clos need none (BFC App. B)",
    )


class _EgressThreshold(Part):
    """From which egress queue on CaPFC and P-PFC pause ingresses."""

    threshold: PositiveSize = field(
        "queue of an egress from which on its ingresses pause",
        "350 kB",
        source=f"{FAFC} IV-A: the queue at which it acts",
    )
    xon_offset: Size = field(
        "resume this far below", "3072 B", source=f"{HPCC_SIMULATOR}: 3 x 1024 B, for PFC"
    )
    pfc: PfcThresholds = field(
        "PFC by the ingress queues", {}, source=f"{FAFC} II-E: PFC with dynamic thresholds"
    )


class Capfc(_EgressThreshold):
    """Congestion-aware PFC: pause the ingresses with more than their share of an egress."""

    kind: Literal["capfc"]


class Ppfc(_EgressThreshold):
    """Predictive PFC: pause ingresses by chance before an egress queue has become long."""

    kind: Literal["p-pfc"]
    horizon: PositiveTime = field(
        "how far is looked back and ahead (T)",
        "2 us",
        source=f"{OUR_CHOICE}: the round trip of a hop of 1 us, as FAFC looks ahead",
    )


class Bfc(QueuePauses):
    """Backpressure flow control: pause the upstream queue of a packet."""

    kind: Literal["bfc"]


class FlowPauses(PauseThreshold):
    """Pauses of single flows: the ideal that BFC approximates (BFC 3.3.2)."""

    kind: Literal["flow-pauses"]


class Credits(Part):
    """BFC with credits: send only what the next switch has memory for; nothing is dropped."""

    kind: Literal["credits"]
    pauses: QueuePauses = field("BFC's pauses", {}, source="BFC 3.3.2")
    packet: PositiveSize = field(
        "a full packet on the wire: what a queue must be able to pay before it sends",
        "1048 B",
        le=CREDIT_MAX,
        source=f"{OUR_CHOICE}: a queue need not look at its head packet",
    )
    queue_reserve: PositiveSize = field(
        "memory that each upstream queue has for itself",
        "1048 B",
        le=CREDIT_MAX,
        source=f"{OUR_CHOICE}: one packet, the least that lets every queue go on",
    )
    batch: Size = field(
        "credit of a link that is worth a frame",
        "8384 B",
        le=CREDIT_MAX,
        source=f"{OUR_CHOICE}: 64 B of frame in 8 packets, 0.8 % of the way back",
    )


class Fafc(Part):
    """Fast and accurate flow control: pause the ingresses that an egress suffers from."""

    kind: Literal["fafc"]
    threshold: PositiveSize = field(
        "predicted queue of an egress beyond which its ingresses pause",
        "350 kB",
        source=f"{FAFC} IV-A",
    )
    queue_smoothing: Weight = field(
        "weight of a new queue length (alpha)", 0.8, source=f"{FAFC} III-A"
    )
    rate_smoothing: Weight = field("weight of a new rate (beta)", 0.8, source=f"{FAFC} III-A")
    congested_hops: Number = field(
        "an egress with more data than it sends in so many T_hop is congested (th_c)",
        1.0,
        ge=0,
        le=HOPS_MAX,
        source=f"{OUR_CHOICE}: a longer queue loses nothing in a pause of T_hop (eq. 4)",
    )
    rate_decrease: Weight = field(
        "factor of arrival rates when an egress triggers again within 4 T_hop (f_dec)",
        0.9,
        source=f"{OUR_CHOICE}: close to 1, as rates are measured anew in each T_hop",
    )
    pfc: PfcThresholds = field(
        "the safety net beneath",
        {},
        source=f"{FAFC} II-E: PFC with dynamic thresholds",
    )


QueuePausing = Bfc | Credits | FlowPauses
"""What pauses numbered queues: it needs them at every port, and one path for each flow."""

Backpressure = NoBackpressure | Pfc | Fafc | Capfc | Ppfc | QueuePausing
