"""Congestion controllers that set a window only: TCP NewReno's and Swift.

The others are in :mod:`penstock.scenario.host` and :mod:`penstock.scenario.rate_control`.
"""

from __future__ import annotations

from typing import Literal

from penstock.scenario.base import OUR_CHOICE, Count, Number, Part, Weight, field
from penstock.units import PositiveTime, Time

HTSIM = "htsim simulator (Broadcom/csg-htsim), a guess: the Swift paper is silent"
WINDOW_MAX = 1e9
"""Largest window of Swift [packets]: more than any path holds."""


class NewReno(Part):
    """TCP NewReno: slow start, then a packet per round trip, halved by a loss."""

    kind: Literal["new-reno"]
    initial_window_packets: Count = field(
        "first window", 10, unit="packets", ge=1, source="RFC 6928"
    )


class Swift(Part):
    """Swift: hold the delay near a target; windows may fall below one packet."""

    kind: Literal["swift"]
    additive_increase: Number = field(
        "ai in the paper: added per round trip", 1.0, unit="packets", gt=0, source=HTSIM
    )
    beta: Number = field("share of the excess delay that a cut takes", 0.8, gt=0, source=HTSIM)
    maximum_decrease: Number = field(
        "max_mdf in the paper: largest cut", 0.5, gt=0, lt=1, source=HTSIM
    )
    base_target: PositiveTime | None = field(
        "target delay without switches; null: the longest base RTT",
        None,
        source=f"{OUR_CHOICE}: below the base RTT no flow keeps its window",
    )
    hop_target: Time = field(
        "each switch of the longest path adds this",
        "1.2 us",
        source=f"{OUR_CHOICE}: 45 kB of queue over three switches at 100 Gb/s",
    )
    range: Time = field(
        "fs_range in the paper: a small window adds this at most",
        "8 us",
        source=f"{OUR_CHOICE}: a base RTT of BFC's fabric; htsim has five",
    )
    minimum_flow_window: Number = field(
        "fs_min in the paper: so small adds all of it", 0.1, unit="packets", gt=0, source=HTSIM
    )
    maximum_flow_window: Number = field(
        "fs_max in the paper: so large adds nothing",
        100.0,
        unit="packets",
        source=f"{OUR_CHOICE}: one BDP of BFC's fabric, as in htsim",
    )
    minimum_window: Weight = field(
        "smallest window",
        0.001,
        unit="packets",
        source="Swift paper, quoted from memory",
    )
    maximum_window: Number = field(
        "largest window", 1000.0, unit="packets", ge=1, le=WINDOW_MAX, source=HTSIM
    )
    initial_window_packets: Count = field(
        "first window",
        100,
        unit="packets",
        ge=1,
        source=f"{OUR_CHOICE}: one BDP of BFC's fabric, as its DCTCP and HPCC start",
    )
    reset_after: Count = field(
        "RETX_RESET in the paper: timeouts in a row that end in the smallest window",
        5,
        ge=1,
        source=HTSIM,
    )
