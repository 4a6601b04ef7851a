"""The flows of a page, in order of start.

What it is: the rows of `flows.parquet`. What it is not: their paths, which are in
:mod:`penstock.analysis.path`. Invariant: a flow that did not finish lasts.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from penstock.analysis.path import picoseconds
from penstock.results import Run

FLOWS_MAX = 1_000_000
"""Most flows in a page (our choice: about 10 MB); of more, those that lasted longest."""
LASTS = 0
"""The length of a flow that did not finish."""


def shown_flows(run: Run) -> pl.DataFrame:
    """The flows of a page, in order of their starts.

    Columns of `flows.parquet`, and `start_ps` and `length_ps`: 1 more than the completion time,
    :data:`LASTS` without one. Of more than :data:`FLOWS_MAX`, those that lasted longest.
    """
    end_ps = int(run.summary["sim_end_ps"])
    table = run.flows
    length = picoseconds(table["fct_ns"].fill_null(0.0).to_numpy()) + np.uint64(1)
    finished = table["finished"].to_numpy()
    found = table.with_columns(
        start_ps=picoseconds(table["start_ns"].to_numpy()),
        length_ps=np.where(finished, length, np.uint64(LASTS)),
    )
    if found.height > FLOWS_MAX:
        lasted = (
            pl.when(pl.col("length_ps") == LASTS)
            .then(end_ps - pl.col("start_ps"))
            .otherwise(pl.col("length_ps"))
        )
        found = found.sort(lasted, "flow", descending=[True, False]).head(FLOWS_MAX)
    return found.sort("start_ps", "flow")
