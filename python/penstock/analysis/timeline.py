"""Rates, queues and pauses of named links over time, side by side for several runs.

Rates and queues come from the sampled series (`measure.series`), pauses from the events
(`measure.events`). All are means over windows of one length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock.analysis.link import link_between
from penstock.analysis.runs import MeasuredRun, RunInput, group_runs
from penstock.analysis.transient import Ends, carried_rate, pauses

Floats = NDArray[np.float64]

RATE, ALLOWED = "rate [Gb/s]", "allowed [Gb/s]"
QUEUE, PAUSES = "queue [bytes]", "pauses [1/ms]"
"""The quantities, as the column `panel` names them."""


@dataclass(frozen=True)
class Lines:
    """What is followed: name of a line -> links, and in which windows."""

    window_us: float
    """Length of a window [us], at least the time between two samples."""
    rates: Mapping[str, Sequence[Ends]] = field(default_factory=dict)
    """Links whose rates are added up."""
    allowed: Mapping[str, Ends] = field(default_factory=dict)
    """Links of hosts whose flows' controllers are followed."""
    queues: Mapping[str, Ends] = field(default_factory=dict)
    """Links whose queues are followed."""
    pauses: Mapping[str, Ends] = field(default_factory=dict)
    """Links whose pauses are counted where they take effect."""
    span_us: tuple[float, float] | None = None
    """The part of the time that is followed [us]; all of it by default."""


def timeline(runs: RunInput, lines: Lines) -> pl.DataFrame:
    """Follow links over time in the first run of each name.

    Columns: name, panel (one of the quantities), line, time_us (the middle of a window), value.
    """
    tables = []
    for name, members in group_runs(runs).items():
        for panel, line, time_us, value in _of_run(members[0], lines):
            tables.append(
                pl.DataFrame({"time_us": time_us, "value": value}).select(
                    pl.lit(name).alias("name"),
                    pl.lit(panel).alias("panel"),
                    pl.lit(line).alias("line"),
                    "time_us",
                    "value",
                )
            )
    return pl.concat(tables)


def _of_run(run: MeasuredRun, lines: Lines) -> list[tuple[str, str, Floats, Floats]]:
    """Quantity, line, middles of the windows [us], values."""
    found = []
    for line, links in lines.rates.items():
        time_ns, rate = carried_rate(run, links, window_ns=lines.window_us * 1e3)
        middle = time_ns / 1e3 + lines.window_us / 2
        found.append((RATE, line, middle, rate / 1e9))
    for line, ends in lines.allowed.items():
        time_us, allowed = _means(run, ends, "allowed_bps", lines.window_us)
        found.append((ALLOWED, line, time_us, allowed / 1e9))
    for line, ends in lines.queues.items():
        found.append((QUEUE, line, *_means(run, ends, "queue_bytes", lines.window_us)))
    for line, ends in lines.pauses.items():
        begin_us = pauses(run, ends)["begin_ns"].to_numpy() / 1e3
        end_us = float(run.scenario.duration) / 1e6
        edges = np.arange(0.0, end_us + lines.window_us / 2, lines.window_us)
        count = np.histogram(begin_us, edges)[0] * 1e3 / lines.window_us
        found.append((PAUSES, line, edges[:-1] + lines.window_us / 2, count))
    return [(panel, line, *_cut(time, value, lines)) for panel, line, time, value in found]


def _means(run: MeasuredRun, ends: Ends, column: str, window_us: float) -> tuple[Floats, Floats]:
    """The samples of a column of a link's series, window by window: mean time [us], mean value."""
    rows = run.series.filter(pl.col("link") == link_between(run, *ends))
    time_us = rows["time_ns"].to_numpy() / 1e3
    value = rows[column].to_numpy().astype(np.float64)
    if value.size < 2:
        return time_us, value
    steps = max(round(window_us / float(time_us[1] - time_us[0])), 1)
    whole = value.size // steps * steps
    return (
        time_us[:whole].reshape(-1, steps).mean(axis=1),
        value[:whole].reshape(-1, steps).mean(axis=1),
    )


def _cut(time_us: Floats, value: Floats, lines: Lines) -> tuple[Floats, Floats]:
    """The part of the span, at most one value for each window."""
    begin, end = lines.span_us or (0.0, float("inf"))
    inside = (time_us >= begin) & (time_us <= end)
    time_us, value = time_us[inside], value[inside]
    if time_us.size < 2:
        return time_us, value
    step = max(round(lines.window_us / float(time_us[1] - time_us[0])), 1)
    return time_us[::step], value[::step]
