"""Scheduling: which queue next?

A model for each policy, discriminated by ``kind``; the axis itself is in
:mod:`penstock.scenario.switch`.
"""

from __future__ import annotations

from typing import Literal

from penstock.scenario.base import (
    OUR_CHOICE,
    Part,
    field,
)
from penstock.scenario.credit_control import CreditShaping
from penstock.units import PositiveSize, PositiveTime

QUANTUM_MAX = 2**20
"""Largest DRR quantum [B]; our choice: the core's bound, a thousand packets."""


class Fifo(Part):
    """First in, first out."""

    kind: Literal["fifo"]


class StrictPriority(Part):
    """The lowest-numbered queue with data first."""

    kind: Literal["strict"]


class DeficitRoundRobin(Part):
    """Deficit round robin over the queues."""

    kind: Literal["drr"]
    quantum: PositiveSize = field(
        "bytes a queue may send per round, at most 1 MiB",
        "1048 B",
        le=QUANTUM_MAX,
        source=f"{OUR_CHOICE}: one full packet, the finest that takes constant time (DRR)",
    )


class IdealFair(Part):
    """Bit-by-bit round robin between flows."""

    kind: Literal["ideal-fair"]


class ShortestRemaining(Part):
    """The queue whose head packet's flow has the fewest bytes left (BFC A.2)."""

    kind: Literal["srf"]


class RotatingStrict(Part):
    """AFQ: the queue of the current round until it is empty, then that of the next round."""

    kind: Literal["rotating-strict"]


class ScanningDrr(Part):
    """Deficit round robin in the order of the queues' numbers, by which AFQ emulates its rounds."""

    kind: Literal["scanning-drr"]
    quantum: PositiveSize = field(
        "bytes a queue may send per turn, at most 1 MiB",
        "1 MiB",
        le=QUANTUM_MAX,
        source="AFQ 4: more than flows send in a round; our choice: more than AFQ's ports store",
    )


class PriorityGroups(Part):
    """Two halves of the queues that take turns at going first, by which AFQ emulates its rounds."""

    kind: Literal["priority-groups"]
    period: PositiveTime = field("longest time that a half goes first", "10 us", source="AFQ 4")


Scheduling = (
    Fifo
    | StrictPriority
    | DeficitRoundRobin
    | IdealFair
    | ShortestRemaining
    | RotatingStrict
    | ScanningDrr
    | PriorityGroups
    | CreditShaping
)
