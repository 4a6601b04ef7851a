"""A switch: five choices, one per axis.

Each choice is a model discriminated by ``kind``, in the file of its axis: `admission`,
`assignment`, `scheduling`, `marking`, `backpressure`. Which choices go together is said in
:mod:`penstock.scenario.scheme_checks`. Defaults of single parameters stand with their source;
complete schemes are the presets in ``penstock/schemes``.
"""

from __future__ import annotations

from penstock.scenario.admission import Admission
from penstock.scenario.assignment import (
    Assignment,
    ClassAssignment,
    DynamicAssignment,
    IngressAssignment,
    PerFlowAssignment,
    StochasticAssignment,
)
from penstock.scenario.backpressure import Backpressure
from penstock.scenario.base import Part, field
from penstock.scenario.homa import PriorityAssignment
from penstock.scenario.marking import Marking
from penstock.scenario.scheduling import Scheduling


class SwitchPolicies(Part):
    """The five choices that make a switch."""

    admission: Admission = field("is there room?", discriminator="kind")
    assignment: Assignment = field("which queue of the egress port?", discriminator="kind")
    scheduling: Scheduling = field("which queue next?", discriminator="kind")
    marking: Marking = field("what does the packet learn?", discriminator="kind")
    backpressure: Backpressure = field("what does the upstream learn?", discriminator="kind")

    def class_count(self) -> int:
        """Priority classes of the queues."""
        assignment = self.assignment
        match assignment:
            case ClassAssignment() | StochasticAssignment() | DynamicAssignment():
                return assignment.classes
            case _:
                return 1

    def queue_count(self) -> int | None:
        """Queues of a port, the control queue included; `None`: one per flow or ingress."""
        match self.assignment:
            case PerFlowAssignment() | IngressAssignment():
                return None
            case ClassAssignment() as assignment:
                return assignment.classes + 1
            case PriorityAssignment() as assignment:
                return assignment.levels + 1
            case assignment:
                return assignment.queues
