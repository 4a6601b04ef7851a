"""Marking: what does the packet learn?

A model for each policy, discriminated by ``kind``; the axis itself is in
:mod:`penstock.scenario.switch`.
"""

from __future__ import annotations

from typing import Literal

from penstock.scenario.backpressure import (
    FAFC,
)
from penstock.scenario.base import (
    BFC_SIMULATOR,
    HPCC_SIMULATOR,
    OUR_CHOICE,
    Count,
    Many,
    Number,
    Part,
    Weight,
    field,
)
from penstock.scenario.rate_control import QCN_STANDARD
from penstock.units import PositiveSize, Rate, Size

QCN_SIZE_MAX = 1_000_000_000
"""Largest set point and sampling distance of QCN [B]; our choice: the core's bound."""


class NoMarking(Part):
    """Packets learn nothing."""

    kind: Literal["none"]


class RateProfile(Part):
    """The RED profile of the ports of one rate."""

    rate: Rate = field("rate of the ports")
    kmin: Size = field("queue below which nothing is marked")
    kmax: Size = field("queue above which everything is marked")
    pmax: Weight = field(
        "marking probability at kmax",
    )


class EcnMarking(Part):
    """RED marking on the instantaneous queue length."""

    kind: Literal["ecn"]
    kmin: Size = field("queue below which nothing is marked", "100 kB", source="BFC 6.2.1")
    kmax: Size = field("queue above which everything is marked", "400 kB", source="BFC 6.2.1")
    pmax: Weight = field(
        "marking probability at kmax",
        1.0,
        source=f"{BFC_SIMULATOR}; the paper is silent",
    )
    at: Literal["dequeue", "enqueue"] = field(
        "when the queue is looked at", "dequeue", source=HPCC_SIMULATOR
    )
    per_rate: Many[RateProfile] = field(
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
    at: Literal["dequeue", "enqueue"] = field(
        "when packets are counted and sampled", "enqueue", source=f"{QCN_STANDARD}: on arrival"
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


Marking = (
    NoMarking
    | EcnMarking
    | NonPauseEcnMarking
    | TelemetryMarking
    | QcnMarking
    | PredictedMarking
    | RoundMarking
)
