"""Rates, queues and pauses over time: a row of panels per scheme, a line per link or flow."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from penstock.analysis import RunInput, group_runs
from penstock.analysis.timeline import ALLOWED, PAUSES, QUEUE, RATE, Lines
from penstock.analysis.timeline import timeline as follow
from penstock.look import Look, looks
from penstock.plot.format import plain
from penstock.plot.style import INK, caption, name_axes, style_axes
from penstock.readable import bytes_text

TITLES = {
    RATE: "Sent [Gb/s]",
    ALLOWED: "Allowed [Gb/s]",
    QUEUE: "Queue",
    PAUSES: "Pauses [1/ms]",
}


def timeline(runs: RunInput, lines: Lines, *, origin_us: float = 0.0) -> Figure:
    """Draw what `penstock.analysis.timeline` follows; times count from `origin_us`."""
    groups = group_runs(runs)
    table = follow(groups, lines)
    names = list(groups)
    styles = looks(table["line"].unique(maintain_order=True).to_list())
    panels = [panel for panel in TITLES if (table["panel"] == panel).any()]
    figure = Figure(figsize=(9.6, 1.35 * len(names) + 1.1))
    axes = figure.subplots(len(names), len(panels), sharex=True, sharey="col", squeeze=False)
    height = figure.get_figheight()
    figure.subplots_adjust(
        left=0.07, right=0.87, top=1 - 0.62 / height, bottom=0.58 / height, wspace=0.2, hspace=0.2
    )
    for row, name in enumerate(names):
        for column, panel in enumerate(panels):
            ax = style_axes(axes[row][column])
            part = table.filter((pl.col("name") == name) & (pl.col("panel") == panel))
            _draw(ax, part, panel, origin_us, styles)
            last = row == len(names) - 1
            name_axes(ax, x="Time [ms]" if last else "")
            if row == 0:
                shown = part["line"].unique(maintain_order=True)
                _head(ax, panel, {line: styles[line] for line in shown})
        axes[row][-1].text(
            1.04,
            0.5,
            plain(name),
            transform=axes[row][-1].transAxes,
            color=INK,
            fontsize=8.5,
            va="center",
        )
    for ax in axes[0]:
        ax.set_ylim(bottom=0)  # shared by the column, so after all rows are drawn
    caption(axes[0][0], {name: members[:1] for name, members in groups.items()})
    return figure


def _draw(
    ax: Axes, part: pl.DataFrame, panel: str, origin_us: float, styles: Mapping[str, Look]
) -> None:
    for line in part["line"].unique(maintain_order=True):
        rows = part.filter(pl.col("line") == line)
        ax.plot(
            (rows["time_us"] - origin_us) / 1e3,
            rows["value"],
            color=styles[line].colour,
            linestyle=styles[line].dash,
            linewidth=1.1,
            drawstyle="steps-mid" if panel == PAUSES else "default",
        )
    if panel == QUEUE:
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: bytes_text(value)))
    ax.margins(x=0)


def _head(ax: Axes, panel: str, lines: Mapping[str, Look]) -> None:
    """Title of a column, and under it its lines by name and colour."""
    ax.set_title(TITLES[panel], loc="left", fontsize=10.5, color=INK, fontweight="bold", pad=18)
    for rank, (line, style) in enumerate(lines.items()):
        ax.text(
            rank / max(len(lines), 2),
            1.07,
            plain(f"— {line}"),
            transform=ax.transAxes,
            color=style.colour,
            fontsize=8,
        )
