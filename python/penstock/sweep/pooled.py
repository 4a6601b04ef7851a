"""The cells of a dataset, pooled over seeds: mean and 95 % interval of each metric at each point.

Seeds are repetitions. A table, a figure or a page of a sweep is made of these rows and never of the
runs of single seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from penstock.analysis.interval import Interval, mean_interval
from penstock.experiments.bound import least, most
from penstock.experiments.measured import is_percentile
from penstock.readable import number_text
from penstock.report.table import interval_text
from penstock.sweep.axis import Axis, axis_of
from penstock.sweep.dataset import read_sweep, rows
from penstock.sweep.work import LOSSES


@dataclass(frozen=True)
class Pooled:
    """What a dataset says."""

    scenario: str
    """Its scenario, as the user named it."""
    axes: tuple[Axis, ...]
    """The axes, with every value that the dataset has."""
    metrics: tuple[str, ...]
    table: pl.DataFrame
    """A row per metric and point: a text of each axis, `metric`, `mean`, `low`, `high`, `seeds`
    (with a number) and `cells`; NaN where there is no number."""
    cells: int
    """Cells in the dataset."""
    losses: str = ""
    """That packets were lost, or could have been, and why; empty where none were."""

    def of(self, metric: str) -> pl.DataFrame:
        """The rows of a metric, a row per point."""
        return self.table.filter(pl.col("metric") == metric)

    @property
    def is_repeated(self) -> bool:
        """Whether some point has several seeds, so that there are means and intervals."""
        return bool((self.table["cells"] > 1).any())


def pool(directory: Path) -> Pooled:
    """Pools the cells of a dataset over their seeds.

    Raises
    ------
    ScenarioError
        There is no dataset.
    """
    page = read_sweep(directory)
    keys, metrics = page["order"], tuple(page["metrics"])
    found = rows(directory, keys)
    labels = {key: found[key].to_list() if found.height else [] for key in keys}
    axes = tuple(axis_of(key, labels[key]) for key in keys)
    place = {axis.key: [value.label for value in axis.values] for axis in axes}
    points = sorted(
        set(zip(*labels.values(), strict=True)) if keys else {()} if found.height else set(),
        key=lambda point: [place[key].index(one) for key, one in zip(keys, point, strict=True)],
    )
    pooled = []
    for metric in metrics:
        for point in points:
            there = dict(zip(keys, point, strict=True))
            values = found.filter(**there).sort("seed")[metric].to_list()
            one = mean_interval(
                values,
                is_percentile=is_percentile(metric),
                least=least(metric),
                most=most(metric),
            )
            ends = {"mean": one.mean, "low": one.low, "high": one.high}
            counts = {"seeds": one.count, "cells": len(values)}
            pooled.append({**there, "metric": metric, **ends, **counts})
    texts = dict.fromkeys([*keys, "metric"], pl.String)
    numbers = dict.fromkeys(["mean", "low", "high"], pl.Float64)
    schema = texts | numbers | dict.fromkeys(["seeds", "cells"], pl.Int64)
    table = pl.DataFrame(pooled, schema=schema)
    name = page["scenario"]["name"]
    return Pooled(name, axes, metrics, table, found.height, _losses(found, keys))


def _losses(found: pl.DataFrame, keys: Sequence[str]) -> str:
    """How many cells say something of lost packets, and the words of the one with most drops."""
    lossy = found.filter(pl.col(LOSSES) != "") if found.height else found
    if not lossy.height:
        return ""
    worst = lossy.sort("drops", descending=True, maintain_order=True).row(0, named=True)
    place = ", ".join(f"{key} = {worst[key]}" for key in [*keys, "seed"])
    return (
        f"packets were lost, or could have been, in {lossy.height} of {found.height} cells; at "
        f"{place}: {worst[LOSSES]}"
    )


def texts(pooled: Pooled) -> tuple[list[str], list[list[str]]]:
    """Titles and rows of a table for people: a row per point, "mean [low, high]" per metric."""
    keys = [axis.key for axis in pooled.axes]
    titles = [*keys, "Seeds", *pooled.metrics]
    by_metric = [pooled.of(metric).rows(named=True) for metric in pooled.metrics]
    lines = []
    for at_point in zip(*by_metric, strict=True):
        first = at_point[0]
        cells = [interval_text(_interval(one), number_text) for one in at_point]
        lines.append([*(first[key] for key in keys), str(first["cells"]), *cells])
    return titles, lines


def _interval(row: Mapping[str, Any]) -> Interval:
    return Interval(row["mean"], row["low"], row["high"], row["seeds"])


def lacking(pooled: Pooled) -> Sequence[str]:
    """Words about points whose cells gave no number."""
    empty = pooled.table.filter(pl.col("seeds") < pl.col("cells")) if pooled.cells else None
    if empty is None or not empty.height:
        return []
    return [f"{empty.height} means leave out cells that gave no number, e.g. for lack of flows."]
