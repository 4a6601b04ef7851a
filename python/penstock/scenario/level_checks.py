"""Which schemes can have priority levels that hosts give, and which can spray packets."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.errors import Problem
from penstock.scenario.backpressure import QueuePausing
from penstock.scenario.homa import Homa, PriorityAssignment, Resend
from penstock.scenario.marking import QcnMarking
from penstock.scenario.parts import ScenarioParts
from penstock.scenario.recovery import REORDERING_RECOVERIES
from penstock.scenario.routing import Spray
from penstock.scenario.scheduling import StrictPriority


def level_problems(scenario: ScenarioParts) -> Iterator[Problem]:
    """Homa's hosts, their recovery, and switches with levels need each other."""
    switch, host = scenario.scheme.switch, scenario.scheme.host
    controller, assignment = host.controller, switch.assignment
    has_levels, resends = (
        isinstance(assignment, PriorityAssignment),
        isinstance(host.recovery, Resend),
    )
    if not isinstance(controller, Homa):
        for found, path, kind in (
            (has_levels, "switch.assignment", "priority"),
            (resends, "host.recovery", "resend"),
        ):
            if found:
                yield Problem(
                    f"scheme.{path}.kind",
                    f"it is made for the homa controller, and the controller is {controller.kind}",
                    'use another one, or controller "homa"',
                    kind,
                )
        return
    for holds, path, needed, kind in (
        (has_levels, "switch.assignment", "priority", assignment.kind),
        (resends, "host.recovery", "resend", host.recovery.kind),
        (
            isinstance(switch.scheduling, StrictPriority),
            "switch.scheduling",
            "strict",
            switch.scheduling.kind,
        ),
    ):
        if not holds:
            yield Problem(
                f"scheme.{path}.kind",
                f'the homa controller needs "{needed}"',
                f'use "{needed}", or another controller',
                kind,
            )
    yield from _cutoffs(controller, assignment)


def _cutoffs(homa: Homa, assignment: object) -> Iterator[Problem]:
    """Cutoffs ascend, and all levels are levels of the switch."""
    path = "scheme.host.controller"
    cutoffs = homa.cutoffs or ()
    if list(cutoffs) != sorted(set(cutoffs)):
        yield Problem(
            f"{path}.cutoffs",
            "a cutoff is not above the one before it",
            "write ascending sizes",
            str(list(cutoffs)),
        )
    levels = len(cutoffs) + 1 + (homa.overcommitment or 1)
    if isinstance(assignment, PriorityAssignment) and levels > assignment.levels:
        yield Problem(
            f"{path}.overcommitment",
            f"with {len(cutoffs) + 1} unscheduled level(s) that makes {levels}, and the switch has "
            f"{assignment.levels}",
            "lower it, or raise scheme.switch.assignment.levels",
            homa.overcommitment,
        )


def spray_problems(scenario: ScenarioParts) -> Iterator[Problem]:
    """Sprayed packets overtake each other, and nothing follows their paths back."""
    scheme = scenario.scheme
    if not isinstance(scheme.routing, Spray):
        return
    refused = 'use routing "ecmp", or another '
    if not isinstance(scheme.host.recovery, REORDERING_RECOVERIES):
        yield Problem(
            "scheme.routing.kind",
            f"sprayed packets overtake each other: losses to {scheme.host.recovery.kind}",
            refused + 'recovery ("resend", or "fast-retransmit" with a high duplicate_threshold)',
            "spray",
        )
    for found, axis, reason in (
        (
            isinstance(scheme.switch.marking, QcnMarking),
            "marking",
            "QCN's feedback goes back on the path of a flow, and a sprayed flow has none",
        ),
        (
            isinstance(scheme.switch.backpressure, QueuePausing),
            "backpressure",
            "BFC pauses a flow on its one path, and a sprayed flow has many",
        ),
    ):
        if found:
            yield Problem("scheme.routing.kind", reason, refused + axis, "spray")
