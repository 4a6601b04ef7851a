"""A metric along an axis: means with their 95 % intervals, in small multiples.

Along numbers means are joined to lines, with bands. Names are in no order, so along names each mean
is a mark of its own, with a whisker.

What it is: a drawing of a table of means. What it is not: it knows no sweep and no seed (see
`penstock.sweep.pooled` for the table). Invariant: all panels of a figure have the same axes, and a
line has the same look in each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from penstock.look import BLUE, Look, looks
from penstock.plot.format import measured_words, plain, plain_log_ticks
from penstock.plot.style import INK, EndLabel, label_ends, name_axes, style_axes, write_note

CONTEXT = "#c3cad1"
"""Colour of the lines of the other panels."""
COLUMNS_MAX = 3
"""Panels side by side (our choice: a page's width)."""
MARK_GAP, MARKS_WIDTH = 0.12, 0.6
"""Distance of two marks at one name, and of the first to the last at most, in distances of two
names (our choice: marks of a name stand together)."""
TICKS_MAX = 8
"""Ticks of an axis (our choice: their words do not touch)."""
LOG_FROM, LOG_X_FROM = 20.0, 10.0
"""Ratio of the largest to the least from which an axis is logarithmic: of the metric, and of the
values along which it is drawn (our choice: the lower half stays readable)."""


@dataclass(frozen=True)
class Places:
    """Where the values of the axis along the figure stand."""

    title: str
    """Name of the axis, with its unit where it has one."""
    at: Mapping[str, float]
    """Label -> place."""
    is_number: bool
    """Whether places are numbers; else the labels stand side by side."""


def band_panels(
    table: pl.DataFrame,
    places: Places,
    *,
    line: str = "",
    panels: Sequence[str] = (),
    title: str,
    y: str,
    note: str,
) -> Figure:
    """Draws one line with its band for each value of `line`, in a panel for each of `panels`.

    Where panels have one line each, the lines of the other panels stand behind it in grey. Where
    places are names, a line is marks with whiskers, and nothing is grey.

    Parameters
    ----------
    table
        Columns `x` (label), `mean`, `low`, `high` (NaN: no band), and those of `line` and `panels`;
        the order of its rows is that of lines and panels. Some mean is a number; a panel without
        any is left out.
    line
        Column of names with a look each; `x` where these are the labels of the axis. Empty: all is
        blue.
    note
        Small letters at the lower edge.
    """
    keys = list(panels)
    table = table.filter(pl.col("mean").is_finite())
    groups = table.partition_by(keys, maintain_order=True, as_dict=True) if keys else {(): table}
    count = len(groups)
    columns = min(count, COLUMNS_MAX if count != 4 else 2)
    rows = math.ceil(count / columns)
    width, height = (6.4, 4.0) if count == 1 else (9.6, 0.95 + 2.35 * rows)
    has_ends = line not in ("", "x")
    figure = Figure(figsize=(width, height))
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    figure.subplots_adjust(
        left=0.85 / width,
        right=0.86 if has_ends else 0.98,
        top=1 - (0.62 if keys else 0.42) / height,
        bottom=0.72 / height,
        wspace=0.08,
        hspace=0.32,
    )
    names = table[line].unique(maintain_order=True).to_list() if line else [""]
    styles = looks(names) if line else {"": Look(BLUE, "o")}
    flat = list(axes.flat)
    for index, (point, own) in enumerate(groups.items()):
        ax = style_axes(flat[index])
        if not line and count > 1 and places.is_number:
            for other in groups.values():
                _context(ax, other, places)
        for rank, name in enumerate(names):
            rows_of = _points(own.filter(pl.col(line) == name) if line else own, places)
            if places.is_number:
                _line(ax, rows_of, styles[name])
            else:
                gap = min(MARK_GAP, MARKS_WIDTH / len(names)) if has_ends else 0.0
                _marks(ax, rows_of, styles[name], gap * (rank - (len(names) - 1) / 2))
        words = ", ".join(f"{key} = {one}" for key, one in zip(keys, point, strict=True))
        if words:
            ax.set_title(plain(words), loc="left", fontsize=9, color=INK, pad=5)
    for ax in flat[count:]:
        ax.set_visible(False)
    _scales(flat[0], table, places)
    words = measured_words(flat[0].yaxis, y)
    for index, ax in enumerate(flat[:count]):
        is_last_row, is_first = index + columns >= count, index % columns == 0
        name_axes(ax, x=places.title if is_last_row else "", y=words if is_first else "")
        ax.tick_params(labelbottom=is_last_row, labelleft=is_first)
    if has_ends:
        for index, own in enumerate(groups.values()):
            if index % columns == columns - 1 or index == count - 1:
                label_ends(flat[index], _ends(own, line, styles, places))
    figure.text(
        0.85 / width,
        1 - 0.1 / height,
        plain(title),
        fontsize=10.5,
        color=INK,
        fontweight="bold",
        va="top",
    )
    write_note(flat[0], note)
    return figure


def _points(rows: pl.DataFrame, places: Places) -> pl.DataFrame:
    """Rows in the order of the axis, with their places in column `place`."""
    at = [places.at[label] for label in rows["x"].to_list()]
    return rows.with_columns(place=pl.Series("place", at, dtype=pl.Float64)).sort("place")


def _line(ax: Axes, shown: pl.DataFrame, style: Look) -> None:
    ax.fill_between(
        shown["place"], shown["low"], shown["high"], color=style.colour, alpha=0.2, linewidth=0
    )
    ax.plot(
        shown["place"],
        shown["mean"],
        color=style.colour,
        marker=style.marker or ".",
        linestyle=style.dash,
        markersize=style.marker_size,
        markeredgecolor="white" if style.marker != "x" else style.colour,
        markeredgewidth=0.6,
        linewidth=1.7,
        zorder=4,
    )


def _marks(ax: Axes, shown: pl.DataFrame, style: Look, beside: float) -> None:
    at = (shown["place"] + beside).to_numpy()
    mean, low, high = (shown[key].fill_nan(None) for key in ("mean", "low", "high"))
    ends = [(mean - low).clip(0).fill_null(math.nan), (high - mean).clip(0).fill_null(math.nan)]
    ax.errorbar(
        at,
        mean.to_numpy(),
        yerr=[one.to_numpy() for one in ends],
        color=style.colour,
        fmt=style.marker or "o",
        markersize=style.marker_size,
        capsize=3,
        elinewidth=1.2,
        zorder=4,
    )


def _context(ax: Axes, rows: pl.DataFrame, places: Places) -> None:
    shown = _points(rows, places)
    ax.plot(shown["place"], shown["mean"], color=CONTEXT, linewidth=1.0, zorder=2)


def _ends(
    rows: pl.DataFrame, line: str, styles: Mapping[str, Look], places: Places
) -> list[EndLabel]:
    ends = []
    for name, style in styles.items():
        shown = _points(rows.filter(pl.col(line) == name), places)
        if shown.height:
            ends.append(EndLabel(name, style.colour, float(shown["mean"][-1])))
    return ends


def _scales(ax: Axes, table: pl.DataFrame, places: Places) -> None:
    """The scales and ticks that all panels share."""
    known = table["mean"].to_list()
    shown = [one for key in ("mean", "low", "high") for one in table[key].to_list() if one == one]
    if min(shown) > 0 and max(known) / min(known) > LOG_FROM:
        ax.set_yscale("log")
        plain_log_ticks(ax.yaxis, *ax.get_ylim())
    else:
        # Where all is zero, nothing is below it.
        low, high = min(shown), max(shown) if any(shown) else 1.0
        room = 0.05 * (high - low or abs(high) or 1.0)
        bottom = 0.0 if 0 <= low < 0.5 * high else low - room
        ax.set_ylim(bottom, high + room)
    at = sorted(set(places.at.values()))
    labels = {place: label for label, place in places.at.items()}
    if places.is_number and at[0] > 0 and at[-1] / at[0] >= LOG_X_FROM:
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())
    step = math.ceil(len(at) / TICKS_MAX)
    ticks = at[::step]
    slanted = sum(len(labels[one]) for one in ticks) > 24
    ax.set_xticks(ticks, [plain(labels[one]) for one in ticks])
    if slanted:
        figure = ax.figure
        for one in figure.axes:
            one.tick_params(axis="x", labelrotation=30)
    if not places.is_number:
        ax.set_xlim(-0.4, len(at) - 0.6)
