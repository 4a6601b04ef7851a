"""Which choices of a scheme do not go together.

No single field can know this. Each check yields :class:`~penstock.errors.Problem`; all of them are
reported at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.errors import Problem
from penstock.scenario.admission import SharedBuffer
from penstock.scenario.assignment import (
    ClassAssignment,
    DynamicAssignment,
    IngressAssignment,
    PerFlowAssignment,
    RoundAssignment,
    StochasticAssignment,
)
from penstock.scenario.backpressure import (
    Capfc,
    Credits,
    Fafc,
    FlowPauses,
    NoBackpressure,
    Pfc,
    PfcThresholds,
    Ppfc,
    QueuePausing,
)
from penstock.scenario.credit_control import CreditShaping
from penstock.scenario.hop_credit_checks import hop_credit_problems
from penstock.scenario.host import MARKED_CONTROLLERS, Hpcc
from penstock.scenario.marking import (
    EcnMarking,
    NonPauseEcnMarking,
    PredictedMarking,
    QcnMarking,
    RoundMarking,
    TelemetryMarking,
)
from penstock.scenario.parts import ScenarioParts
from penstock.scenario.rate_control import Qcn
from penstock.scenario.recovery import REPORTING_RECOVERIES
from penstock.scenario.scheduling import (
    Fifo,
    IdealFair,
    PriorityGroups,
    RotatingStrict,
    ScanningDrr,
    Scheduling,
    ShortestRemaining,
    StrictPriority,
)
from penstock.scenario.window_control import NewReno

SIGNALLED_QUEUES_MAX = 128
"""Most queues of a port that pauses can name and a strict scheduler can rank: the core keeps them
in one 128-bit bitmap, and BFC goes no further (sec. 6.3)."""


ROUND_SCHEDULINGS = (RotatingStrict, ScanningDrr, PriorityGroups)
"""Schedulers that serve AFQ's rounds in their order."""


def scheme_problems(scenario: ScenarioParts) -> Iterator[Problem]:
    """What is wrong with the scheme, with itself and with the traffic's classes."""
    yield from _queues(scenario)
    yield from _rounds(scenario)
    yield from _classes(scenario)
    yield from _backpressure(scenario)
    yield from _marking(scenario)
    yield from _fidelity(scenario)
    yield from _losses(scenario)


def _fidelity(scenario: ScenarioParts) -> Iterator[Problem]:
    """The ns-3 HPCC simulator has one data queue and PFC, and NICs with a queue per flow."""
    if scenario.fidelity == "exact":
        return
    switch, host = scenario.scheme.switch, scenario.scheme.host
    choices = {
        "switch.scheduling": (switch.scheduling.kind, ("fifo",)),
        "switch.backpressure": (switch.backpressure.kind, ("none", "pfc")),
        "switch.marking": (switch.marking.kind, ("none", "ecn", "telemetry")),
        "host.recovery": (host.recovery.kind, ("go-back-n",)),
    }
    for path, (kind, known) in choices.items():
        if kind not in known:
            yield Problem(
                f"scheme.{path}.kind",
                "the simulator of fidelity ns3-hpcc has nothing like it",
                f'use {" or ".join(known)}, or fidelity "exact"',
                kind,
            )
    for name, value, known_value in (
        ("queues", host.nic.queues, 0),
        ("scheduling", host.nic.scheduling, "round-robin"),
    ):
        if value != known_value:
            yield Problem(
                f"scheme.host.nic.{name}",
                "a NIC of fidelity ns3-hpcc serves its flows in turn, without queues",
                f'use {known_value}, or fidelity "exact"',
                value,
            )


def _queues(scenario: ScenarioParts) -> Iterator[Problem]:
    """Assignment and scheduling must fit."""
    switch = scenario.scheme.switch
    assignment, scheduling = switch.assignment, switch.scheduling
    kind, path = scheduling.kind, "scheme.switch.scheduling.kind"
    one_queue = isinstance(assignment, ClassAssignment) and assignment.classes == 1
    if isinstance(scheduling, Fifo | CreditShaping) and not one_queue:
        yield Problem(
            path,
            f"{kind} serves one queue, and this {assignment.kind} assignment makes several",
            'use assignment {kind = "class", classes = 1}, or scheduling "drr" or "strict"',
            kind,
        )
    if isinstance(scheduling, IdealFair) and not isinstance(assignment, PerFlowAssignment):
        yield Problem(
            path,
            f"it serves flows, and the {assignment.kind} assignment mixes them in a queue",
            'use assignment "per-flow", or scheduling "drr"',
            kind,
        )
    if isinstance(scheduling, ShortestRemaining) and not isinstance(
        assignment, PerFlowAssignment | DynamicAssignment
    ):
        yield Problem(
            path,
            f"it ranks flows, and the {assignment.kind} assignment mixes them in a queue",
            'use assignment "per-flow" or "dynamic"',
            kind,
        )
    queues = switch.queue_count()
    few = queues is not None and queues <= SIGNALLED_QUEUES_MAX
    if isinstance(scheduling, StrictPriority) and not few:
        yield Problem(
            path, f"it serves at most {SIGNALLED_QUEUES_MAX} queues", 'use scheduling "drr"', kind
        )
    if isinstance(assignment, DynamicAssignment) and assignment.classes_share:
        if isinstance(scheduling, StrictPriority):
            yield Problem(
                path,
                "it ranks queues by number, and queues that classes share have no rank",
                'use scheduling "drr" or "srf"',
                kind,
            )
        if assignment.incast_queue:
            yield Problem(
                "scheme.switch.assignment.classes_share",
                "incast_queue knows classes with queues of their own only",
                "leave one of them out",
                True,
            )


def _rounds(scenario: ScenarioParts) -> Iterator[Problem]:
    """AFQ's rounds: who serves them, and who knows which one it is."""
    switch = scenario.scheme.switch
    assignment, scheduling = switch.assignment, switch.scheduling
    path = "scheme.switch"
    if not isinstance(assignment, RoundAssignment):
        for axis, policy in (("scheduling", scheduling), ("marking", switch.marking)):
            if isinstance(policy, (*ROUND_SCHEDULINGS, RoundMarking)):
                yield Problem(
                    f"{path}.{axis}.kind",
                    f"the {assignment.kind} assignment knows no rounds",
                    'use assignment "rounds"',
                    policy.kind,
                )
        return
    packet = scenario.packet_bytes()
    if packet >= (assignment.queues - 1) * assignment.bytes_per_round:
        yield Problem(
            f"{path}.assignment.bytes_per_round",
            f"a packet of {packet} B is longer than {assignment.queues - 1} rounds",
            "make it larger (AFQ: one packet)",
            assignment.bytes_per_round,
        )
    if not isinstance(scheduling, ROUND_SCHEDULINGS):
        yield Problem(
            f"{path}.scheduling.kind",
            "it does not serve rounds in their order",
            'use scheduling "rotating-strict", "scanning-drr" or "priority-groups"',
            scheduling.kind,
        )
    yield from _round_source(assignment, scheduling)
    if not isinstance(switch.backpressure, NoBackpressure | Pfc):
        yield Problem(
            f"{path}.backpressure.kind",
            "a round whose queue is paused cannot end",
            'use backpressure "none" or "pfc"',
            switch.backpressure.kind,
        )


def _round_source(assignment: RoundAssignment, scheduling: Scheduling) -> Iterator[Problem]:
    """Where the scheduler cannot tell its round the queues must, and two groups halve them."""
    path = "scheme.switch.assignment"
    if isinstance(scheduling, ScanningDrr):
        if assignment.round == "scheduler":
            yield Problem(
                f"{path}.round",
                "deficit round robin does not tell which round it serves",
                'use "occupancy"',
                assignment.round,
            )
    elif assignment.round == "occupancy":
        yield Problem(
            f"{path}.round",
            f"{scheduling.kind} knows its round, and stays in it while the port is idle",
            'use "scheduler"',
            assignment.round,
        )
    if isinstance(scheduling, PriorityGroups) and assignment.queues % 2 == 0:
        yield Problem(
            f"{path}.queues",
            f"{assignment.queues - 1} data queues do not make two groups of one size",
            "use an odd number: one is the control queue",
            assignment.queues,
        )


def _classes(scenario: ScenarioParts) -> Iterator[Problem]:
    """Every class needs a data queue, in switches and NICs, and traffic needs its class."""
    switch, nic = scenario.scheme.switch, scenario.scheme.host.nic
    assignment, classes = switch.assignment, switch.class_count()
    if isinstance(assignment, StochasticAssignment | DynamicAssignment):
        labelled = isinstance(assignment, DynamicAssignment) and assignment.incast_queue
        data_queues = assignment.queues - 1 - (classes if labelled else 0)
        if classes > data_queues:
            yield Problem(
                "scheme.switch.assignment.classes",
                f"of {assignment.queues} queues {max(data_queues, 0)} are for ordinary data, "
                "fewer than the classes",
                "use fewer classes, or more queues",
                classes,
            )
    if 0 < nic.queues <= classes:
        yield Problem(
            "scheme.host.nic.queues",
            f"one is the control queue, and each of the {classes} class(es) needs one",
            f"use at least {classes + 1}, or 0 for a queue per flow",
            nic.queues,
        )
    for index, entry in enumerate(scenario.traffic):
        if entry.traffic_class >= classes:
            yield Problem(
                f"traffic[{index}].class",
                f"the scheme has {classes} class(es), numbered from 0",
                "lower it, or raise scheme.switch.assignment.classes",
                entry.traffic_class,
            )


def _backpressure(scenario: ScenarioParts) -> Iterator[Problem]:
    switch, nic = scenario.scheme.switch, scenario.scheme.host.nic
    admission, backpressure = switch.admission, switch.backpressure
    dynamic = isinstance(admission, SharedBuffer) and admission.ingress is not None
    path = "scheme.switch.backpressure"
    if isinstance(backpressure, Pfc):
        yield from _pause_thresholds(path, backpressure, dynamic)
    if isinstance(backpressure, Fafc | Capfc | Ppfc):
        yield from _pause_thresholds(f"{path}.pfc", backpressure.pfc, dynamic)
        yield from _one_class(scenario)
    if isinstance(backpressure, Capfc | Ppfc) and backpressure.xon_offset >= backpressure.threshold:
        yield Problem(
            f"{path}.xon_offset",
            f"ingresses that pause at {backpressure.threshold} B would never be resumed",
            "make it smaller than threshold",
            backpressure.xon_offset,
        )
    if isinstance(backpressure, Credits):
        yield from hop_credit_problems(scenario, backpressure)
    faults = scenario.faults
    if isinstance(backpressure, FlowPauses) and (faults.outages or faults.control_loss):
        yield Problem(
            f"{path}.kind",
            "pauses of flows that are lost are not told again",
            'use "bfc", or leave out faults',
            backpressure.kind,
        )
    if isinstance(backpressure, QueuePausing):
        if isinstance(switch.assignment, PerFlowAssignment | IngressAssignment):
            yield Problem(
                "scheme.switch.assignment.kind",
                f"BFC pauses numbered queues, and {switch.assignment.kind} queues have no fixed "
                "number",
                'use "dynamic", "stochastic" or "class"',
                switch.assignment.kind,
            )
        elif (switch.queue_count() or 0) > SIGNALLED_QUEUES_MAX:
            yield Problem(
                "scheme.switch.assignment.queues",
                f"BFC pauses at most {SIGNALLED_QUEUES_MAX} queues of a port",
                f"use at most {SIGNALLED_QUEUES_MAX} (BFC: 32)",
                switch.queue_count(),
            )
        if nic.reacts and nic.queues == 0:
            yield Problem(
                "scheme.host.nic.queues",
                "a NIC that obeys the pauses of queues needs queues to pause",
                "use at least 2 (BFC: 32), or set scheme.host.nic.reacts = false",
                nic.queues,
            )


def _pause_thresholds(path: str, pfc: PfcThresholds, dynamic: bool) -> Iterator[Problem]:
    """XOFF lies above XON, or is dynamic where the admission has thresholds."""
    if pfc.xoff is None and not dynamic:
        yield Problem(
            f"{path}.xoff",
            "without it PFC pauses at the threshold of an ingress, and the admission has none",
            'write e.g. xoff = "250 kB", or use a shared buffer with [.admission.ingress]',
        )
    if pfc.xoff is not None and pfc.xon_offset >= pfc.xoff:
        yield Problem(
            f"{path}.xon_offset",
            f"a resume {pfc.xon_offset} B below the pause at {pfc.xoff} B "
            "would never be sent: XON must lie between 0 and XOFF",
            "make it smaller than xoff",
            pfc.xon_offset,
        )


def _one_class(scenario: ScenarioParts) -> Iterator[Problem]:
    """FAFC and its relatives know one class. That FAFC's links have delays, the core checks."""
    classes = scenario.scheme.switch.class_count()
    if classes > 1:
        yield Problem(
            "scheme.switch.assignment.classes",
            f"the backpressure {scenario.scheme.switch.backpressure.kind} knows one class",
            "use one class",
            classes,
        )


def _marking(scenario: ScenarioParts) -> Iterator[Problem]:
    """Controllers need the marks that they react to."""
    marking, controller = scenario.scheme.switch.marking, scenario.scheme.host.controller
    if isinstance(marking, PredictedMarking) and not isinstance(
        scenario.scheme.switch.backpressure, Fafc
    ):
        yield Problem(
            "scheme.switch.marking.kind",
            "it marks by the queue that FAFC predicts, and the backpressure is another",
            'use backpressure "fafc", or marking "ecn"',
            marking.kind,
        )
    for kinds, needed, name in (
        (Hpcc, (TelemetryMarking,), "telemetry"),
        (
            MARKED_CONTROLLERS,
            (EcnMarking, NonPauseEcnMarking, PredictedMarking, RoundMarking),
            "ecn",
        ),
        (Qcn, (QcnMarking,), "qcn"),
    ):
        if isinstance(controller, kinds) and not isinstance(marking, needed):
            yield Problem(
                "scheme.switch.marking.kind",
                f"the {controller.kind} controller reacts to {name}, and switches do not send it",
                f'use marking "{name}", or another controller',
                marking.kind,
            )


def _losses(scenario: ScenarioParts) -> Iterator[Problem]:
    """Recovery must tell the controller what it reacts to."""
    controller, recovery = scenario.scheme.host.controller, scenario.scheme.host.recovery
    if isinstance(controller, NewReno) and not isinstance(recovery, REPORTING_RECOVERIES):
        yield Problem(
            "scheme.host.recovery.kind",
            "the new-reno controller reacts to losses, and this recovery reports timeouts at most",
            'use recovery "fast-retransmit" or "selective-repeat", or another controller',
            recovery.kind,
        )
