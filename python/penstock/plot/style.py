"""One look for all figures: colours, markers, fonts, captions, labels at the ends of lines.

Invariant: the module changes nothing global (no pyplot, no rcParams), so figures can be drawn in
threads and inside other people's notebooks. A scheme has the same colour and marker in every
figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from penstock.analysis import MeasuredRun
from penstock.analysis.runs import caption_text
from penstock.plot.format import plain

INK = "#1d2329"
"""Colour of text and axes."""
QUIET = "#6b7580"
"""Colour of captions, ticks and reference lines."""
GRID = "#e4e8ec"
"""Colour of grid lines."""


def new_axes(
    ax: Axes | None, *, width: float = 6.4, height: float = 4.0, right: float = 0.80
) -> Axes:
    """Styled axes: the given ones, or those of a new figure of `width` x `height` [inch].

    `right` is the share of the width that the plot may fill; labels at line ends stand beside it.
    """
    if ax is None:
        figure = Figure(figsize=(width, height))
        left = 0.92 / width
        ax = figure.add_axes((left, 0.17, right - left, 0.70))
    return style_axes(ax)


def style_axes(ax: Axes) -> Axes:
    """Give axes the common look: two spines, quiet ticks, a light grid behind the data."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(QUIET)
        ax.spines[side].set_linewidth(0.8)
    ax.tick_params(which="both", colors=QUIET, labelsize=8.5, width=0.8, length=3.5)
    ax.tick_params(which="minor", length=2, width=0.6)
    ax.set_axisbelow(True)
    ax.grid(True, which="major", color=GRID, linewidth=0.8)
    return ax


def name_axes(ax: Axes, *, title: str = "", x: str = "", y: str = "") -> None:
    """Set the words around axes; a quantity has its unit in brackets."""
    if title:
        title = plain(title)
        ax.set_title(title, loc="left", fontsize=10.5, color=INK, fontweight="bold", pad=9)
    ax.set_xlabel(plain(x), fontsize=9.5, color=INK, labelpad=5)
    ax.set_ylabel(plain(y), fontsize=9.5, color=INK, labelpad=5)


def caption(ax: Axes, groups: dict[str, list[MeasuredRun]]) -> None:
    """Write scenario, seeds and number of runs in small letters under the figure."""
    write_note(ax, caption_text(groups))


def write_note(ax: Axes, text: str) -> None:
    """Write small letters at the lower right corner of the figure that holds `ax`."""
    figure = ax.figure
    if isinstance(figure, Figure):
        figure.text(0.995, 0.012, plain(text), ha="right", va="bottom", fontsize=7, color=QUIET)


def write_upright(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    """Write small letters upwards from a point, as over a bar that ends there."""
    ax.annotate(
        plain(text),
        (x, y),
        xytext=(0, 4),
        textcoords="offset points",
        rotation=90,
        ha="center",
        va="bottom",
        fontsize=7,
        color=colour,
    )


@dataclass(frozen=True)
class EndLabel:
    """A name to be written beside the end of a line."""

    text: str
    colour: str
    y: float
    """Height at which the line ends, in the data's unit."""


def label_ends(ax: Axes, labels: Sequence[EndLabel], *, size: float = 8.5) -> None:
    """Write names to the right of the axes, as near to the ends of their lines as fits.

    Labels that would overlap are moved apart; a thin leader joins one that moved to its line.
    """
    if not labels:
        return
    figure = ax.figure
    height = ax.get_position().height * figure.get_figheight() * 72  # type: ignore[union-attr]
    gap = size * 1.28 / height
    to_axes = ax.transData + ax.transAxes.inverted()
    left = ax.get_xlim()[1]
    wanted = [float(to_axes.transform((left, label.y))[1]) for label in labels]
    wanted = [min(max(y, 0.0), 1.0) for y in wanted]
    for label, end, place in zip(labels, wanted, _spread(wanted, gap), strict=True):
        if abs(place - end) > gap * 0.25:
            ax.plot(
                [1.005, 1.025],
                [end, place],
                transform=ax.transAxes,
                color=label.colour,
                linewidth=0.7,
                alpha=0.6,
                clip_on=False,
            )
        ax.text(
            1.03,
            place,
            plain(label.text),
            transform=ax.transAxes,
            color=label.colour,
            fontsize=size,
            va="center",
            ha="left",
        )


def _spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Move heights apart to at least `gap`, each group centred on what its members want."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    groups: list[tuple[list[int], float]] = []
    for index in order:
        members, centre = [index], wanted[index]
        while groups:
            below, middle = groups[-1]
            if centre - middle >= gap * (len(members) + len(below)) / 2:
                break
            groups.pop()
            members = below + members
            centre = sum(wanted[i] for i in members) / len(members)
        groups.append((members, centre))
    places = [0.0] * len(wanted)
    for members, centre in groups:
        for rank, index in enumerate(members):
            places[index] = centre + (rank - (len(members) - 1) / 2) * gap
    return places
