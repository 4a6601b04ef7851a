"""The metrics of flows: slowdown, completion time, fair shares."""

from __future__ import annotations

from typing import Annotated, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock import analysis
from penstock.analysis import MeasuredRun
from penstock.analysis.runs import lazy_table
from penstock.analysis.slowdown import BINS, STATISTICS, bin_edges
from penstock.experiments.metric import Meaning, Runs, Value, metric
from penstock.experiments.vocabulary import (
    Choice,
    Label,
    Link,
    Statistic,
    choose_flows,
    link_row,
    mean,
    statistic_of,
    told_of_all,
)
from penstock.lossless import longest_packet


@metric("(1: as fast as alone)", least=1.0, is_of_finished=True)
def slowdown(runs: Runs, *, statistic: Statistic = "p99", **choice: Unpack[Choice]) -> Value:
    """Slowdown of the flows of a size range; by default of all but incasts."""
    flows = choose_flows(runs, **choice)
    return statistic_of(flows["slowdown"].to_numpy(), statistic)


@metric("(1: as fast as alone)", least=1.0, is_per_bin=True, is_of_finished=True)
def slowdown_by_bin(
    runs: Runs,
    *,
    statistic: Annotated[str, told_of_all("mean", *STATISTICS)] = "p99",
    bins: Annotated[str, Meaning("the bins of sizes", tuple(BINS))] = "google",
    flows_min: Annotated[int, Meaning("the fewest flows of a bin that has a value")] = 500,
    label: Label | None = None,
) -> Value:
    """Slowdown per size bin, one value per bin; NaN in a bin with fewer than `flows_min` flows."""
    edges = bin_edges(bins)
    table = analysis.slowdown_by_size(
        {"": list(runs)}, bins=bins, labels=None if label is None else [label]
    )
    values = np.full(len(edges) + 1, np.nan)
    for row in table.iter_rows(named=True):
        if row["flows"] >= flows_min:
            values[int(np.searchsorted(edges, row["size_from"], side="right"))] = row[statistic]
    return values


@metric("[µs]", is_of_finished=True)
def fct(runs: Runs, *, statistic: Statistic = "mean", **choice: Unpack[Choice]) -> Value:
    """Flow completion time [us]."""
    flows = choose_flows(runs, **choice)
    return statistic_of(flows["fct_ns"].to_numpy() / 1e3, statistic)


@metric("(1: as on an idle network)", is_of_finished=True)
def normalized_fct(runs: Runs, *, statistic: Statistic = "mean", **choice: Unpack[Choice]) -> Value:
    """Flow completion time over the mean one of the same flows in an idle network (AFQ 6.2.3)."""
    flows = choose_flows(runs, **choice)
    return statistic_of(flows["fct_ns"].to_numpy(), statistic) / float(
        flows["ideal_fct_ns"].to_numpy().mean()
    )


@metric("[µs]")
def incast_time(runs: Runs, *, label: Label = "incast") -> Value:
    """Time [us] from the start of an incast to the end of its last flow, mean over incasts.

    NaN when a flow did not finish: then the time is not known.
    """
    flows = pl.concat(
        analysis.selected_flows(
            [run], labels=[label], finished=False, columns=("start_ns", "fct_ns", "finished")
        ).with_columns(run=pl.lit(number))
        for number, run in enumerate(runs)
    )
    last = flows.group_by("run", "start_ns").agg(pl.col("fct_ns").max(), pl.col("finished").all())
    if not last["finished"].all():
        return float("nan")
    return mean(last["fct_ns"] / 1e3)


@metric("[µs]", is_of_finished=True)
def delay(runs: Runs, *, statistic: Statistic = "p99", **choice: Unpack[Choice]) -> Value:
    """Completion time beyond that of the flow alone [us]: for one-packet flows, their queueing."""
    flows = choose_flows(runs, **choice)
    beyond = flows["fct_ns"].to_numpy() - flows["ideal_fct_ns"].to_numpy()
    return statistic_of(beyond / 1e3, statistic)


@metric("[µs]")
def packet_delay(
    runs: Runs,
    *,
    label: Label,
    statistic: Annotated[str, told_of_all("mean", "p50", "p99")] = "p99",
) -> Value:
    """Queueing of data packets of a label at all switches of their path [us], mean over seeds.

    NaN when no packet of the label arrived in any run; a run in which none arrived is left out.
    """
    delays = [run.summary["queue_delay_ns"][label] for run in runs]
    return mean(delay[statistic] / 1e3 for delay in delays if delay["count"])


@metric("(share of the link's rate)")
def long_flow_share(
    runs: Runs,
    *,
    link: Link,
    count: Annotated[
        str, Meaning("which bytes count: with headers, or without", ("wire", "payload"))
    ] = "wire",
) -> Value:
    """Share of a link's rate that endless flows get; headers included unless `count` is payload.

    All endless flows of the run together: each has to cross the link.
    """
    return mean(_long_flow_rate(run, count) / link_row(run, link)["rate_bps"] for run in runs)


@metric("(share of the rate that is left)")
def left_over_share(runs: Runs, *, link: Link, label: Label) -> Value:
    """What endless flows get of the capacity that the flows of `label` leave on a link.

    Both are counted in payload, and what `label` offers is what it really delivered in these runs:
    a heavy-tailed load differs from its nominal value for a long time. Endless flows are measured
    to the end of the traffic and others to that of the run, so the two have to be one. All endless
    flows and all flows of `label` count: each has to cross the link.
    """
    shares = []
    for run in runs:
        wire = run.scenario.wire
        span_ns = run.summary["sim_end_ps"] / 1e3
        if span_ns > run.scenario.duration / 1e3:
            raise ValueError("the run went on after its traffic; write drain = 0")
        number = run.summary["labels"].index(label)
        flows = lazy_table(run, "flows").filter(pl.col("label") == number)
        delivered = flows.select(pl.col("delivered_bytes").sum()).collect().item()
        offered = float(delivered) * 8e9 / span_ns
        packet = wire.payload / (wire.payload + wire.header)
        capacity = link_row(run, link)["rate_bps"] * packet
        shares.append(_long_flow_rate(run, "payload") / (capacity - offered))
    return float(np.mean(shares))


def _long_flow_rate(run: MeasuredRun, count: str) -> float:
    goodput = float(analysis.long_lived([run])["goodput_bps"].sum())
    if count == "payload":
        return goodput
    scenario = run.scenario
    return goodput * longest_packet(scenario) / int(scenario.wire.payload)


@metric("(Jain's index; 1: equal)", most=1.0)
def fairness(runs: Runs, *, label: Label | None = None) -> Value:
    """Jain's index over the goodputs of a run's flows, mean over seeds.

    By default of the endless flows, until the end of the traffic; with a label of all its flows,
    endless ones included, each from its start to its end or to that of the run.
    """
    return mean(analysis.jain_index(_goodputs(run, label)) for run in runs)


def _goodputs(run: MeasuredRun, label: str | None) -> NDArray[np.float64]:
    if label is None:
        return analysis.long_lived([run])["goodput_bps"].to_numpy()
    labels = run.summary["labels"]
    if label not in labels:
        raise ValueError(f"no traffic is called {label!r}; labels: {', '.join(labels)}")
    flows = (
        lazy_table(run, "flows")
        .filter(pl.col("label") == labels.index(label))
        .select("start_ns", "fct_ns", "finished", "delivered_bytes")
        .collect()
    )
    left = run.summary["sim_end_ps"] / 1e3 - flows["start_ns"].to_numpy()
    time = np.where(flows["finished"].to_numpy(), flows["fct_ns"].to_numpy(), left)
    return flows["delivered_bytes"].to_numpy() * 8e9 / np.maximum(time, 1.0)
