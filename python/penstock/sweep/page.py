"""What a sweep is shown as: figures, a table as CSV, and one HTML page; all made of the dataset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from penstock.analysis.interval import CONFIDENCE
from penstock.experiments.measured import axis_title, short_name
from penstock.plot.bands import LOG_X_FROM, Places, band_panels
from penstock.readable import counted
from penstock.report.chart import Axis as ChartAxis
from penstock.report.chart import Chart, Scale, View, measured_axis, quantity_axis
from penstock.report.columns import as_csv
from penstock.report.figure import PaperFigure
from penstock.report.frame import render
from penstock.storage.draft import write_whole
from penstock.sweep.axis import Axis
from penstock.sweep.pooled import Pooled, lacking, texts

PAGE, TABLE, FIGURES = "report.html", "table.csv", "figures"
"""Files of a sweep's directory that are made of its dataset."""

PANELS_MAX = 24
"""Panels of a figure (our choice: a page; a finer grid is in the table)."""


def write_page(pooled: Pooled, directory: Path, command: str, notes: Sequence[str] = ()) -> Path:
    """Writes figures, table and page of a dataset into its directory; returns the page.

    Parameters
    ----------
    command
        The command that made the dataset.
    notes
        What is missing, in words.
    """
    figures, missing = draw(pooled)
    folder = directory / FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    for figure in figures:
        figure.save(folder)
    write_whole(directory / TABLE, as_csv(pooled.table))
    titles, rows = texts(pooled)
    page = render(
        "sweep.html.j2",
        [figure.as_json() for figure in figures],
        f"{pooled.scenario} · {_counts(pooled)}",
        title=f"Sweep of {pooled.scenario}",
        subtitle=_counts(pooled),
        command=command,
        titles=titles,
        rows=rows,
        is_repeated=pooled.is_repeated,
        confidence=f"{CONFIDENCE:.0%}",
        losses=pooled.losses,
        notes=[*notes, *missing, *lacking(pooled)],
    )
    write_whole(directory / PAGE, page)
    return directory / PAGE


def draw(pooled: Pooled) -> tuple[list[PaperFigure], list[str]]:
    """A figure for each metric that has a number, and words about what is not drawn."""
    if not pooled.axes or not pooled.cells:
        return [], ["Figures: nothing is varied." if pooled.cells else "Figures: no cell yet."]
    along, line, panels = arranged(pooled.axes)
    count = 1
    for axis in panels:
        count *= len(axis.values)
    if count > PANELS_MAX:
        return [], [f"Figures: {count} panels are more than {PANELS_MAX}; the table has them."]
    figures, missing = [], []
    for number, metric in enumerate(pooled.metrics, start=1):
        table = pooled.of(metric).with_columns(pl.col(along.key).alias("x"))
        if not table["mean"].is_finite().any():
            missing.append(
                f"Figure of {metric}: no run gave a finite number, e.g. for lack of flows."
            )
            continue
        title = f"How {metric} follows {along.key}"
        drawing = band_panels(
            table,
            _places(along),
            line=line.key if line else "x" if along.key == "scheme" else "",
            panels=[axis.key for axis in panels],
            title=title,
            y=axis_title(metric),
            note=" · ".join(
                [pooled.scenario, _counts(pooled), *_legend(table, along, line, panels)]
            ),
        )
        words = f"Mean over seeds of {metric}, and the {CONFIDENCE:.0%} interval of that mean."
        if not pooled.is_repeated:
            words = f"{metric} of one run a point: one seed has no interval."
        chart = _chart(pooled.of(metric), metric, along, line, panels)
        name = f"metric-{number}"
        figures.append(PaperFigure(name, words, chart, wide=True, drawing=drawing))
    return figures, missing


def _chart(
    table: pl.DataFrame, metric: str, along: Axis, line: Axis | None, panels: Sequence[Axis]
) -> Chart:
    """A metric along an axis, as the page draws it."""
    places = {value.label: value.number for value in along.values}
    if along.is_numeric:
        scale: Scale = "log" if _is_wide(list(places.values())) else "linear"
        x, factor = quantity_axis(along.key, along.unit, scale)
        at = pl.col(along.key).replace_strict(places, return_dtype=pl.Float64)
        # The column keeps its name, so that the CSV file has it, and has numbers.
        table = table.with_columns(at * factor)
    else:
        x = ChartAxis(along.key, scale="named", names=list(places))
    names = line or (along if along.key == "scheme" else None)
    name = pl.col(names.key) if names else pl.lit(short_name(metric) or metric)
    return Chart(
        title=f"How {metric} follows {along.key}",
        table=table.with_columns(name.alias("name")).drop("metric"),
        x=x,
        y=measured_axis(axis_title(metric)),
        along=along.key,
        views=[View("Mean", "mean", ("low", "high"))],
        form="line" if along.is_numeric else "points",
        panels=[axis.key for axis in panels],
        band_words=f"{CONFIDENCE:.0%} interval of the mean" if _has_bands(table) else "",
    )


def _is_wide(numbers: Sequence[float | None]) -> bool:
    known = [one for one in numbers if one is not None]
    return min(known) > 0 and max(known) >= LOG_X_FROM * min(known)


def arranged(axes: Sequence[Axis]) -> tuple[Axis, Axis | None, list[Axis]]:
    """Which axis a figure goes along, which its lines are, and which its panels are.

    It goes along the axis of numbers with the most values. Lines are the schemes, or, of three axes
    or more, the last. Every other axis makes panels.
    """
    along = max(axes, key=lambda axis: (axis.is_numeric, len(axis.values)))
    rest = [axis for axis in axes if axis is not along]
    line = next((axis for axis in rest if axis.key == "scheme"), None)
    if line is None and len(rest) > 1:
        line = rest[-1]
    return along, line, [axis for axis in rest if axis is not line]


def _places(axis: Axis) -> Places:
    if axis.is_numeric:
        at = {value.label: value.number or 0.0 for value in axis.values}
    else:
        at = {value.label: float(index) for index, value in enumerate(axis.values)}
    return Places(axis.key, at, axis.is_numeric)


def _has_bands(table: pl.DataFrame) -> bool:
    """Whether some mean has an interval; that of one seed has none."""
    return bool(table["low"].is_finite().any())


def _legend(
    table: pl.DataFrame, along: Axis, line: Axis | None, panels: Sequence[Axis]
) -> list[str]:
    """What bands, whiskers and grey lines are."""
    mean, interval = ("line", "band") if along.is_numeric else ("mark", "whisker")
    words = [f"{mean}: mean, {interval}: its {CONFIDENCE:.0%} interval"]
    is_grey = along.is_numeric and line is None and len(panels) > 0
    return words * _has_bands(table) + ["grey: the other panels"] * is_grey


def _counts(pooled: Pooled) -> str:
    """ "175 runs, 7 seeds a point"."""
    seeds = pooled.table["cells"].to_list() if pooled.cells else [0]
    few, many = min(seeds), max(seeds)
    told = counted(many, "seed", "seeds") if few == many else f"{few} to {many} seeds"
    return f"{counted(pooled.cells, 'run', 'runs')}, {told} a point"
