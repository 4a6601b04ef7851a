"""Draws the figures that an experiment's file asks for, each with its data.

Invariant: a figure is drawn from the runs that exist. Its text says which names are missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from penstock import analysis, plot
from penstock.analysis import MeasuredRun, RunInput
from penstock.analysis.runs import caption_text
from penstock.analysis.timeline import ALLOWED, PAUSES, QUEUE, RATE, Lines, timeline
from penstock.experiments.expression import (
    Evaluator,
    MissingSchemeError,
    NoRunsError,
    NothingMeasuredError,
    Selection,
    measuring,
    select,
)
from penstock.experiments.grid import Cell, point_name
from penstock.experiments.judge import point_text, selections
from penstock.experiments.model import Experiment, FigureSpec
from penstock.plot.port import PACKETS_SHOWN
from penstock.report import kinds
from penstock.report.chart import Axis, Chart, View
from penstock.report.figure import PaperFigure, figure_of
from penstock.report.section import (
    active_flows_chart,
    buffer_chart,
    buffer_size,
    pause_chart,
    paused_queues_chart,
    utilization_chart,
)
from penstock.workload import find_workload

Groups = dict[str, list[MeasuredRun]]


def draw(experiment: Experiment, cells: Sequence[Cell]) -> tuple[list[PaperFigure], list[str]]:
    """Draw all figures; returns them, and in words what could not be drawn."""
    figures, missing = [], []
    for number, spec in enumerate(experiment.figures):
        try:
            with measuring(f"figures[{number}]", spec.name):
                figures.append(_draw(spec, experiment, cells))
        except (MissingSchemeError, NoRunsError) as reason:
            missing.append(f"Figure {spec.name}: no runs ({reason}).")
        except NothingMeasuredError:
            missing.append(f"Figure {spec.name}: its runs measured nothing that it shows.")
    absent = sorted({cell.missing for cell in cells if cell.missing})
    missing += [f"Scheme {name}: not implemented yet." for name in absent]
    return figures, missing


def _draw(spec: FigureSpec, experiment: Experiment, cells: Sequence[Cell]) -> PaperFigure:
    if spec.kind == "workload":
        return _workload(spec)
    if spec.kind == "curve":
        return _curve(spec, experiment, cells)
    if spec.kind == "bars":
        return _bars(spec, experiment, cells)
    groups = _groups(spec, cells)
    note = caption_text(_shown(spec, groups))
    return replace(_OF_RUNS[spec.kind](spec, groups), note=note)


def _groups(spec: FigureSpec, cells: Sequence[Cell]) -> Groups:
    """Runs of a figure by the point of its axis `by`, in the order of the grid.

    A run that does not stand on the axis is none of the figure's. Only where the axis is `scheme`,
    and in a figure without an axis, such a run goes by the name of its scheme.
    """
    groups: Groups = {}
    for cell in select(cells, spec.where):
        if cell.run is not None:
            at = cell.at.get(spec.by)
            if (at and at.label in spec.without) or (not at and spec.by not in ("", "scheme")):
                continue
            name = point_name(spec.by, at) if at else str(cell.run.scenario.scheme.name)
            groups.setdefault(name, []).append(cell.run)
    if not groups:
        raise NoRunsError(spec.name)
    return groups


def _shown(spec: FigureSpec, groups: Groups) -> Groups:
    """The runs that a figure shows: of each name all, or one of figures over time."""
    if spec.kind == "throughput":
        return {name: runs[:1] for name, runs in groups.items()}
    if spec.kind == "timeline":
        return {name: [run_of_seed(runs, spec.seed)] for name, runs in groups.items()}
    return groups


def _slowdown(spec: FigureSpec, groups: Groups) -> PaperFigure:
    labels = [spec.label] if spec.label else None
    data = analysis.slowdown_by_size(groups, bins=spec.bins, labels=labels)
    drawing = plot.slowdown_panels(groups, columns=spec.columns, bins=spec.bins, labels=labels)
    chart = kinds.slowdown(data, first=spec.columns[-1])
    return _figure(spec, chart, drawing, wide=True)


def _slowdown_cdf(spec: FigureSpec, groups: Groups) -> PaperFigure:
    labels = [spec.label] if spec.label else None
    drawing = plot.slowdown_distribution(groups, labels=labels, title=spec.title)
    chart = kinds.distribution(
        analysis.slowdown_cdf(groups, labels=labels),
        "slowdown",
        Axis("Slowdown (1: as fast as alone)", scale="log"),
        title="How many flows are how much slower than alone?",
        share="Share of flows",
    )
    return _figure(spec, chart, drawing)


def _buffer(spec: FigureSpec, groups: Groups) -> PaperFigure:
    drawing = plot.buffer(groups, size=buffer_size(groups))
    return _figure(spec, buffer_chart(groups), drawing)


def _active_flows(spec: FigureSpec, groups: Groups) -> PaperFigure:
    drawn = plot.active_flows(groups, queues=spec.queues, link=spec.link)
    if spec.title:
        drawn.set_title(spec.title, loc="left", fontsize=10.5, fontweight="bold", pad=9)
    data = analysis.active_flows_cdf(groups, link=spec.link)
    return _figure(spec, active_flows_chart(data, spec.queues), drawn)


def _throughput(spec: FigureSpec, groups: Groups) -> PaperFigure:
    data = _some(analysis.link_series(groups, span_us=spec.span))
    drawing = plot.throughput(groups, span_us=spec.span)
    return _figure(spec, kinds.over_time(data), drawing, wide=True)


def _timeline(spec: FigureSpec, groups: Groups) -> PaperFigure:
    lines = Lines(spec.window, spec.rates, spec.allowed, spec.queued, spec.pauses, spec.span)
    shown = _shown(spec, groups)
    data = _some(timeline(shown, lines))
    drawing = plot.timeline(shown, lines, origin_us=spec.origin)
    title = "What happens when?"
    chart = kinds.timeline(data, title=title, origin_us=spec.origin, units=UNITS)
    return _figure(spec, chart, drawing, wide=True)


UNITS = {
    RATE: Axis("Sent [Gb/s]", zero=True),
    ALLOWED: Axis("Allowed [Gb/s]", zero=True),
    QUEUE: Axis("Queue", "bytes", zero=True),
    PAUSES: Axis("Pauses [1/ms]", zero=True),
}
"""The y axes of a timeline."""


def run_of_seed(runs: Sequence[MeasuredRun], seed: int | None) -> MeasuredRun:
    """The run of a seed; the first one if there is none of it."""
    own = [run for run in runs if int(run.scenario.seed) == seed]
    return (own or list(runs))[0]


def _flow_packets(spec: FigureSpec, groups: Groups) -> PaperFigure:
    drawing = plot.flow_packets(groups, layer=spec.layer, title=spec.title)
    table = analysis.packets_ccdf(groups, spec.layer).filter(pl.col("packets") <= PACKETS_SHOWN)
    chart = Chart(
        title="How many packets of a flow wait at a port?",
        table=table,
        x=Axis("Packets of a flow at a port"),
        y=Axis("Share with so many or more", "share", "log"),
        along="packets",
        views=[View("Share", "share")],
    )
    return _figure(spec, chart, drawing)


def _queue(spec: FigureSpec, groups: Groups) -> PaperFigure:
    assert spec.link is not None  # its file is checked
    drawing = plot.queue(groups, spec.link, span_us=spec.span, title=spec.title)
    chart = kinds.distribution(
        analysis.queue_cdf(groups, spec.link, span_us=spec.span),
        "queue_bytes",
        Axis("Queue", "bytes", zero=True),
        title="How long is the queue of the link?",
        share="Share of time",
    )
    return _figure(spec, chart, drawing)


def _link_pauses(spec: FigureSpec, groups: Groups) -> PaperFigure:
    drawn = plot.link_pauses(groups, spec.links, title=spec.title, log=spec.y_log)
    data = analysis.pauses_by_link(groups, spec.links)
    links = data["link"].unique(maintain_order=True).to_list()
    time = Axis("Pause time [µs]", scale="log" if spec.y_log else "linear", zero=True)
    chart = Chart(
        title="How long is each link paused?",
        table=data,
        x=Axis("Link", scale="named", names=links),
        y=time,
        along="link",
        views=[View("Pause time", "pause_us")],
        form="bars",
    )
    return _figure(spec, chart, drawn, wide=True)


def _backlog(spec: FigureSpec, groups: Groups) -> PaperFigure:
    drawing = plot.backlog(groups, title=spec.title)
    return _figure(spec, kinds.backlog(analysis.backlog_series(groups)), drawing)


def _layers(
    function: Callable[[RunInput], Axes], chart: Callable[[pl.DataFrame], Chart]
) -> Callable[[FigureSpec, Groups], PaperFigure]:
    def section(spec: FigureSpec, groups: Groups) -> PaperFigure:
        return _figure(spec, chart(analysis.layer_summary(groups)), function(groups))

    return section


def _figure(
    spec: FigureSpec, chart: Chart, drawn: Axes | Figure, *, wide: bool = False
) -> PaperFigure:
    """A figure under the title of its file, where that has one."""
    _some(chart.table)
    titled = replace(chart, title=spec.title) if spec.title else chart
    return PaperFigure(spec.name, spec.words, titled, wide=wide, drawing=figure_of(drawn))


def _some(data: pl.DataFrame) -> pl.DataFrame:
    """What a figure shows, unless it is nothing."""
    if data.is_empty():
        raise NothingMeasuredError
    return data


_OF_RUNS: dict[str, Callable[[FigureSpec, Groups], PaperFigure]] = {
    "slowdown": _slowdown,
    "slowdown-cdf": _slowdown_cdf,
    "buffer": _buffer,
    "active-flows": _active_flows,
    "flow-packets": _flow_packets,
    "queue": _queue,
    "link-pauses": _link_pauses,
    "throughput": _throughput,
    "timeline": _timeline,
    "backlog": _backlog,
    "pause-time": _layers(plot.pause_time, pause_chart),
    "paused-queues": _layers(plot.paused_queues, paused_queues_chart),
    "utilization": _layers(plot.utilization, utilization_chart),
}


def _curve(spec: FigureSpec, experiment: Experiment, cells: Sequence[Cell]) -> PaperFigure:
    evaluator = Evaluator(cells, list(experiment.axes))
    axes = [spec.by, spec.x] if spec.by else [spec.x]
    columns = {"y": spec.y, "deviation": spec.deviation, "hollow": spec.hollow}
    points = [
        (
            {"name": point_text(at[spec.by]) if spec.by else "simulated", "x": float(at[spec.x])},
            columns,
            at,
        )
        for at in selections(cells, axes, spec.where)
    ]
    data = _evaluated(spec, evaluator, points)
    reference = _reference(spec, evaluator, data["x"].to_list())
    note = _note(spec, cells)
    drawing = plot.curves(
        data,
        title=spec.title,
        x=spec.x_label,
        y=spec.y_label,
        x_log=spec.x_log,
        y_log=spec.y_log,
        reference=reference,
        note=note,
    )
    x = Axis(spec.x_label, scale="log" if spec.x_log else "linear", least=_least(data["x"]))
    y = replace(_y_axis(spec), least=_least(data["y"]))
    chart = kinds.curves(data, x, y, title=spec.title, reference=reference)
    return replace(_figure(spec, chart, drawing), note=note)


def _least(values: pl.Series) -> float:
    """The least value above 0 of a column with zeros; 0 without."""
    above = [one for one in values.to_list() if math.isfinite(one) and one > 0]
    return min(above) if above and bool((values == 0).any()) else 0.0


def _y_axis(spec: FigureSpec) -> Axis:
    return Axis(spec.y_label, scale="log" if spec.y_log else "linear", zero=True)


def _bars(spec: FigureSpec, experiment: Experiment, cells: Sequence[Cell]) -> PaperFigure:
    points = [
        (
            {"group": group, "name": point_text(at[spec.by])},
            {"y": height, "tip": spec.tips.get(group, "")},
            at,
        )
        for group, height in spec.bars.items()
        for at in selections(cells, [spec.by], spec.where)
    ]
    data = _evaluated(spec, Evaluator(cells, list(experiment.axes)), points)
    note = _note(spec, cells)
    drawing = plot.bars(
        data,
        title=spec.title,
        y=spec.y_label,
        y_log=spec.y_log,
        tip=spec.tip,
        note=note,
    )
    chart = kinds.bars(data, _y_axis(spec), title=spec.title, tip_words=spec.tip)
    return replace(_figure(spec, chart, drawing), note=note)


def _evaluated(
    spec: FigureSpec,
    evaluator: Evaluator,
    points: Sequence[tuple[Mapping[str, Any], dict[str, str], Selection]],
) -> pl.DataFrame:
    """A row per point: what names it, and its columns' expressions evaluated there.

    An empty expression has no column, a point without runs no row.
    """
    rows = []
    for names, columns, at in points:
        try:
            values = {key: evaluator.value(text, at) for key, text in columns.items() if text}
        except (MissingSchemeError, NoRunsError):
            continue
        rows.append({**names, **values})
    if not rows:
        raise NoRunsError(spec.name)
    return pl.DataFrame(rows)


def _note(spec: FigureSpec, cells: Sequence[Cell]) -> str:
    return caption_text({"": [cell.run for cell in select(cells, spec.where) if cell.run]})


def _reference(
    spec: FigureSpec, evaluator: Evaluator, x: list[float]
) -> tuple[str, list[float], list[float]] | None:
    if not spec.reference:
        return None
    low = min(one for one in x if one > 0 or not spec.x_log)  # a zero has no place among decades
    places = (np.geomspace if spec.x_log else np.linspace)(low, max(x), 100)
    heights = [evaluator.value(spec.reference, {spec.x: float(place)}) for place in places]
    return spec.reference_name, [float(place) for place in places], heights


def _workload(spec: FigureSpec) -> PaperFigure:
    found = {name: find_workload(file) for name, file in spec.workloads.items()}
    drawing = plot.workload_bytes(
        {name: (one.points, one.convention) for name, one in found.items()}, marks=spec.marks
    )
    data = pl.concat(
        analysis.bytes_by_size(one.points, one.convention).insert_column(
            0, pl.lit(name).alias("name")
        )
        for name, one in found.items()
    )
    chart = Chart(
        title="In flows of which sizes do the bytes come?",
        table=data,
        x=kinds.SIZE_AXIS,
        y=Axis("Share of bytes in flows up to this size", "share", zero=True),
        along="size_bytes",
        views=[View("Bytes", "byte_share"), View("Flows", "flow_share")],
        marks=spec.marks,
    )
    return _figure(spec, chart, drawing)
