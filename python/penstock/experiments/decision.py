"""The one rule by which a number with a spread holds, fails, or decides nothing.

A claim is measured for each seed by itself. Its value is the median of the seeds. Its margin is the
distance from the value to the nearest bound.

With six seeds or more, the 95 % interval of the median decides (:func:`median_interval`).

- **holds** or **fails**: all of the interval lies inside the bounds, or beyond one of them.
- **not decided**: a bound lies within the interval.

Fewer seeds have no such interval. Their spread is the largest less the smallest.

- **not decided**: the margin is smaller than the spread, or some seed alone would say otherwise.
- **holds** or **fails**: the value lies inside or outside the bounds, and none of that is so.

Without repetitions there is no spread, and the value decides: nothing random was run, or there was
one seed. Invariant: nothing else in this package turns a number into a verdict.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["holds", "fails", "not decided"]

CONFIDENCE = 0.95
"""Share of the intervals that hold the median of all seeds (our choice, as for a mean)."""

VERDICTS: tuple[Verdict, ...] = ("holds", "fails", "not decided")
"""All verdicts, in the order of tables."""


@dataclass(frozen=True)
class Limits:
    """The accepted values: from `lower` to `upper`, infinite where there is no bound."""

    lower: float = -math.inf
    upper: float = math.inf
    is_above: bool = False
    """Whether `lower` itself is not accepted."""
    is_below: bool = False
    """Whether `upper` itself is not accepted."""

    def accept(self, value: float) -> bool:
        """Whether a value lies within."""
        above = value > self.lower if self.is_above else value >= self.lower
        below = value < self.upper if self.is_below else value <= self.upper
        return above and below

    def is_beyond(self, low: float, high: float) -> bool:
        """Whether all values from `low` to `high` lie outside, on one side."""
        below = not self.accept(high) and high <= self.lower
        return below or (not self.accept(low) and low >= self.upper)

    def margin(self, value: float) -> float:
        """How far inside a value lies from the nearest bound; negative: how far outside."""
        inside = [math.inf]  # without a bound
        if self.lower > -math.inf:
            inside.append(value - self.lower)
        if self.upper < math.inf:
            inside.append(self.upper - value)
        return min(inside)


@dataclass(frozen=True)
class Decision:
    """A verdict with what it rests on."""

    verdict: Verdict
    margin: float
    """Distance from the value to the nearest bound, negative outside."""
    spread: float
    """Largest less smallest repetition; 0 without repetitions."""
    interval: tuple[float, float] | None = None
    """Where the median of all seeds lies; None where they are too few, or pooled."""

    @property
    def rank(self) -> tuple[int, float]:
        """Sorts decisions from the worst to the best: fails, not decided, holds; then by margin."""
        return ("fails", "not decided", "holds").index(self.verdict), self.margin


def decide(
    value: float, repetitions: Sequence[float], limits: Limits, *, is_pooled: bool = False
) -> Decision:
    """The verdict on a value.

    Parameters
    ----------
    value:
        The number that is judged.
    repetitions:
        The same number from each seed alone, or with each seed left out; empty when nothing is
        repeated.
    limits:
        What is accepted.
    is_pooled:
        Whether each repetition leaves a seed out: the numbers are then not independent.
    """
    accepted = limits.accept(value)
    margin = limits.margin(value)
    spread = spread_of(repetitions)
    if interval := None if is_pooled else median_interval(repetitions):
        inside = all(map(limits.accept, interval))
        outside = limits.is_beyond(*interval)
        verdict: Verdict = "holds" if inside else "fails" if outside else "not decided"
        return Decision(verdict, margin, spread, interval)
    disagree = any(limits.accept(one) is not accepted for one in repetitions)
    if disagree or abs(margin) < spread:
        return Decision("not decided", margin, spread)
    return Decision("holds" if accepted else "fails", margin, spread)


def spread_of(repetitions: Sequence[float]) -> float:
    """Largest less smallest repetition; infinite when some are infinite and others are not."""
    if len(set(repetitions)) < 2:
        return 0.0
    return max(repetitions) - min(repetitions)


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two in the middle."""
    return float(statistics.median(values))


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Where the median of all seeds lies, whatever their distribution; None with fewer than six.

    It goes from the k-th smallest to the k-th largest value. Each is on the wrong side of the
    median when fewer than k of n fair coins show heads; k is the largest number for which that
    happens in 2.5 % of the cases or less. With five values it happens in 3.1 %, even with k = 1. It
    is the interval of the sign test (W. J. Conover, "Practical Nonparametric Statistics", 3rd ed.,
    1999, sec. 3.2).

    Parameters
    ----------
    values
        The numbers of independent runs; they may be infinite, and none is NaN.
    """
    ordered, count = sorted(values), len(values)
    outside, below = 0, 0.0
    while (below := below + math.comb(count, outside) / 2**count) <= (1 - CONFIDENCE) / 2:
        outside += 1
    return (ordered[outside - 1], ordered[-outside]) if outside else None
