"""Routing: which of several shortest paths a packet takes, and its reply."""

from __future__ import annotations

from typing import Literal

from penstock.scenario.base import OUR_CHOICE, Part, field


class Ecmp(Part):
    """Each flow has one path, by a hash; its replies have one of their own."""

    kind: Literal["ecmp"]


class SymmetricEcmp(Part):
    """Each flow has one path, by a hash; its replies take the same links backwards."""

    kind: Literal["symmetric-ecmp"]


class Spray(Part):
    """Each data packet has a path of its own."""

    kind: Literal["spray"]
    order: Literal["random", "round-robin"] = field(
        "which next hop a switch takes for a packet",
        "random",
        source=f"{OUR_CHOICE}: a draw per packet; papers say per-packet spraying and no more",
    )


Routing = Ecmp | SymmetricEcmp | Spray
