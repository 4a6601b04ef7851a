"""A figure of a report: its drawing, its data and the command that makes it again."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import dataclass

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure


@dataclass(frozen=True)
class ReportFigure:
    """A drawn figure with the numbers in it."""

    name: str
    """Short name: file name of the data, anchor in the page."""
    words: str
    """What the reader sees in it, a sentence or two."""
    drawing: Figure
    data: pl.DataFrame
    wide: bool = False
    """Whether it takes the full width of the page."""

    @property
    def svg(self) -> str:
        """The drawing as an SVG element that scales with the page."""
        return to_svg(self.drawing, self.name)

    @property
    def csv(self) -> str:
        """The data as a `data:` address to download."""
        text = base64.b64encode(self.data.write_csv().encode()).decode()
        return f"data:text/csv;base64,{text}"


def figure_of(drawn: Axes | Figure) -> Figure:
    """The figure that holds what a plot function returned."""
    figure = drawn if isinstance(drawn, Figure) else drawn.figure
    if not isinstance(figure, Figure):
        raise TypeError("a report needs a figure of its own, not a part of another figure")
    return figure


def to_svg(figure: Figure, name: str) -> str:
    """Render a figure as an SVG element without XML prologue, sized by its container."""
    buffer = io.StringIO()
    figure.savefig(
        buffer, format="svg", transparent=True, metadata={"Date": None}, bbox_inches="tight"
    )
    return svg_element(buffer.getvalue(), name)


def svg_element(text: str, name: str) -> str:
    """The element of an SVG file that Matplotlib wrote, sized by its container."""
    return re.sub(
        r'<svg ([^>]*?)width="[^"]*" height="[^"]*"|<svg height="[^"]*" width="[^"]*"',
        rf'<svg role="img" aria-label="{name}" \1',
        text[text.index("<svg") :],
        count=1,
    )
