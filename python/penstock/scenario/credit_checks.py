"""What ExpressPass needs of switches, hosts and routing."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.errors import Problem
from penstock.scenario.credit_control import CreditShaping, ExpressPass
from penstock.scenario.parts import ScenarioParts
from penstock.scenario.routing import SymmetricEcmp


def credit_problems(scenario: ScenarioParts) -> Iterator[Problem]:
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
    scenario: ScenarioParts, shaping: CreditShaping, controller: ExpressPass
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
