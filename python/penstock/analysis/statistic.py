"""Percentiles, cumulative distributions and the fairness index.

Invariant: a percentile of n values is always the value at place floor(p * n) of the sorted list.
This is the rule of the BFC authors' scripts, so numbers can be compared with the paper. Nothing is
interpolated: a percentile is a value that occurred. A fraction is the decimal number that it is
written as: 0.29 of 100 values is the place 29, and not 28.999….
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from penstock.errors import refuse

CURVE_POINTS = 400
"""Points of a drawn distribution; our choice: more cannot be told apart in a figure."""


def percentile(values: ArrayLike, fraction: float) -> float:
    """Value below which `fraction` (in [0, 1]) of the values lie; NaN when there are none.

    Raises
    ------
    ScenarioError
        The fraction is none, such as 99 for p99.

    Examples
    --------
    >>> percentile(range(100), 0.99)
    99.0
    """
    return percentiles(values, [fraction])[0]


def percentiles(values: ArrayLike, fractions: list[float]) -> list[float]:
    """As :func:`percentile`, several of one set of values, in the order of `fractions`."""
    for one in fractions:
        if not 0 <= one <= 1:
            raise refuse("fraction", "it is no share", "write 0 to 1: 0.99 is p99", one)
    found = np.asarray(values, dtype=np.float64)
    if found.size == 0:
        return [float("nan")] * len(fractions)
    places = [min(int(Fraction(str(p)) * found.size), found.size - 1) for p in fractions]
    # Only these places have to be those of the sorted list, and what lies above one place holds the
    # next: half the time of sorting 16 million flows.
    values_at, above, begin = {}, found.flatten(), 0
    for place in sorted(set(places)):
        above.partition(place - begin)
        above = above[place - begin :]
        begin = place
        values_at[place] = float(above[0])
    return [values_at[place] for place in places]


def cumulative(
    values: ArrayLike, weights: ArrayLike | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distinct values in rising order and the share of the weight at or below each."""
    raw = np.asarray(values, dtype=np.float64)
    if weights is None:
        distinct, total = np.unique(raw, return_counts=True)
    else:
        weight = np.asarray(weights, dtype=np.float64)
        distinct, places = np.unique(raw, return_inverse=True)
        total = np.bincount(places, weights=weight, minlength=distinct.size)
    share: NDArray[np.float64] = np.cumsum(total).astype(np.float64)
    if share.size:
        share /= share[-1]
    return distinct, share


def curve(
    name: str, values: ArrayLike, weights: ArrayLike | None = None, *, column: str
) -> pl.DataFrame:
    """A distribution as a frame `name, <column>, share`, thinned for drawing.

    The tail is kept denser than the body: half of the points lie above the 90th percentile.
    """
    distinct, share = cumulative(values, weights)
    if distinct.size > CURVE_POINTS:
        body = np.linspace(0.0, 0.9, CURVE_POINTS // 2)
        tail = 1.0 - np.geomspace(0.1, 1e-5, CURVE_POINTS // 2)
        wanted = np.append(np.searchsorted(share, np.concatenate([body, tail])), distinct.size - 1)
        places = np.unique(np.clip(wanted, 0, distinct.size - 1))
        distinct, share = distinct[places], share[places]
    return pl.DataFrame({"name": [name] * distinct.size, column: distinct, "share": share})


def jain_index(values: ArrayLike) -> float:
    """Jain's fairness index, (sum x)^2 / (n * sum x^2): 1 when all are equal, 1/n at worst.

    R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness and Discrimination", 1984.
    """
    x = np.asarray(values, dtype=np.float64)
    square = float(np.sum(x * x))
    return float(np.sum(x)) ** 2 / (x.size * square) if square > 0 else float("nan")
