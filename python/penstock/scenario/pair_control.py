"""Packet-pair flow control: the congestion controller of AFQ's hosts."""

from __future__ import annotations

from typing import Literal

from penstock.scenario.base import OUR_CHOICE, Number, Part, Weight, field
from penstock.units import Size

ROUND_MAX = 2**20
"""Largest round [B]; our choice: the core's bound, a thousand packets."""


class PacketPair(Part):
    """Packet-pair: send at the share that the gap between two packets at the receiver shows."""

    kind: Literal["packet-pair"]
    gain: Weight = field(
        "GAIN in the paper: weight of a new gap",
        0.25,
        source=f"{OUR_CHOICE}: an RTT of AFQ's network has four pairs",
    )
    mark_gain: Weight = field(
        "weight of a round trip's share of marked packets",
        0.0625,
        source="RFC 8257 (1/16): AFQ 5 says like DCTCP",
    )
    in_flight_factor: Number = field(
        "CWND_FACTOR in the paper: cap of what is in flight, in BDPs of the flow's share",
        1.5,
        gt=0,
        source="AFQ 5",
    )
    bytes_per_round: Size = field(
        "a flow's bytes in a round of the switches; above two packets the first pair is spaced",
        "1048 B",
        le=ROUND_MAX,
        source="AFQ 6.2.2: one packet",
    )
