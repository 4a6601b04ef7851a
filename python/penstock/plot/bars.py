"""Bars: a number of every scheme, side by side in groups, with a second one above it in hatches."""

from __future__ import annotations

import math

import polars as pl
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from penstock.plot.format import number_text, plain_log_ticks
from penstock.plot.style import QUIET, looks, name_axes, new_axes, write_note

WIDTH = 0.84
"""Share of the room of a group that its bars fill; our choice."""


def bars(
    table: pl.DataFrame,
    *,
    title: str,
    y: str,
    y_log: bool = False,
    tip: str = "",
    note: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw groups of bars, one bar per name in each group.

    Parameters
    ----------
    table:
        Columns group, name, y and, for a hatched bar from y upwards, tip (its end, y's unit).
        What is not a finite number has no bar.
    tip:
        What the hatched bars are, for the legend.
    note:
        Small caption.
    """
    ax = new_axes(ax, width=7.2, right=0.79)
    groups = table["group"].unique(maintain_order=True).to_list()
    names = table["name"].unique(maintain_order=True).to_list()
    styles = looks(names)
    has_tips = "tip" in table.columns
    heights = [*table["y"], *(table["tip"] if has_tips else ())]
    low, high = _range([float(one) for one in heights if math.isfinite(one)], y_log=y_log)
    if y_log:
        ax.set_yscale("log")
    width = WIDTH / len(names)
    for row in table.iter_rows(named=True):
        rank = names.index(row["name"]) - (len(names) - 1) / 2
        place, colour = groups.index(row["group"]) + rank * width, styles[row["name"]].colour
        value, end = float(row["y"]), float(row["tip"]) if has_tips else math.nan
        if value > 0 and math.isfinite(value):
            ax.bar(place, value, width * 0.86, color=colour, zorder=3)
        if end > value:
            ax.bar(
                place,
                end - value,
                width * 0.86,
                bottom=value,
                facecolor="white",
                edgecolor=colour,
                hatch="////",
                linewidth=0.8,
                zorder=3,
            )
        _write_value(ax, place, value, top=max(value, end if end > value else value, low))
    ax.set_xticks(range(len(groups)), groups)
    ax.tick_params(axis="x", length=0, labelsize=9)
    ax.grid(False, axis="x")
    ax.set_xlim(-0.5, len(groups) - 0.5)
    ax.set_ylim(low, high)
    if y_log:
        plain_log_ticks(ax, low, high)
    name_axes(ax, title=title, y=y)
    patches = [Patch(color=styles[name].colour, label=name) for name in names]
    if tip:
        patches.append(Patch(facecolor="white", edgecolor=QUIET, hatch="////", label=tip))
    ax.legend(
        handles=patches,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
        fontsize=8.5,
    )
    if note:
        write_note(ax, note)
    return ax


def _range(heights: list[float], *, y_log: bool) -> tuple[float, float]:
    """Ends of the axis, with room for the numbers above the bars."""
    highest = max(heights, default=0.0)
    if not y_log:
        return 0.0, highest * 1.2 or 1.0
    lowest = min((height for height in heights if height > 0), default=1.0)
    low = 10.0 ** math.floor(math.log10(lowest) - 0.1)
    return low, max(highest, low * 10) * (max(highest, low * 10) / low) ** 0.18


def _write_value(ax: Axes, place: float, value: float, *, top: float) -> None:
    """Write the number of a solid bar above it, upright."""
    ax.annotate(
        number_text(value, 2),
        (place, top),
        xytext=(0, 3),
        textcoords="offset points",
        rotation=90,
        ha="center",
        va="bottom",
        fontsize=7,
        color=QUIET,
    )
