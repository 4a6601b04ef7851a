"""Admission: is there room?

A model for each policy, discriminated by ``kind``; the axis itself is in
:mod:`penstock.scenario.switch`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from penstock.scenario.base import (
    BFC_SIMULATOR,
    HPCC_SIMULATOR,
    OUR_CHOICE,
    Many,
    Node,
    Number,
    Part,
    field,
)
from penstock.units import PositiveSize, Size

MMU = f"{HPCC_SIMULATOR}, whose shared buffer BFC 6.2.1 uses"
ALPHA_MAX = 64
"""Largest alpha; our choice: the core's bound. An ingress may then hold 64/65 of the memory."""


class InfiniteBuffer(Part):
    """Nothing is ever dropped (BFC's Ideal-FQ)."""

    kind: Literal["infinite"]


class BdpHeadroom(Part):
    """Headroom as a multiple of the link's one-way bandwidth-delay product."""

    kind: Literal["bdp"]
    factor: Number = field("times rate x delay of the link", 3.0, source=MMU, gt=0)


class FixedHeadroom(Part):
    """The same headroom for every ingress."""

    kind: Literal["bytes"]
    size: Size = field("headroom of each ingress")


class IngressThreshold(Part):
    """Dynamic thresholds per ingress, as lossless classes need them."""

    alpha: Number = field(
        "share of the free buffer that one ingress may hold",
        0.125,
        source=MMU,
        gt=0,
        le=ALPHA_MAX,
    )
    reserve: Size = field("guaranteed to each ingress", "4096 B", source=MMU)
    headroom: Annotated[BdpHeadroom | FixedHeadroom, Field(discriminator="kind")] = field(
        "room for what arrives after a pause was sent", {"kind": "bdp", "factor": 3.0}, source=MMU
    )


class SharedBuffer(Part):
    """One packet memory for all ports."""

    kind: Literal["shared"]
    buffer: PositiveSize = field(
        "memory of the switch", "12 MiB", source="BFC 6.2.1 (12 MB; 12 x 2^20 B in its simulator)"
    )
    other_buffers: Many[tuple[Node, PositiveSize]] = field(
        "switches with another memory, as [node, size]",
        (),
        source=f"{OUR_CHOICE}: all switches are alike",
    )
    ingress: IngressThreshold | None = field(
        "thresholds per ingress; null: only the whole memory limits",
        None,
        source=f"{BFC_SIMULATOR}: so without PFC",
    )


class StaticBuffer(Part):
    """A memory of its own for each egress port."""

    kind: Literal["static"]
    per_port: PositiveSize = field("memory of each egress port")


Admission = InfiniteBuffer | SharedBuffer | StaticBuffer
