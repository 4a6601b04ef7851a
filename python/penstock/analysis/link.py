"""Links by layer, and the busiest ones: utilisation, pauses, drops; one link over a window of time.

Shares of pauses are shares of the whole run, drain included: `links` holds totals of the run. Those
of PFC are means over the priority classes, which `links` adds up. A utilisation is one of the
traffic's time. For another window use `link_window`, which reads the sampled series.
"""

from __future__ import annotations

import polars as pl

from penstock.analysis.runs import MeasuredRun, RunInput, group_runs, part_of


def link_between(run: MeasuredRun, source: int, target: int) -> int:
    """Id of the directed link from node `source` to node `target`."""
    found = run.links.filter((pl.col("from") == source) & (pl.col("to") == target))
    if found.is_empty():
        raise ValueError(f"link: there is no link from node {source} to node {target}")
    return int(found["link"][0])


def layer_summary(runs: RunInput) -> pl.DataFrame:
    """Totals per name and layer of links.

    Columns: name, layer, links, utilization (share of the traffic's time in which a link is busy,
    mean over links; what it carries afterwards is left out), port_paused (share of time a link's
    data is paused by PFC, mean over classes and links), port_paused_max (worst link), queues_paused
    (queues paused by BFC at a link, mean over time and links), drops (of all runs together),
    queue_bytes_max [bytes], collision_share (share of queue assignments into a used queue). Where a
    name has several runs, also the smallest and the largest value of a single run: utilization_low,
    utilization_high and so on.
    """
    frames = []
    groups = group_runs(runs)
    repeated = any(len(members) > 1 for members in groups.values())
    for name, members in groups.items():
        parts = [link_shares(run) for run in members]
        frame = (
            pl.concat(parts)
            .group_by("layer", maintain_order=True)
            .agg(
                pl.col("link").n_unique().alias("links"),
                pl.col("utilization").mean(),
                pl.col("port_paused").mean(),
                pl.col("port_paused").max().alias("port_paused_max"),
                pl.col("queues_paused").mean(),
                pl.col("drops").sum(),
                pl.col("queue_bytes_max").max(),
                (pl.col("collisions").sum() / pl.col("assignments").sum().clip(1)).alias(
                    "collision_share"
                ),
            )
            .insert_column(0, pl.lit(name).alias("name"))
        )
        if repeated:
            frame = frame.join(_spread(parts), on="layer", how="left", maintain_order="left")
        frames.append(frame)
    return pl.concat(frames)


SPREAD = ("utilization", "port_paused", "queues_paused")
"""Columns with the smallest and the largest value of a single run."""


def _spread(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """The smallest and the largest mean of a layer over single runs."""
    means = pl.concat(part.group_by("layer").agg(pl.col(*SPREAD).mean()) for part in parts)
    return means.group_by("layer").agg(
        pl.col(*SPREAD).min().name.suffix("_low"), pl.col(*SPREAD).max().name.suffix("_high")
    )


def busiest_links(runs: RunInput, count: int) -> pl.DataFrame:
    """The links of largest utilization of each name, at most `count`, the busiest first.

    A mean over a layer hides the one link that all traffic wants. Columns: name, layer, link, from,
    to (nodes), rate_bps, utilization (share of the traffic's time), port_paused (share of the run
    in which PFC or FAFC hold it), queues_paused (mean number over the run), queue_bytes_max
    [bytes], drops. Where a name has several runs, the means over them; of queue_bytes_max the
    largest.
    """
    frames = []
    for name, members in group_runs(runs).items():
        totals = (
            pl.concat(link_shares(run) for run in members)
            .group_by("layer", "link", "from", "to", "rate_bps", maintain_order=True)
            .agg(
                pl.col("utilization", "port_paused", "queues_paused").mean(),
                pl.col("queue_bytes_max").max(),
                pl.col("drops").mean(),
            )
        )
        busiest = totals.sort("utilization", descending=True, maintain_order=True).head(count)
        frames.append(busiest.insert_column(0, pl.lit(name).alias("name")))
    return pl.concat(frames)


def link_shares(run: MeasuredRun) -> pl.DataFrame:
    """A row per link: its ends, rate and totals, with layers by name and shares of time.

    Columns: layer, link, from, to, rate_bps, utilization (share of the traffic's time), port_paused
    (share of the run), queues_paused (mean number over the run), drops, queue_bytes_max [bytes],
    collisions, assignments.
    """
    end_ns = max(float(run.summary["sim_end_ps"]) / 1_000, 1.0)
    # A run may have been stopped before its traffic ended.
    traffic_ns = min(float(run.scenario.duration) / 1_000, end_ns)
    layers = dict(enumerate(run.summary["layers"]))
    bits = pl.col("duration_tx_bytes") * 8.0
    return run.links.select(
        pl.col("layer").replace_strict(layers, return_dtype=pl.String),
        "link",
        "from",
        "to",
        "rate_bps",
        (bits * 1e9 / pl.col("rate_bps") / traffic_ns).alias("utilization"),
        (pl.col("port_pause_ns") / end_ns / _classes(run)).alias("port_paused"),
        (pl.col("queue_pause_ns") / end_ns).alias("queues_paused"),
        "drops",
        "queue_bytes_max",
        "collisions",
        "assignments",
    )


def _classes(run: MeasuredRun) -> int:
    """The priority classes of a run's switches."""
    return int(part_of(run.scenario, "scheme", "switch", "assignment", "classes") or 1)


def link_window(
    run: MeasuredRun, source: int, target: int, *, after_ns: float = 0.0
) -> dict[str, float]:
    """Means of one sampled link between `after_ns` and the end of the traffic.

    Returns utilization (share of the rate in use, all bytes), queue_bytes (mean), queue_bytes_max,
    active_flows (mean) and duration_ns of the window. The link must be in `measure.series`.
    """
    link = link_between(run, source, target)
    end_ns = float(run.scenario.duration) / 1_000
    rows = run.series.filter(
        (pl.col("link") == link) & pl.col("time_ns").is_between(after_ns, end_ns)
    ).sort("time_ns")
    if rows.height < 2:
        raise ValueError(
            f"series: link {source}->{target} has no two samples after {after_ns:.0f} ns; "
            "list it in measure.series and set measure.sample_interval"
        )
    rate = float(run.links.filter(pl.col("link") == link)["rate_bps"][0])
    span = float(rows["time_ns"][-1] - rows["time_ns"][0])
    sent = float(rows["tx_bytes"][-1]) - float(rows["tx_bytes"][0])
    queue = rows["queue_bytes"].to_numpy()
    return {
        "utilization": sent * 8e9 / (rate * span),  # bytes to bits, ns to s
        "queue_bytes": float(queue.mean()),
        "queue_bytes_max": float(queue.max()),
        "active_flows": float(rows["active_flows"].to_numpy().mean()),
        "duration_ns": span,
    }
