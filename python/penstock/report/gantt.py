"""A Gantt chart of an iteration: when the messages of which rank were under way.

What it is: bars for a few ranks, as a table. What it is not: all ranks of a large job; those of the
critical paths come first, then the last and the first to end. Invariant: the bars of all schemes
of a page together are :data:`BARS_MAX` at most, or one for each rank that is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import polars as pl

from penstock.analysis.job import CriticalPath, Job
from penstock.readable import time_text

BARS_MAX = 2_000
"""Bars of all schemes together (our choice: 150 kB of the page)."""
RANKS_MAX = 12
"""Ranks that are shown (our choice: rows of a panel)."""
COLUMNS = ("rank", "path", "begin_us", "end_us", "message")
"""What a bar has, beside the name of its job."""


Drawn = tuple[str, Job, CriticalPath]
"""What a job is called, its flows, and the critical path of the iteration that is drawn."""


@dataclass(frozen=True)
class Gantt:
    """The bars of one or several jobs."""

    table: pl.DataFrame
    """Columns: `name`, `rank` ("rank 3"), `path` (whether a message of the critical path is in the
    bar), `begin_us`, `end_us` (since the iteration began), `message` (what the bar is)."""
    ranks: int
    """How many ranks the largest job has."""
    shown: list[int]
    """The ranks that are in the table, the same of all jobs."""
    left_out: int
    """Ranks of a critical path that are not in the table, of all jobs."""
    is_merged: bool
    """Whether a bar may be several messages."""


def gantt(jobs: Sequence[Drawn]) -> Gantt:
    """The bars of an iteration of each job."""
    paths = [_worst_first(path.steps) for _, _, path in jobs]
    orders = [
        _last_first(job.rank_ends.filter(pl.col("iteration") == path.iteration))
        for _, job, path in jobs
    ]
    shown = chosen_ranks(paths, orders)
    bars = max(BARS_MAX // (len(jobs) * len(shown)), 1)
    tables, counts = [], []
    for name, job, path in jobs:
        messages = (
            job.flows.filter((pl.col("iteration") == path.iteration) & pl.col("rank").is_in(shown))
            .sort("rank", "start_ns", "flow")
            .with_columns(is_critical=pl.col("flow").is_in(path.steps["flow"].implode()))
            .with_columns(place=pl.int_range(pl.len()).over("rank"), count=pl.len().over("rank"))
        )
        counts.append(int(messages["count"].to_numpy().max(initial=0)))
        bar = merged(messages, bars, path.start_ns)
        named = bar.select(pl.lit(name).alias("name"), *COLUMNS)
        tables.append(named)
    left_out = len({rank for path in paths for rank in path} - {*shown})
    is_merged = max(counts) > bars
    return Gantt(pl.concat(tables), max(map(len, orders)), shown, left_out, is_merged)


def chosen_ranks(paths: Sequence[Sequence[int]], orders: Sequence[Sequence[int]]) -> list[int]:
    """The ranks that are shown, :data:`RANKS_MAX` at most, in the order of their numbers.

    Parameters
    ----------
    paths
        Of each job the ranks of its critical path, the most telling first. All of them come before
        any other rank; the jobs take turns.
    orders
        Of each job its ranks, the most telling first.
    """
    turns = (rank for ranks in (paths, orders) for turn in zip_longest(*ranks) for rank in turn)
    chosen = dict.fromkeys(rank for rank in turns if rank is not None)
    return sorted(list(chosen)[:RANKS_MAX])


def _worst_first(steps: pl.DataFrame) -> list[int]:
    """The ranks of a critical path, the one that lost most on it first."""
    lost = steps.group_by("rank").agg(pl.col("lost_ns").sum())
    return lost.sort("lost_ns", "rank", descending=[True, False])["rank"].to_list()


def _last_first(ends: pl.DataFrame) -> list[int]:
    """All ranks: the last to end, the first, and others from the end."""
    order = ends.sort("end_ns", "rank")["rank"].to_list()
    return list(dict.fromkeys([order[-1], order[0], *order[::-1]]))


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
    lost = (pl.col("fct_ns") - pl.col("ideal_ns")).clip(0).fill_null(0)
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
