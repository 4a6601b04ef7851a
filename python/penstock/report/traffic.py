"""Completion times of each traffic entry of a report, where runs have several.

What it is: the split that the other figures and tables do not make, incasts included. What it is
not: a figure over flow sizes. Invariant: an entry without a flow that can finish is left out.
"""

from __future__ import annotations

import polars as pl

from penstock.analysis import MeasuredRun, slowdown_by_label
from penstock.analysis.runs import lazy_table
from penstock.readable import number_text, time_text
from penstock.report.chart import Axis, Chart, View
from penstock.report.figure import ReportFigure, unfinished_words
from penstock.report.table import Detail

LABELS_MAX = 12
"""Entries of a figure (our choice: more bars cannot be told apart)."""

TITLE = "Completion times by traffic"
TIMES = {"fct_mean_ns": "Time mean", "fct_p50_ns": "Time p50", "fct_p99_ns": "Time p99"}
SLOWDOWNS = {"mean": "Slowdown mean", "p50": "Slowdown p50", "p99": "Slowdown p99"}
"""Columns of the table of results, and their titles."""


def by_traffic(groups: dict[str, list[MeasuredRun]]) -> pl.DataFrame:
    """The entries with flows that have an end; nothing where there is one at most."""
    labels = {label for members in groups.values() for run in members for label in _labels(run)}
    if len(labels) < 2:
        return pl.DataFrame()
    return slowdown_by_label(groups).filter(pl.col("label").is_in(labels))


def traffic_table(entries: pl.DataFrame) -> Detail:
    """A row per scheme and traffic entry, of the table `by_traffic`."""
    rows = [
        [
            row["name"],
            row["label"],
            f"{row['flows']:,}",
            f"{row['unfinished']:,}",
            *("–" if row[key] is None else time_text(row[key]) for key in TIMES),
            *(number_text(row[key]) for key in SLOWDOWNS),
        ]
        for row in entries.iter_rows(named=True)
    ]
    titles = ["Scheme", "Traffic", "Flows", "Unfinished", *TIMES.values(), *SLOWDOWNS.values()]
    note = "Flows of all seeds together; those that did not finish are in no time and no slowdown."
    return Detail(TITLE, titles, rows, note=note)


def traffic_figure(entries: pl.DataFrame) -> ReportFigure | str:
    """Slowdown and completion time of each traffic entry, of the table `by_traffic`."""
    labels = entries["label"].unique(maintain_order=True).to_list() if entries.height else []
    if not labels:
        return f"{TITLE}: all flows are of one traffic."
    if len(labels) > LABELS_MAX:
        return f"{TITLE}: {len(labels)} traffics are more than a figure can show; a table has them."
    if not entries["flows"].sum():
        return f"{TITLE}: no flow finished."
    time = Axis("Completion time [µs]", zero=True)
    in_us = [(pl.col(key) / 1e3).alias(key.replace("_ns", "_us")) for key in TIMES]
    chart = Chart(
        title="How do the traffics fare?",
        table=entries.with_columns(in_us).drop(*TIMES),
        x=Axis("Traffic", scale="named", names=labels),
        y=Axis("Slowdown (1: as fast as alone)", zero=True),
        along="label",
        views=[
            View("p99", "p99"),
            View("Mean", "mean"),
            View("Time p99", "fct_p99_us", axis=time),
            View("Time mean", "fct_mean_us", axis=time),
        ],
        form="bars",
    )
    words = "Slowdowns and completion times of each traffic's flows, incasts included."
    words += unfinished_words(int(entries["unfinished"].sum()))
    return ReportFigure("traffic", words, chart)


def _labels(run: MeasuredRun) -> list[str]:
    ended = lazy_table(run, "flows").filter(pl.col("size_bytes") > 0)
    numbers = ended.select(pl.col("label").unique()).collect().to_series()
    return [str(run.summary["labels"][number]) for number in numbers]
