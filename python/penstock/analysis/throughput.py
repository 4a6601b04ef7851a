"""Throughput: long-lived flows, and links over time.

An endless flow (size 0) never finishes. Its measure is the payload that it delivered between its
start and the end of the traffic.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from penstock.analysis.link import link_between
from penstock.analysis.runs import MeasuredRun, RunInput, group_runs


def long_lived(runs: RunInput) -> pl.DataFrame:
    """Endless flows: name, seed, flow, src, dst, delivered_bytes, goodput_bps (payload)."""
    rows = []
    for name, members in group_runs(runs).items():
        for run in members:
            end_ps = min(int(run.summary["sim_end_ps"]), int(run.scenario.duration))
            for flow in run.summary["long_lived"]:
                span = max(end_ps / 1_000 - float(flow["start_ns"]), 1.0)
                rows.append(
                    {
                        "name": name,
                        "seed": int(run.scenario.seed),
                        "flow": int(flow["flow"]),
                        "src": int(flow["src"]),
                        "dst": int(flow["dst"]),
                        "delivered_bytes": int(flow["delivered_bytes"]),
                        "goodput_bps": float(flow["delivered_bytes"]) * 8e9 / span,
                    }
                )
    return pl.DataFrame(rows, schema=_LONG_LIVED)


_LONG_LIVED: dict[str, type[pl.DataType]] = {
    "name": pl.String,
    "seed": pl.UInt64,
    "flow": pl.Int64,
    "src": pl.Int64,
    "dst": pl.Int64,
    "delivered_bytes": pl.Int64,
    "goodput_bps": pl.Float64,
}


def queue_delay(runs: RunInput) -> pl.DataFrame:
    """Queueing of data packets over their whole path: name, label, mean, p50, p99 [ns].

    Seeds are averaged, since a run keeps the statistics of its packets and not each packet. A run
    in which no packet of a label arrived knows nothing of that label and is left out.
    """
    rows = []
    for name, members in group_runs(runs).items():
        known: dict[str, list[dict[str, float]]] = {}
        for run in members:
            for label, delay in run.summary["queue_delay_ns"].items():
                if delay["count"]:
                    known.setdefault(label, []).append(delay)
        for label, delays in known.items():
            means = {key: float(np.mean([d[key] for d in delays])) for key in _DELAYS}
            rows.append({"name": name, "label": label, **means})
    schema = {
        "name": pl.String,
        "label": pl.String,
        **dict.fromkeys(_DELAYS, pl.Float64),
    }
    return pl.DataFrame(rows, schema=schema)


_DELAYS = ("mean", "p50", "p99")
"""What the summary tells of the delays of a label [ns]."""


def link_series(
    runs: RunInput,
    links: Sequence[tuple[int, int]] | None = None,
    *,
    span_us: tuple[float, float] | None = None,
) -> pl.DataFrame:
    """Sampled links over time, first run of each name.

    Columns: name, link ("T0-S1"), time_ns, queue_bytes, active_flows, paused_queues, rate_bps
    (all bytes sent since the sample before; null for the first). By default all links of
    `measure.series` and all samples; `span_us` keeps those between two times [us].
    """
    frames = []
    for name, members in group_runs(runs).items():
        run = members[0]
        wanted = None if links is None else [link_between(run, *pair) for pair in links]
        for (number,), rows in run.series.group_by("link", maintain_order=True):
            if wanted is None or number in wanted:
                frames.append(_one_series(run, name, int(str(number)), rows.sort("time_ns")))
    table = pl.concat(frames) if frames else pl.DataFrame(schema=_SERIES)
    if span_us is None:
        return table
    return table.filter(pl.col("time_ns").is_between(span_us[0] * 1e3, span_us[1] * 1e3))


_SERIES: dict[str, type[pl.DataType]] = {
    "name": pl.String,
    "link": pl.String,
    "time_ns": pl.Float64,
    "queue_bytes": pl.Int64,
    "active_flows": pl.Int64,
    "paused_queues": pl.Int64,
    "rate_bps": pl.Float64,
}


def _one_series(run: MeasuredRun, name: str, link: int, rows: pl.DataFrame) -> pl.DataFrame:
    ends = run.links.filter(pl.col("link") == link)
    nodes = run.summary["node_names"]
    title = f"{nodes[ends['from'][0]]}–{nodes[ends['to'][0]]}"
    time = rows["time_ns"].to_numpy()
    sent = rows["tx_bytes"].to_numpy().astype(np.float64)
    rate = pl.Series(np.diff(sent) * 8e9 / np.diff(time))
    return pl.DataFrame(
        {
            "name": [name] * rows.height,
            "link": [title] * rows.height,
            "time_ns": time,
            "queue_bytes": rows["queue_bytes"],
            "active_flows": rows["active_flows"],
            "paused_queues": rows["paused_queues"],
            "rate_bps": pl.concat([pl.Series([None], dtype=pl.Float64), rate]),
        },
        schema=_SERIES,
        strict=False,
    )
