"""A chart as data: a table, and how the page reads and draws the table.

What it is: what the page's scripts need to draw a figure (`script/chart.js`). What it is
not: no pixel, no colour, no number that is not in the table. Invariant: every value that a reader
sees in a chart is in its table, so the table behind the chart and its CSV file say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from penstock.look import Look, looks_as_json
from penstock.readable import SIZE_UNIT
from penstock.report.columns import columns
from penstock.units import RATE, SIZE, TIME

Unit = Literal["number", "count", "bytes", "share"]
"""How the page writes a number: as it is, as it is with ticks at whole numbers only, as a size, as
a percentage of 1."""

Scale = Literal["linear", "log", "tail", "near-zero", "named"]
"""How an axis is divided. "tail": shares, stretched towards 1. "near-zero": linear up to 10, then
logarithmic. "named": words side by side."""

Form = Literal["line", "step", "points", "bars", "stack", "spans"]
"""How a line of the table is drawn; "step": a value holds until the next. "stack": bars on top of
each other. "spans": from one place on the x axis to another, at a word of the y axis."""


@dataclass(frozen=True)
class Axis:
    """An axis of a chart."""

    title: str
    """What it shows, with the unit where numbers have one."""
    unit: Unit = "number"
    scale: Scale = "linear"
    zero: bool = False
    """Whether a linear axis begins at 0."""
    least: float = 0.0
    """Of a logarithmic axis with zeros: the least value above 0; zeros have a place below it. 0:
    they stand at the end of the axis."""
    names: Sequence[str] = ()
    """Of a named axis: its words in their order. A value of the table is a word."""

    def as_json(self) -> dict[str, Any]:
        """As the page reads it; what is as usual is left out."""
        page: dict[str, Any] = {"title": self.title, "unit": self.unit, "scale": self.scale}
        if self.zero:
            page["zero"] = True
        if self.least:
            page["least"] = self.least
        if self.names:
            page["names"] = list(self.names)
        return page


_QUANTITIES: dict[str, tuple[str, float, Unit]] = {
    SIZE.base: ("", 1, "bytes"),
    TIME.base: (" [µs]", 1e-6, "number"),
    RATE.base: (" [Gb/s]", 1e-9, "number"),
}
"""Base unit -> what the title of an axis says of it, its factor, how the page writes a number."""


def quantity_axis(title: str, base: str, scale: Scale) -> tuple[Axis, float]:
    """The axis of a field of a scenario, and what its numbers are multiplied by.

    Parameters
    ----------
    base
        The base unit of its numbers; of others than quantities it is empty.
    """
    words, factor, unit = _QUANTITIES.get(base, ("", 1, "number"))
    return Axis(f"{title}{words}", unit, scale), factor


def measured_axis(title: str) -> Axis:
    """The axis of a measured number, whose title has its unit; sizes have theirs at each tick."""
    words = title.removesuffix(SIZE_UNIT)
    return Axis(words, "number" if words == title else "bytes")


@dataclass(frozen=True)
class View:
    """One choice of what stands on the y axis, such as a percentile."""

    title: str
    y: str
    """Column of the heights."""
    band: tuple[str, str] | None = None
    """Columns of the lower and the upper end of a band around a line."""
    axis: Axis | None = None
    """Its y axis, where that is not the chart's."""


@dataclass(frozen=True)
class Chart:
    """A table and how it is drawn: a line for each value of `line`, in a panel for each point."""

    title: str
    """The question that it answers."""
    table: pl.DataFrame
    x: Axis
    y: Axis
    along: str
    """Column of the places on the x axis."""
    views: Sequence[View]
    """At least one; the reader chooses among several."""
    form: Form = "line"
    line: str = "name"
    """Column whose values are the lines; schemes have their own looks."""
    panels: Sequence[str] = ()
    """Columns; each combination of their values is a panel."""
    panel_axes: Mapping[str, Axis] = field(default_factory=dict)
    """Value of the last of `panels` -> y axis of its panels, where these differ."""
    band_words: str = ""
    """What a band is."""
    hollow: str = ""
    """Column that is above 0 where a point is to be doubted."""
    tip: str = ""
    """Of bars: column of the ends of the hatched bars above them."""
    tip_words: str = ""
    """What the hatched bars are."""
    marks: Mapping[str, float] = field(default_factory=dict)
    """Words -> place on the x axis of an upright line."""
    reference: tuple[str, Sequence[float], Sequence[float]] | None = None
    """A closed form beside the points: its name, x and y."""
    least: tuple[str, int] | None = None
    """Column and number: rows with less are in the table and not in the drawing."""
    view: int = 0
    """The view that is shown first."""
    until: str = ""
    """Of spans: column of the places at which they end."""
    said: str = ""
    """Of spans: column of what is said of them."""
    looks: Mapping[str, Look] = field(default_factory=dict)
    """Looks of its lines, where these are no schemes."""

    def as_json(self) -> dict[str, Any]:
        """As the page reads it."""
        page: dict[str, Any] = {
            "title": self.title,
            "table": columns(self.table),
            "x": self.x.as_json(),
            "y": self.y.as_json(),
            "along": self.along,
            "views": [_view(one) for one in self.views],
            "form": self.form,
            "line": self.line,
        }
        more: dict[str, Any] = {
            "panels": list(self.panels),
            "panelAxes": {key: axis.as_json() for key, axis in self.panel_axes.items()},
            "bandWords": self.band_words,
            "hollow": self.hollow,
            "tip": self.tip,
            "tipWords": self.tip_words,
            "marks": [[words, place] for words, place in self.marks.items()],
            "least": list(self.least or ()),
            "view": self.view,
            "until": self.until,
            "said": self.said,
            "looks": looks_as_json(self.looks),
        }
        if self.reference:
            name, x, y = self.reference
            more["reference"] = {"name": name, "x": list(x), "y": list(y)}
        return page | {key: value for key, value in more.items() if value}


def _view(view: View) -> dict[str, Any]:
    page: dict[str, Any] = {"title": view.title, "y": view.y}
    if view.band:
        page["band"] = list(view.band)
    if view.axis:
        page["axis"] = view.axis.as_json()
    return page
