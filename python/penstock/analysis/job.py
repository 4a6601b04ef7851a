"""Jobs: iterations of collectives, who was late, and the path that decided how long they took.

What it is: the tables `jobs`, `dependents` and `flows` put together. What it is not: a guess at
what a rank computed. Invariant: the parts of a critical path add up to the time of its iteration.

Words. A flow's *step* on a critical path lasts from its start until the next flow of the path
starts; of the last flow, until the iteration ends. A *rank's part* ends when the last flow to the
rank is acknowledged. Times are in ns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock.analysis.cause import CAUSES, time_lost
from penstock.analysis.runs import MeasuredRun, label_number, lazy_table
from penstock.errors import refuse

PARTS = {
    "alone_ns": "alone on an idle network",
    "late_ns": "late start",
    "gap_ns": "computing or news",
    **CAUSES,
}
"""Parts of the time of a critical path, and what readers see."""

_ROOT = np.int64(-1)
"""In place of the flow that released another: nobody did."""


@dataclass(frozen=True)
class CriticalPath:
    """The flows that decided how long an iteration took, each released by the one before."""

    iteration: int
    start_ns: float
    """When the iteration began."""
    time_ns: float
    """How long it took."""
    released_by: int | None
    """The flow of an earlier iteration for which the first flow of the path waited."""
    steps: pl.DataFrame
    """A row per flow: `flow`, `src`, `dst`, `rank`, `step`, `start_ns`, `time_ns` (its step),
    `fct_ns`, `ideal_ns` (alone), `lost_ns`, `gap_ns` (after it), `alone_ns`."""

    @property
    def late_ns(self) -> float:
        """How long after the iteration its critical path begins."""
        return float(self.steps["start_ns"][0]) - self.start_ns

    @property
    def worst(self) -> dict[str, Any]:
        """The step that lost most time."""
        place = self.steps["lost_ns"].arg_max()
        return self.steps.row(place or 0, named=True)

    def time_by_part(self, run: MeasuredRun) -> dict[str, float]:
        """The time of the iteration by part of :data:`PARTS` [ns]; the sum is the whole."""
        return parts_of_steps(run, self.steps) | {"late_ns": self.late_ns}


def parts_of_steps(run: MeasuredRun, steps: pl.DataFrame) -> dict[str, float]:
    """The time of steps, by part of :data:`PARTS` [ns]; the sum is their time.

    Parameters
    ----------
    steps
        What :func:`timed_steps` makes, with the column `flow`.
    """
    walked = pl.col("flow").is_in(steps["flow"].implode())
    flows = lazy_table(run, "flows").filter(walked & pl.col("finished")).collect()
    found = time_lost(run, flows).rename({"lost_ns": "flow_lost_ns"})
    joined = steps.join(found, on="flow", how="left")
    # Of a flow whose successor did not wait for its last acknowledgement only a part counts.
    share = pl.when(pl.col("flow_lost_ns") > 0).then(pl.col("lost_ns") / pl.col("flow_lost_ns"))
    by_cause = joined.select((pl.col(cause) * share).fill_null(0).sum() for cause in CAUSES)
    parts = steps.select(pl.col("gap_ns", "alone_ns").sum()).row(0, named=True)
    parts |= by_cause.row(0, named=True)
    # A flow that was never acknowledged has no causes.
    parts["unknown_ns"] += float(steps["lost_ns"].sum()) - sum(by_cause.row(0))
    # Times are whole picoseconds; what is below is the arithmetic's.
    return {part: max(round(float(parts.get(part, 0.0)), 3), 0.0) for part in PARTS}


class Job:
    """The flows of a collective, and its iterations that are over.

    Parameters
    ----------
    run
        A run with rows in its table of jobs.
    label
        The name of a traffic entry.

    Raises
    ------
    ScenarioError
        The run has no such label.
    """

    def __init__(self, run: MeasuredRun, label: str) -> None:
        self.run = run
        self.label = label
        number = label_number(run, label)
        self.iterations = run.jobs.filter(pl.col("label") == number).select(
            "iteration",
            "bytes",
            "algorithm_bandwidth_bps",
            "bus_bandwidth_bps",
            start_ns=pl.col("start_ps") / 1e3,
            time_ns=pl.col("time_ps") / 1e3,
        )
        self._entry: Any = next(one for one in run.scenario.traffic if one.label == label)
        self._number = number

    @cached_property
    def flows(self) -> pl.DataFrame:
        """Its flows in the order of their numbers, a row each.

        Columns: `flow`, `src`, `dst`, `start_ns`, `fct_ns`, `ideal_ns`, `end_ns` (the last
        acknowledgement; the end of the run without one), `released_by` (-1 of a flow that waited
        for nothing), `iteration`, `step`, `rank` (that sends).
        """
        end = float(self.run.summary["sim_end_ps"]) / 1e3
        own = lazy_table(self.run, "flows").filter(pl.col("label") == self._number).sort("flow")
        waited = self.run.dependents.lazy().select(
            "flow", "iteration", "step", "rank", released_by=pl.col("released_by").cast(pl.Int64)
        )
        joined = own.select(
            "flow",
            "src",
            "dst",
            "start_ns",
            "fct_ns",
            pl.col("ideal_fct_ns").alias("ideal_ns"),
            end_ns=(pl.col("start_ns") + pl.col("fct_ns")).fill_null(end),
        ).join(waited, on="flow", how="left", maintain_order="left")
        # The messages with which the ranks of an all-to-all begin are their first ones.
        is_all_to_all = getattr(self._entry, "operation", "") == "all-to-all"
        first = pl.int_range(pl.len(), dtype=pl.UInt32).over("src") if is_all_to_all else 0
        return joined.with_columns(
            pl.col("released_by").fill_null(_ROOT),
            pl.col("iteration").fill_null(0),
            pl.col("step").fill_null(first),
            pl.col("rank").fill_null(self._rank_of("src")),
        ).collect()

    def _rank_of(self, host: str) -> pl.Expr:
        """The rank of the host in a column. A host of a list of flows is its own rank."""
        hosts = getattr(self._entry, "ranks", ())
        ranks = {int(one): rank for rank, one in enumerate(hosts)}
        return pl.col(host).replace(ranks) if ranks else pl.col(host)

    @cached_property
    def rank_ends(self) -> pl.DataFrame:
        """When each rank's part of each iteration ended, a row each, in this order.

        Columns: `iteration`, `host`, `rank`, `end_ns`, `flow` (the last one to the rank).
        """
        order = pl.col("end_ns").arg_max()
        return (
            self.flows.lazy()
            .group_by("iteration", host="dst")
            .agg(pl.col("end_ns").max(), pl.col("flow").get(order))
            .with_columns(rank=self._rank_of("host"))
            .sort("iteration", "rank")
            .collect()
        )

    def stragglers(self) -> pl.DataFrame:
        """The rank whose part ended last in each iteration that is over, a row each.

        Columns: `iteration`, `rank`, `host`, `flow` (for which the rank waited), `ranks` (all that
        ended at that time, ascending; `rank` is the first of them), `of` (how many ranks there
        are), `late_ns` (after the median rank), `spread_ns` (from the first rank to the last).
        """
        is_last = pl.col("end_ns") == pl.col("end_ns").max()
        over = self.rank_ends.join(self.iterations.select("iteration"), on="iteration", how="semi")
        return (
            over.group_by("iteration")
            .agg(
                pl.col("rank", "host", "flow")
                .sort_by("rank")
                .get(is_last.sort_by("rank").arg_max()),
                ranks=pl.col("rank").filter(is_last).sort(),
                of=pl.len(),
                late_ns=pl.col("end_ns").max() - pl.col("end_ns").median(),
                spread_ns=pl.col("end_ns").max() - pl.col("end_ns").min(),
            )
            .sort("iteration")
        )

    def slowest(self) -> int:
        """The iteration that took longest; the first of several.

        Raises
        ------
        ScenarioError
            No iteration is over.
        """
        if self.iterations.is_empty():
            remedy = "run it longer, or name a label that job_labels(run) has"
            raise refuse("label", "no iteration of it is over", remedy, self.label)
        return int(
            self.iterations.sort("time_ns", "iteration", descending=[True, False])["iteration"][0]
        )

    def critical_path(self, iteration: int) -> CriticalPath:
        """The flows that decided how long an iteration took.

        The path leads from the flow that was acknowledged last to the flow that released it, and so
        on back to a flow that waited for nothing, or for an earlier iteration.

        Raises
        ------
        ScenarioError
            This iteration is not over.
        """
        if iteration not in self.iterations["iteration"]:
            remedy = "take one of the column iteration of Job.iterations"
            raise refuse("iteration", "it is not over, or there is none", remedy, iteration)
        job = self.iterations.row(by_predicate=pl.col("iteration") == iteration, named=True)
        walked = walk_back(
            self._numbers, self._released_by, self._of_iteration, self._last(iteration)
        )
        steps = self.flows[walked]
        begin = steps["start_ns"].to_numpy()
        until = np.append(begin[1:], job["start_ns"] + job["time_ns"])
        first = int(self._released_by[walked[0]])
        return CriticalPath(
            iteration,
            job["start_ns"],
            job["time_ns"],
            first if first >= 0 else None,
            timed_steps(steps, until),
        )

    def _last(self, iteration: int) -> int:
        """The place of the flow of an iteration that was acknowledged last."""
        places = np.flatnonzero(self._of_iteration == iteration)
        return int(places[self.flows["end_ns"].to_numpy()[places].argmax()])

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        return self.flows["flow"].cast(pl.Int64).to_numpy()

    @cached_property
    def _released_by(self) -> NDArray[np.int64]:
        return self.flows["released_by"].to_numpy()

    @cached_property
    def _of_iteration(self) -> NDArray[np.uint32]:
        return self.flows["iteration"].to_numpy()


def walk_back(
    numbers: NDArray[np.int64],
    released_by: NDArray[np.int64],
    iteration: NDArray[np.uint32],
    last: int,
) -> NDArray[np.int64]:
    """Places of the flows that led to the one in place `last`, the earliest first.

    Parameters
    ----------
    numbers
        Numbers of flows, rising, [flow].
    released_by
        The number of the flow that released each; -1 of one that waited for nothing.
    iteration
        The iteration of each. The walk stays within that of `last`.
    """
    walked, place = [last], last
    while released_by[place] >= 0:
        before = int(np.searchsorted(numbers, released_by[place]))
        is_own = before < numbers.size and numbers[before] == released_by[place]
        if not is_own or iteration[before] != iteration[last]:
            break
        walked.append(before)
        place = before
    return np.array(walked[::-1], dtype=np.int64)


def timed_steps(steps: pl.DataFrame, until: NDArray[np.float64]) -> pl.DataFrame:
    """Steps of a path with their parts.

    Parameters
    ----------
    steps
        Columns `start_ns`, `fct_ns` and `ideal_ns`, and others that stay.
    until
        When each step ends [ns].

    Returns
    -------
    polars.DataFrame
        `steps` with `time_ns`, which is the sum of `alone_ns`, `lost_ns` and `gap_ns`. What a flow
        lost is how much longer it took than alone, until its last acknowledgement.
    """
    time = pl.Series("time_ns", until) - steps["start_ns"]
    busy = pl.min_horizontal("time_ns", "fct_ns")  # null, where it lasts, is not the least
    lost = (pl.col("fct_ns") - pl.col("ideal_ns")).fill_null(pl.col("time_ns") - pl.col("ideal_ns"))
    return (
        steps.with_columns(time.clip(0))
        .with_columns(
            gap_ns=pl.col("time_ns") - busy, lost_ns=pl.min_horizontal(lost.clip(0), busy)
        )
        .with_columns(alone_ns=pl.col("time_ns") - pl.col("gap_ns") - pl.col("lost_ns"))
    )


def job_labels(run: MeasuredRun) -> list[str]:
    """The traffic entries of which an iteration is over, in their order."""
    numbers = run.jobs["label"].unique().sort()
    return [str(run.summary["labels"][number]) for number in numbers]
