"""Unfinished flows over time: the figure shows whether a network keeps up with its traffic."""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes

from penstock.analysis import RunInput, backlog_series, group_runs
from penstock.look import looks
from penstock.plot.style import EndLabel, caption, label_ends, name_axes, new_axes


def backlog(runs: RunInput, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw the number of unfinished flows at equal times of the traffic, mean over seeds."""
    groups = group_runs(runs)
    table = backlog_series(groups)
    own = ax is None
    ax = new_axes(ax)
    styles = looks(list(groups))
    ends = []
    for name in groups:
        rows = table.filter(pl.col("name") == name)
        style = styles[name]
        ax.plot(
            rows["time_ns"] / 1e6,
            rows["flows"],
            color=style.colour,
            linestyle=style.dash,
            linewidth=1.7,
            zorder=5 if name == "bfc" else 3,
        )
        ends.append(EndLabel(name, style.colour, float(rows["flows"][-1])))
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    name_axes(ax, title=title or "Unfinished flows", x="Time [ms]", y="Flows")
    label_ends(ax, ends)
    if own:
        caption(ax, groups)
    return ax
