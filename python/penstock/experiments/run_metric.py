"""The metrics of runs, links and ports.

To add a metric, write a function with the decorator :func:`penstock.experiments.metric.metric`,
here or beside what is like it in `flow_metric`, `job_metric`, `queueing` or `transient`. All
experiments, sweeps and searches then know it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock import analysis
from penstock.analysis import MeasuredRun
from penstock.analysis.port import Layers
from penstock.analysis.runs import lazy_table
from penstock.experiments.metric import PERCENTILE, Ends, Meaning, Runs, Value, metric
from penstock.experiments.vocabulary import (
    After,
    Layer,
    Link,
    Links,
    Statistic,
    ends_of,
    layer_number,
    link_row,
    mean,
    statistic_of,
    told_of_all,
)

TOTALS = {
    "events": "",
    "packet_hops": "",
    "flows_started": "",
    "flows_finished": "",
    "drops": "[packets]",
    "lost_packets": "",
    "retransmitted_packets": "",
    "timeouts": "",
    "delivered_bytes": "",
    "pfc_pauses": "[frames]",
    "queue_pauses": "[frames]",
    "timed_pauses": "",
    "credits_sent": "",
    "credits_dropped": "",
    "credits_wasted": "",
}
"""Count of a run's summary that can be added up over seeds -> its unit in brackets; the names of
others tell what is counted."""

AfterSampled = Annotated[
    float, Meaning("only what happens from this time of the run on [us]", needs="series")
]


@metric("(share of time)", most=1.0)
def busy(runs: Runs, *, link: Link, after: AfterSampled | None = None) -> Value:
    """Share of time a link is busy: of the whole run, or sampled from `after` [us] on.

    Of the whole run with its drain; with `after` until the end of the traffic.
    """
    if after is None:
        return mean(
            link_row(run, link)["busy_ns"] / (run.summary["sim_end_ps"] / 1e3) for run in runs
        )
    return mean(_window(run, link, after)["utilization"] for run in runs)


@metric("[bytes]", needs="series")
def queue(
    runs: Runs,
    *,
    link: Link,
    after: After = 0.0,
    statistic: Annotated[str, told_of_all("mean", "max")] = "mean",
) -> Value:
    """Bytes queued for a link, mean or max of the samples from `after` [us] on.

    The samples of the traffic's time; mean over seeds.
    """
    key = "queue_bytes_max" if statistic == "max" else "queue_bytes"
    return mean(_window(run, link, after)[key] for run in runs)


@metric("[bytes]")
def buffer(runs: Runs, *, statistic: Statistic = "p99") -> Value:
    """Buffer in use at a switch [bytes], over time and switches.

    The samples of the traffic's time, those of all seeds together.
    """
    samples = analysis.occupancy.buffer_samples(runs)
    return statistic_of(samples["buffer_bytes"].to_numpy().astype(np.float64), statistic)


@metric("[flows]", needs="active_flows")
def active_flows(
    runs: Runs, *, link: Link, statistic: Annotated[str, told_of_all("mean", PERCENTILE)] = "mean"
) -> Value:
    """Active flows of a link over time: mean, or a percentile such as p99.

    Over the whole run, drain included.
    """
    ends = ends_of(runs[0], link)
    if statistic == "mean":
        return analysis.active_flows_mean(runs, link=ends)
    times = analysis.occupancy.active_flow_times(runs, link=ends)
    if times.is_empty():  # nothing was recorded
        return float("nan")
    distinct, share = analysis.statistic.cumulative(times["flows"], times["time_ns"])
    digits = statistic.removeprefix("p")
    place = int(np.searchsorted(share, int(digits) / 10 ** len(digits)))
    return float(distinct[min(place, distinct.size - 1)])


@metric("(share of time)", most=1.0, needs="active_flows")
def time_below(
    runs: Runs, *, flows: Annotated[int, Meaning("a number of flows")], link: Link | None = None
) -> Value:
    """Share of time in which switch ports, or one link, have fewer than `flows` active flows.

    Over the whole run, drain included, and over all links that leave a switch, idle ones included.
    """
    ends = None if link is None else ends_of(runs[0], link)
    return analysis.share_of_time_below(runs, flows, link=ends)


@metric("[µs]", needs="queue_delays")
def core_delay(
    runs: Runs,
    *,
    layer: Layer,
    scheduled: Annotated[bool, Meaning("packets that Homa has granted, or all others")] = False,
    statistic: Annotated[str, told_of_all("mean", "p50", "p95", "p99")] = "p99",
) -> Value:
    """Waiting of a data packet at a link of a layer [us], mean over seeds: mean, p50, p95 or p99.

    With `scheduled` of Homa's granted packets alone. The scenario has to measure queue_delays.
    """
    values = []
    for run in runs:
        number = layer_number(run, layer)
        rows = run.queue_delays.filter(
            (pl.col("layer") == number) & (pl.col("scheduled") == scheduled)
        )
        values.append(rows[f"{statistic}_ns"].item() / 1e3 if rows.height else float("nan"))
    return mean(values)


@metric("(share of time)", most=1.0)
def pause_time(runs: Runs, *, layer: Layer | None = None) -> Value:
    """Share of time links are paused by PFC, mean over classes and links, of a layer or of all."""
    return _layer_mean(runs, "port_paused", layer)


@metric("[1/ms]")
def pause_rate(
    runs: Runs,
    *,
    by: Annotated[str, Meaning("only pauses that nodes send whose names begin with this")] = "",
    link: Link | None = None,
    traffic_class: Annotated[
        int, Meaning("only pauses of this traffic class, 0 to 7", needs="events")
    ]
    | None = None,
) -> Value:
    """PFC pauses per ms of traffic, mean over seeds.

    Of one link, or of all, sent by nodes whose names begin with `by`.

    Those of the drain count as well: a run ends with its last flow, so that a rate over the whole
    run would be held against a scheme whose flows finish soon. Of one class they are counted in the
    events, which the scenario has to measure: every frame that is sent, those included that refresh
    a timed pause. Of all classes together the pauses count that took effect.
    """
    counts = [_pauses(run, by, link, traffic_class) for run in runs]
    durations = [float(run.scenario.duration) / 1e9 for run in runs]
    return mean(count / span for count, span in zip(counts, durations, strict=True))


def _pauses(run: MeasuredRun, by: str, link: Ends | None, traffic_class: int | None) -> int:
    names = run.summary["node_names"]
    senders = [node for node, name in enumerate(names) if name.startswith(by)]
    # A link's pauses are those that its far end has sent.
    paused = run.links.filter(run.links["to"].is_in(senders))
    if link is not None:
        paused = paused.filter(paused["link"] == link_row(run, link)["link"])
    if traffic_class is None:
        return int(paused["port_pauses"].sum())
    # The event names the link from its sender to the neighbour, whose other direction is paused.
    ends = paused.select(pl.col("to").alias("from"), pl.col("from").alias("to"))
    back = run.links.join(ends, on=["from", "to"], how="semi")["link"]
    events = run.events
    sent = (events["event"] == "pause_sent") & (events["queue"] == traffic_class)
    return events.filter(sent & events["link"].is_in(back.implode())).height


@metric("[1/s]")
def completion_rate(runs: Runs) -> Value:
    """Flows that finished before the traffic ended, per second, mean over seeds."""
    spans = [float(run.scenario.duration) / 1e12 for run in runs]
    return mean((_ends(run) <= span).sum() / span for run, span in zip(runs, spans, strict=True))


@metric("[1/s]")
def completion_rate_to_the_last(runs: Runs) -> Value:
    """Flows that finished, per second until the last of them had finished, mean over seeds."""
    ends = [_ends(run) for run in runs]
    return mean(found.size / found.max() if found.size else 0.0 for found in ends)


def _ends(run: MeasuredRun) -> NDArray[np.float64]:
    """When the flows that finished had finished [s]."""
    end_ns = pl.col("start_ns") + pl.col("fct_ns")
    flows = lazy_table(run, "flows").filter("finished").select(end_ns).collect()
    return flows.to_series().to_numpy() / 1e9


@metric("(share of runs)", most=1.0, is_pooled=True)
def deadlocked(
    runs: Runs,
    *,
    before: Annotated[
        float, Meaning("only what happens before this time of the run [us]")
    ] = math.inf,
) -> Value:
    """Share of the runs that a deadlock ended, `before` a time [us]."""
    found = (run.summary["deadlock"] for run in runs)
    return mean(one is not None and one["time_ps"] / 1e6 < before for one in found)


@metric("[µs]")
def link_pause(
    runs: Runs,
    *,
    links: Links | None = None,
    statistic: Annotated[str, told_of_all("mean", "min", "max")] = "mean",
) -> Value:
    """Time in which the data of links is paused [us]: mean, min or max of them, mean over seeds.

    Of all links unless some are named.
    """
    of: dict[str, Callable[[list[float]], float]] = {"mean": mean, "min": min, "max": max}
    return mean(of[statistic]([one / 1e3 for one in _port_pauses(run, links)]) for run in runs)


def _port_pauses(run: MeasuredRun, links: Links | None) -> list[float]:
    """The time in which PFC or FAFC paused some links, or all [ns]."""
    if links is None:
        return run.links["port_pause_ns"].to_list()
    return [link_row(run, ends)["port_pause_ns"] for ends in links]


@metric("(share of time)", most=1.0)
def utilization(runs: Runs, *, layer: Layer | None = None, link: Link | None = None) -> Value:
    """Share of the traffic's time that one link is busy, or links are: of a layer, or of all."""
    if link is None:
        return _layer_mean(runs, "utilization", layer)
    return mean(_utilization_of(run, link) for run in runs)


def _utilization_of(run: MeasuredRun, link: Ends) -> float:
    number = analysis.link_between(run, *ends_of(run, link))
    shares = analysis.link_shares(run)
    return float(shares.filter(shares["link"] == number)["utilization"].item())


@metric("(share of active flows)", most=1.0, needs="active_flows")
def flows_above(
    runs: Runs,
    *,
    packets: Annotated[int, Meaning("a number of packets")],
    layer: Annotated[
        Layers, Meaning("only links of this layer, such as 'host-ToR', or of a list of layers")
    ] = None,
) -> Value:
    """Share of the active flows at samples with more than `packets` packets at a port (AFQ 6.2.3).

    At the links of a layer, of several, or of all.
    """
    table = pl.concat(analysis.flow_packets(run, layer) for run in runs)
    if table.is_empty():
        return float("nan")
    return float(np.average(table["packets"].to_numpy() > packets, weights=table["flows"]))


@metric("(share of packets)", most=1.0)
def misestimated(runs: Runs) -> Value:
    """Share of the queued packets that AFQ's sketch put into a later round than a perfect table."""
    links = pl.concat(run.links for run in runs)
    return float(links["misestimates"].to_numpy().sum() / links["assignments"].to_numpy().sum())


@metric("")
def total(
    runs: Runs, *, of: Annotated[str, Meaning("a count of the summary", tuple(TOTALS))]
) -> Value:
    """Sum over seeds of a count of the summary: drops, pfc_pauses, queue_pauses …"""
    return float(sum(float(run.summary[of]) for run in runs))


@metric("(share of packets)", most=1.0)
def drop_share(runs: Runs) -> Value:
    """Share of the data packets that were dropped on their way, of all that ended it.

    Dropped by switches; the others arrived at their hosts. Packets lost with a failed link, and
    those still on their way at the end of the run, are neither.
    """
    drops = sum(int(run.summary["drops"]) for run in runs)
    arrived = sum(
        int(delay["count"]) for run in runs for delay in run.summary["queue_delay_ns"].values()
    )
    return drops / max(drops + arrived, 1)


@metric("(share of credits)", most=1.0)
def wasted_credits(runs: Runs) -> Value:
    """Share of the credits sent that came to a sender with nothing to send (ExpressPass)."""
    sent = sum(run.summary["credits_sent"] for run in runs)
    return float(sum(run.summary["credits_wasted"] for run in runs) / max(sent, 1))


@metric("(share of flows)", most=1.0)
def unfinished(runs: Runs) -> Value:
    """Share of the started flows that did not finish.

    Endless flows, which never do, are left out.
    """
    is_endless = pl.col("ideal_fct_ns").is_null()
    endless = sum(
        lazy_table(run, "flows").select(is_endless.sum()).collect().item() for run in runs
    )
    started = sum(run.summary["flows_started"] for run in runs) - endless
    finished = sum(run.summary["flows_finished"] for run in runs)
    return float(1.0 - finished / max(started, 1))


@metric("(1: yes, 0: no)", most=1.0)
def is_unstable(runs: Runs) -> Value:
    """1 when the backlog grows beyond what chance explains, else 0 (docs/measurements.md)."""
    found = analysis.measure_backlog(runs)
    return float(found.is_unstable) if found else float("nan")


@metric("(share of what arrives)", least=-math.inf)
def backlog_growth(runs: Runs) -> Value:
    """Growth of the backlog over the last two thirds of the traffic, over what arrives then."""
    found = analysis.measure_backlog(runs)
    return found.growth if found else float("nan")


def _window(run: MeasuredRun, ends: Ends, after: float) -> dict[str, float]:
    return analysis.link_window(run, *ends_of(run, ends), after_ns=after * 1e3)


def _layer_mean(runs: Runs, column: str, layer: str | None) -> float:
    table = analysis.layer_summary({"": list(runs)})
    if layer is not None:
        layer_number(runs[0], layer)
        table = table.filter(table["layer"] == layer)
    return float(np.average(table[column].to_numpy(), weights=table["links"].to_numpy()))
