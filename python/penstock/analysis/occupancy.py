"""How much is stored: switch buffers over time, and flows with packets in a port.

Buffers are sampled (`measure.sample_interval`). Only samples of the traffic period count: in the
drain that follows, buffers empty for want of traffic. Active flows are exact, weighted by the time
for which each number lasted (`measure.active_flows`), over the whole run, drain included: the core
keeps no others. Flows that never finish count here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from penstock.analysis.link import link_between
from penstock.analysis.runs import MeasuredRun, RunInput, group_runs
from penstock.analysis.statistic import curve, percentiles


def buffer_samples(runs: Sequence[MeasuredRun]) -> pl.DataFrame:
    """Samples `time_ns, node, buffer_bytes` of all switches in the traffic period, pooled."""
    return pl.concat(
        [run.buffers.filter(pl.col("time_ns") <= _duration_ns(run)) for run in runs],
        how="vertical_relaxed",
    )


def buffer_cdf(runs: RunInput) -> pl.DataFrame:
    """Distribution of the buffer in use at a switch: name, buffer_bytes, share of samples."""
    return pl.concat(
        curve(name, buffer_samples(members)["buffer_bytes"].to_numpy(), column="buffer_bytes")
        for name, members in group_runs(runs).items()
    )


def buffer_percentiles(
    runs: Sequence[MeasuredRun], fractions: Sequence[float] = (0.5, 0.99, 0.999)
) -> list[float]:
    """Percentiles [bytes] of the buffer in use over time and switches."""
    return percentiles(buffer_samples(runs)["buffer_bytes"].to_numpy(), list(fractions))


def active_flow_times(
    runs: Sequence[MeasuredRun],
    *,
    layers: Sequence[str] | None = None,
    link: tuple[int, int] | None = None,
) -> pl.DataFrame:
    """Time [ns] spent with each number of active flows: flows, time_ns.

    Taken over the links of `layers` or the one link `(from, to)`; by default over all links that
    leave a switch, since hosts keep a queue per flow and do not run short of them. A link that had
    no packet in the whole run has no row in the run's table, and 0 flows all the time.
    """
    parts = []
    for run in runs:
        names = run.summary["layers"]
        if link is not None:
            wanted = [link_between(run, *link)]
        else:
            numbers = [
                number
                for number, name in enumerate(names)
                if (name in layers if layers else not name.startswith("host-"))
            ]
            wanted = run.links.filter(pl.col("layer").is_in(numbers))["link"].to_list()
        own = run.active_flows.filter(pl.col("link").is_in(wanted)).select("flows", "time_ns")
        parts.append(own)
        idle = len(set(wanted) - set(run.active_flows["link"].unique()))
        if idle and run.active_flows.height:  # without rows nothing was recorded
            time = idle * float(run.summary["sim_end_ps"]) / 1_000
            parts.append(pl.DataFrame({"flows": [0], "time_ns": [time]}, schema=own.schema))
    pooled = pl.concat(parts, how="vertical_relaxed")
    return pooled.group_by("flows").agg(pl.col("time_ns").sum()).sort("flows")


def active_flows_cdf(
    runs: RunInput,
    *,
    layers: Sequence[str] | None = None,
    link: tuple[int, int] | None = None,
) -> pl.DataFrame:
    """Distribution over time of the active flows of a port: name, flows, share of time."""
    frames = []
    for name, members in group_runs(runs).items():
        times = active_flow_times(members, layers=layers, link=link)
        frames.append(curve(name, times["flows"], times["time_ns"], column="flows"))
    return pl.concat(frames)


def active_flows_mean(
    runs: Sequence[MeasuredRun],
    *,
    layers: Sequence[str] | None = None,
    link: tuple[int, int] | None = None,
) -> float:
    """Mean number of active flows of a port, over time; NaN where nothing was recorded."""
    times = active_flow_times(runs, layers=layers, link=link)
    if times.is_empty():
        return float("nan")
    weight = times["time_ns"].to_numpy()
    return float(np.average(times["flows"].to_numpy(), weights=weight))


def share_of_time_below(
    runs: Sequence[MeasuredRun],
    flows: int,
    *,
    layers: Sequence[str] | None = None,
    link: tuple[int, int] | None = None,
) -> float:
    """Share of the time (in [0, 1]) in which a port has fewer than `flows` active flows.

    NaN where nothing was recorded.
    """
    times = active_flow_times(runs, layers=layers, link=link)
    if times.is_empty():
        return float("nan")
    weight = times["time_ns"].to_numpy()
    return float(weight[times["flows"].to_numpy() < flows].sum() / weight.sum())


def _duration_ns(run: MeasuredRun) -> float:
    return float(run.scenario.duration) / 1_000  # the scenario counts in picoseconds
