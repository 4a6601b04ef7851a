"""The kinds of charts: each is a function from a table of `penstock.analysis` to a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from penstock.readable import time_unit
from penstock.report.chart import Axis, Chart, View

STATISTICS = {"mean": "Mean", "p50": "Median", "p95": "p95", "p99": "p99", "p999": "p99.9"}
"""Columns of a table of slowdowns, and what readers choose."""

FLOWS_MIN = 20
"""Flows that a size bin needs to be drawn; our choice: with fewer, a percentile is two flows."""

SEEDS_BAND = "from the smallest to the largest of the seeds"
"""What a band around a line of several seeds is."""

WINDOWS = 400
"""Points of a line over time; our choice: a screen shows no more. The samples of each window are
averaged."""

SIZE_AXIS = Axis("Flow size", "bytes", "log")


def slowdown(table: pl.DataFrame, *, first: str = "p99") -> Chart:
    """Slowdown by flow size, with a choice of the statistic; `slowdown_by_size` has the table."""
    views = []
    for column, title in STATISTICS.items():
        band = (f"{column}_low", f"{column}_high")
        views.append(View(title, column, band if band[0] in table.columns else None))
    enough = bool((table["flows"] >= FLOWS_MIN).any())
    return Chart(
        title="How much slower do flows of each size get than alone?",
        table=table,
        x=SIZE_AXIS,
        y=Axis("Slowdown (1: as fast as alone)", scale="log"),
        along="size_typical",
        views=views,
        band_words=SEEDS_BAND if views[0].band else "",
        least=("flows", FLOWS_MIN if enough else 1),
        view=list(STATISTICS).index(first),
    )


def distribution(
    table: pl.DataFrame, column: str, x: Axis, *, title: str, share: str, **more: Any
) -> Chart:
    """A cumulative distribution on an axis that stretches its tail."""
    return Chart(
        title=title,
        table=table,
        x=x,
        y=Axis(share, "share", "tail"),
        along=column,
        views=[View("Share", "share")],
        form="step",
        **more,
    )


def layer_bars(table: pl.DataFrame, column: str, y: Axis, *, title: str) -> Chart:
    """Bars for each layer of links, one per scheme; `layer_summary` has the table."""
    layers = table["layer"].unique(maintain_order=True).to_list()
    band = (f"{column}_low", f"{column}_high")
    has_band = band[0] in table.columns
    shown = ["name", "layer", "links", column, *(band if has_band else ())]
    return Chart(
        title=title,
        table=table.select(shown),
        x=Axis("Links", scale="named", names=layers),
        y=y,
        along="layer",
        views=[View(y.title, column, band if has_band else None)],
        form="bars",
        band_words=SEEDS_BAND if has_band else "",
    )


def over_time(table: pl.DataFrame) -> Chart:
    """Rate and queue of sampled links over time, a panel per link; `link_series` has the table."""
    unit, per_unit = time_unit(float(table["time_ns"].to_numpy().max()))
    along = f"time_{unit.replace('µ', 'u')}"
    parts = [
        _thinned(rows, (pl.col("time_ns").first() / per_unit).alias(along))
        for rows in table.partition_by("link", "name", maintain_order=True)
        if rows.height
    ]
    views = [View("Throughput", "rate_gbps", axis=Axis("Throughput [Gb/s]", zero=True))]
    queue = Axis("Queue", "bytes", zero=True)
    if bool((table["queue_bytes"] > 0).any()):  # not those of hosts
        views.append(View("Queue", "queue_bytes", axis=queue))
    return Chart(
        title="What do sampled links carry, and what waits for them?",
        table=pl.concat(parts),
        x=Axis(f"Time [{unit}]"),
        y=queue,
        along=along,
        views=views,
        panels=["link"],
    )


def _thinned(rows: pl.DataFrame, time: pl.Expr) -> pl.DataFrame:
    """Samples of one link, as means over windows; `time` is that of a window."""
    window = max(-(-rows.height // WINDOWS), 1)
    place = pl.Series("window", np.arange(rows.height) // window)
    means = (
        rows.with_columns(place)
        .group_by("window", maintain_order=True)
        .agg(
            pl.col("name", "link").first(),
            time,
            (pl.col("rate_bps").mean() / 1e9).alias("rate_gbps"),
            pl.col("queue_bytes").mean(),
        )
    )
    return means.drop("window")


def timeline(
    table: pl.DataFrame, *, title: str, origin_us: float, units: Mapping[str, Axis]
) -> Chart:
    """Quantities over time, a row of panels per scheme; times count from `origin_us`."""
    panels = table["panel"].unique(maintain_order=True).to_list()
    shown = table.with_columns((pl.col("time_us") - origin_us) / 1e3).rename({"time_us": "time_ms"})
    return Chart(
        title=title,
        table=shown,
        x=Axis("Time [ms]"),
        y=Axis("", zero=True),
        along="time_ms",
        views=[View("Value", "value")],
        line="line",
        panels=["name", "panel"],
        panel_axes={panel: units[panel] for panel in panels},
    )


def backlog(table: pl.DataFrame, *, title: str = "") -> Chart:
    """Unfinished flows over time; `backlog_series` has the table."""
    shown = table.with_columns((pl.col("time_ns") / 1e6).alias("time_ms")).drop("time_ns")
    size = Axis("Payload not delivered", "bytes", zero=True)
    return Chart(
        title=title or "Does the network keep up with its traffic?",
        table=shown,
        x=Axis("Time [ms]", zero=True),
        y=Axis("Unfinished flows", zero=True),
        along="time_ms",
        views=[View("Flows", "flows"), View("Bytes", "bytes", axis=size)],
    )


def curves(
    table: pl.DataFrame,
    x: Axis,
    y: Axis,
    *,
    title: str,
    reference: tuple[str, Sequence[float], Sequence[float]] | None = None,
) -> Chart:
    """A measured quantity against a parameter; columns name, x, y, deviation, hollow."""
    shown, band = table, None
    if "deviation" in table.columns:
        shown = table.with_columns(
            (pl.col("y") - pl.col("deviation")).alias("low"),
            (pl.col("y") + pl.col("deviation")).alias("high"),
        )
        band = ("low", "high")
    return Chart(
        title=title,
        table=shown,
        x=x,
        y=y,
        along="x",
        views=[View(y.title, "y", band)],
        form="points" if reference else "line",
        band_words="the deviation" if band else "",
        hollow="hollow" if "hollow" in table.columns else "",
        reference=reference,
    )


def bars(table: pl.DataFrame, y: Axis, *, title: str, tip_words: str = "") -> Chart:
    """Groups of bars, one bar per name; columns group, name, y and tip."""
    groups = table["group"].unique(maintain_order=True).to_list()
    return Chart(
        title=title,
        table=table,
        x=Axis("", scale="named", names=groups),
        y=y,
        along="group",
        views=[View(y.title, "y")],
        form="bars",
        tip="tip" if "tip" in table.columns else "",
        tip_words=tip_words,
    )
