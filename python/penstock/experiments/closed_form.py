"""Closed forms that measured points are held against."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


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


CLOSED_FORMS: dict[str, Callable[..., Any]] = {
    "empty_fraction": empty_fraction,
    "worst_empty_fraction": worst_empty_fraction,
    "processor_sharing_mean": processor_sharing_mean,
}
"""Names under which expressions call them."""
