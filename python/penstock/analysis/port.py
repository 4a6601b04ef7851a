"""Single ports: how long each is paused, its queue, and the number of packets of a flow there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock.analysis.link import link_between
from penstock.analysis.runs import MeasuredRun, RunInput, group_runs
from penstock.analysis.statistic import curve
from penstock.errors import nearest, refuse


def pauses_by_link(runs: RunInput, links: Sequence[tuple[int, int]]) -> pl.DataFrame:
    """How long the data of each of `links` is paused: name, link, pause_us (mean over seeds)."""
    rows = []
    for name, members in group_runs(runs).items():
        for ends in links:
            pauses = [
                float(
                    run.links.filter(pl.col("link") == link_between(run, *ends))["port_pause_ns"][0]
                )
                for run in members
            ]
            title = _title(members[0], ends)
            rows.append({"name": name, "link": title, "pause_us": float(np.mean(pauses)) / 1e3})
    return pl.DataFrame(rows)


def queue_cdf(
    runs: RunInput, link: tuple[int, int], *, span_us: tuple[float, float] | None = None
) -> pl.DataFrame:
    """Distribution over time of the queue of a sampled link: name, queue_bytes, share.

    The samples of the traffic period, or those between two times [us]; the link must be in
    `measure.series`.
    """
    frames = []
    for name, members in group_runs(runs).items():
        queues = []
        for run in members:
            queues.append(queue_samples(run, link, span_us=span_us))
        frames.append(curve(name, np.concatenate(queues), column="queue_bytes"))
    return pl.concat(frames)


def queue_samples(
    run: MeasuredRun, link: tuple[int, int], *, span_us: tuple[float, float] | None = None
) -> NDArray[np.uint64]:
    """Samples [bytes] of the queue of a link: of the traffic period, or between two times [us]."""
    low, high = span_us or (0.0, float(run.scenario.duration) / 1e6)
    is_meant = pl.col("time_ns").is_between(low * 1e3, high * 1e3)
    rows = run.series.filter(is_meant & (pl.col("link") == link_between(run, *link)))
    samples: NDArray[np.uint64] = rows["queue_bytes"].to_numpy()
    return samples


Layers = str | Sequence[str] | None
"""A layer of links, several, or none: all links."""


def packets_ccdf(runs: RunInput, layer: Layers = None) -> pl.DataFrame:
    """Packets of a flow at a port, where it has any: name, packets, share with so many or more.

    Over the samples of the links of a layer, of several, or of all links (AFQ sec. 6.2.3).

    Raises
    ------
    ScenarioError
        A run has no such layer, or no run has counted them (`measure.active_flows`).
    """
    frames = []
    for name, members in group_runs(runs).items():
        table = pl.concat(flow_packets(run, layer) for run in members)
        if table.is_empty():
            continue
        counts = np.bincount(table["packets"].to_numpy(), weights=table["flows"].to_numpy())
        share = counts[::-1].cumsum()[::-1] / counts.sum()
        packets = np.arange(1, counts.size)
        frames.append(
            pl.DataFrame({"name": [name] * packets.size, "packets": packets, "share": share[1:]})
        )
    if frames:
        return pl.concat(frames)
    members = [run for group in group_runs(runs).values() for run in group]
    if not any(run.scenario.measure.active_flows for run in members):
        raise refuse(
            "measure.active_flows",
            "the runs have not counted the packets of flows at ports",
            "set measure.active_flows = true",
            False,
        )
    return pl.DataFrame(schema={"name": pl.String, "packets": pl.Int64, "share": pl.Float64})


def flow_packets(run: MeasuredRun, layer: Layers = None) -> pl.DataFrame:
    """The counted flows and packets at the links of a layer, of several, or at all links.

    Raises
    ------
    ScenarioError
        The run has no such layer.
    """
    if layer is None:
        return run.flow_packets
    known: list[str] = run.summary["layers"]
    for name in (wanted := [layer] if isinstance(layer, str) else list(layer)):
        if name not in known:
            raise refuse("layer", "there are no such links", nearest(name, known), name)
    numbers = [number for number, name in enumerate(known) if name in wanted]
    links = run.links.filter(pl.col("layer").is_in(numbers))["link"].to_list()
    return run.flow_packets.filter(pl.col("link").is_in(links))


def _title(run: MeasuredRun, ends: tuple[int, int]) -> str:
    nodes = run.summary["node_names"]
    return f"{nodes[ends[0]]}–{nodes[ends[1]]}"
