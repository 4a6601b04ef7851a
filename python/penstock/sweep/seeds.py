"""The seeds of a sweep: a list, or as many as a precision needs.

Invariant: which seed comes next follows from the results of the seeds before alone, never from the
order in which they came back. So a sweep that was killed goes on with the same seeds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.analysis.interval import mean_interval
from penstock.errors import refuse
from penstock.units import whole_number

LEAST = 4
"""Seeds of a point before its precision is looked at (our choice: with fewer an interval is so wide
that it says nothing: Student's factor is 4.3 with three, 3.2 with four)."""

MOST = 100
"""Most seeds of a point, unless the command says otherwise (our choice: a precision that needs more
needs longer runs instead)."""

SEEDS_MAX = 100_000
"""Most seeds of a list (our choice, as for an experiment)."""

_AUTO = re.compile(r"auto(?:\.\.(?P<most>[0-9]{1,6}))?")


@dataclass(frozen=True)
class Seeds:
    """Which seeds each point of a grid gets."""

    listed: tuple[int, ...] = ()
    """All of them; empty where they are added until the precision is reached."""
    precision: float = 0.0
    """Share of the mean that the farther end of its interval may be away from it."""
    most: int = MOST
    """Where they are added: the most of a point."""

    def first(self) -> tuple[int, ...]:
        """The seeds with which every point begins."""
        return self.listed or tuple(range(1, min(LEAST, self.most) + 1))

    def more(self, values: Sequence[float], is_percentile: bool) -> tuple[int, ...]:
        """The seeds to be added to a point whose seeds 1, 2, 3, ... have given these values.

        None when the precision is reached, when there are as many as there may be, or when no run
        gives a number. Their count is what the interval so far asks for, doubled at most.
        """
        count = len(values)
        if self.listed or count >= self.most:
            return ()
        found = mean_interval(values, is_percentile=is_percentile)
        if found.count == 0 or found.is_within(self.precision):
            return ()
        goal = self.precision * abs(found.mean)
        wanted = count * (found.half / goal) ** 2 if goal > 0 else math.inf
        last = max(count + 1, min(2 * count, math.ceil(min(wanted, self.most))))
        return tuple(range(count + 1, last + 1))


def read_seeds(text: str, precision: str | None) -> Seeds:
    """The seeds that ``--seeds`` and ``--precision`` mean.

    Raises
    ------
    ScenarioError
        They name no seed, or do not go together.
    """
    auto = _AUTO.fullmatch(text.strip())
    if auto is None:
        if precision is not None:
            raise refuse("--precision", "the seeds are listed", "write --seeds auto", precision)
        return Seeds(_listed(text, "write e.g. 1..5, or 1,2,7, or auto"))
    if precision is None:
        raise refuse("--seeds", "no precision is given", "add e.g. --precision 5%", text)
    most = int(auto["most"] or MOST)
    if not LEAST <= most <= SEEDS_MAX:
        remedy = f"write auto..N with N of {LEAST} to {SEEDS_MAX:,}"
        raise refuse("--seeds", "a point cannot have so many", remedy, text)
    return Seeds((), _share(precision), most)


def read_listed(text: str) -> tuple[int, ...]:
    """The seeds that ``--seeds`` lists, for a command that adds none.

    Raises
    ------
    ScenarioError
        They are not listed, or name no seed.
    """
    if text.strip().startswith("auto"):
        raise refuse("--seeds", "this command adds no seeds", "list them, e.g. 1..3", text)
    return _listed(text, "write e.g. 1..5, or 1,2,7")


def _listed(text: str, remedy: str) -> tuple[int, ...]:
    found: list[int] = []
    for part in text.split(","):
        ends = [whole_number(end.strip()) for end in part.split("..")]
        first, last = ends[0], ends[-1]
        if len(ends) > 2 or first is None or last is None:
            raise refuse("--seeds", "these are no seeds", remedy, text)
        if last < first:
            raise refuse("--seeds", "the range is empty", "write the smaller end first", text)
        if last - first >= SEEDS_MAX:
            raise refuse("--seeds", "these are too many", f"at most {SEEDS_MAX:,}", text)
        found += range(first, last + 1)
    return tuple(dict.fromkeys(found))


def _share(text: str) -> float:
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 < share < 1:
        raise refuse("--precision", "it is no share of the mean", "write e.g. 5% or 0.05", text)
    return share
