"""Flows with their paths.

What it is: the rows of `flows.parquet` in order of start, and the links that each flow takes. What
it is not: a record of where a flow's packets were; only a packet trace knows. Invariant: a flow's
path is the one that the core gave it when it started.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock import _core
from penstock.errors import core_refusals
from penstock.results import Run
from penstock.watch.samples import picoseconds

FLOWS_MAX = 1_000_000
"""Most flows in a page (our choice: about 10 MB); of more, those that lasted longest."""
LASTS = 0
"""The length of a flow that did not finish."""


@dataclass(frozen=True)
class Paths:
    """Links between switches that flows take."""

    of_flow: NDArray[np.uint32]
    """Number of the path, [flow]; 2^32 - 1 for a flow that stays inside its server."""
    starts: NDArray[np.uint32]
    """Place of a path's first link, [path + 1]."""
    links: NDArray[np.uint32]
    """Links, path after path."""


def shown_flows(run: Run) -> pl.DataFrame:
    """The flows of a page, in order of their number, which is that of their starts.

    Columns of `flows.parquet`, and `start_ps` and `length_ps`: 1 more than the completion time,
    :data:`LASTS` without one. Of more than :data:`FLOWS_MAX`, those that lasted longest.
    """
    end_ps = int(run.summary["sim_end_ps"])
    table = run.flows
    length = picoseconds(table["fct_ns"].fill_nan(0.0).to_numpy()) + np.uint64(1)
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


def flow_paths(run: Run, flows: pl.DataFrame) -> Paths | None:
    """The paths of flows; none where there is no single one, or where frames were real."""
    if run.summary.get("emulation") is not None:
        return None
    rows = flows.select(
        pl.col("flow"),
        pl.col("src").cast(pl.UInt64),
        pl.col("dst").cast(pl.UInt64),
        pl.col("start_ps"),
    ).to_numpy()
    with core_refusals(run.scenario.file):
        found = _core.core_paths(run.scenario.resolve().to_json(), np.ascontiguousarray(rows))
    return None if found is None else Paths(*found)
