"""A trial: a point that was proposed, and what became of it in the runs of all seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from penstock.analysis.interval import Interval, mean_interval
from penstock.experiments.bound import least, most
from penstock.sweep.axis import Value
from penstock.sweep.work import LOSSES
from penstock.tune.goal import Objective, Requirement


class State(StrEnum):
    """What became of a point."""

    MEETS = "meets"
    """It does as required."""
    VIOLATES = "violates"
    """It does not do as required."""
    NO_NUMBER = "no number"
    """The objective has no number in the run of some seed, e.g. for lack of flows."""
    FAILED = "failed"
    """A run failed."""


@dataclass(frozen=True)
class Trial:
    """A point and its numbers, pooled over seeds."""

    number: int
    """The first is 1."""
    values: tuple[Value, ...]
    """One of each field."""
    state: State
    objective: Interval
    """Mean over seeds and its interval; NaN where there is no number."""
    by_seed: tuple[float, ...] = ()
    """The objective in the run of each seed, in their order; empty where a run failed."""
    required: tuple[float, ...] = ()
    """For each requirement its value in the run that is the farthest from it; NaN: none."""
    excess: float = 0.0
    """Sum over requirements of how far that is; infinite where the point gave no number."""
    unfinished: int = 0
    """Flows that were started and did not finish, of all seeds."""
    losses: str = ""
    """What the first run says of it that lost packets, or could have; empty where none does."""
    message: str = ""
    """Why a run failed; empty where none did."""

    @property
    def meets(self) -> bool:
        """Whether it has a number and does as required."""
        return self.state is State.MEETS


def gain(one: Trial, other: Trial, *, is_percentile: bool) -> Interval:
    """The mean difference of the objectives of two trials over seeds, and its interval.

    Both have the runs of the same seeds, and so the same traffic. The difference is therefore known
    better than either objective.
    """
    pairs = zip(one.by_seed, other.by_seed, strict=False)
    return mean_interval([mine - its for mine, its in pairs], is_percentile=is_percentile)


NOTHING = Interval(math.nan, math.nan, math.nan, 0)
"""The objective of a trial without runs."""


def judge(
    number: int,
    values: tuple[Value, ...],
    rows: Sequence[Mapping[str, Any]],
    objective: Objective,
    requirements: Sequence[Requirement],
) -> Trial:
    """What the runs of a point say.

    Parameters
    ----------
    rows
        Of each seed, in the order of the seeds: the row of its cell.
    """
    found = [float(row[objective.expression]) for row in rows]
    pooled = mean_interval(
        found,
        is_percentile=objective.is_percentile,
        least=least(objective.expression),
        most=most(objective.expression),
    )
    worst = tuple(one.worst([float(row[one.expression]) for row in rows]) for one in requirements)
    excess = sum(one.excess(value) for one, value in zip(requirements, worst, strict=True))
    unfinished = sum(int(row["flows_started"]) - int(row["flows_finished"]) for row in rows)
    losses = next((str(row[LOSSES]) for row in rows if row[LOSSES]), "")
    state = State.VIOLATES if excess > 0 else State.MEETS
    if not all(math.isfinite(one) for one in found):
        state, excess = State.NO_NUMBER, math.inf
    return Trial(number, values, state, pooled, tuple(found), worst, excess, unfinished, losses)
