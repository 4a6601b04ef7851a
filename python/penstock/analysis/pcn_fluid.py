"""The fluid model of PCN: rates and queue of one bottleneck, a step per notification period.

W. Cheng et al., "Re-architecting Congestion Management in Lossless Ethernet" (PCN), NSDI 2020,
App. A, equations 3 to 7. N sources share a link of capacity C. C is also the line rate of each
source. Once a period T all sources are notified in the same moment. A notification takes effect in
the next period. The model has no packets, round-trip times or marks; a simulation has.

The model's cut (equation 6) is to the receiving rate and lacks the minimum of Algorithm 1. Model
and algorithm are the same while a queue drains, because the shares do not change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Trajectory:
    """What became of the flows; the first index is the period, 0 the beginning."""

    rates: Floats
    """Sending rate R of each flow [bit/s]."""
    queue: Floats
    """Queue Q at the beginning of the period [bytes]."""

    @property
    def shares(self) -> Floats:
        """Each flow's part of the total sending rate, eta; 0 where nothing is sent."""
        total = self.rates.sum(axis=1, keepdims=True)
        shares: Floats = self.rates / np.where(total > 0, total, 1.0)
        return shares


def trajectory(
    *,
    capacity_bps: float,
    period_s: float,
    minimum_weight: float,
    maximum_weight: float,
    starts: Sequence[int],
    periods: int,
) -> Trajectory:
    """Follow the model.

    Parameters
    ----------
    capacity_bps, period_s:
        C [bit/s] and T [s].
    minimum_weight, maximum_weight:
        w_min and w_max.
    starts:
        For each flow the period in which it begins, at line rate.
    periods:
        How many periods to follow.
    """
    begins = np.asarray(starts)
    rates = np.zeros((periods + 1, begins.size))
    queue = np.zeros(periods + 1)
    weight = np.full(begins.size, minimum_weight)
    rates[0] = np.where(begins == 0, capacity_bps, 0.0)
    for k in range(periods):
        now = rates[k]
        excess = (now.sum() - capacity_bps) * period_s / 8
        queue[k + 1] = max(0.0, queue[k] + excess)  # eq. 3
        if queue[k + 1] > 0:  # eq. 4
            received = now / now.sum() * capacity_bps  # eq. 5
            after = received * (1 - minimum_weight)  # eq. 6
            weight[:] = minimum_weight  # eq. 7
        else:
            after = now * (1 - weight) + capacity_bps * weight
            weight = weight * (1 - weight) + maximum_weight * weight
        active = begins <= k
        weight[~active] = minimum_weight
        after = np.where(active, after, 0.0)
        rates[k + 1] = np.where(begins == k + 1, capacity_bps, after)
    return Trajectory(rates, queue)


def queue_oscillation(
    flows: float, minimum_weight: float, capacity_bps: float, period_s: float
) -> float:
    """Largest queue in the steady state [bytes], (N - 2 + w_min) w_min C T (equation 1)."""
    return (flows - 2 + minimum_weight) * minimum_weight * capacity_bps * period_s / 8


def rate_oscillation(minimum_weight: float, capacity_bps: float) -> float:
    """By how much the rate of a flow varies in the steady state [bit/s], w_min C (equation 2)."""
    return minimum_weight * capacity_bps


def drain_periods(total_bps: float, minimum_weight: float, capacity_bps: float) -> int:
    """Periods until the queue that a first overload leaves is empty (App. A.2.1)."""
    return math.ceil(1 + (total_bps - capacity_bps) / (minimum_weight * capacity_bps))


def increase(
    minimum_weight: float, maximum_weight: float, notifications: int
) -> tuple[Floats, Floats]:
    """w and the rate, as a share of the line rate, after each notification of an increase from 0.

    Both begin with the state before the first (Algorithm 1, lines 10 and 11; fig. 10).
    """
    weights, rates = [minimum_weight], [0.0]
    for _ in range(notifications):
        weight = weights[-1]
        rates.append(rates[-1] * (1 - weight) + weight)
        weights.append(weight * (1 - weight) + maximum_weight * weight)
    return np.array(weights), np.array(rates)
