"""What BFC with credits does not go together with."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.errors import Problem
from penstock.scenario.admission import SharedBuffer
from penstock.scenario.backpressure import Credits
from penstock.scenario.parts import ScenarioParts


def hop_credit_problems(scenario: ScenarioParts, credits: Credits) -> Iterator[Problem]:
    """What is wrong with the credits of a scheme; how much they set aside, the core checks."""
    switch, nic = scenario.scheme.switch, scenario.scheme.host.nic
    path = "scheme.switch"
    if scenario.faults.outages:
        yield Problem(
            f"{path}.backpressure.kind",
            "credit for packets that a failed link loses is not recovered",
            'use "bfc", or leave out faults.outages',
            credits.kind,
        )
    if not isinstance(switch.admission, SharedBuffer) or switch.admission.ingress is not None:
        yield Problem(
            f"{path}.admission.kind",
            "credits are granted from one memory, without thresholds of an ingress",
            'use admission "shared" without an ingress table',
            switch.admission.kind,
        )
    packet = scenario.packet_bytes()
    if credits.packet < packet:
        yield Problem(
            f"{path}.backpressure.packet",
            f"a packet on the wire has {packet} B",
            f"write at least {packet} B",
            credits.packet,
        )
    if credits.queue_reserve < credits.packet:
        yield Problem(
            f"{path}.backpressure.queue_reserve",
            f"it does not hold a packet of {credits.packet} B",
            "make it at least as large as packet",
            credits.queue_reserve,
        )
    queues = switch.queue_count()
    if queues is not None and not 2 <= nic.queues <= queues:
        yield Problem(
            "scheme.host.nic.queues",
            f"a NIC pays for its packets by queue, and a switch knows {queues} of a port",
            f"use 2 to {queues}",
            nic.queues,
        )
