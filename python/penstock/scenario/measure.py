"""What a run records, what it breaks on purpose, and what packets weigh."""

from __future__ import annotations

from penstock.scenario.base import (
    HPCC_SIMULATOR,
    OUR_CHOICE,
    Many,
    Node,
    Number,
    Part,
    Switch,
    field,
)
from penstock.units import PositiveSize, PositiveTime, Size, Time

FRAME_MAX = 9000
"""Largest payload, and largest part of a packet besides [B]: a jumbo frame."""


class Wire(Part):
    """What packets weigh on the wire."""

    payload: PositiveSize = field(
        "largest payload of a packet", "1000 B", le=FRAME_MAX, source="BFC 6.2.1"
    )
    header: PositiveSize = field(
        "headers of a data packet",
        "48 B",
        le=FRAME_MAX,
        source=f"{HPCC_SIMULATOR}: Ethernet 14, IP 20, UDP 8, sequence 6",
    )
    acknowledgement: PositiveSize = field(
        "an ACK or NACK",
        "60 B",
        le=FRAME_MAX,
        source=f"{HPCC_SIMULATOR}: Ethernet 14, IP 20, ACK 12, padded to 60",
    )
    telemetry: Size = field(
        "telemetry in data packets and ACKs, where the scheme marks with telemetry",
        "42 B",
        le=FRAME_MAX,
        source=f"{HPCC_SIMULATOR}: 5 hops x 8 + 2",
    )
    timestamp: Size = field(
        "timestamp in data packets and ACKs, where the controller measures round-trip times",
        "8 B",
        le=FRAME_MAX,
        source=f"{HPCC_SIMULATOR}: TIMELY's 8 B header",
    )
    control_frame: PositiveSize = field(
        "a pause or resume frame",
        "64 B",
        le=FRAME_MAX,
        source="smallest Ethernet frame (IEEE 802.3)",
    )


class Outage(Part):
    """A link that fails, with all that is on it, and routes that go around it."""

    link: tuple[Node, Node] = field("the two switches that it joins")
    start: PositiveTime = field("when it fails")
    end: PositiveTime | None = field(
        "when it works again; null: never", None, source=f"{OUR_CHOICE}: it stays down"
    )


class Faults(Part):
    """Faults that are put in on purpose."""

    control_loss: Number = field(
        "probability that a pause or resume frame is lost on a wire",
        0.0,
        ge=0,
        lt=1,
        source=f"{OUR_CHOICE}: no faults",
    )
    outages: Many[Outage] = field(
        "links between switches that fail for a while", (), source=f"{OUR_CHOICE}: no faults"
    )


class PacketTrace(Part):
    """A row per event of a packet at a node."""

    nodes: Many[Node] = field(
        "nodes to trace; none: all", (), source=f"{OUR_CHOICE}: a trace asked for without nodes"
    )


class Measure(Part):
    """What a run records besides its flows and links."""

    sample_interval: Time = field(
        "how often buffers and queues are sampled; 0: never",
        "10 us",
        source=f"{OUR_CHOICE}: about one round trip of BFC's fabric",
    )
    active_flows: Switch = field(
        "how long each link had how many active flows",
        False,
        source=f"{OUR_CHOICE}: costs time per packet",
    )
    queue_delays: Switch = field(
        "how long data packets wait at switches, by group of links",
        False,
        source=f"{OUR_CHOICE}: costs time per packet",
    )
    series: Many[tuple[Node, Node]] = field(
        "links [from, to] with a row per sample", (), source=f"{OUR_CHOICE}: nobody asked"
    )
    events: Switch = field(
        "a row per pause, resume and drop", False, source=f"{OUR_CHOICE}: large under PFC"
    )
    trace: PacketTrace | None = field("packet trace", None, source=f"{OUR_CHOICE}: very large")
