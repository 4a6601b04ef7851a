"""ExpressPass: the credit queue of a port, and what hosts do with credits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from penstock.errors import Problem
from penstock.scenario.base import Count, Number, Part, Switch, Weight, field
from penstock.scenario.routing import SymmetricEcmp
from penstock.units import PositiveSize, PositiveTime

if TYPE_CHECKING:
    from penstock.scenario.scenario import Scenario

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


def credit_problems(scenario: Scenario) -> Iterator[Problem]:
    """What ExpressPass needs of switches, hosts and routing, all at once."""
    switch, host = scenario.scheme.switch, scenario.scheme.host
    shaping, controller = switch.scheduling, host.controller
    is_symmetric = isinstance(scenario.scheme.routing, SymmetricEcmp)
    if is_symmetric and scenario.fidelity != "exact":
        yield Problem(
            "scheme.routing.kind",
            "the simulator of fidelity ns3-hpcc hashes each direction",
            'use "ecmp", or fidelity "exact"',
            scenario.scheme.routing.kind,
        )
    if is_symmetric and scenario.faults.outages:
        yield Problem(
            "scheme.routing.kind",
            "packets are forwarded by a hash of each direction while links fail",
            'use "ecmp", or no outages',
            scenario.scheme.routing.kind,
        )
    if not isinstance(shaping, CreditShaping):
        if isinstance(controller, ExpressPass):
            yield Problem(
                "scheme.switch.scheduling.kind",
                "nobody holds back the credits of the expresspass controller",
                'use scheduling "credit-shaping"',
                shaping.kind,
            )
        return
    if not isinstance(controller, ExpressPass):
        yield Problem(
            "scheme.host.controller.kind",
            "switches have a queue for credits, and nobody sends any",
            'use controller "expresspass", or scheduling "fifo"',
            controller.kind,
        )
        return
    choices = {
        "routing.kind": (
            scenario.scheme.routing.kind,
            "symmetric-ecmp",
            "data take the way of their credits",
        ),
        "switch.backpressure.kind": (switch.backpressure.kind, "none", "paid data are not paused"),
        "host.recovery.kind": (host.recovery.kind, "go-back-n", "credits acknowledge for it"),
        "host.nic.scheduling": (host.nic.scheduling, "round-robin", "data leave as credits came"),
        "host.nic.queues": (host.nic.queues, 0, "nothing is paused"),
    }
    for path, (choice, needed, why) in choices.items():
        if choice != needed:
            yield Problem(f"scheme.{path}", f"with ExpressPass {why}", f"use {needed}", choice)
    yield from _sizes(scenario, shaping, controller)


def _sizes(
    scenario: Scenario, shaping: CreditShaping, controller: ExpressPass
) -> Iterator[Problem]:
    """Switches must count with the frames that hosts send."""
    least, most = controller.credit_minimum, controller.credit_maximum
    if shaping.credit != (least + most) // 2:
        yield Problem(
            "scheme.switch.scheduling.credit",
            f"credits of {least} to {most} B weigh another size in the mean",
            f"write {(least + most) // 2} B",
            shaping.credit,
        )
    frame = scenario.packet_bytes()
    if shaping.frame != frame:
        yield Problem(
            "scheme.switch.scheduling.frame",
            f"a full data packet weighs {frame} B on the wire",
            f"write {frame} B",
            shaping.frame,
        )
