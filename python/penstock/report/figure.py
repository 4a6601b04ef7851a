"""A figure of a report: its chart and its words, and for a paper its drawing."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from penstock.readable import counted
from penstock.report.chart import Chart
from penstock.storage.draft import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FORMATS = ("svg", "png", "pdf")
"""What a drawing is saved as: for pages and editors, for slides, for LaTeX."""


def unfinished_words(count: int) -> str:
    """The flows that a figure of completion times leaves out; nothing where all finished."""
    if not count:
        return ""
    flows = counted(count, "flow did not finish and is", "flows did not finish and are")
    return f" {flows} left out."


@dataclass(frozen=True)
class ReportFigure:
    """A chart with the words below it."""

    name: str
    """Short name: file name of the data, anchor in the page."""
    words: str
    """What the reader sees in it, a sentence or two."""
    chart: Chart
    wide: bool = False
    """Whether it takes the full width of the page."""
    note: str = ""
    """Its runs and seeds, where these are not all of the page."""

    @property
    def data(self) -> pl.DataFrame:
        """The numbers in it."""
        return self.chart.table

    def as_json(self) -> dict[str, Any]:
        """As the page reads it."""
        page = {"name": self.name, "words": self.words, "wide": self.wide}
        note = {"note": self.note} if self.note else {}
        return page | note | self.chart.as_json()


@dataclass(frozen=True, kw_only=True)
class PaperFigure(ReportFigure):
    """A figure that is also drawn for a paper."""

    drawing: Figure
    """Drawn with Matplotlib."""

    def save(self, folder: Path) -> None:
        """Writes the drawing in all formats."""
        save_drawing(self.drawing, folder, self.name)


def save_drawing(drawing: Figure, folder: Path, name: str) -> None:
    """Writes a drawing in all formats.

    The PDF has TrueType fonts (type 42): IEEE and ACM refuse Matplotlib's own, of type 3.
    """
    from matplotlib import rc_context

    for kind in FORMATS:
        image = io.BytesIO()
        with rc_context({"pdf.fonttype": 42}):
            drawing.savefig(image, format=kind, dpi=160, bbox_inches="tight")
        write_whole(folder / f"{name}.{kind}", image.getvalue())


def figure_of(drawn: Axes | Figure) -> Figure:
    """The figure that holds what a plot function returned."""
    from matplotlib.figure import Figure

    figure = drawn if isinstance(drawn, Figure) else drawn.figure
    if not isinstance(figure, Figure):
        raise TypeError("a figure of its own is needed, not a part of another figure")
    return figure
