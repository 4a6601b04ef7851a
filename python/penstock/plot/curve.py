"""A measured quantity against a parameter: the figure of a sweep, with a closed form beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import polars as pl
from matplotlib.axes import Axes

from penstock.look import looks
from penstock.plot.format import plain_log_ticks
from penstock.plot.style import QUIET, EndLabel, label_ends, name_axes, new_axes, write_note


def curves(
    table: pl.DataFrame,
    *,
    title: str,
    x: str,
    y: str,
    reference: tuple[str, Sequence[float], Sequence[float]] | None = None,
    x_log: bool = False,
    y_log: bool = False,
    note: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw one line per name through measured points.

    Parameters
    ----------
    table:
        Columns name, x, y and, when there are whiskers, deviation (half length, y's unit). A
        point whose column `hollow` is there and above 0 has a hollow marker. Where y is not a
        finite number, the line has a gap.
    reference:
        A closed form to hold the points against: its name, x and y.
    note:
        Small caption.
    """
    ax = new_axes(ax)
    if x_log and _has_zeros(table["x"]):
        ax.set_xscale("symlog", linthresh=10.0 ** _lowest_decade(table["x"]), linscale=0.5)
    elif x_log:
        ax.set_xscale("log", base=2 if _doubles(table["x"].to_list()) else 10)
    known = table.filter(pl.col("y").is_finite())
    y_log = y_log and bool((known["y"] > 0).any())  # zeros alone have no decade
    if y_log and _has_zeros(known["y"]):
        lowest, highest = _lowest_decade(known["y"]), math.log10(max(known["y"].to_list()))
        ax.set_yscale("symlog", linthresh=10.0**lowest, linscale=0.5)
        ax.set_yticks([0.0, *(10.0**e for e in range(lowest, math.ceil(highest) + 1))])
    elif y_log:
        ax.set_yscale("log")
    names = table["name"].unique(maintain_order=True).to_list()
    styles = looks(names)
    drawn = table.with_columns(pl.when(pl.col("y").is_finite()).then("y").otherwise(math.nan))
    ends = []
    if reference is not None:
        ax.plot(reference[1], reference[2], color=QUIET, linewidth=1.5, linestyle="--", zorder=2)
        ends.append(EndLabel(reference[0], QUIET, float(reference[2][-1])))
    for name in names:
        rows = drawn.filter(pl.col("name") == name).sort("x")
        style = styles[name]
        ax.errorbar(
            rows["x"],
            rows["y"],
            yerr=rows["deviation"] if "deviation" in rows.columns else None,
            color=style.colour,
            marker=style.marker or ".",
            linestyle="none" if reference is not None else style.dash,
            markersize=style.marker_size + 1,
            markeredgecolor="white",
            markeredgewidth=0.6,
            linewidth=1.7,
            elinewidth=1.1,
            capsize=3,
            zorder=4,
        )
        if "hollow" in rows.columns:
            doubted = rows.filter(pl.col("hollow") > 0)
            ax.plot(
                doubted["x"],
                doubted["y"],
                color=style.colour,
                marker=style.marker or ".",
                linestyle="none",
                markersize=style.marker_size + 1,
                markerfacecolor="white",
                zorder=5,
            )
        ends += [EndLabel(name, style.colour, y) for y in rows["y"].drop_nans().tail(1)]
    if x_log:
        places = sorted(set(table["x"].to_list()))
        ax.set_xticks(places, [f"{place:g}" for place in places])
    low, high = ax.get_ylim()
    if ax.get_yscale() == "symlog":
        ax.set_ylim(0, high)
    elif y_log:
        shown = [y for y in known["y"].to_list() if y > 0]
        low = min([low, *(_round_below(y) for y in shown)])
        ax.set_ylim(bottom=low)
        plain_log_ticks(ax.yaxis, low, high)
    else:
        is_below = bool((known["y"] < 0).any())
        ax.set_ylim(low if is_below else 0, high * 1.05)
    name_axes(ax, title=title, x=x, y=y)
    label_ends(ax, ends)
    if note:
        write_note(ax, note)
    return ax


def _has_zeros(values: pl.Series) -> bool:
    """Whether an axis has zeros and more: zeros stand at its end, below the least of the others."""
    return bool((values == 0).any() and (values > 0).any())


def _lowest_decade(values: pl.Series) -> int:
    """The decade of the least value above 0, as a power of ten."""
    return math.floor(math.log10(min(one for one in values.to_list() if one > 0)))


def _round_below(value: float) -> float:
    """The largest 1, 2 or 5 times a power of ten that is not above a value > 0."""
    decade = 10.0 ** math.floor(math.log10(value))
    return max(step * decade for step in (1, 2, 5) if step * decade <= value)


def _doubles(values: list[float]) -> bool:
    distinct = sorted(set(values))
    return len(distinct) > 1 and all(
        abs(b / a - round(b / a)) < 1e-9 for a, b in pairwise(distinct) if a
    )
