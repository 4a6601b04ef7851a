"""Slowdown against flow size: the figure by which schemes are compared (BFC Fig. 9-11)."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from penstock.analysis import RunInput, group_runs, slowdown_by_size
from penstock.errors import refuse
from penstock.look import looks
from penstock.plot.format import plain_log_ticks, size_axis
from penstock.plot.style import EndLabel, caption, label_ends, name_axes, new_axes, style_axes

COLUMNS = {50: "p50", 95: "p95", 99: "p99", 99.9: "p999"}
TITLES = {"mean": "Mean", "p50": "Median", "p95": "p95", "p99": "p99", "p999": "p99.9"}

FLOWS_MIN = 20
"""Flows that a bin needs to be drawn; our choice: below it a percentile is one or two flows."""

PANEL, BETWEEN, ABOVE, BELOW = 2.6, 0.5, 0.4, 0.75
"""Height of a panel and of what is between, above and below panels [inch]; our choice: room for a
title above each, and for ticks, the name of the axis and the caption below the last."""


def slowdown(
    runs: RunInput,
    *,
    percentile: float | str = 99,
    bins: str | Sequence[int] = "log",
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw slowdown against flow size, one line per scheme, both axes logarithmic.

    Parameters
    ----------
    percentile:
        50, 95, 99, 99.9 or "mean".
    bins:
        Size bins, see `penstock.analysis.BINS`. Bins of fewer than 20 flows are not drawn.
    labels:
        Traffic entries to include; by default all but incasts.
    """
    column = _column(percentile)
    groups = group_runs(runs)
    table = slowdown_by_size(groups, bins=bins, labels=labels)
    own = ax is None
    ax = new_axes(ax)
    _lines(ax, table, column, end_labels=True)
    name_axes(
        ax,
        title=f"{TITLES[column]} slowdown by flow size",
        x="Flow size",
        y="FCT / FCT alone at line rate",
    )
    if own:
        caption(ax, groups)
    return ax


def slowdown_panels(
    runs: RunInput,
    *,
    columns: Sequence[str] = ("mean", "p50", "p95", "p99"),
    bins: str | Sequence[int] = "log",
    labels: Sequence[str] | None = None,
) -> Figure:
    """Draw mean, median and tail slowdown side by side with one scale."""
    groups = group_runs(runs)
    table = slowdown_by_size(groups, bins=bins, labels=labels)
    rows = (len(columns) + 1) // 2
    height = rows * PANEL + (rows - 1) * BETWEEN + ABOVE + BELOW
    figure = Figure(figsize=(9.6, height))
    axes = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False)
    figure.subplots_adjust(
        left=0.075,
        right=0.86,
        top=1 - ABOVE / height,
        bottom=BELOW / height,
        wspace=0.08,
        hspace=BETWEEN / PANEL,
    )
    flat = list(axes.flat)
    for place, column in enumerate(columns):
        ax = style_axes(flat[place])
        _lines(ax, table, column, end_labels=False)
        bottom, left = place >= len(columns) - 2, place % 2 == 0
        name_axes(
            ax,
            title=TITLES[column],
            x="Flow size" if bottom else "",
            y="Slowdown" if left else "",
        )
        ax.tick_params(labelleft=left, labelbottom=bottom)
    for ax in flat[len(columns) :]:
        ax.set_visible(False)
    _limit(flat[0], table, columns)  # the panels share the axis
    for place, column in enumerate(columns):
        if place % 2 == 1 or place == len(columns) - 1:
            label_ends(flat[place], _end_labels(table, column))
    caption(flat[0], groups)
    return figure


def _column(percentile: float | str) -> str:
    """The column of a statistic that a user asks for."""
    for known, column in COLUMNS.items():
        if percentile in (known, str(known)):
            return column
    if percentile == "mean":
        return "mean"
    wanted = ", ".join(map(str, COLUMNS))
    message = "no such percentile is computed"
    raise refuse("percentile", message, f'write one of {wanted}, or "mean"', percentile)


def _drawn(table: pl.DataFrame) -> pl.DataFrame:
    enough = table.filter(pl.col("flows") >= FLOWS_MIN)
    return enough if enough.height else table.filter(pl.col("flows") > 0)


def _end_labels(table: pl.DataFrame, column: str) -> list[EndLabel]:
    names = table["name"].unique(maintain_order=True).to_list()
    styles = looks(names)
    labels = []
    for name in names:
        rows = _drawn(table).filter(pl.col("name") == name).sort("size_typical")
        if rows.height:
            labels.append(EndLabel(name, styles[name].colour, float(rows[column][-1])))
    return labels


def _lines(ax: Axes, table: pl.DataFrame, column: str, *, end_labels: bool) -> None:
    names = table["name"].unique(maintain_order=True).to_list()
    styles = looks(names)
    drawn = _drawn(table)
    ax.set_xscale("log")
    ax.set_yscale("log")
    for order, name in enumerate(names):
        rows = drawn.filter(pl.col("name") == name).sort("size_typical")
        style = styles[name]
        ax.plot(
            rows["size_typical"],
            rows[column],
            color=style.colour,
            marker=style.marker,
            linestyle=style.dash,
            markersize=style.marker_size,
            markeredgewidth=0.6,
            markeredgecolor="white" if style.marker not in ("x", "") else style.colour,
            linewidth=1.7,
            zorder=5 if name == "bfc" else 3 + order / 100,
        )
    _limit(ax, table, [column])
    size_axis(ax.xaxis)
    if end_labels:
        label_ends(ax, _end_labels(table, column))


def _limit(ax: Axes, table: pl.DataFrame, columns: Sequence[str]) -> None:
    """Let the y axis hold all lines of some columns.

    Values below 1 are of flows to which an outage gave a faster path (docs/measurements.md).
    """
    values = _drawn(table).select(columns).to_numpy()
    if values.size:
        low, high = min(float(values.min()), 1.0), 1.25 * max(float(values.max()), 2.0)
        ax.set_ylim(0.93 * low, high)
        plain_log_ticks(ax.yaxis, low, high)
