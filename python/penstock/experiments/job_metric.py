"""The metrics of applications: iterations of collectives, requests."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock.analysis import MeasuredRun
from penstock.experiments.metric import Runs, Value, metric
from penstock.experiments.vocabulary import Label, Statistic, mean, statistic_of

OF_JOBS = ("collective", "trace", "listed")
"""The kinds of traffic that have iterations."""


@metric("[µs]", kinds=OF_JOBS)
def iteration_time(
    runs: Runs, *, label: Label = "collective", statistic: Statistic = "mean"
) -> Value:
    """Time [us] of the iterations of a collective.

    NaN when an iteration of it did not end: then the time is not known.
    """
    if any(_is_cut(run, label) for run in runs):
        return float("nan")
    return statistic_of(_of(runs, "jobs", label, "time_ps") / 1e6, statistic)


@metric("[Gb/s]", kinds=OF_JOBS, is_of_finished=True)
def bus_bandwidth(
    runs: Runs, *, label: Label = "collective", statistic: Statistic = "mean"
) -> Value:
    """Bandwidth [Gb/s] of the bus, as NCCL's tests define it, of the iterations of a collective."""
    return statistic_of(_of(runs, "jobs", label, "bus_bandwidth_bps") / 1e9, statistic)


@metric("[µs]", kinds=("rpc",), is_of_finished=True)
def request_latency(runs: Runs, *, label: Label = "rpc", statistic: Statistic = "p99") -> Value:
    """Time [us] from a question to its last answer; only of requests that were answered."""
    return statistic_of(_of(runs, "requests", label, "latency_ps") / 1e6, statistic)


@metric("[1/s]", kinds=("rpc",))
def request_rate(runs: Runs, *, label: Label = "rpc") -> Value:
    """Requests that were answered within the scenario's duration, in a second, mean of the runs."""
    durations = [float(run.scenario.duration) for run in runs]
    ends = [_of([run], "requests", label, "end_ps") for run in runs]
    return mean(
        float((end <= duration).sum()) / (duration / 1e12)
        for end, duration in zip(ends, durations, strict=True)
    )


def _is_cut(run: MeasuredRun, label: str) -> bool:
    jobs = run.summary.get("applications", {}).get("jobs", {})
    if label not in jobs:
        raise ValueError(f"no job is called {label!r}; jobs: {', '.join(jobs) or 'none'}")
    return bool(jobs[label]["finished"] < jobs[label]["iterations"])


def _of(runs: Runs, table: str, label: str, column: str) -> NDArray[np.float64]:
    """A column of the rows with a label, of all runs."""
    parts = []
    for run in runs:
        labels = run.summary["labels"]
        if label not in labels:
            raise ValueError(f"no traffic is called {label!r}; labels: {', '.join(labels)}")
        rows: pl.DataFrame = getattr(run, table)
        of_label = rows.filter(pl.col("label") == labels.index(label))
        parts.append(of_label[column].to_numpy())
    return np.concatenate(parts).astype(np.float64)
