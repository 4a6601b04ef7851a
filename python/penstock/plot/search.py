"""Figures of a search: the objective over the trials, and along each field that was varied.

What it is: a drawing of tables of trials. What it is not: it knows no sampler and no run (see
`penstock.tune.page`). Invariant: a trial that does not do as required is hollow in every figure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from penstock.plot.bands import LOG_FROM
from penstock.plot.format import plain, plain_log_ticks
from penstock.plot.style import (
    BLUE,
    INK,
    QUIET,
    VERMILION,
    EndLabel,
    label_ends,
    name_axes,
    new_axes,
    style_axes,
    write_note,
)

COLUMNS_MAX = 3
"""Panels side by side (our choice: a page's width)."""
WORD_WIDTH = 14
"""Characters of a choice under an axis (our choice: their words do not touch)."""


@dataclass(frozen=True)
class Slice:
    """The axis of a field that was varied."""

    title: str
    """The field's name."""
    at: Sequence[float]
    """Place of each row of the table of trials."""
    words: Sequence[str] = ()
    """Names of the places 0, 1, 2, ...; empty where places are numbers."""
    is_log: bool = False
    text: Callable[[float], str] | None = None
    """How a tick is written; none: as a plain number."""


def course(
    table: pl.DataFrame, *, is_minimized: bool, start: float | None, title: str, y: str, note: str
) -> Axes:
    """Draws the objective of each trial with its interval, and the best so far as a line.

    Parameters
    ----------
    table
        Columns `trial`, `mean`, `low`, `high`, `meets`; rows in the order of the trials.
    start
        The objective of the scenario as it is, drawn as a line across; none: no line.
    """
    ax = new_axes(None, right=0.84)
    known = table.filter(pl.col("mean").is_finite())
    _points(ax, known, known["trial"].to_list())
    met = known.filter("meets")
    labels = []
    if met.height:
        best = met["mean"].cum_min() if is_minimized else met["mean"].cum_max()
        ends = [*met["trial"].to_list(), int(table["trial"].max() or 0)]  # type: ignore[arg-type]
        values = [*best.to_list(), best[-1]]
        ax.step(ends, values, where="post", color=INK, linewidth=1.4, zorder=3)
        labels.append(EndLabel("best so far", INK, float(best[-1])))
    if start is not None and math.isfinite(start):
        ax.axhline(start, color=QUIET, linewidth=1.0, linestyle="--", zorder=2)
        labels.append(EndLabel("as it is", QUIET, start))
    _height(ax, known)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    name_axes(ax, title=title, x="trial", y=y)
    label_ends(ax, labels)
    write_note(ax, note)
    return ax


def slices(
    table: pl.DataFrame, along: Sequence[Slice], *, best: int | None, title: str, y: str, note: str
) -> Figure:
    """Draws the objective of all trials along each field, in a panel for each field.

    Parameters
    ----------
    table
        As for :func:`course`.
    best
        The number of the trial with a ring around it.
    """
    columns = min(len(along), COLUMNS_MAX if len(along) != 4 else 2)
    rows = math.ceil(len(along) / columns)
    width, height = 9.6, 0.75 + 2.75 * rows
    figure = Figure(figsize=(width, height))
    axes = figure.subplots(rows, columns, sharey=True, squeeze=False)
    figure.subplots_adjust(
        left=0.85 / width,
        right=0.98,
        top=1 - 0.75 / height,
        bottom=0.75 / height,
        wspace=0.1,
        hspace=0.55,
    )
    is_known = table["mean"].is_finite()
    known = table.filter(is_known)
    for index, one in enumerate(along):
        ax = style_axes(axes.flat[index])
        at = pl.Series(one.at, dtype=pl.Float64).filter(is_known).to_list()
        _points(ax, known, at)
        _ring(ax, known, at, best)
        _scale(ax, one)
        name_axes(ax, x=one.title, y=y if index % columns == 0 else "")
        ax.xaxis.label.set_fontsize(8.5)
    for ax in axes.flat[len(along) :]:
        ax.set_visible(False)
    _height(axes.flat[0], known)
    place = (0.85 / width, 1 - 0.1 / height)
    figure.text(*place, plain(title), fontsize=10.5, color=INK, fontweight="bold", va="top")
    write_note(axes.flat[0], note)
    return figure


def _points(ax: Axes, known: pl.DataFrame, at: Sequence[float]) -> None:
    """A mark per trial with its interval: filled where the trial does as required."""
    for row, x in zip(known.iter_rows(named=True), at, strict=True):
        colour = BLUE if row["meets"] else VERMILION
        if math.isfinite(row["low"]):
            ax.plot([x, x], [row["low"], row["high"]], color=colour, linewidth=1.0, alpha=0.35)
        face = colour if row["meets"] else "white"
        ax.plot([x], [row["mean"]], "o", markersize=4.6, color=colour, mfc=face, zorder=4)


def _ring(ax: Axes, known: pl.DataFrame, at: Sequence[float], best: int | None) -> None:
    for row, x in zip(known.iter_rows(named=True), at, strict=True):
        if row["trial"] == best:
            ax.plot([x], [row["mean"]], "o", markersize=11, mfc="none", mec=INK, mew=1.3, zorder=5)


def _height(ax: Axes, known: pl.DataFrame) -> None:
    """The scale of the objective: logarithmic where the means span a factor of more than 20."""
    means = known["mean"].to_list()
    if not means or not known["meets"].any() or min(means) <= 0:
        return
    if max(means) / min(means) > LOG_FROM:
        ax.set_yscale("log")
        ax.set_ylim(min(means) * 0.8, max(means) * 1.25)
        plain_log_ticks(ax.yaxis, *ax.get_ylim())


def _scale(ax: Axes, one: Slice) -> None:
    """The scale of a field and its ticks."""
    if one.words:
        short = [
            word if len(word) <= WORD_WIDTH else word[: WORD_WIDTH - 1] + "…" for word in one.words
        ]
        ax.set_xticks(range(len(short)), [plain(word) for word in short])
        ax.set_xlim(-0.5, len(short) - 0.5)
        if sum(map(len, short)) > 24:
            ax.tick_params(axis="x", labelrotation=30)
        return
    if one.is_log:
        ax.set_xscale("log")
        is_wide = max(one.at) / max(min(one.at), 1e-300) > 100
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if is_wide else (1.0, 2.0, 5.0)))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_minor_formatter(NullFormatter())
    else:
        ax.xaxis.set_major_locator(MaxNLocator(5))
    text = one.text or (lambda value: f"{value:,.10g}")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
