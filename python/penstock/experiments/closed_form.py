"""Closed forms with which measured points are compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock.analysis import pcn_fluid


def empty_fraction(ratio: float, threshold: float) -> float:
    """Share of time a lone flow has no packets at its bottleneck under BFC.

    Parameters
    ----------
    ratio:
        Enqueue rate over dequeue rate, x in the paper, > 1.
    threshold:
        Pause threshold over the one-hop bandwidth-delay product, Th / (HRTT * mu_f), > 0.
    """
    return (ratio - 1) / (threshold * ratio + ratio**2 - 1)  # BFC App. C, eq. 4


def worst_empty_fraction(threshold: float) -> float:
    """Largest `empty_fraction` over all ratios, reached at ratio sqrt(threshold) + 1."""
    return 1 / ((math.sqrt(threshold) + 1) ** 2 + 1)  # BFC App. C, eq. 5


def processor_sharing_mean(load: float) -> float:
    """Mean number of active flows of an M/G/1 processor-sharing link at `load` in [0, 1)."""
    return load / (1 - load)  # BFC sec. 2.3


def pcn_queue(flows: float, weight: float, rate: float, period: float) -> float:
    """Largest queue of PCN in the steady state [bytes]; rate in Gb/s, period in us."""
    return pcn_fluid.queue_oscillation(flows, weight, rate * 1e9, period * 1e-6)  # PCN eq. 1


def pcn_increase(notifications: float, weight: float, maximum: float = 0.5) -> float:
    """Rate of a PCN flow after so many increases from 0, as a share of the line rate."""
    return float(pcn_fluid.increase(weight, maximum, int(notifications))[1][-1])  # PCN fig. 10


def pcn_share(flow: int, starts: list[int], period: int, weight: float, maximum: float) -> float:
    """A flow's part of the total rate of the fluid model in a period; each starts in its own."""
    followed = pcn_fluid.trajectory(  # shares depend on neither capacity nor period length
        capacity_bps=1.0,
        period_s=1.0,
        minimum_weight=weight,
        maximum_weight=maximum,
        starts=starts,
        periods=period,
    )
    return float(followed.shares[-1, flow])


CLOSED_FORMS: dict[str, Callable[..., Any]] = {
    "empty_fraction": empty_fraction,
    "worst_empty_fraction": worst_empty_fraction,
    "processor_sharing_mean": processor_sharing_mean,
    "pcn_queue": pcn_queue,
    "pcn_increase": pcn_increase,
    "pcn_share": pcn_share,
}
"""Names under which expressions call them."""
