"""Bars: a number of every scheme, side by side in groups; a second number above it in hatches."""

from __future__ import annotations

import math

import polars as pl
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from penstock.look import bar_colours, looks
from penstock.plot.format import plain, plain_log_ticks
from penstock.plot.style import QUIET, name_axes, new_axes, write_note, write_upright
from penstock.readable import number_text

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
    ax = new_axes(ax, width=7.6, right=0.76)
    groups = table["group"].unique(maintain_order=True).to_list()
    names = table["name"].unique(maintain_order=True).to_list()
    own = {name: (one.colour, one.on_dark) for name, one in looks(names).items()}
    colours = {name: light for name, (light, _) in bar_colours(own).items()}
    has_tips = "tip" in table.columns
    heights = [*table["y"], *(table["tip"] if has_tips else ())]
    low, high = _range([float(one) for one in heights if math.isfinite(one)], y_log=y_log)
    if y_log:
        ax.set_yscale("log")
    digits = _digits(table["y"])
    for row in table.iter_rows(named=True):
        group, rank = groups.index(row["group"]), names.index(row["name"])
        place = group + (rank - (len(names) - 1) / 2) * WIDTH / len(names)
        ends = float(row["y"]), float(row["tip"]) if has_tips else math.nan
        top = _bar(ax, place, WIDTH * 0.86 / len(names), colours[row["name"]], ends)
        write_upright(ax, place, max(top, low), number_text(row["y"], digits), QUIET)
    ax.set_xticks(range(len(groups)), [plain(group) for group in groups])
    ax.tick_params(axis="x", length=0, labelsize=9)
    ax.grid(False, axis="x")
    ax.set_xlim(-0.5, len(groups) - 0.5)
    ax.set_ylim(low, high)
    if y_log:
        plain_log_ticks(ax.yaxis, low, high)
    name_axes(ax, title=title, y=y)
    _legend(ax, colours, tip)
    if note:
        write_note(ax, note)
    return ax


def _digits(values: pl.Series) -> int:
    """Digits of the numbers above the bars: two, and three where two values would read alike."""
    apart = {one for one in values.to_list() if not math.isnan(one)}
    return 2 if len({number_text(one, 2) for one in apart}) == len(apart) else 3


def _range(heights: list[float], *, y_log: bool) -> tuple[float, float]:
    """Ends of the axis, with room for the numbers above the bars."""
    highest = max(heights, default=0.0)
    if not y_log:
        least, highest = min([0.0, *heights]), max(0.0, highest)
        room = 0.2 * (highest - least) or 1.0
        return least - room * (least < 0), highest + room
    lowest = min((height for height in heights if height > 0), default=1.0)
    low = 10.0 ** math.floor(math.log10(lowest) - 0.1)
    return low, max(highest, low * 10) * (max(highest, low * 10) / low) ** 0.18


def _bar(ax: Axes, place: float, width: float, colour: str, ends: tuple[float, float]) -> float:
    """Draw a solid bar to the first end and a hatched one from there to the second.

    What is not finite is left out, and so is a second end that is not above the first. Answers
    where the upper one ends.
    """
    value, end = (one if math.isfinite(one) else 0.0 for one in ends)
    if value != 0:
        ax.bar(place, value, width, color=colour, zorder=3)
    if math.isfinite(ends[1]) and end > value:
        ax.bar(
            place,
            end - value,
            width,
            bottom=value,
            facecolor="white",
            edgecolor=colour,
            hatch="////",
            linewidth=0.8,
            zorder=3,
        )
    return max(value, end)


def _legend(ax: Axes, colours: dict[str, str], tip: str) -> None:
    """Name the colours, and the hatched bars, to the right of the axes."""
    patches = [Patch(color=colour, label=plain(name)) for name, colour in colours.items()]
    if tip:
        patches.append(Patch(facecolor="white", edgecolor=QUIET, hatch="////", label=plain(tip)))
    ax.legend(
        handles=patches,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
        fontsize=8.5,
    )
