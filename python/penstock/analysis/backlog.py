"""Whether the network keeps up with its traffic: the backlog of a run over time.

The backlog at a moment is the payload that has arrived and is not delivered, and the flows to
which that payload belongs. The core records it at equal times of the traffic. Endless flows do
not count.

A network that cannot carry its load is unstable: "the number of outstanding flows grows without
bound" (BFC Sec. 6.3). No run is endless, so stability is a test. The first third of the traffic is
left out, because every run starts empty. Of the rest, the mean increase of the backlog [bytes] from
one sample to the next is divided by its standard error, as Student's t. Increments of bytes are our
choice; ``docs/decisions/stability-test.md`` has the reasons.

What the test cannot do: tell a small overload from bursts in a short run. A network that is loaded
to a few percent below its capacity takes longer than the run to settle; the test cannot tell it
from a network that never settles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock.analysis.runs import MeasuredRun, RunInput, group_runs
from penstock.readable import number_text

SCORE_UNSTABLE = 2.54
"""Student's t from which a run is called unstable: the upper 1 % point at the 19 degrees of freedom
that the 20 increments of the core's samples leave. Our choice: of runs at the edge of stability one
in a hundred is called unstable by chance."""

FLOWS_MIN = 200
"""Flows that must arrive in the judged part of every run; our choice: ten for each increment."""

NOT_JUDGED = f"not judged: the run ended before its traffic, or under {FLOWS_MIN} flows arrived"
"""What is said of a run whose backlog cannot be judged."""


@dataclass(frozen=True)
class Backlog:
    """The backlog of one run, or the mean of several that differ in their seed only."""

    from_ns: float
    """Begin of the judged part [ns]: a third of the traffic."""
    to_ns: float
    """Its end [ns]: the end of the traffic."""
    flows_from: float
    """Unfinished flows at its begin."""
    flows_to: float
    """Unfinished flows at its end."""
    bytes_from: float
    """Payload not delivered at its begin [bytes]."""
    bytes_to: float
    """Payload not delivered at its end [bytes]."""
    arrived_bytes: float
    """Payload that arrived in it [bytes]."""
    score: float
    """Mean increment of the bytes over its standard error."""

    @property
    def is_unstable(self) -> bool:
        """Whether the backlog grows beyond what chance explains."""
        return self.score > SCORE_UNSTABLE

    @property
    def growth(self) -> float:
        """Increase of the bytes, as a share of what arrived meanwhile."""
        # Sums of bytes end at 2^64 - 1, from where on nothing seems to arrive.
        return (self.bytes_to - self.bytes_from) / max(self.arrived_bytes, 1.0)

    @property
    def verdict(self) -> str:
        """The verdict in two words."""
        return "unstable" if self.is_unstable else "no lasting growth"

    @property
    def words(self) -> str:
        """The verdict with its numbers."""
        verb = "grew" if self.is_unstable else "went"
        return (
            f"{self.verdict}: the backlog {verb} from {_amount(self.flows_from, self.bytes_from)} "
            f"to {_amount(self.flows_to, self.bytes_to)} between {self.from_ns / 1e6:.4g} and "
            f"{self.to_ns / 1e6:.4g} ms, by {number_text(100 * self.growth, 2)} % of what arrived"
        )


def measure_backlog(runs: Sequence[MeasuredRun]) -> Backlog | None:
    """The backlog of runs that differ in their seed only, judged by the increments of all.

    None when it cannot be judged: a run ended before its traffic, or too few flows arrived.
    """
    series = [_judged_part(run) for run in runs]
    if not series or any(one is None for one in series):
        return None
    each = [one for one in series if one is not None]

    def mean(key: str, place: int) -> float:
        return float(np.mean([one[key][place] for one in each]))

    return Backlog(
        from_ns=mean("time_ns", 0),
        to_ns=mean("time_ns", -1),
        flows_from=mean("flows", 0),
        flows_to=mean("flows", -1),
        bytes_from=mean("bytes", 0),
        bytes_to=mean("bytes", -1),
        arrived_bytes=mean("arrived_bytes", -1) - mean("arrived_bytes", 0),
        score=_score(np.concatenate([np.diff(one["bytes"]) for one in each])),
    )


def backlog_series(runs: RunInput) -> pl.DataFrame:
    """The backlog over time, mean over seeds: name, time_ns, flows, bytes, arrived_bytes.

    A run that ended early has fewer samples; a mean is over the runs that got so far.
    """
    columns = ("time_ns", "flows", "bytes", "arrived_bytes")
    frames = [
        pl.DataFrame({"name": name} | {key: run.summary["backlog"][key] for key in columns})
        for name, members in group_runs(runs).items()
        for run in members
    ]
    pooled = pl.concat(frames, how="vertical_relaxed")
    return pooled.group_by("name", "time_ns", maintain_order=True).agg(
        pl.col("flows", "bytes", "arrived_bytes").mean()
    )


def _judged_part(run: MeasuredRun) -> dict[str, NDArray[np.float64]] | None:
    """The samples of the last two thirds of the traffic; None when they cannot be judged."""
    sampled: dict[str, Any] = run.summary["backlog"]
    time = np.asarray(sampled["time_ns"], dtype=np.float64)
    end_ns = run.scenario.duration / 1e3
    if time.size < 2 or time[-1] < end_ns - (time[1] - time[0]) / 2:
        return None
    part = {key: np.asarray(value, dtype=np.float64) for key, value in sampled.items()}
    part = {key: value[(time.size - 1) // 3 :] for key, value in part.items()}
    arrived = part["arrived_flows"]
    return part if arrived[-1] - arrived[0] >= FLOWS_MIN else None


def _score(increments: NDArray[np.float64]) -> float:
    """Student's t of the mean against 0; infinite for a steady growth."""
    mean, deviation = float(increments.mean()), float(increments.std(ddof=1))
    if deviation == 0:
        return float("inf") if mean > 0 else 0.0
    return mean / (deviation / float(np.sqrt(increments.size)))


def _amount(flows: float, size: float) -> str:
    """The bytes first: they are what is judged."""
    return f"{size / 1e6:,.4g} MB ({flows:,.0f} flows)"
