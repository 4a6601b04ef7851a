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

from penstock.look import MEETS, MISSES
from penstock.plot.bands import LOG_FROM
from penstock.plot.format import measured_words, plain, plain_log_ticks
from penstock.plot.style import (
    INK,
    QUIET,
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
LOG_STEPS = ((1_000, (1.0,)), (15, (1.0, 3.0)))
"""Ratio of a logarithmic range -> where in a decade its ticks are (our choice: as WORD_WIDTH)."""


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
    ax = new_axes(None, width=9.6, height=3.8, right=0.88)
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
    if start is not None and ax.get_ylim()[0] <= start <= ax.get_ylim()[1]:
        ax.axhline(start, color=QUIET, linewidth=1.0, linestyle="--", zorder=2)
        labels.append(EndLabel("as it is", QUIET, start))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    name_axes(ax, title=title, x="trial", y=measured_words(ax.yaxis, y))
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
    width, height = 9.6, 0.6 + 2.7 * rows
    figure = Figure(figsize=(width, height))
    axes = figure.subplots(rows, columns, sharey=True, squeeze=False)
    figure.subplots_adjust(
        left=0.85 / width,
        right=0.98,
        top=1 - 0.5 / height,
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
        words = measured_words(ax.yaxis, y)
        name_axes(ax, x=one.title, y=words if index % columns == 0 else "")
    for ax in axes.flat[len(along) :]:
        ax.set_visible(False)
    place = (0.85 / width, 1 - 0.1 / height)
    figure.text(*place, plain(title), fontsize=10.5, color=INK, fontweight="bold", va="top")
    write_note(axes.flat[0], note)
    return figure


def _points(ax: Axes, known: pl.DataFrame, at: Sequence[float]) -> None:
    """A mark per trial with its interval: filled where the trial does as required.

    The heights are those of the trials that do as required; others may be beyond, at the edge.
    """
    low, high = _height(ax, known)
    placed = known.with_columns(at=pl.Series(at, dtype=pl.Float64))
    for meets, look in ((True, MEETS), (False, MISSES)):
        colour = look.colour
        own = placed.filter(pl.col("meets") == meets)
        inside = own.filter(pl.col("mean").is_between(low, high))
        bars = inside.filter(pl.col("low").is_finite())
        ends = (bars["low"].clip(low, high), bars["high"].clip(low, high))
        ax.vlines(bars["at"], *ends, color=colour, linewidth=1.0, alpha=0.35)
        face = colour if meets else "white"
        at_means = (inside["at"], inside["mean"], look.marker)
        ax.plot(*at_means, ms=4.6, color=colour, mfc=face, zorder=4)
        for edge, mark, beyond in (
            (high, "^", own.filter(pl.col("mean") > high)),
            (low, "v", own.filter(pl.col("mean") < low)),
        ):
            edges = [edge] * beyond.height
            ax.plot(beyond["at"], edges, mark, ms=6, color=colour, mfc=face, clip_on=False)


def _ring(ax: Axes, known: pl.DataFrame, at: Sequence[float], best: int | None) -> None:
    for row, x in zip(known.iter_rows(named=True), at, strict=True):
        if row["trial"] == best:
            ax.plot([x], [row["mean"]], "o", markersize=11, mfc="none", mec=INK, mew=1.3, zorder=5)


def _height(ax: Axes, known: pl.DataFrame) -> tuple[float, float]:
    """Sets the scale of the objective, and returns its ends.

    It is that of the trials that do as required, or of all where none does; logarithmic where their
    means span a factor of more than 20.
    """
    shown = known.filter("meets") if known["meets"].any() else known
    means = shown["mean"].to_list()
    least, most = min(means), max(means)
    if least > 0 and most / least > LOG_FROM:
        low, high = least * 0.8, most * 1.25
        ax.set_yscale("log")
        plain_log_ticks(ax.yaxis, low, high)
    else:
        # An interval may be far wider than all means are apart: it is cut where it begins to.
        most_room = max(most - least, 0.05 * max(abs(least), abs(most)), 1e-12)
        ends = [
            one for key in ("low", "high") for one in shown[key].to_list() if math.isfinite(one)
        ]
        low = max(min([least, *ends]), least - most_room) - 0.05 * most_room
        high = min(max([most, *ends]), most + most_room) + 0.05 * most_room
        if not any([least, most, *ends]):
            low, high = 0.0, 1.0  # where all is zero, nothing is below it
    ax.set_ylim(low, high)
    return low, high


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
        span = max(one.at) / min(one.at)
        steps = next((steps for above, steps in LOG_STEPS if span > above), (1.0, 2.0, 5.0))
        ax.xaxis.set_major_locator(LogLocator(subs=steps))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_minor_formatter(NullFormatter())
    else:
        ax.xaxis.set_major_locator(MaxNLocator(5))
    text = one.text or (lambda value: f"{value:,.10g}")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
