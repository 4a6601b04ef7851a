"""Single ports: pause time of each, the distribution of a queue, packets of a flow."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from penstock.analysis import RunInput, group_runs, packets_ccdf, pauses_by_link, queue_cdf
from penstock.analysis.port import Layers
from penstock.look import looks
from penstock.plot.distribution import percent_axis
from penstock.plot.format import plain, size_axis
from penstock.plot.style import EndLabel, caption, label_ends, name_axes, new_axes


def link_pauses(
    runs: RunInput, links: Sequence[tuple[int, int]], *, title: str = "", log: bool = False
) -> Axes:
    """Draw how long each of `links` is paused, a bar per name (FAFC Fig. 3).

    With `log` the axis of time is logarithmic, and a link that is not paused has no bar. Where no
    link is paused, the axis is linear.
    """
    groups = group_runs(runs)
    table = pauses_by_link(groups, links)
    names = list(groups)
    styles = looks(names)
    ax = new_axes(None, width=9.6, right=0.97)
    width = 0.84 / len(names)
    for rank, name in enumerate(names):
        times = table.filter(pl.col("name") == name)["pause_us"]
        places = [place + (rank - (len(names) - 1) / 2) * width for place in range(len(times))]
        ax.bar(places, times, width, color=styles[name].colour, label=plain(name), zorder=3)
    titles = table["link"].unique(maintain_order=True).to_list()
    ax.set_xticks(range(len(titles)), titles, rotation=60, ha="right", rotation_mode="anchor")
    ax.tick_params(axis="x", length=0, labelsize=8)
    ax.grid(False, axis="x")
    ax.set_xlim(-0.6, len(titles) - 0.4)
    if log and (table["pause_us"] > 0).any():
        ax.set_yscale("log")
    if len(names) > 1:
        ax.legend(frameon=False, fontsize=8.5, loc="upper left", ncols=len(names))
    name_axes(ax, title=title, y="Pause time [µs]")
    ax.margins(y=0.15)
    caption(ax, groups)
    return ax


def queue(
    runs: RunInput,
    link: tuple[int, int],
    *,
    span_us: tuple[float, float] | None = None,
    title: str = "",
) -> Axes:
    """Draw the distribution over time of the queue of a sampled link (FAFC Fig. 9)."""
    groups = group_runs(runs)
    table = queue_cdf(groups, link, span_us=span_us)
    ax = new_axes(None)
    styles = looks(list(groups))
    for name in groups:
        rows = table.filter(pl.col("name") == name)
        style = styles[name]
        ax.plot(
            rows["queue_bytes"],
            rows["share"],
            color=style.colour,
            linestyle=style.dash,
            linewidth=1.8,
            drawstyle="steps-post",
            label=plain(name),
        )
    ax.set_ylim(0, 1.02)
    ax.set_xlim(left=0)
    percent_axis(ax)
    size_axis(ax.xaxis)
    ax.legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    name_axes(ax, title=title, x="Queue", y="Share of time")
    caption(ax, groups)
    return ax


PACKETS_SHOWN = 20
"""Packets of a flow up to which a figure goes; our choice: twice the papers' axis."""


def flow_packets(runs: RunInput, *, layer: Layers = None, title: str = "") -> Axes:
    """Draw the share of flows at a port that have so many packets there or more (AFQ Fig. 10c)."""
    groups = group_runs(runs)
    table = packets_ccdf(groups, layer).filter(pl.col("packets") <= PACKETS_SHOWN)
    ax = new_axes(None)
    names = table["name"].unique(maintain_order=True).to_list()
    styles = looks(names)
    ends = []
    for name in names:
        rows = table.filter((pl.col("name") == name) & (pl.col("share") > 0))
        style = styles[name]
        ax.plot(
            rows["packets"],
            rows["share"],
            color=style.colour,
            marker=style.marker or ".",
            markersize=style.marker_size,
            markeredgecolor="white",
            markeredgewidth=0.5,
            linestyle=style.dash,
            linewidth=1.6,
        )
        ends.append(EndLabel(name, style.colour, float(rows["share"][-1])))
    ax.set_yscale("log")
    ax.set_ylim(top=1.2)
    ax.set_xlim(0.5, int(table["packets"].max() or 1) + 0.5)  # type: ignore[arg-type]
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    name_axes(ax, title=title, x="Packets of a flow at a port", y="Share with so many or more")
    label_ends(ax, ends)
    caption(ax, groups)
    return ax
