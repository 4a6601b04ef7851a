"""A Gantt chart of an iteration: when the messages of which rank were under way.

What it is: bars for a few ranks, as a table. What it is not: all ranks of a large job; those are
shown that decided the time, and the first and the last to end. Invariant: the bars of all schemes
of a page together are :data:`BARS_MAX` at most, or one for each rank that is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from penstock.analysis.job import CriticalPath, Job
from penstock.readable import time_text

BARS_MAX = 2_000
"""Bars of all schemes together (our choice: 150 kB of the page)."""
RANKS_MAX = 12
"""Ranks of a scheme that are shown (our choice: rows of a screen)."""


@dataclass(frozen=True)
class Gantt:
    """The bars of one job."""

    table: pl.DataFrame
    """Columns: `name`, `rank` ("rank 3"), `path` (whether a message of the critical path is in the
    bar), `begin_us`, `end_us` (since the iteration began), `message` (what the bar is)."""
    ranks: int
    """How many ranks the job has."""
    shown: int
    """How many of them are in the table."""
    is_merged: bool
    """Whether a bar may be several messages."""


def gantt(name: str, job: Job, path: CriticalPath, jobs: int) -> Gantt:
    """The bars of an iteration.

    Parameters
    ----------
    name
        What the job is called.
    path
        The critical path of the iteration.
    jobs
        How many jobs share :data:`BARS_MAX`.
    """
    ends = job.rank_ends.filter(pl.col("iteration") == path.iteration)
    own = job.flows.filter(pl.col("iteration") == path.iteration)
    chosen = chosen_ranks(path.steps, ends)
    bars = max(BARS_MAX // (jobs * len(chosen)), 1)
    messages = (
        own.filter(pl.col("rank").is_in(chosen))
        .sort("rank", "start_ns", "flow")
        .with_columns(is_critical=pl.col("flow").is_in(path.steps["flow"].implode()))
        .with_columns(place=pl.int_range(pl.len()).over("rank"), count=pl.len().over("rank"))
    )
    most = int(messages["count"].to_numpy().max())
    table = merged(messages, bars, path.start_ns).select(
        pl.lit(name).alias("name"), "rank", "path", "begin_us", "end_us", "message"
    )
    return Gantt(table, own["rank"].n_unique(), len(chosen), most > bars)


def chosen_ranks(steps: pl.DataFrame, ends: pl.DataFrame) -> list[int]:
    """The ranks to show: first and last to end, then those that lost most on the critical path."""
    order = ends.sort("end_ns", "rank")["rank"].to_list()
    lost = steps.group_by("rank").agg(pl.col("lost_ns").sum())
    worst = lost.sort("lost_ns", "rank", descending=[True, False])["rank"].to_list()
    wanted = dict.fromkeys([order[-1], order[0], *worst, *order[::-1]])
    return sorted(list(wanted)[:RANKS_MAX])


def merged(messages: pl.DataFrame, bars: int, origin_ns: float) -> pl.DataFrame:
    """At most `bars` bars for each rank; messages that follow each other become one.

    Parameters
    ----------
    messages
        Columns `rank`, `flow`, `src`, `dst`, `step`, `start_ns`, `end_ns`, `fct_ns`, `ideal_ns`,
        `is_critical`; `place` within the `count` messages of the rank. By rank and start.
    origin_ns
        When the time of the chart begins.
    """
    size = (pl.col("count") + bars - 1) // bars
    lost = (pl.col("fct_ns") - pl.col("ideal_ns")).clip(0).fill_nan(0)
    found = (
        messages.with_columns(bar=pl.col("place") // size, lost_ns=lost)
        .group_by("rank", "bar", maintain_order=True)
        .agg(
            pl.col("flow", "src", "dst", "step").first(),
            pl.len(),
            begin_us=(pl.col("start_ns").min() - origin_ns) / 1e3,
            end_us=(pl.col("end_ns").max() - origin_ns) / 1e3,
            last_step=pl.col("step").last(),
            lost_ns=pl.col("lost_ns").sum(),
            is_critical=pl.col("is_critical").any(),
        )
    )
    words = [_message(row) for row in found.iter_rows(named=True)]
    path = np.where(found["is_critical"], "critical path", "other messages")
    return found.with_columns(
        pl.Series("message", words, pl.String),
        pl.Series("path", path),
        rank="rank " + pl.col("rank").cast(pl.String),
    )


def _message(row: dict[str, float]) -> str:
    lost = f"lost {time_text(row['lost_ns'])}"
    if row["len"] == 1:
        return f"step {row['step']}, flow {row['flow']} to H{row['dst']}, {lost}"
    return f"steps {row['step']} to {row['last_step']}, {row['len']:,} messages, {lost}"
