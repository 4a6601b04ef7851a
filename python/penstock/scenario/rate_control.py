"""Congestion controllers that set a rate and have timers of their own, or follow round-trip times.

The others are in :mod:`penstock.scenario.host`. A default is what the ns-3 HPCC simulator, or what
is named, has at 100 Gb/s.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from penstock.scenario.base import (
    HPCC_SIMULATOR,
    OUR_CHOICE,
    Count,
    Number,
    Part,
    Switch,
    Weight,
    field,
)
from penstock.units import PositiveSize, PositiveTime, Rate, Size, Time

DCQCN_PAPER = "DCQCN paper (Zhu et al., SIGCOMM 2015)"
DCQCN_SIMULATOR = "released DCQCN simulator (bobzhuyb/ns3-rdma), configuration"
PCN_PAPER = "PCN paper (Cheng et al., NSDI 2020)"
QCN_STANDARD = "IEEE 802.1Q (802.1Qau)"

RateWindow = Literal["none", "bdp", "scaled"]
"""What a paced flow may have in flight: anything, one BDP, or the BDP times rate / line rate."""


def window_field(default: str, source: str) -> Any:
    """The field that says how much a paced flow may have in flight."""
    return field("in flight: none, bdp, or scaled (BDP x rate / line rate)", default, source=source)


# DCQCN and QCN recover in the same stages; their standards and papers differ in the numbers.


def gain_field(source: str) -> Any:
    """The field of DCQCN's weight of a new estimate of congestion."""
    return field("weight g of a new estimate", 1 / 256, source=source)


def increase_interval_field(default: str, source: str) -> Any:
    """The field of the timer that increases a rate."""
    return field("time between two increases", default, source=source)


def increase_bytes_field(default: str, source: str) -> Any:
    """The field of the byte counter that increases a rate."""
    words = "bytes on the wire between two increases; 0: no byte counter"
    return field(words, default, source=source)


def rounds_field(description: str, default: int, source: str) -> Any:
    """The field of how many increases only approach the target."""
    return field(description, default, ge=0, source=source)


def minimum_rate_field(default: str, source: str) -> Any:
    """The field of the lowest rate of a flow."""
    return field("a flow never sends slower", default, source=source)


class DcqcnMellanox(Part):
    """DCQCN as NVIDIA's firmware does it: marks in ACKs, a cut at most once an interval."""

    kind: Literal["dcqcn-mellanox"]
    gain: Weight = gain_field(f"{DCQCN_PAPER}; {HPCC_SIMULATOR}: EWMA_GAIN")
    alpha_interval: PositiveTime = field(
        "time between two estimates",
        "1 us",
        source=f"NVIDIA firmware; {HPCC_SIMULATOR}: ALPHA_RESUME_INTERVAL",
    )
    decrease_interval: PositiveTime = field(
        "time between two checks for a cut",
        "4 us",
        source=f"NVIDIA firmware; {HPCC_SIMULATOR}: RATE_DECREASE_INTERVAL",
    )
    increase_interval: PositiveTime = increase_interval_field(
        "300 us", f"NVIDIA firmware; {HPCC_SIMULATOR}: RP_TIMER"
    )
    fast_recovery_rounds: Count = rounds_field(
        "increases F that only approach the target",
        1,
        f"NVIDIA firmware; {HPCC_SIMULATOR}: FAST_RECOVERY_TIMES",
    )
    additive_increase: Rate = field(
        "the next one adds this to the target",
        "20 Mb/s",
        source=f"{HPCC_SIMULATOR}: 5 Mb/s x 100/25, at 100 Gb/s",
    )
    hyper_increase: Rate = field(
        "every later one adds this",
        "200 Mb/s",
        source=f"{HPCC_SIMULATOR}: 50 Mb/s x 100/25, at 100 Gb/s",
    )
    minimum_rate: Rate = minimum_rate_field(
        "1 Gb/s", f"{HPCC_SIMULATOR}: MIN_RATE 1000 Mb/s in run.py"
    )
    clamps_target: Switch = field(
        "every cut lowers the target, not only one after an increase",
        False,
        source=f"NVIDIA firmware; {HPCC_SIMULATOR}: CLAMP_TARGET_RATE 0",
    )
    window: RateWindow = window_field("none", f"{HPCC_SIMULATOR}: HAS_WIN 0")


class Dcqcn(Part):
    """DCQCN as in its paper: notifications of the receiver, a timer and a byte counter."""

    kind: Literal["dcqcn"]
    gain: Weight = gain_field(DCQCN_PAPER)
    alpha_interval: PositiveTime = field(
        "the estimate decays after this long without a notification", "55 us", source=DCQCN_PAPER
    )
    notification_interval: Time = field(
        "a receiver notifies the source of a flow no more often", "50 us", source=DCQCN_PAPER
    )
    increase_interval: PositiveTime = increase_interval_field("55 us", DCQCN_PAPER)
    increase_bytes: Size = increase_bytes_field("10 MB", DCQCN_PAPER)
    fast_recovery_rounds: Count = rounds_field(
        "from this expiry F on the target grows", 5, DCQCN_PAPER
    )
    additive_increase: Rate = field(
        "an additive increase adds this to the target",
        "40 Mb/s",
        source=f"{DCQCN_PAPER}, for 40 Gb/s",
    )
    hyper_increase: Rate = field(
        "a hyper increase adds this times its number",
        "200 Mb/s",
        source=f"{DCQCN_SIMULATOR}; the paper gives no value",
    )
    minimum_rate: Rate = minimum_rate_field("100 Mb/s", f"{DCQCN_SIMULATOR}: MIN_RATE")
    window: RateWindow = window_field("none", DCQCN_PAPER)


class Qcn(Part):
    """QCN's reaction point: cut by a switch's feedback, recover on a timer and a byte counter."""

    kind: Literal["qcn"]
    decrease_gain: Weight = field(
        "what one unit of feedback cuts", 1 / 128, source=f"{QCN_STANDARD}: rpgGd"
    )
    minimum_decrease_factor: Weight = field(
        "a cut leaves at least this share", 0.5, source=f"{QCN_STANDARD}: rpgMinDecFac"
    )
    increase_interval: PositiveTime = increase_interval_field(
        "15 ms", f"{QCN_STANDARD}: rpgTimeReset"
    )
    increase_bytes: Size = increase_bytes_field("150 kB", f"{QCN_STANDARD}: rpgByteReset")
    fast_recovery_rounds: Count = rounds_field(
        "expiries that leave the target", 5, f"{QCN_STANDARD}: rpgThreshold"
    )
    additive_increase: Rate = field(
        "an active increase adds this to the target", "5 Mb/s", source=f"{QCN_STANDARD}: rpgAiRate"
    )
    hyper_increase: Rate = field(
        "a hyper-active one adds this times its number",
        "50 Mb/s",
        source=f"{QCN_STANDARD}: rpgHaiRate",
    )
    minimum_rate: Rate = minimum_rate_field("5 Mb/s", f"{QCN_STANDARD}: rpgMinRate")
    window: RateWindow = window_field("none", QCN_STANDARD)


class RoundTripUpdate(Part):
    """At the first ACK of each round trip."""

    kind: Literal["round-trip"]


class SegmentUpdate(Part):
    """Whenever a segment has been acknowledged."""

    kind: Literal["segment"]
    size: PositiveSize = field("of a segment", "64 kB", source="TIMELY paper: 16 to 64 KB")


class GradientBand(Part):
    """A growing round-trip time cuts the rate in proportion (SIGCOMM 2015)."""

    kind: Literal["gradient"]


class PatchedBand(Part):
    """The gradient weighs an increase against a cut by the distance from a reference."""

    kind: Literal["patched"]
    reference_rtt: PositiveTime = field(
        "RTT_ref in the paper",
        "50 us",
        source="patched TIMELY (Zhu et al., ECN or Delay, CoNEXT 2016): T_low",
    )


class Timely(Part):
    """TIMELY: follow the gradient of the round-trip time."""

    kind: Literal["timely"]
    ewma_weight: Weight = field(
        "weight alpha of a new difference",
        0.875,
        source=f"{HPCC_SIMULATOR}: TMLY_ALPHA",
    )
    decrease_factor: Weight = field("strength beta of a cut", 0.8, source="TIMELY paper: 0.8")
    additive_increase: Rate = field(
        "an increase delta",
        "100 Mb/s",
        source=f"{HPCC_SIMULATOR}: 10 Mb/s x 100/10, at 100 Gb/s",
    )
    hyper_increase: Rate = field(
        "an increase after many in a row",
        "500 Mb/s",
        source=f"TIMELY paper: 5 delta; {HPCC_SIMULATOR}: 50 Mb/s x 100/10, at 100 Gb/s",
    )
    hyper_after: Count = field("so many in a row", 5, ge=0, source="TIMELY paper: 5")
    hyper_below_low: Switch = field(
        "increases below low_rtt count, too", True, source=f"{HPCC_SIMULATOR}; the paper's do not"
    )
    low_rtt: Time = field("below this RTT the rate grows", "50 us", source="TIMELY paper: T_low")
    high_rtt: Time = field("above this RTT it falls", "500 us", source="TIMELY paper: T_high")
    minimum_rtt: PositiveTime = field(
        "what a difference is divided by", "20 us", source="TIMELY paper: D_minRTT"
    )
    largest_cut: Weight = field(
        "largest share of the rate that one update takes away; 1: no limit",
        1.0,
        source="TIMELY paper: none; its authors' code snippet, as ported in eRPC: 0.5",
    )
    weighs_interval: Switch = field(
        "an update sooner than minimum_rtt after the last one counts in proportion less",
        False,
        source="TIMELY paper: none; its authors' code snippet, as ported in eRPC: true",
    )
    update: Annotated[RoundTripUpdate | SegmentUpdate, Field(discriminator="kind")] = field(
        "when the rate is adjusted", {"kind": "round-trip"}, source=HPCC_SIMULATOR
    )
    band: Annotated[GradientBand | PatchedBand, Field(discriminator="kind")] = field(
        "what happens between low_rtt and high_rtt", {"kind": "gradient"}, source="TIMELY paper"
    )
    minimum_rate: Rate = minimum_rate_field(
        "1 Gb/s", f"{HPCC_SIMULATOR}: MIN_RATE 1000 Mb/s in run.py"
    )
    window: RateWindow = window_field("none", f"{HPCC_SIMULATOR}: HAS_WIN 0")


class Pcn(Part):
    """PCN: fall to the rate at which the receiver gets the flow, gain gently, then aggressively."""

    kind: Literal["pcn"]
    minimum_weight: Number = field(
        "weight w_min of the line rate in a first increase; share that a cut leaves away",
        1 / 128,
        gt=0,
        lt=1,
        source=f"{PCN_PAPER} 5.3, the example of fig. 10; 6.2 recommends 0.1 / flows",
    )
    maximum_weight: Weight = field(
        "weight w_max that this grows to", 0.5, source=f"{PCN_PAPER} 6.2"
    )
    notification_interval: PositiveTime = field(
        "a receiver notifies the source of a flow so often (T)",
        "50 us",
        source=f"{PCN_PAPER} 5.2; 6.2 recommends the largest round-trip time",
    )
    marked_share: Number = field(
        "a flow of whose packets a larger share is marked is congested",
        0.95,
        ge=0,
        lt=1,
        source=f"{PCN_PAPER} 5.2",
    )
    minimum_rate: Rate = minimum_rate_field(
        "1 Mb/s", f"{OUR_CHOICE}: one unit of a notification's rate; the paper gives none"
    )
