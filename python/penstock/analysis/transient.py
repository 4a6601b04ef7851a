"""What happens after a moment: when links carry a rate again, and for how long a link is paused.

Rates come from the sampled series (`measure.series`), pauses from the events (`measure.events`).
All times count from that moment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock.analysis.link import link_between
from penstock.analysis.pause import LASTS, pause_intervals
from penstock.analysis.runs import MeasuredRun

Ends = tuple[int, int]
Floats = NDArray[np.float64]


def carried_rate(
    run: MeasuredRun, links: Sequence[Ends], *, window_ns: float
) -> tuple[Floats, Floats]:
    """Times [ns], and the rate [bit/s] of some links together over the window that follows each.

    All bytes count. Only windows that end within the traffic are given.
    """
    end_ns = float(run.scenario.duration) / 1_000
    total, time = np.zeros(0), np.zeros(0)
    for source, target in links:
        link = link_between(run, source, target)
        rows = run.series.filter((pl.col("link") == link) & (pl.col("time_ns") <= end_ns))
        time = rows["time_ns"].to_numpy()
        sent = rows["tx_bytes"].to_numpy().astype(np.float64)
        total = sent if total.size == 0 else total + sent
    if time.size < 2:
        raise ValueError(f"series: {links} have no samples; list them in measure.series")
    steps = max(round(window_ns / float(time[1] - time[0])), 1)
    rate = (total[steps:] - total[:-steps]) * 8e9 / (time[steps:] - time[:-steps])
    return time[:-steps], rate


@dataclass(frozen=True)
class SteadyRate:
    """A rate that links together carry for a while."""

    window_ns: float
    """Time over which a rate is the mean [ns]."""
    hold_ns: float = 0.0
    """Time in which windows begin whose rates lie within the bounds [ns]."""
    least_bps: float = 0.0
    """Lower bound [bit/s]."""
    most_bps: float = float("inf")
    """Upper bound [bit/s]."""


def time_until(
    run: MeasuredRun, links: Sequence[Ends], wanted: SteadyRate, *, after_ns: float
) -> float:
    """Time [ns] after `after_ns` from which on the links together carry a wanted rate.

    It is the beginning of the first window whose mean lies within the bounds, as do the means of
    all windows that begin while it is to hold; infinite when there is none.
    """
    time, rate = carried_rate(run, links, window_ns=wanted.window_ns)
    inside = (rate >= wanted.least_bps) & (rate <= wanted.most_bps)
    for begin, end in _stretches(inside):
        first = max(begin, int(np.searchsorted(time, after_ns)))
        if first < end and time[end - 1] - time[first] >= wanted.hold_ns:
            return float(time[first]) - after_ns
    return float("inf")


def _stretches(inside: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where a condition holds without a break: first index, and the one after the last."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], inside.astype(np.int8), [0]))))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]


def pauses(
    run: MeasuredRun,
    link: Ends,
    *,
    after_ns: float = 0.0,
    until_ns: float = float("inf"),
) -> pl.DataFrame:
    """Pauses that began to hold a link between two times: begin_ns, end_ns (NaN: it lasts).

    Each queue or class that is paused counts, as in the table of links.
    """
    begin_ns = pl.col("begin_ps") / 1e3
    end_ns = (pl.col("begin_ps") + pl.col("length_ps") - 1) / 1e3
    lasts = pl.col("length_ps") == LASTS
    return (
        pause_intervals(run, [link_between(run, *link)])
        .select(begin_ns=begin_ns, end_ns=pl.when(lasts).then(math.nan).otherwise(end_ns))
        .filter(pl.col("begin_ns") >= after_ns, pl.col("begin_ns") < until_ns)
    )


def pause_episode(
    run: MeasuredRun, links: Sequence[Ends], *, after_ns: float, until_ns: float
) -> float:
    """Time [ns] from the first pause of any of some links between two times to the end of the last.

    A pause that lasts to the end of the run ends there; 0: there is none.
    """
    found = pl.concat(pauses(run, link, after_ns=after_ns, until_ns=until_ns) for link in links)
    if found.is_empty():
        return 0.0
    end = found["end_ns"].fill_nan(float(run.summary["sim_end_ps"]) / 1e3)
    return float(end.to_numpy().max() - found["begin_ns"].to_numpy().min())
