"""Pauses as intervals: which queue of which link, from when to when.

What it is: `pause_received` and `resume_received` of `events.parquet`, put together at the end that
must not send. What it is not: a judgement of what caused a pause; only a packet trace knows the
packet. Invariant: two intervals of one queue or class of one link do not overlap.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.analysis.runs import MeasuredRun, lazy_table, part_of

LASTS = 0
"""The length of a pause that lasts to the end of the run."""
ALL_CLASSES = 8
"""What a pause of all data names in place of one of the classes 0 to 7 (FAFC)."""
CLASS_PAUSES = ("none", "pfc", "fafc", "capfc", "p-pfc")
"""Kinds of backpressure whose pauses name a class or all, and no queue (docs/schemes.md)."""
FLOW_PAUSES = "flow-pauses"
"""The kind of backpressure whose pauses between switches name a flow, by its hash."""


def flow_paused_links(run: MeasuredRun) -> set[int]:
    """The links on which pauses name a flow by its hash, and no queue or class."""
    if part_of(run.scenario, "scheme", "switch", "backpressure", "kind") != FLOW_PAUSES:
        return set()
    hosts = run.scenario.topology.host_count()
    return set(run.links.filter(pl.col("from") >= hosts)["link"])


def has_epochs(run: MeasuredRun) -> bool:
    """Whether queues have epochs, so that a pause names both (docs/files.md, `events.parquet`)."""
    return bool(part_of(run.scenario, "scheme", "switch", "assignment", "epoch_bits"))


def pause_intervals(run: MeasuredRun, links: Sequence[int] | None = None) -> pl.DataFrame:
    """A row per pause that took effect, in order of begin.

    Columns: `begin_ps`; `length_ps`, 1 more than it lasted, :data:`LASTS` when it did not end;
    `link`, on which the paused end must not send; `queue`, class or hash of a flow. A pause that is
    repeated or made longer while it lasts has one row.

    Parameters
    ----------
    links
        The links that matter; by default all.
    """
    events = lazy_table(run, "events")
    if links is not None:
        events = events.filter(pl.col("link").is_in(list(links)))
    received = (
        events.filter(pl.col("event").is_in(["pause_received", "resume_received"]))
        .select(
            "link",
            "queue",
            "time_ps",
            is_pause=pl.col("event") == "pause_received",
            row=pl.int_range(pl.len()),
        )
        .sort("link", "queue", "row")
        .with_columns(was_pause=pl.col("is_pause").shift(1, fill_value=False).over("link", "queue"))
        .filter(pl.col("is_pause") != pl.col("was_pause"))
        .with_columns(end_ps=pl.col("time_ps").shift(-1).over("link", "queue"))
        .filter("is_pause")
    )
    length = (pl.col("end_ps") - pl.col("time_ps") + 1).fill_null(LASTS)
    return (
        received.select(
            pl.col("time_ps").alias("begin_ps"), length.alias("length_ps"), "link", "queue", "row"
        )
        .sort("begin_ps", "row")
        .drop("row")
        .collect()
    )


def pause_causes(run: MeasuredRun, intervals: pl.DataFrame) -> pl.DataFrame:
    """Why each pause was sent, where the switch that sent it was traced.

    Columns, a row per interval: `cause_port`, the link that the packet was to take whose arrival
    or waiting sent the pause; `cause_queue`, its queue there; `cause_flow`. Null where no trace
    tells.
    """
    names_flow = pl.col("ingress").is_in(flow_paused_links(run))
    kind = part_of(run.scenario, "scheme", "switch", "backpressure", "kind")
    place = "class" if kind in CLASS_PAUSES else "upstream_queue"
    subject = pl.when(names_flow).then("flow_hash").otherwise(pl.col(place))
    sent = (
        lazy_table(run, "packets")
        .filter(pl.col("event") == "pause_sent")
        .select(
            pl.col("time_ps").alias("begin_ps"),
            pl.col("ingress").cast(pl.UInt32).alias("link"),
            subject.cast(pl.UInt32).alias("queue"),
            pl.col("egress").alias("cause_port"),
            pl.col("queue").alias("cause_queue"),
            pl.col("flow").alias("cause_flow"),
        )
        .sort("begin_ps")
    )
    return (
        intervals.lazy()
        .select("begin_ps", "link", "queue")
        .join_asof(sent, on="begin_ps", by=["link", "queue"], check_sortedness=False)
        .select("cause_port", "cause_queue", "cause_flow")
        .collect()
    )
