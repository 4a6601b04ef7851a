"""The tables of a run: their files, their columns, and why one may be empty.

Columns carry their unit in their name. `label` and `layer` are indexes into the summary's lists of
that name. Events are written by name, so the file alone says what happened. Where there is no
number, such as the completion time of a flow that did not finish, there is null and never NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from penstock import _core
from penstock.lossless import xoff_out_of_reach
from penstock.readable import counted
from penstock.units import TIME

if TYPE_CHECKING:
    from penstock.scenario import Scenario
    from penstock.storage.pieces import Pieces

Frame = pl.DataFrame | pl.LazyFrame
"""A table in memory, or one that is read from the pieces that have left the run."""

FILES = {
    "flows": "flows.parquet",
    "links": "links.parquet",
    "buffers": "buffers.parquet",
    "series": "queues.parquet",
    "active_flows": "active_flows.parquet",
    "flow_packets": "flow_packets.parquet",
    "queue_delays": "queue_delays.parquet",
    "events": "events.parquet",
    "packets": "packets.parquet",
    "dependents": "dependents.parquet",
    "requests": "requests.parquet",
    "jobs": "jobs.parquet",
    "steps": "steps.parquet",
}
"""Each table's file in a run directory: flows, directed links, sampled buffers of switches,
sampled queues of the measured links, time per number of active flows, packets of active flows at
samples, waiting times at switches, pauses and drops, packets, flows that waited for others,
answered requests, iterations of jobs, steps of jobs."""

_U32, _U64, _NS = pl.UInt32(), pl.UInt64(), pl.Float64()

COLUMNS: dict[str, dict[str, pl.DataType]] = {
    "flows": {
        "flow": _U64, "src": _U32, "dst": _U32, "size_bytes": _U64, "start_ns": _NS,
        "fct_ns": _NS, "ideal_fct_ns": _NS, "slowdown": pl.Float64(), "label": _U32,
        "class": _U32, "finished": pl.Boolean(), "delivered_bytes": _U64,
        "retransmitted_packets": _U32,
    },
    "links": {
        "link": _U32, "from": _U32, "to": _U32, "layer": _U32, "rate_bps": _U64,
        "delay_ns": _NS, "tx_bytes": _U64, "tx_packets": _U64, "data_bytes": _U64,
        "busy_ns": _NS, "port_pause_ns": _NS, "queue_pause_ns": _NS, "queue_pauses": _U64,
        "port_pauses": _U64, "drops": _U64, "queue_bytes_max": _U64, "assignments": _U64,
        "collisions": _U64, "duration_tx_bytes": _U64, "duration_data_bytes": _U64,
        "refusals": _U64, "misestimates": _U64,
    },
    "buffers": {"time_ns": _NS, "node": _U32, "buffer_bytes": _U64},
    "series": {
        "time_ns": _NS, "link": _U32, "queue_bytes": _U64, "active_queues": _U32,
        "active_flows": _U32, "paused_queues": _U32, "tx_bytes": _U64, "data_bytes": _U64,
        "allowed_bps": _U64,
    },
    "active_flows": {"link": _U32, "flows": _U32, "time_ns": _NS},
    "flow_packets": {"link": _U32, "packets": _U32, "flows": _U64},
    "queue_delays": {
        "layer": _U32, "scheduled": pl.Boolean(), "packets": _U64, "mean_ns": _NS,
        "p50_ns": _NS, "p95_ns": _NS, "p99_ns": _NS,
    },
    "events": {
        "time_ps": _U64, "node": _U32, "link": _U32, "event": pl.String(), "queue": _U32,
        "bytes": _U64,
    },
    "packets": {
        "time_ps": _U64, "node": _U32, "ingress": pl.Int32(), "egress": pl.Int32(),
        "event": pl.String(), "flow": _U64, "flow_hash": _U32, "table_index": pl.Int64(),
        "sequence": _U64, "size_bytes": _U32, "queue": pl.Int32(), "upstream_queue": pl.Int32(),
        "queue_bytes": _U64, "port_bytes": _U64, "active_queues": _U32,
        "threshold_bytes": pl.Int64(), "counted": pl.Boolean(), "kind": pl.String(),
        "src": _U32, "dst": _U32, "class": _U32, "payload_bytes": _U32, "remaining": _U32,
        "sent_ps": _U64, "tag": _U32, "flags": _U32,
    },
    "dependents": {
        "start_ps": _U64, "flow": _U64, "released_by": _U64, "iteration": _U32, "step": _U32,
        "rank": _U32,
    },
    "requests": {
        "end_ps": _U64, "flow": _U64, "label": _U32, "client": _U32, "slot": _U32,
        "request": _U32, "start_ps": _U64, "latency_ps": _U64, "fan_out": _U32,
        "slowest_flow": _U64,
    },
    "jobs": {
        "label": _U32, "iteration": _U32, "start_ps": _U64, "time_ps": _U64, "bytes": _U64,
        "algorithm_bandwidth_bps": pl.Float64(), "bus_bandwidth_bps": pl.Float64(),
    },
    "steps": {
        "label": _U32, "iteration": _U32, "step": _U32, "start_ps": _U64, "time_ps": _U64,
        "bytes": _U64, "flows": _U64,
    },
}  # fmt: skip
"""Columns and types of each table."""


def make_frames(
    tables: Mapping[str, Mapping[str, Any]], event_names: list[str], pieces: Pieces | None = None
) -> dict[str, Frame]:
    """The core's columns as frames, every table present, events by name.

    Parameters
    ----------
    pieces
        Rows that have left the run before.
    """
    frames: dict[str, Frame] = {}
    for table, columns in COLUMNS.items():
        found = tables.get(table, {})
        frame = _frame(found) if found else pl.DataFrame(schema=columns)
        frames[table] = frame if pieces is None else pieces.before(table, frame)
    for table in ("events", "packets"):
        frames[table] = frames[table].with_columns(_named("event", event_names))
    frames["packets"] = frames["packets"].with_columns(_named("kind", _core.PACKET_KINDS))
    return frames


def _named(column: str, names: Sequence[str]) -> pl.Expr:
    """A column of numbers as the names that have these numbers."""
    numbers = dict(enumerate(names))
    return pl.col(column).cast(pl.Int64).replace_strict(numbers, return_dtype=pl.String)


def columns_as_frames(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, pl.DataFrame]:
    """Rows that have left a run, as frames; events by number."""
    return {table: _frame(columns) for table, columns in tables.items()}


def _frame(columns: Mapping[str, Any]) -> pl.DataFrame:
    """The core's columns; it says NaN where there is no number."""
    return pl.DataFrame(dict(columns), nan_to_null=True)


def why_empty(
    frames: Mapping[str, Frame], scenario: Scenario, summary: Mapping[str, Any]
) -> dict[str, str]:
    """For every table without rows, the reason in words."""
    measure = scenario.measure
    sampling = (
        "the run ended before the first sample"
        if measure.sample_interval
        else "measure.sample_interval is 0"
    )
    quiet = "; ".join(["nothing was paused or dropped", *quiet_notes(summary, scenario)])
    reasons = {
        "flows": "no flow started within the duration",
        "links": "the network has no links",
        "buffers": sampling,
        "series": sampling if measure.series else "measure.series names no link",
        "active_flows": "no flow was active"
        if measure.active_flows
        else "measure.active_flows is false",
        "flow_packets": (
            "no flow had a packet at a sample" if measure.sample_interval else sampling
        )
        if measure.active_flows
        else "measure.active_flows is false",
        "queue_delays": "no data packet met a switch"
        if measure.queue_delays
        else "measure.queue_delays is false",
        "events": quiet if measure.events else "measure.events is false",
        "packets": "no packet met a traced node" if measure.trace else "measure.trace is not set",
        "dependents": "no flow that waits for another has started",
        "requests": "no request was answered",
        "jobs": "no iteration of a job is over",
        "steps": "no step of a listed job is over",
    }
    in_memory = {name: one for name, one in frames.items() if isinstance(one, pl.DataFrame)}
    return {table: reasons[table] for table, frame in in_memory.items() if frame.is_empty()}


def deadlock_notes(summary: Mapping[str, Any]) -> list[str]:
    """What waits for what, where a deadlock ended the run."""
    deadlock = summary["deadlock"]
    if deadlock is None:
        return []
    names = summary["node_names"]
    cycle = "->".join(names[node] for node in deadlock["nodes"])
    return [
        f"deadlock at {deadlock['time_ps'] / 1e9:.6g} ms: {cycle} wait for each other, "
        f"{counted(deadlock['stuck_pauses'], 'pause', 'pauses')} never end; the run stopped there"
    ]


def idle_notes(summary: Mapping[str, Any], scenario: Scenario) -> list[str]:
    """That a run without a flow tells nothing."""
    if summary["flows_started"] or summary["cancelled"]:
        return []
    return [
        f"no flow started within the duration of {TIME.format(scenario.duration)}: write a longer "
        "one, or traffic whose flows come sooner"
    ]


def short_notes(frames: Mapping[str, Frame], scenario: Scenario) -> list[str]:
    """That no packet crosses a link while there is traffic, and what may be meant."""
    links = frames["links"]
    delay = links["delay_ns"].min() if isinstance(links, pl.DataFrame) else None
    least = round(delay * 1_000) if isinstance(delay, int | float) else 0
    if scenario.duration >= least or _is_listed(scenario):
        return []
    duration = int(scenario.duration)
    # Whole nanoseconds are hardly a number whose unit was forgotten.
    meant = f', such as duration = "{duration} us"' if duration % 1_000 else ""
    return [
        f"the duration is {TIME.format(duration)}, and the shortest link takes "
        f"{TIME.format(least)}: no packet crosses one while there is traffic. Write a longer one, "
        f"with its unit{meant}: a number without a unit is in picoseconds"
    ]


def _is_listed(scenario: Scenario) -> bool:
    """Whether all flows are listed and end by themselves: then all of them begin within the
    duration, which may be as short as that of an imported trace."""
    entries = scenario.traffic
    return all(one.kind == "listed" and all(flow[2] for flow in one.flows) for one in entries)


def quiet_notes(summary: Mapping[str, Any], scenario: Scenario) -> list[str]:
    """What did not happen and how far from it the run stayed, e.g. no PFC pause."""
    peak = summary.get("ingress_peak_fraction_of_xoff")
    if peak is None or summary["pfc_pauses"]:
        return []
    return [
        xoff_out_of_reach(scenario) or f"no PFC pause: ingress peaked at {100 * peak:.0f} % of XOFF"
    ]
