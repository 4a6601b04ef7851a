"""The slowest flows of a report, each with its cause.

What it is: the finished flows of largest slowdown in each class of sizes, and why they were slow.
What it is not: a look at every flow; the causes of these few are looked for. Invariant: incast
flows are not among them, as in all slowdowns of the page, unless there are no others.
"""

from __future__ import annotations

import polars as pl

from penstock.analysis.reason import reasons
from penstock.analysis.runs import MeasuredRun, background_labels, lazy_table
from penstock.readable import bytes_text, number_text, time_text
from penstock.report.table import LONG, SHORT, Detail

FLOWS = 3
"""Flows of a scheme and a class of sizes (our choice: nine rows of a scheme)."""
SCHEMES_MAX = 12
"""Schemes whose flows are shown (our choice: more rows are not read)."""

CLASSES = {"short": (0, SHORT), "medium": (SHORT, LONG), "long": (LONG, 2**63)}
"""Name -> sizes [B], the first one excluded, the last one included."""


def slow_flows(groups: dict[str, list[MeasuredRun]]) -> Detail:
    """The slowest flows of the first run of each name."""
    rows = []
    for name, members in list(groups.items())[:SCHEMES_MAX]:
        flows = slowest(members[0])
        for flow, why in zip(flows.iter_rows(named=True), reasons(members[0], flows), strict=True):
            rows.append(
                [
                    name,
                    flow["sizes"],
                    str(flow["flow"]),
                    f"H{flow['src']}→H{flow['dst']}",
                    bytes_text(flow["size_bytes"]),
                    time_text(flow["start_ns"]),
                    time_text(flow["fct_ns"]),
                    number_text(flow["slowdown"]),
                    why,
                ]
            )
    titles = ["Scheme", "Sizes", "Flow", "From, to", "Size", "Start", "Took", "Slowdown", "Why"]
    note = (
        f"The {FLOWS} slowest of each scheme and class of sizes: short flows have at most "
        f"{bytes_text(SHORT)}, long ones more than {bytes_text(LONG)}. Times in the last column "
        "are parts of what the flow took longer than alone; two causes at once count once, pauses "
        "first."
    )
    return Detail("Slowest flows", titles, rows, words=True, note=note)


def slowest(run: MeasuredRun) -> pl.DataFrame:
    """The finished flows of largest slowdown in each of :data:`CLASSES`.

    Columns of the table of flows, and `sizes`, the name of the class.
    """
    labels = background_labels(run)
    numbers = [place for place, label in enumerate(run.summary["labels"]) if label in labels]
    size = pl.col("size_bytes")
    parts = [
        lazy_table(run, "flows")
        .filter(
            (size > above) & (size <= most) & pl.col("finished") & pl.col("label").is_in(numbers)
        )
        .top_k(FLOWS, by="slowdown")
        .sort("slowdown", "flow", descending=[True, False])
        .with_columns(sizes=pl.lit(name))
        for name, (above, most) in CLASSES.items()
    ]
    return pl.concat(pl.collect_all(parts))
