"""The vocabulary of claims: functions from the selected runs to a number.

Each takes the runs that the selectors of its call leave (pooled over seeds) and its own
parameters. Times are in microseconds, sizes in bytes, shares in [0, 1]. To add one, write it here
with its unit; it is then known to all experiments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock import analysis
from penstock.analysis import MeasuredRun
from penstock.analysis.slowdown import bin_edges
from penstock.scenario.host import TIMED_CONTROLLERS

Runs = Sequence[MeasuredRun]
Value = float | NDArray[np.float64]
Metric = Callable[..., Value]

METRICS: dict[str, Metric] = {}
"""All metrics by the name under which expressions call them."""


def metric(function: Metric) -> Metric:
    """Make a function of runs callable from expressions."""
    METRICS[function.__name__] = function
    return function


def _statistic(values: NDArray[np.float64], name: str) -> float:
    """Mean, deviation (population), count, or a percentile written p50, p99, p999."""
    if name == "count":
        return float(values.size)
    if values.size == 0:
        return float("nan")
    if name == "mean":
        return float(values.mean())
    if name == "deviation":
        return float(values.std())
    digits = name.removeprefix("p")
    return analysis.percentile(values, int(digits) / 10 ** len(digits))


@metric
def slowdown(
    runs: Runs,
    *,
    statistic: str = "p99",
    size_min: int = 0,
    size_max: int | None = None,
    label: str | None = None,
) -> Value:
    """Slowdown of the flows of a size range; by default of all but incasts."""
    flows = analysis.selected_flows(
        runs, labels=_labels(label), size_min=size_min, size_max=size_max
    )
    return _statistic(flows["slowdown"].to_numpy(), statistic)


@metric
def slowdown_by_bin(
    runs: Runs,
    *,
    statistic: str = "p99",
    bins: str = "google",
    flows_min: int = 500,
    label: str | None = None,
) -> Value:
    """Slowdown per size bin, one value per bin; NaN in a bin with fewer than `flows_min` flows."""
    edges = bin_edges(bins)
    table = analysis.slowdown_by_size({"": list(runs)}, bins=bins, labels=_labels(label))
    values = np.full(len(edges) + 1, np.nan)
    for row in table.iter_rows(named=True):
        if row["flows"] >= flows_min:
            values[int(np.searchsorted(edges, row["size_from"], side="right"))] = row[statistic]
    return values


@metric
def fct(
    runs: Runs,
    *,
    statistic: str = "mean",
    size_min: int = 0,
    size_max: int | None = None,
    label: str | None = None,
) -> Value:
    """Flow completion time [us]."""
    flows = analysis.selected_flows(
        runs, labels=_labels(label), size_min=size_min, size_max=size_max
    )
    return _statistic(flows["fct_ns"].to_numpy() / 1e3, statistic)


@metric
def normalized_fct(
    runs: Runs,
    *,
    statistic: str = "mean",
    size_min: int = 0,
    size_max: int | None = None,
    label: str | None = None,
) -> Value:
    """Flow completion time over the mean one of the same flows in an idle network (AFQ 6.2.3)."""
    flows = analysis.selected_flows(
        runs, labels=_labels(label), size_min=size_min, size_max=size_max
    )
    return _statistic(flows["fct_ns"].to_numpy(), statistic) / float(
        flows["ideal_fct_ns"].to_numpy().mean()
    )


@metric
def incast_time(runs: Runs, *, label: str = "incast") -> Value:
    """Time [us] from the start of an incast to the end of its last flow, mean over incasts.

    NaN when a flow did not finish: then the time is not known.
    """
    flows = pl.concat(
        analysis.selected_flows([run], labels=[label], finished=False).with_columns(
            run=pl.lit(number), fct_ns=pl.when("finished").then("fct_ns").otherwise(float("nan"))
        )
        for number, run in enumerate(runs)
    )
    last = flows.group_by("run", "start_ns").agg(pl.col("fct_ns").max(), pl.col("finished").all())
    if not last["finished"].all():
        return float("nan")
    return _mean(last["fct_ns"].to_numpy() / 1e3)


@metric
def delay(
    runs: Runs, *, statistic: str = "p99", size_max: int | None = None, label: str | None = None
) -> Value:
    """Completion time beyond that of the flow alone [us]: for one-packet flows, their queueing."""
    flows = analysis.selected_flows(runs, labels=_labels(label), size_max=size_max)
    beyond = flows["fct_ns"].to_numpy() - flows["ideal_fct_ns"].to_numpy()
    return _statistic(beyond / 1e3, statistic)


@metric
def packet_delay(runs: Runs, *, label: str, statistic: str = "p99") -> Value:
    """Queueing of data packets of a label at all switches of their path [us], mean over seeds."""
    return _mean(run.summary["queue_delay_ns"][label][statistic] / 1e3 for run in runs)


@metric
def long_flow_share(runs: Runs, *, link: Sequence[int], count: str = "wire") -> Value:
    """Share of a link's rate that endless flows get; headers included unless `count` is payload."""
    return _mean(_long_flow_rate(run, count) / _link(run, link)["rate_bps"] for run in runs)


@metric
def left_over_share(runs: Runs, *, link: Sequence[int], label: str) -> Value:
    """What endless flows get of the capacity that the flows of `label` leave on a link.

    Both are counted in payload, and what `label` offers is what it really delivered in these runs:
    a heavy-tailed load differs from its nominal value for a long time.
    """
    shares = []
    for run in runs:
        wire = run.scenario.wire
        span_ns = run.summary["sim_end_ps"] / 1e3
        number = run.summary["labels"].index(label)
        flows = run.flows.filter(run.flows["label"] == number)
        offered = float(flows["delivered_bytes"].sum()) * 8e9 / span_ns
        packet = wire.payload / (wire.payload + wire.header)
        capacity = _link(run, link)["rate_bps"] * packet
        shares.append(_long_flow_rate(run, "payload") / (capacity - offered))
    return float(np.mean(shares))


def _long_flow_rate(run: MeasuredRun, count: str) -> float:
    goodput = float(analysis.long_lived([run])["goodput_bps"].sum())
    if count == "payload":
        return goodput
    wire, scheme = run.scenario.wire, run.scenario.scheme
    telemetry = int(wire.telemetry) if scheme.switch.marking.kind == "telemetry" else 0
    is_timed = isinstance(scheme.host.controller, TIMED_CONTROLLERS)
    timestamp = int(wire.timestamp) if is_timed else 0
    payload = int(wire.payload)
    return goodput * (payload + int(wire.header) + telemetry + timestamp) / payload


@metric
def fairness(runs: Runs, *, label: str | None = None) -> Value:
    """Jain's index over the goodputs of a run's flows, mean over seeds.

    By default of the endless flows; with a label of all its flows, each from its start to its end
    or to that of the run.
    """
    return _mean(analysis.jain_index(_goodputs(run, label)) for run in runs)


def _goodputs(run: MeasuredRun, label: str | None) -> NDArray[np.float64]:
    if label is None:
        return analysis.long_lived([run])["goodput_bps"].to_numpy()
    flows = analysis.selected_flows([run], labels=[label], finished=False)
    left = run.summary["sim_end_ps"] / 1e3 - flows["start_ns"].to_numpy()
    time = np.where(flows["finished"].to_numpy(), flows["fct_ns"].to_numpy(), left)
    return flows["delivered_bytes"].to_numpy() * 8e9 / np.maximum(time, 1.0)


@metric
def busy(runs: Runs, *, link: Sequence[int], after: float | None = None) -> Value:
    """Share of time a link is busy: of the whole run, or sampled from `after` [us] on."""
    if after is None:
        return _mean(
            _link(run, link)["busy_ns"] / (run.summary["sim_end_ps"] / 1e3) for run in runs
        )
    return _mean(_window(run, link, after)["utilization"] for run in runs)


@metric
def queue(runs: Runs, *, link: Sequence[int], after: float = 0.0, statistic: str = "mean") -> Value:
    """Bytes queued for a link, mean or max of the samples from `after` [us] on."""
    key = "queue_bytes_max" if statistic == "max" else "queue_bytes"
    return _mean(_window(run, link, after)[key] for run in runs)


@metric
def buffer(runs: Runs, *, statistic: str = "p99") -> Value:
    """Buffer in use at a switch [bytes], over time and switches."""
    samples = analysis.occupancy.buffer_samples(runs)
    return _statistic(samples["buffer_bytes"].to_numpy().astype(np.float64), statistic)


@metric
def active_flows(runs: Runs, *, link: Sequence[int], statistic: str = "mean") -> Value:
    """Active flows of a link over time: mean, or a percentile such as p99."""
    ends = (int(link[0]), int(link[1]))
    if statistic == "mean":
        return analysis.active_flows_mean(runs, link=ends)
    times = analysis.occupancy.active_flow_times(runs, link=ends)
    distinct, share = analysis.statistic.cumulative(times["flows"], times["time_ns"])
    digits = statistic.removeprefix("p")
    place = int(np.searchsorted(share, int(digits) / 10 ** len(digits)))
    return float(distinct[min(place, distinct.size - 1)])


@metric
def time_below(runs: Runs, *, flows: int, link: Sequence[int] | None = None) -> Value:
    """Share of time in which switch ports, or one link, have fewer than `flows` active flows."""
    ends = None if link is None else (int(link[0]), int(link[1]))
    return analysis.share_of_time_below(runs, flows, link=ends)


@metric
def pause_time(runs: Runs, *, layer: str | None = None) -> Value:
    """Share of time links are paused by PFC, mean over the links of a layer or of all."""
    return _layer_mean(runs, "port_paused", layer)


@metric
def pause_rate(
    runs: Runs,
    *,
    by: str = "",
    link: Sequence[int] | None = None,
    traffic_class: int | None = None,
) -> Value:
    """PFC pauses per ms of traffic, mean over seeds.

    Of one link, or of all, sent by nodes whose names begin with `by`.

    Those of the drain count as well: a run ends with its last flow, so that a rate over the whole
    run would be held against a scheme whose flows finish soon. Of one class they are counted in the
    events, which the scenario has to measure.
    """
    if link is not None:
        counts = [int(_link(run, link)["port_pauses"]) for run in runs]
    else:
        counts = [_pauses(run, by, traffic_class) for run in runs]
    durations = [float(run.scenario.duration) / 1e9 for run in runs]
    return _mean(count / span for count, span in zip(counts, durations, strict=True))


def _pauses(run: MeasuredRun, by: str, traffic_class: int | None) -> int:
    names = run.summary["node_names"]
    senders = [node for node, name in enumerate(names) if name.startswith(by)]
    if traffic_class is None:
        # A link's pauses are those that its far end has sent.
        return int(run.links.filter(run.links["to"].is_in(senders))["port_pauses"].sum())
    events = run.events
    sent = (events["event"] == "pause_sent") & (events["queue"] == traffic_class)
    return events.filter(sent & events["node"].is_in(senders)).height


@metric
def completion_rate(runs: Runs) -> Value:
    """Flows that finished before the traffic ended, per second, mean over seeds."""
    return _mean(_finished_in_time(run) / (run.scenario.duration / 1e12) for run in runs)


def _finished_in_time(run: MeasuredRun) -> int:
    flows = run.flows.filter(run.flows["finished"])
    ends = flows["start_ns"] + flows["fct_ns"]
    return int((ends <= run.scenario.duration / 1e3).sum())


@metric
def deadlocked(runs: Runs, *, before: float = float("inf")) -> Value:
    """Share of the runs that a deadlock ended, `before` a time [us]."""
    found = (run.summary["deadlock"] for run in runs)
    return _mean(one is not None and one["time_ps"] / 1e6 < before for one in found)


@metric
def link_pause(runs: Runs, *, links: Sequence[Sequence[int]], statistic: str = "mean") -> Value:
    """Time in which the data of links is paused [us]: mean, min or max of them, mean over seeds."""
    of: dict[str, Callable[[list[float]], float]] = {"mean": _mean, "min": min, "max": max}
    return _mean(
        of[statistic]([_link(run, ends)["port_pause_ns"] / 1e3 for ends in links]) for run in runs
    )


@metric
def utilization(runs: Runs, *, layer: str | None = None) -> Value:
    """Share of time links are busy, mean over the links of a layer or of all."""
    return _layer_mean(runs, "utilization", layer)


@metric
def flows_above(runs: Runs, *, packets: int, layer: str | None = None) -> Value:
    """Share of the active flows at samples with more than `packets` packets at a port (AFQ 6.2.3).

    At the links of a layer, or of all.
    """
    tables = []
    for run in runs:
        numbers = [
            number
            for number, name in enumerate(run.summary["layers"])
            if layer is None or name == layer
        ]
        links = run.links.filter(pl.col("layer").is_in(numbers))["link"].to_list()
        tables.append(run.flow_packets.filter(pl.col("link").is_in(links)))
    table = pl.concat(tables)
    if table.is_empty():
        return float("nan")
    return float(np.average(table["packets"].to_numpy() > packets, weights=table["flows"]))


@metric
def misestimated(runs: Runs) -> Value:
    """Share of the queued packets that AFQ's sketch put into a later round than a perfect table."""
    links = pl.concat(run.links for run in runs)
    return float(links["misestimates"].to_numpy().sum() / links["assignments"].to_numpy().sum())


@metric
def total(runs: Runs, *, of: str) -> Value:
    """Sum over seeds of a count of the summary: drops, pfc_pauses, queue_pauses …"""
    return float(sum(float(run.summary[of]) for run in runs))


@metric
def drop_share(runs: Runs) -> Value:
    """Share of the data packets that were dropped on their way, of all that ended it."""
    drops = delivered = 0
    for run in runs:
        hosts = run.scenario.topology.host_count()
        last = run.links.filter((run.links["to"] < hosts) & (run.links["from"] >= hosts))
        drops += int(run.summary["drops"])
        delivered += int(last["assignments"].sum())
    return drops / max(drops + delivered, 1)


@metric
def unfinished(runs: Runs) -> Value:
    """Share of the started flows that did not finish."""
    started = sum(run.summary["flows_started"] for run in runs)
    finished = sum(run.summary["flows_finished"] for run in runs)
    return float(1.0 - finished / max(started, 1))


@metric
def is_unstable(runs: Runs) -> Value:
    """1 when the backlog grows beyond what chance explains, else 0; see `analysis.backlog`."""
    found = analysis.measure_backlog(runs)
    return float(found.is_unstable) if found else float("nan")


@metric
def backlog_growth(runs: Runs) -> Value:
    """Growth of the backlog over the last two thirds of the traffic, over what arrives then."""
    found = analysis.measure_backlog(runs)
    return found.growth if found else float("nan")


def _labels(label: str | None) -> list[str] | None:
    return None if label is None else [label]


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))


def _link(run: MeasuredRun, ends: Sequence[int]) -> dict[str, Any]:
    number = analysis.link_between(run, int(ends[0]), int(ends[1]))
    return run.links.filter(run.links["link"] == number).row(0, named=True)


def _window(run: MeasuredRun, ends: Sequence[int], after: float) -> dict[str, float]:
    return analysis.link_window(run, int(ends[0]), int(ends[1]), after_ns=after * 1e3)


def _layer_mean(runs: Runs, column: str, layer: str | None) -> float:
    table = analysis.layer_summary({"": list(runs)})
    if layer is not None:
        table = table.filter(table["layer"] == layer)
    return float(np.average(table[column].to_numpy(), weights=table["links"].to_numpy()))
