"""An end host: congestion controller, loss recovery, network interface.

Each controller and each recovery is a model discriminated by ``kind``. A default is what BFC's
evaluation says; a preset that follows another source (``penstock/schemes``) says so itself.
"""

from __future__ import annotations

from typing import Literal

from penstock.scenario.base import (
    BFC_SIMULATOR,
    HPCC_SIMULATOR,
    OUR_CHOICE,
    Count,
    Number,
    Part,
    Switch,
    Weight,
    field,
)
from penstock.scenario.credit_control import ExpressPass
from penstock.scenario.homa import Homa
from penstock.scenario.pair_control import PacketPair
from penstock.scenario.rate_control import (
    Dcqcn,
    DcqcnMellanox,
    Pcn,
    Qcn,
    RateWindow,
    Timely,
    minimum_rate_field,
    window_field,
)
from penstock.scenario.recovery import Recovery
from penstock.scenario.window_control import NewReno, Swift
from penstock.units import PositiveSize, Rate

NIC_QUEUES_MAX = 128
"""Largest number of NIC queues: a pause frame's bitmap has 128 (BFC 6.3: at most 128 queues)."""
FLOOR = f"{BFC_SIMULATOR}: MIN_RATE 100 Mb/s"


class WindowIncrease(Part):
    """An additive step of the window; the rate grows by it over the base round-trip time."""

    kind: Literal["window"]
    size: PositiveSize = field("how much more is in flight after a step")


class RateIncrease(Part):
    """An additive step of the rate."""

    kind: Literal["rate"]
    rate: Rate = field("how much faster the flow sends after a step")


Increase = WindowIncrease | RateIncrease


class LineRate(Part):
    """Send as fast as the interface lets."""

    kind: Literal["line-rate"]


class Window(Part):
    """At most a fixed amount in flight per flow, at line rate."""

    kind: Literal["window"]
    bdp_factor: Number = field(
        "window in bandwidth-delay products", 1.0, gt=0, source="BFC 6.2.1: 1 BDP"
    )


class Dctcp(Part):
    """DCTCP: cut by the share of marked bytes."""

    kind: Literal["dctcp"]
    gain: Weight = field(
        "weight g of a new estimate",
        0.0625,
        source=f"RFC 8257 (1/16), as {HPCC_SIMULATOR}",
    )
    start: Literal["line-rate", "slow-start"] = field(
        "how a flow begins", "line-rate", source="BFC 6.2.1"
    )
    initial_window_packets: Count = field(
        "first window of slow start", 10, unit="packets", ge=1, source="BFC A.6"
    )
    increase: Increase = field(
        "added per round trip",
        {"kind": "window", "size": "1000 B"},
        source="DCTCP paper: TCP's increase of one packet per round trip",
        discriminator="kind",
    )
    minimum_rate: Rate = minimum_rate_field("100 Mb/s", FLOOR)
    window: RateWindow = window_field("scaled", f"DCTCP paper; VAR_WIN of {HPCC_SIMULATOR}")


class Hpcc(Part):
    """HPCC: track the utilisation that telemetry reports."""

    kind: Literal["hpcc"]
    target_utilization: Weight = field("eta in the paper", 0.95, source="BFC 6.2.1")
    maximum_stage: Count = field(
        "additive steps before a multiplicative one", 5, ge=0, source="BFC 6.2.1"
    )
    additive_increase: Increase = field(
        "W_AI in the paper",
        {"kind": "window", "size": "80 B"},
        source="HPCC paper, quoted from memory",
        discriminator="kind",
    )
    minimum_rate: Rate = minimum_rate_field("100 Mb/s", FLOOR)
    react: Literal["per-ack", "per-rtt"] = field(
        "when the window follows a measurement",
        "per-ack",
        source="HPCC paper: each ACK, from a reference that is set once per RTT",
    )
    window: RateWindow = window_field("scaled", "HPCC paper: the rate is the window over the RTT")


class Delay(Part):
    """BFC's delay controller (App. A.1)."""

    kind: Literal["delay"]
    target_factor: Number = field("target RTT in base RTTs", 2.5, gt=1, source="BFC A.1")


class Nic(Part):
    """The network interface: which of its flows sends next."""

    queues: Count = field(
        "queues, the control queue included; 0: one per flow",
        0,
        ge=0,
        le=NIC_QUEUES_MAX,
        source=f"{OUR_CHOICE}: one per flow, as {HPCC_SIMULATOR}",
    )
    reacts: Switch = field("obeys the pause of a queue", True, source="BFC 3; A.8 turns it off")
    scheduling: Literal["round-robin", "srf"] = field(
        "order between flows", "round-robin", source=HPCC_SIMULATOR
    )


Controller = (
    LineRate
    | Window
    | Dctcp
    | Hpcc
    | Delay
    | DcqcnMellanox
    | Dcqcn
    | Qcn
    | Timely
    | NewReno
    | Swift
    | Pcn
    | PacketPair
    | Homa
    | ExpressPass
)
TIMED_CONTROLLERS = (Timely, Swift)
"""Controllers whose packets carry a timestamp."""
MARKED_CONTROLLERS = (Dctcp, DcqcnMellanox, Dcqcn, Pcn)
"""Controllers that react to the marks of switches."""


class Host(Part):
    """What an end host does."""

    controller: Controller = field("how fast a flow sends", discriminator="kind")
    recovery: Recovery = field(
        "what a loss costs", {"kind": "go-back-n"}, source="BFC 6.2.1", discriminator="kind"
    )
    nic: Nic = field("the network interface", {}, source="see its fields")
    base_rtt: Literal["longest", "own"] = field(
        "the base RTT that a controller knows: the longest of the network, or its own path's",
        "longest",
        source=f"{HPCC_SIMULATOR}: GLOBAL_T 1",
    )
