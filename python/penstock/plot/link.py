"""Links: pauses by layer, and throughput and queue of sampled links over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator
from numpy.typing import NDArray

from penstock.analysis import RunInput, group_runs, layer_summary, link_series
from penstock.analysis.runs import caption_text
from penstock.errors import refuse
from penstock.look import Look, looks
from penstock.plot.distribution import percent_axis
from penstock.plot.format import plain
from penstock.plot.style import (
    QUIET,
    caption,
    name_axes,
    new_axes,
    style_axes,
    write_note,
    write_upright,
)
from penstock.readable import bytes_text, number_text, time_unit


def pause_time(runs: RunInput, *, ax: Axes | None = None) -> Axes:
    """Draw the share of time in which PFC pauses links, a group of bars per layer (BFC Fig. 9d)."""
    return _layer_bars(
        runs, "port_paused", title="Links paused", y="Share of time, mean over links", ax=ax
    )


def paused_queues(runs: RunInput, *, ax: Axes | None = None) -> Axes:
    """Draw how many queues of a link BFC holds paused, mean over time, bars per layer."""
    return _layer_bars(
        runs,
        "queues_paused",
        title="Queues paused by BFC",
        y="Paused queues of a link, mean over time",
        ax=ax,
        percent=False,
    )


def utilization(runs: RunInput, *, ax: Axes | None = None) -> Axes:
    """Draw the share of time in which links are busy, a group of bars per layer."""
    return _layer_bars(
        runs, "utilization", title="Link utilisation", y="Share of time, mean over links", ax=ax
    )


def _layer_bars(
    runs: RunInput, column: str, *, title: str, y: str, ax: Axes | None, percent: bool = True
) -> Axes:
    groups = group_runs(runs)
    table = layer_summary(groups)
    names = [name for name in groups if _has(table, name, column)] or list(groups)
    layers = table["layer"].unique(maintain_order=True).to_list()
    styles = looks(list(groups))
    own = ax is None
    ax = new_axes(ax, right=0.97)
    width = 0.84 / len(names)
    highest = float(table[column].max() or 0)  # type: ignore[arg-type]
    for rank, name in enumerate(names):
        rows = {row["layer"]: row for row in table.filter(pl.col("name") == name).to_dicts()}
        for place, layer in enumerate(layers):
            value = float(rows[layer][column]) if layer in rows else float("nan")
            x = place + (rank - (len(names) - 1) / 2) * width
            ax.bar(x, value, width * 0.86, color=styles[name].colour, zorder=3)
            _name_bar(ax, x, value, name, styles[name].colour, highest, percent=percent)
    ax.set_xticks(range(len(layers)), [layer.replace("-", " → ") for layer in layers])
    ax.tick_params(axis="x", length=0, labelsize=9)
    ax.grid(False, axis="x")
    ax.set_xlim(-0.5, len(layers) - 0.5)
    ax.set_ylim(0, highest * 1.55 or 1)
    if percent:
        percent_axis(ax)
        # The names above the bars need the room, and no share is above 1.
        most = min(ax.get_ylim()[1], 1.0)  # a tick above the axis would stretch it
        ax.set_yticks([tick for tick in ax.get_yticks() if tick <= most])
    name_axes(ax, title=title, y=y)
    if own:
        caption(ax, groups)
    return ax


def _has(table: pl.DataFrame, name: str, column: str) -> bool:
    """Whether a scheme shows in a figure of queue pauses; in the others a zero is a result."""
    rows = table.filter(pl.col("name") == name)
    return column != "queues_paused" or bool((rows[column] > 0).any())


def _name_bar(
    ax: Axes, x: float, value: float, name: str, colour: str, highest: float, *, percent: bool
) -> None:
    """Write scheme and value above a bar, upright, so that no legend is needed."""
    number = f"{number_text(value * 100, 2)} %" if percent else number_text(value, 2)
    text = f"{name}  {number}" if value > 0 else f"{name}  0"
    write_upright(ax, x, max(value, 0.0), text, colour if value > 0 else QUIET)


ROWS_MAX = 12
"""Rows of panels in one figure; our choice: more do not fit a page."""

ROW, ROWS_HEIGHT = 1.25, 10.0
"""Height of a row, and of all rows at most [inch]; our choice: a page of A4 holds them."""


def throughput(
    runs: RunInput,
    *,
    links: Sequence[tuple[int, int]] | None = None,
    span_us: tuple[float, float] | None = None,
) -> Figure:
    """Draw throughput and queue of sampled links over time, a row of panels per link and name.

    The first run of each name is drawn, and at most twelve rows: the caption says what is left out.
    `span_us` shows a part of the time, from and to [us].
    """
    groups = group_runs(runs)
    table = link_series(groups, links, span_us=span_us)
    if table.is_empty():
        remedy = "choose links that measure.series of the scenario names, and a time of the run"
        raise refuse("runs", "they have no sample of such a link in this time", remedy)
    every = table.select("link", "name").unique(maintain_order=True).rows()
    rows = every[:ROWS_MAX]
    figure = Figure(figsize=(9.6, min(ROW * len(rows), ROWS_HEIGHT) + 0.95))
    has_queues = bool((table["queue_bytes"] > 0).any())  # not those of hosts
    axes = figure.subplots(len(rows), 1 + has_queues, sharex=True, sharey="col", squeeze=False)
    height = figure.get_figheight()
    figure.subplots_adjust(
        left=0.06, right=0.88, top=1 - 0.4 / height, bottom=0.55 / height, wspace=0.16, hspace=0.22
    )
    styles = looks(list(groups))
    unit, per_unit = time_unit(float(table["time_ns"].to_numpy().max()))
    for place, (link, name) in enumerate(rows):
        part = table.filter((pl.col("link") == link) & (pl.col("name") == name))
        rate, last = axes[place][0], axes[place][-1]
        label = f"Time [{unit}]" if place == len(rows) - 1 else ""
        _over_time(rate, part, "rate_bps", 1e9, styles[name], per_unit)
        name_axes(rate, title="" if place else "Throughput [Gb/s]", x=label)
        if has_queues:
            _over_time(last, part, "queue_bytes", 1.0, styles[name], per_unit)
            last.yaxis.set_major_formatter(FuncFormatter(lambda value, _: bytes_text(value)))
            name_axes(last, title="" if place else "Queue", x=label)
        last.text(
            1.03,
            0.5,
            plain(f"{name}\n{link}"),
            transform=last.transAxes,
            color=styles[name].colour,
            fontsize=8.5,
            va="center",
        )
    for ax in axes[0]:
        ax.set_ylim(bottom=0)  # shared by the column, so after all rows are drawn
    drawn = {name: groups[name][:1] for _, name in rows}
    left_out = f" · {len(rows)} of {len(every)} rows" if len(rows) < len(every) else ""
    write_note(axes[0][0], caption_text(drawn) + left_out)
    return figure


WINDOWS = 240
"""Points of a line over time at most; our choice: the samples of each window are averaged."""


def _over_time(
    ax: Axes, table: pl.DataFrame, column: str, unit: float, style: Look, per_unit: float
) -> None:
    """Draw a column in its unit over time; `per_unit` is the unit of time [ns]."""
    style_axes(ax)
    time, value = thinned(table["time_ns"].to_numpy() / per_unit, table[column].to_numpy())
    ax.fill_between(time, value / unit, color=style.colour, alpha=0.16, linewidth=0)
    ax.plot(time, value / unit, color=style.colour, linewidth=1.0)
    ax.margins(x=0)
    ax.xaxis.set_minor_locator(NullLocator())


def thinned(
    time: NDArray[np.float64], value: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means over windows, of the samples that have a value: the first one has no rate.

    All windows but the last have equally many samples: a mean of few varies more than one of many.
    """
    if time.size <= WINDOWS:
        return time, value.astype(np.float64)
    starts = np.arange(0, time.size, -(-time.size // WINDOWS))
    known = np.isfinite(value)
    counts = np.add.reduceat(known.astype(np.float64), starts)
    total = np.add.reduceat(np.where(known, value, 0.0), starts)
    means = np.full(starts.size, np.nan)
    return time[starts], np.divide(total, counts, out=means, where=counts > 0)
