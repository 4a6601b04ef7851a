"""Requests of closed loops: how long they took, and where the slow ones lost time.

What it is: the table `requests` beside the summary's rates. What it is not: a load. A client asks
again when it has its answer, so a slow network gets fewer requests: read rate and latency together.
Invariant: the latency of a request is the sum of its two steps, the question that led to the answer
which came last, and this answer.
"""

from __future__ import annotations

import polars as pl

from penstock.analysis.job import parts_of_steps, timed_steps
from penstock.analysis.runs import MeasuredRun, label_number, lazy_table
from penstock.analysis.statistic import percentiles

SLOW = 0.99
"""From this share of the sorted latencies on, a request is slow."""
SLOW_MAX = 200
"""Slow requests that are looked at one by one (our choice: a tenth of a second)."""
PERCENTILES = (0.5, 0.99, 0.999)
"""Latencies that are shown."""


def request_latencies(run: MeasuredRun, label: str) -> list[float]:
    """The :data:`PERCENTILES` of the latencies of an entry's requests [ns]."""
    return percentiles(_of_label(run, label)["latency_ps"].to_numpy() / 1e3, [*PERCENTILES])


def slow_requests(run: MeasuredRun, label: str) -> pl.DataFrame:
    """The slowest hundredth of an entry's requests, the slowest first; :data:`SLOW_MAX` at most."""
    every = _of_label(run, label)
    count = min(max(every.height - int(SLOW * every.height), 1), SLOW_MAX)
    return every.sort("latency_ps", "flow", descending=[True, False]).head(count)


def time_by_part(run: MeasuredRun, label: str) -> dict[str, float]:
    """Where the slow requests of an entry spent their time, by part of
    :data:`penstock.analysis.job.PARTS` [ns].

    The mean of a request, whose sum is the mean latency of the slow requests.
    """
    slow = slow_requests(run, label)
    waited = run.dependents.filter(pl.col("flow").is_in(slow["slowest_flow"].implode()))
    released = waited.select(
        slowest_flow="flow", asked_by="released_by", answered=pl.col("start_ps") / 1e3
    )
    joined = slow.join(released, on="slowest_flow").with_columns(
        asked=pl.col("start_ps") / 1e3, ended=pl.col("end_ps") / 1e3
    )
    steps = pl.concat(
        [
            joined.select(flow="asked_by", until="answered"),
            joined.select(flow="slowest_flow", until="ended"),
        ]
    )
    flows = lazy_table(run, "flows").select("flow", "start_ns", "fct_ns", ideal_ns="ideal_fct_ns")
    found = steps.join(flows.collect(), on="flow")
    parts = parts_of_steps(run, timed_steps(found, found["until"].to_numpy()))
    return {part: time / slow.height for part, time in parts.items()}


def request_labels(run: MeasuredRun) -> list[str]:
    """The traffic entries of which a request was answered, in their order."""
    numbers = run.requests["label"].unique().sort()
    return [str(run.summary["labels"][number]) for number in numbers]


def _of_label(run: MeasuredRun, label: str) -> pl.DataFrame:
    number = label_number(run, label)
    return run.requests.filter(pl.col("label") == number)
