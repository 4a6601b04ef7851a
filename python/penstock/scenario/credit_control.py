"""ExpressPass: the credit queue of a port, and what hosts do with credits."""

from __future__ import annotations

from typing import Literal

from penstock.scenario.base import Count, Number, Part, Switch, Weight, field
from penstock.units import PositiveSize, PositiveTime

XPASS_SIMULATOR = "ExpressPass authors' simulator (kaist-ina/ns2-xpass)"
"""Where the numbers come from; the paper itself was not at hand."""
CREDITS_MAX = 1_000_000
"""Most credits that may wait or be saved; our choice: the core's bound."""
FRAME_MAX = 2**14
"""Largest frame that a credit stands for [B]; our choice: the core's bound, a jumbo frame."""


class CreditShaping(Part):
    """FIFO for data; credits have a short queue, a rate of their own, and go first."""

    kind: Literal["credit-shaping"]
    queue: Count = field(
        "credits that may wait", 16, unit="credits", ge=1, le=CREDITS_MAX, source="BFC 6.2.1"
    )
    burst: Count = field(
        "credits that the token bucket can save",
        2,
        unit="credits",
        ge=1,
        le=CREDITS_MAX,
        source=f"{XPASS_SIMULATOR}: the paper's scripts",
    )
    credit: PositiveSize = field(
        "mean credit on the wire",
        "84 B",
        le=FRAME_MAX,
        source="ExpressPass 3.1: a minimum frame, its preamble and gap",
    )
    frame: PositiveSize = field(
        "full data packet on the wire, for which a credit stands",
        "1538 B",
        le=FRAME_MAX,
        source="ExpressPass 3.1: a full frame, its preamble and gap",
    )


class ReleasedFeedback(Part):
    """The released code: the target loss falls as the rate rises, the weight grows by steps."""

    kind: Literal["released"]
    target_loss: Number = field(
        "target loss at a rate of nothing", 0.125, ge=0, le=1, source=XPASS_SIMULATOR
    )
    weight_step: Number = field(
        "added to the weight by increases in a row", 0.05, ge=0, le=1, source=XPASS_SIMULATOR
    )


class PaperFeedback(Part):
    """Algorithm 1: a constant target loss, the weight goes half the way to the largest."""

    kind: Literal["paper"]
    target_loss: Number = field(
        "target loss", 0.1, ge=0, le=1, source="ExpressPass paper, quoted from memory"
    )


class ExpressPass(Part):
    """ExpressPass: a sender sends a packet for each credit of its receiver."""

    kind: Literal["expresspass"]
    initial_rate: Weight = field(
        "alpha: first rate of the credits, over the largest", 0.5, source="BFC 6.2.1"
    )
    initial_weight: Weight = field(
        "w_init: first weight of the largest rate", 0.0625, source="BFC 6.2.1"
    )
    minimum_weight: Weight = field("w_min: smallest weight", 0.01, source=XPASS_SIMULATOR)
    maximum_weight: Weight = field("w_max: largest weight", 0.5, source=XPASS_SIMULATOR)
    feedback: ReleasedFeedback | PaperFeedback = field(
        "how the rate follows the loss of credits",
        {"kind": "released"},
        source=f"{XPASS_SIMULATOR}, which BFC ran",
        discriminator="kind",
    )
    jitter: Number = field(
        "share by which gaps between credits vary either way",
        0.1,
        ge=0,
        lt=1,
        source=XPASS_SIMULATOR,
    )
    credit_minimum: PositiveSize = field(
        "smallest credit on the wire", "84 B", le=FRAME_MAX, source=f"{XPASS_SIMULATOR}: fixed"
    )
    credit_maximum: PositiveSize = field(
        "largest credit on the wire", "84 B", le=FRAME_MAX, source=f"{XPASS_SIMULATOR}: fixed"
    )
    full_rate_packets: Count = field(
        "a flow with fewer packets starts slower in proportion; 0: none does",
        40,
        unit="packets",
        source=XPASS_SIMULATOR,
    )
    early_stop: Switch = field(
        "stop when a round trip has brought as many credits as packets are left",
        True,
        source=XPASS_SIMULATOR,
    )
    request_timeout: PositiveTime = field(
        "a request without a credit is repeated after",
        "100 us",
        source=f"{XPASS_SIMULATOR}: the paper's scripts",
    )
