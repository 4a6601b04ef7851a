"""Why a flow was slow, in words.

What it is: a sentence for each cause of :mod:`penstock.analysis.cause`, which names ports, times
and counts. What it is not: a number that is not in the tables of the run. Invariant: a sentence
that only supposes says so.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from penstock.analysis.cause import Flow, Held, Loss, Record, losses
from penstock.analysis.runs import MeasuredRun
from penstock.readable import bytes_text, counted, number_text, time_text

LEAST_LOSS = 0.02
"""Share of its ideal time up to which a flow was as fast as alone (our choice)."""
LEAST_SHARE = 0.1
"""Share of the lost time from which on a cause is named (our choice)."""


def reasons(run: MeasuredRun, flows: pl.DataFrame) -> list[str]:
    """Why each of some finished flows was slow; rows of the table of flows, a few thousand."""
    found, record = losses(run, flows)
    return [reason(one, record) for one in found]


def is_as_alone(lost: float, ideal: float) -> bool:
    """Whether a flow that lost so much of its time was as fast as alone; both times in one unit."""
    return lost <= LEAST_LOSS * ideal


def reason(loss: Loss, record: Record) -> str:
    """Why a flow was slow: the largest cause first."""
    flow = loss.flow
    if is_as_alone(flow.lost, flow.end - flow.begin - flow.lost):
        return "as fast as alone"
    say = {
        "paused_ns": _paused,
        "resent_ns": _resent,
        "unknown_ns": _unknown,
        "queued_ns": _queued,
    }
    shares = sorted(loss.shares.items(), key=lambda share: -share[1])
    told = [
        f"{time_text(time)} {say[cause](loss, record)}"
        for cause, time in shares
        if time >= LEAST_SHARE * flow.lost and time > 0
    ]
    return "; ".join(told)


def link_name(record: Record, link: int) -> str:
    """A link by its two nodes: "T0→H5"."""
    return f"{_node(record, link, 'from')}→{_node(record, link, 'to')}"


def _node(record: Record, link: int, end: str) -> str:
    return str(record.run.summary["node_names"][record.totals[link][end]])


def _paused(loss: Loss, record: Record) -> str:
    """Which pause: the link that was paused longest, by whom, how often."""
    link, held = max(loss.pauses.own.items(), key=lambda one: one[1].spans.total())
    more = len(loss.pauses.own) - 1
    beside = f", and {more} more of its links" if more else ""
    return f"paused: {_who_paused(record, link, held)}{beside}"


def _who_paused(record: Record, link: int, held: Held) -> str:
    """ "T0 paused H3→T0 twice from 1.2 ms on, because of T0→H5"."""
    count = held.spans.begin.size
    often = {1: "once, at", 2: "twice, from"}.get(count, f"{count} times, from")
    first = time_text(float(held.spans.begin[0]))
    on = "" if count == 1 else " on"
    ports = held.ports[held.ports >= 0]
    because = ""
    if ports.size:
        numbers, counts = np.unique(ports, return_counts=True)
        port = int(numbers[counts.argmax()])
        because = f", for packets to {_node(record, port, 'to')}"
    return (
        f"{_node(record, link, 'to')} paused {link_name(record, link)} {often} {first}{on}{because}"
    )


def _resent(loss: Loss, record: Record) -> str:
    """Which packets were lost, and where."""
    flow = loss.flow
    packets = counted(flow.resent, "packet", "packets")
    return f"to lost packets: {packets} sent again{_where_dropped(flow, record)}"


def _where_dropped(flow: Flow, record: Record) -> str:
    own = record.own_drops.get(flow.number)
    if own:
        count, link = max((count, link) for link, count in own.items())
        return f", {count:,} dropped at {link_name(record, link)}"
    if record.has_events:
        meanwhile = [(_between(record.drops.get(link), flow), link) for link in flow.all_links]
        count, link = max(meanwhile, default=(0, 0))
        if count:
            packets = counted(count, "packet", "packets")
            return f"; {link_name(record, link)} dropped {packets} meanwhile"
        return ""
    totals = [(int(record.totals[link]["drops"]), link) for link in flow.all_links]
    count, link = max(totals, default=(0, 0))
    packets = counted(count, "packet", "packets")
    return f"; {link_name(record, link)} dropped {packets} in the run" if count else ""


def _between(times: np.ndarray | None, flow: Flow) -> int:
    if times is None:
        return 0
    return int(np.searchsorted(times, flow.end, side="right") - np.searchsorted(times, flow.begin))


def _unknown(loss: Loss, record: Record) -> str:
    """What may have held the flow, and what would tell."""
    flow = loss.flow
    if loss.pauses.others:
        link, held = max(loss.pauses.others.items(), key=lambda one: one[1].spans.total())
        who = _who_paused(record, link, held)
        return f"paused or queued: {who}, but not recorded for which flows (--trace causes tells)"
    if not flow.route.is_whole:
        return "paused or queued: its packets took several paths, or one that is not known"
    link = max(flow.links, key=record.paused_in_total)
    share = record.paused_in_total(link) / (float(record.run.summary["sim_end_ps"]) / 1e3)
    how = f"was paused for {number_text(100 * min(share, 1), 2)} % of the run"
    if not record.totals[link]["port_pause_ns"]:
        how = "had paused queues"
    tells = "" if record.has_events else " (--trace causes tells when)"
    return f"paused or queued: {link_name(record, link)} {how}{tells}"


def _queued(loss: Loss, record: Record) -> str:
    """Where the queue was probably longest."""
    flow = loss.flow
    if not flow.links:
        return "behind other transfers of its server"
    words = "in queues, or for a slow sender"
    if not flow.route.is_whole:
        return f"{words}; its packets took several paths, or one that is not known"
    link = max(flow.links, key=lambda one: int(record.totals[one]["queue_bytes_max"]))
    most = int(record.totals[link]["queue_bytes_max"])
    if not most:
        return f"{words}; no switch of its path had a queue"
    longest = (
        f"{link_name(record, link)} had the longest queue of its path, up to {bytes_text(most)}"
    )
    return f"{words}; {longest} in the run"
