"""Homa: its hosts' controller and recovery, and the assignment of its switches."""

from __future__ import annotations

from typing import Literal

from penstock.scenario.base import OUR_CHOICE, Count, Number, Part, field
from penstock.units import PositiveSize, PositiveTime

LEVELS_MAX = 127
"""Most priority levels: with the control queue 128, as many queues as a strict scheduler ranks."""
HOMA = "Homa paper (Montazeri et al., SIGCOMM 2018), quoted from memory"


class Homa(Part):
    """Homa: the first bytes of a flow blindly, the rest as its receiver grants them."""

    kind: Literal["homa"]
    bdp_factor: Number = field(
        "RTTbytes in bandwidth-delay products: sent without a grant, and granted at most",
        1.0,
        gt=0,
        source="BFC A.2: the first BDP is unscheduled, at most 1 BDP in flight",
    )
    overcommitment: Count | None = field(
        "messages granted at a time, and scheduled levels; null: the levels times the traffic's "
        "share of scheduled bytes",
        None,
        ge=1,
        le=LEVELS_MAX,
        source="BFC A.2: as many as scheduled levels, which follow the ratio of bytes",
    )
    cutoffs: tuple[PositiveSize, ...] | None = field(
        "largest message of each unscheduled level but the last, ascending; null: equal "
        "unscheduled bytes of the traffic in each level",
        None,
        source=f"{HOMA} 3.4",
        fail_fast=True,
    )


class Resend(Part):
    """The receiver asks for what has not arrived (Homa)."""

    kind: Literal["resend"]
    timeout: PositiveTime = field(
        "ask again after this long without a granted packet",
        "10 ms",
        source=f"{OUR_CHOICE}: {HOMA} says milliseconds; longer than the queues of BFC's incasts",
    )


class PriorityAssignment(Part):
    """One queue per priority level that hosts give their packets (Homa)."""

    kind: Literal["priority"]
    levels: Count = field(
        "levels, each with a queue",
        32,
        source="BFC A.2: 32 priority levels",
        ge=2,
        le=LEVELS_MAX,
    )
