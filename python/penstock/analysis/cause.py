"""Where flows lose time: to pauses, to lost packets, to queues; and what a run cannot tell.

What it is: for single flows, the time that they lost, shared out among causes, and the causes in
words. What it is not: a packet trace. The shares follow from what the run has recorded about the
path of a flow while the flow lasted. Invariant: the shares of a flow add up to the time that it
lost.

How time is shared out, in this order, so that nothing is counted twice:

1. *Paused*: the time in which a port of the path was paused for the flow's class; or a queue of
   the port that its packets used, or that was paused because of one of them, where a packet trace
   tells. Two ports at once count once.
2. *Lost packets*: of a flow that sent packets again, all the rest. How much of the rest was
   queueing is not recorded.
3. *Not told*: the time in which a port of the path was paused for somebody, where it is not
   recorded for whom; without events, all the rest of a flow on whose path something was paused.
4. *Queues*: the rest. The flow waited in queues, or its sender was slower than the link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock.analysis.path import Route, routes
from penstock.analysis.pause import (
    ALL_CLASSES,
    CLASS_PAUSES,
    LASTS,
    flow_paused_links,
    has_epochs,
    pause_causes,
    pause_intervals,
)
from penstock.analysis.runs import MeasuredRun, lazy_table, part_of
from penstock.errors import refuse

CAUSES = {
    "paused_ns": "paused",
    "resent_ns": "lost packets",
    "unknown_ns": "paused or queued, not recorded",
    "queued_ns": "queues or slow sender",
}
"""Columns of :func:`time_lost`, and what readers see."""

Times = NDArray[np.float64]
"""Times [ns]."""


class Spans(NamedTuple):
    """Intervals of time, in order of their begin."""

    begin: Times
    end: Times

    def total(self) -> float:
        """The length of their union [ns]."""
        if not self.begin.size:
            return 0.0
        reached = np.maximum.accumulate(self.end)
        before = np.concatenate([[-np.inf], reached[:-1]])
        return float((reached - np.maximum(self.begin, before)).clip(0).sum())


def together(parts: Sequence[Spans]) -> Spans:
    """All intervals of several, in order of their begin."""
    if not parts:
        return Spans(np.empty(0), np.empty(0))
    begin, end = (np.concatenate(one) for one in zip(*parts, strict=True))
    order = np.argsort(begin, kind="stable")
    return Spans(begin[order], end[order])


@dataclass(frozen=True)
class LinkPauses:
    """All pauses of a link, in order of their begin."""

    begin: Times
    end: Times
    reached: Times
    """The latest end of a pause and of all before it [ns]."""
    queue: NDArray[np.int64]
    """Queue, class or hash of a flow."""
    flow: NDArray[np.int64]
    """The flow whose packet set the pause off; -1 where it is not recorded."""
    port: NDArray[np.int64]
    """The link that this packet was to take; -1 where it is not recorded."""


@dataclass(frozen=True)
class Held:
    """Pauses of a link while a flow lasted."""

    spans: Spans
    ports: NDArray[np.int64]
    """What set each off: a link of the switch that paused; -1 where it is not recorded."""


@dataclass(frozen=True)
class Flow:
    """A finished flow, as far as its causes need it."""

    number: int
    traffic_class: int
    begin: float
    """[ns]"""
    end: float
    """[ns]"""
    lost: float
    """How much longer it took than alone [ns]."""
    resent: int
    """Packets that it sent again."""
    route: Route

    @property
    def links(self) -> list[int]:
        """The known links of its path."""
        return [int(link) for link in self.route.links]

    @property
    def all_links(self) -> list[int]:
        """Those, and the known links that it took for a part of its time."""
        return [*self.links, *(int(link) for link in self.route.others)]


class Record:
    """What a run has recorded about the paths of some flows: pauses, drops, queues."""

    def __init__(self, run: MeasuredRun, flows: Sequence[Flow]) -> None:
        self.run = run
        self.flows = [flow.number for flow in flows]
        self.links = sorted({link for flow in flows for link in flow.all_links})
        kind = str(part_of(run.scenario, "scheme", "switch", "backpressure", "kind"))
        self.has_class_pauses = kind in CLASS_PAUSES
        self.flow_paused = flow_paused_links(run)
        """Links on which a pause is of one flow: the one whose packet set it off."""
        self.has_events = bool(part_of(run.scenario, "measure", "events"))
        kinds = ("pfc_pauses", "queue_pauses", "timed_pauses")
        self.is_paused = any(run.summary.get(one) for one in kinds)
        """Whether anything was paused in the run."""

    @cached_property
    def pauses(self) -> dict[int, LinkPauses]:
        """By link; empty where events do not tell."""
        if not self.has_events:
            return {}
        found = pause_intervals(self.run, self.links)
        found = found.with_columns(pause_causes(self.run, found))
        end_ps = float(self.run.summary["sim_end_ps"])
        ended = pl.col("begin_ps") + pl.col("length_ps") - 1.0
        rows = found.select(
            "link",
            pl.col("queue", "cause_flow", "cause_port").cast(pl.Int64).fill_null(-1),
            begin=pl.col("begin_ps") / 1e3,
            end=pl.when(pl.col("length_ps") == LASTS).then(end_ps).otherwise(ended) / 1e3,
        )
        return {
            int(link): LinkPauses(
                begin=part["begin"].to_numpy(),
                end=part["end"].to_numpy(),
                reached=np.maximum.accumulate(part["end"].to_numpy()),
                queue=part["queue"].to_numpy(),
                flow=part["cause_flow"].to_numpy(),
                port=part["cause_port"].to_numpy(),
            )
            for (link,), part in rows.sort("begin").group_by("link")
        }

    @cached_property
    def queues(self) -> dict[tuple[int, int], NDArray[np.int64]]:
        """(flow, link) -> the queues that its packets used there, where a trace tells.

        An arrival tells the queue that the packet has left. A choice tells it, too, and the new
        one; what follows a chosen packet is in its queue. Where queues have epochs the new one is
        told without its epoch, and a pause names both, so only the next switch tells.
        """
        rows = lazy_table(self.run, "packets").filter(pl.col("flow").is_in(self.flows))
        left = pl.col("event").is_in(["arrive", "choose"]) & (pl.col("ingress") >= 0)
        parts = [rows.filter(left).select("flow", link="ingress", queue="upstream_queue")]
        if not has_epochs(self.run):
            chosen = rows.filter(pl.col("event") == "choose")
            parts.append(chosen.select("flow", "queue", link="egress"))
        used = (
            pl.concat(parts, how="diagonal").group_by("flow", "link").agg(pl.col("queue").unique())
        )
        return {
            (int(flow), int(link)): np.array(queues, dtype=np.int64)
            for flow, link, queues in used.select("flow", "link", "queue").collect().iter_rows()
        }

    @cached_property
    def drops(self) -> dict[int, Times]:
        """Link -> when packets for it were dropped [ns], whoever they belonged to."""
        if not self.has_events:
            return {}
        dropped = (pl.col("event") == "drop") & pl.col("link").is_in(self.links)
        rows = lazy_table(self.run, "events").filter(dropped)
        times = rows.select("link", time=pl.col("time_ps") / 1e3).sort("time").collect()
        parts = times.group_by("link")
        return {int(link): part["time"].to_numpy() for (link,), part in parts}

    @cached_property
    def own_drops(self) -> dict[int, dict[int, int]]:
        """Flow -> link -> packets of the flow that were dropped there, where a trace tells."""
        rows = lazy_table(self.run, "packets").filter(
            (pl.col("event") == "drop") & pl.col("flow").is_in(self.flows)
        )
        counts = rows.group_by("flow", "egress").len().sort("flow", "egress").collect()
        found: dict[int, dict[int, int]] = {}
        for flow, link, count in counts.iter_rows():
            found.setdefault(int(flow), {})[int(link)] = int(count)
        return found

    @cached_property
    def totals(self) -> dict[int, dict[str, Any]]:
        """Link -> its row of the table of links."""
        return {int(row["link"]): row for row in self.run.links.iter_rows(named=True)}

    def paused_in_total(self, link: int) -> float:
        """The time in which the link was paused for anybody, over the whole run [ns]."""
        return float(self.totals[link]["port_pause_ns"] + self.totals[link]["queue_pause_ns"])


@dataclass(frozen=True)
class Pauses:
    """The pauses on the path of a flow while it lasted, by link."""

    own: dict[int, Held]
    """Those that held the flow."""
    others: dict[int, Held]
    """Those of queues of which it is not recorded whether the flow was in them."""

    def total(self, *, with_others: bool) -> float:
        """The time in which one of them lasted [ns]."""
        held = [*self.own.values(), *(self.others.values() if with_others else ())]
        return together([one.spans for one in held]).total()


def pauses_of(flow: Flow, record: Record) -> Pauses:
    """The pauses on the path of a flow while it lasted."""
    found = Pauses({}, {})
    for link in flow.links:
        every = record.pauses.get(link)
        if every is None:
            continue
        first = int(np.searchsorted(every.reached, flow.begin, side="right"))
        part = slice(first, int(np.searchsorted(every.begin, flow.end)))
        overlaps = every.end[part] > flow.begin
        used = record.queues.get((flow.number, link))
        if record.has_class_pauses:
            named = every.queue[part]
            kinds = [(found.own, (named == flow.traffic_class) | (named == ALL_CLASSES))]
        elif link in record.flow_paused:
            of_flow = every.flow[part]
            kinds = [(found.own, of_flow == flow.number), (found.others, of_flow < 0)]
        elif used is not None:
            kinds = [(found.own, np.isin(every.queue[part], used))]
        else:
            sure = every.flow[part] == flow.number
            kinds = [(found.own, sure), (found.others, ~sure)]
        for into, chosen in kinds:
            if (chosen & overlaps).any():
                begin, end = (
                    times[part][chosen & overlaps].clip(flow.begin, flow.end)
                    for times in (every.begin, every.end)
                )
                into[link] = Held(Spans(begin, end), every.port[part][chosen & overlaps])
    return found


@dataclass(frozen=True)
class Loss:
    """What a flow lost, and what was recorded about it."""

    flow: Flow
    pauses: Pauses
    shares: dict[str, float]
    """Column of :data:`CAUSES` -> time [ns]; their sum is what the flow lost."""


def losses(run: MeasuredRun, flows: pl.DataFrame) -> tuple[list[Loss], Record]:
    """What finished flows lost and to what, in the order of `flows`, and the record behind it.

    Parameters
    ----------
    flows
        Rows of the table of flows; a few thousand at most, because each is looked at by itself.

    Raises
    ------
    ScenarioError
        One of them did not finish.
    """
    unfinished = flows["fct_ns"].null_count()
    if unfinished:
        message = f"{unfinished} of {flows.height} did not finish; what they lost is not known"
        raise refuse("flows", message, 'leave them out: flows.filter("finished")')
    columns = ("flow", "class", "start_ns", "fct_ns", "ideal_fct_ns", "retransmitted_packets")
    rows = zip(flows.select(columns).iter_rows(), routes(run, flows), strict=True)
    every = [
        Flow(number, of_class, start, start + took, max(took - ideal, 0.0), resent, route)
        for (number, of_class, start, took, ideal, resent), route in rows
    ]
    record = Record(run, every)
    found = []
    for flow in every:
        pauses = pauses_of(flow, record)
        found.append(Loss(flow, pauses, _shares(flow, pauses, record)))
    return found, record


def time_lost(run: MeasuredRun, flows: pl.DataFrame) -> pl.DataFrame:
    """What finished flows lost: a row per row of `flows`.

    Columns: `flow`, `lost_ns` (0 or more), and those of :data:`CAUSES`, which add up to it.
    """
    found, _ = losses(run, flows)
    rows = [{"flow": one.flow.number, "lost_ns": one.flow.lost, **one.shares} for one in found]
    schema = {"flow": pl.UInt64, "lost_ns": pl.Float64, **dict.fromkeys(CAUSES, pl.Float64)}
    return pl.DataFrame(rows, schema=schema)


def _shares(flow: Flow, pauses: Pauses, record: Record) -> dict[str, float]:
    """The time that a flow lost, by cause [ns]."""
    sure = pauses.total(with_others=False)
    paused = min(sure, flow.lost)
    rest = flow.lost - paused
    if flow.resent:
        return dict(zip(CAUSES, (paused, rest, 0.0, 0.0), strict=True))
    if record.has_events and flow.route.is_whole:
        unknown = min(pauses.total(with_others=True) - sure, rest) if pauses.others else 0.0
    elif flow.route.is_whole:
        unknown = rest if any(map(record.paused_in_total, flow.links)) else 0.0
    else:
        unknown = rest if record.is_paused else 0.0
    return dict(zip(CAUSES, (paused, 0.0, unknown, rest - unknown), strict=True))
