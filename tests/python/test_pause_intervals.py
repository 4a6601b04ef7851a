"""Pauses as intervals: the events tell what holds a link, whatever has begun or ended a pause."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl
import pytest

from penstock import Run, Scenario, run
from penstock.analysis import time_lost
from penstock.analysis.pause import LASTS, pause_causes, pause_intervals
from penstock.experiments.expression import METRICS

HOSTS = 12
FABRIC = {"kind": "leaf-spine", "racks": 3, "hosts_per_rack": 4, "spines": 2}
"""ToRs are 12 to 14, spines 15 and 16."""
OUTAGES = [
    {"link": [12, 15], "start": "20 us", "end": "45 us"},
    {"link": [13, 16], "start": "50 us", "end": "75 us"},
]
BFC = {"preset": "bfc", "switch": {"backpressure": {"bitmap_interval": "20 us"}}}
PFC = {"preset": "pfc-static", "switch": {"backpressure": {"xoff": "60 kB"}}}
TIMED = {
    "preset": "pfc-static",
    "switch": {"backpressure": {"xoff": "60 kB", "pause": {"kind": "timed"}}},
}


def paused(scheme: dict[str, Any], *, trace: bool = False, **faults: Any) -> Run:
    """An incast every 25 us, beside other flows."""
    incast = {"kind": "incast", "degree": 11, "size": "2 MB", "period": "25 us"}
    flows = {"kind": "open-loop", "sizes": "google", "load": 0.1}
    return run(
        Scenario.model_validate(
            {
                "topology": FABRIC,
                "scheme": scheme,
                "traffic": [flows, incast],
                "duration": "100 us",
                "drain": "20 ms",
                "faults": faults,
                "measure": {"events": True, "trace": {} if trace else None},
            }
        )
    )


@pytest.mark.parametrize(
    ("scheme", "faults"),
    [
        (BFC, {}),
        (BFC, {"control_loss": 0.1}),
        (BFC, {"outages": OUTAGES}),
        (BFC, {"outages": OUTAGES, "control_loss": 0.1}),
        (PFC, {"outages": OUTAGES}),
        (TIMED, {"outages": OUTAGES}),
        ({"preset": "fafc"}, {}),
        ({"preset": "fafc"}, {"outages": OUTAGES, "control_loss": 0.1}),
    ],
    ids=["bfc", "loss", "outages", "both", "pfc", "timed", "fafc", "fafc-both"],
)
def test_intervals_are_the_pauses_of_the_table_of_links(
    scheme: dict[str, Any], faults: dict[str, Any]
) -> None:
    found = paused(scheme, **faults)
    intervals = pause_intervals(found)
    to_end = pl.lit(found.summary["sim_end_ps"]) - pl.col("begin_ps")
    lasted = pl.when(pl.col("length_ps") == LASTS).then(to_end).otherwise(pl.col("length_ps") - 1)
    of_link = intervals.group_by("link").agg(pauses=pl.len(), ps=lasted.sum())
    beside = found.links.join(of_link, on="link", how="left").fill_null(0)
    assert intervals.height > 40  # FAFC makes a pause longer where others begin a new one
    assert (beside["pauses"] == beside["queue_pauses"] + beside["port_pauses"]).all()
    told_ns = beside["queue_pause_ns"] + beside["port_pause_ns"]
    assert ((beside["ps"] / 1e3 - told_ns).abs() < 0.01).all()
    most = beside.sort("pauses").row(-1, named=True)
    counted = METRICS["pauses"]([found], link=[most["from"], most["to"]])
    assert counted == most["pauses"]


def union(spans: Iterable[tuple[float, float]]) -> float:
    total, reached = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(end - max(begin, reached), 0.0)
        reached = max(reached, end)
    return total


@pytest.mark.parametrize("preset", ["bfc", "bfc-flow-pauses", "bfc-epochs"])
def test_a_flow_is_held_by_the_pauses_that_name_it_and_no_others(preset: str) -> None:
    """A pause names a queue, its epoch, or between switches a flow; so do packets that arrive."""
    few = {
        "preset": preset,
        "switch": {"assignment": {"queues": 8}},
        "host": {"nic": {"queues": 8}},
    }
    found = paused(few, trace=True)
    sender = found.links.select(ingress=pl.col("link").cast(pl.Int32), sender="from")
    arrived = found.packets.filter(pl.col("event") == "arrive").join(sender, on="ingress")
    names_flow = (pl.col("sender") >= HOSTS) & (preset == "bfc-flow-pauses")
    subject = pl.when(names_flow).then("flow_hash").otherwise(pl.col("upstream_queue"))
    named = arrived.select("flow", link=pl.col("ingress").cast(pl.UInt32), queue=subject).unique()
    ends = found.flows.filter("finished").select(
        "flow", begin=pl.col("start_ns"), end=pl.col("start_ns") + pl.col("fct_ns")
    )
    intervals = pause_intervals(found).with_columns(pl.col("queue").cast(pl.Int64))
    own = named.with_columns(pl.col("queue").cast(pl.Int64)).join(intervals, on=["link", "queue"])
    assert own["link"].is_in(sender.filter(pl.col("sender") >= HOSTS)["ingress"].to_list()).any()
    spans: dict[int, list[tuple[float, float]]] = {}
    for row in own.join(ends, on="flow").iter_rows(named=True):
        first = max(row["begin_ps"] / 1e3, row["begin"])
        last = min((row["begin_ps"] + row["length_ps"] - 1) / 1e3, row["end"])
        if last > first:
            spans.setdefault(row["flow"], []).append((first, last))
    told = time_lost(found, found.flows.filter("finished"))
    assert len(spans) > 20
    assert told["unknown_ns"].sum() == 0  # the trace tells the flow of every pause
    for row in told.iter_rows(named=True):
        expected = min(union(spans.get(row["flow"], [])), row["lost_ns"])
        assert row["paused_ns"] == pytest.approx(expected, abs=0.01), row["flow"]


def test_a_trace_names_the_epoch_that_a_bitmap_repairs() -> None:
    switch = {"backpressure": {"bitmap_interval": "20 us"}}
    found = paused({"preset": "bfc-epochs", "switch": switch}, trace=True, control_loss=0.2)
    repaired = found.packets.filter(
        pl.col("kind") == "queue_bitmap", pl.col("event").str.ends_with("_received")
    ).select("time_ps", "event", link=pl.col("egress").cast(pl.UInt32), queue="upstream_queue")
    told = found.events.with_columns(pl.col("queue").cast(pl.Int32))
    assert (repaired["queue"] >= 256).any()
    assert repaired.join(told, on=["time_ps", "event", "link", "queue"], how="anti").is_empty()


def test_a_pause_of_a_class_was_caused_by_a_packet_of_that_class() -> None:
    """Queues of classes have other numbers than the classes, and a NIC has one queue for all."""
    flows = [(host, 7, 300_000, 0) for host in range(7)]
    found = run(
        Scenario.model_validate(
            {
                "topology": {"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 4, "spines": 1},
                "scheme": {
                    "preset": "wrr",
                    "switch": {"backpressure": {"kind": "pfc", "xoff": "20 kB"}},
                },
                "traffic": [
                    {"kind": "listed", "label": "first", "flows": flows},
                    {"kind": "listed", "label": "second", "flows": flows, "class": 1},
                ],
                "duration": "1 ms",
                "measure": {"events": True, "trace": {"events": ["pause_sent"]}},
            }
        )
    )
    pauses = pause_intervals(found)
    causes = pauses.with_columns(pause_causes(found, pauses))
    classes = dict(found.flows["flow", "class"].rows())
    assert set(causes["queue"]) == {0, 1}
    assert [classes.get(flow) for flow in causes["cause_flow"]] == causes["queue"].to_list()
