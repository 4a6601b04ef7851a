"""Loss recovery: what a lost packet costs a flow.

The core has the same in ``crates/penstock-transport/src/recovery``.
"""

from __future__ import annotations

from typing import Literal

from penstock.scenario.base import HPCC_SIMULATOR, OUR_CHOICE, Count, Number, Part, field
from penstock.scenario.homa import Resend
from penstock.units import PositiveTime, Time

AFQ = "AFQ paper, 6.2.1"
IRN = "IRN paper (Mittal et al., SIGCOMM 2018), quoted from memory"


class GoBackN(Part):
    """Resend everything from the first loss."""

    kind: Literal["go-back-n"]
    timeout: PositiveTime = field(
        "resend after this long without an acknowledgement",
        "4 ms",
        source=f"{OUR_CHOICE}: above every pause seen, so that it fires after losses only",
    )
    nack_interval: Time = field(
        "a receiver repeats a NACK no sooner",
        "500 us",
        source=HPCC_SIMULATOR,
    )


class PerfectRecovery(Part):
    """The switch tells the sender of each drop, which resends that packet (BFC's HPCC-PFC)."""

    kind: Literal["perfect"]


class SelectiveRepeat(Part):
    """Resend what is missing, and nothing else; one BDP is outstanding at most (IRN)."""

    kind: Literal["selective-repeat"]
    bdp_factor: Number = field(
        "outstanding data at most, in bandwidth-delay products", 1.0, gt=0, source=f"{IRN}: BDP-FC"
    )
    timeout_low: PositiveTime = field(
        "timeout with few packets outstanding", "100 us", source=f"{IRN}: RTO_low"
    )
    timeout_high: PositiveTime = field("timeout otherwise", "320 us", source=f"{IRN}: RTO_high")
    low_packets: Count = field("so many are few", 3, unit="packets", ge=0, source=f"{IRN}: N = 3")


class FastRetransmit(Part):
    """TCP NewReno's recovery: duplicate ACKs, one lost packet per round trip, a timer."""

    kind: Literal["fast-retransmit"]
    duplicate_threshold: Count = field(
        "duplicate ACKs that mean a loss", 3, ge=1, source="RFC 5681 sec. 3.2"
    )
    initial_timeout: PositiveTime = field(
        "timeout before a round trip was measured",
        "200 us",
        source=f"{OUR_CHOICE}: the minimum; RFC 6298 says 1 s, for the Internet",
    )
    minimum_timeout: PositiveTime = field("shortest timeout", "200 us", source=AFQ)
    maximum_timeout: PositiveTime = field(
        "longest timeout, back-off included",
        "100 ms",
        source=f"{OUR_CHOICE}: nine doublings; RFC 6298 says at least 60 s, for the Internet",
    )


Recovery = GoBackN | PerfectRecovery | SelectiveRepeat | FastRetransmit | Resend
REPORTING_RECOVERIES = (SelectiveRepeat, FastRetransmit)
"""Recoveries that tell the controller of a loss before a timeout."""
REORDERING_RECOVERIES = (FastRetransmit, Resend)
"""Recoveries that do not take every packet that comes late for lost."""
