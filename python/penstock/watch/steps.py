"""What happened one after the other: decisions of traced switches, packets that were dropped.

What it is: the rows of `packets.parquet` that a page can tell in words, and the drops of
`events.parquet`. What it is not: the words; `page/words.js` has them. Invariant: the rows of one
decision stand together: one packet at one switch at one instant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock.results import Run

ROWS_MAX = 1_000_000
"""Most rows of the packet trace in a page (our choice: about 15 MB); of more, the first."""
NO_FLOW = 2**64 - 1
"""The flow of a pause or resume that arrives (docs/files.md)."""
EVENTS = (
    "arrive",
    "assign",
    "choose",
    "enqueue",
    "mark",
    "drop",
    "depart",
    "pause_sent",
    "resume_sent",
    "pause_received",
    "resume_received",
)
"""The events of a packet trace, by their number in the page."""


@dataclass(frozen=True)
class Trace:
    """The packet trace as a page has it."""

    rows: pl.DataFrame
    """Columns of `packets.parquet`; `event` by its number in :data:`EVENTS`."""
    decisions: NDArray[np.uint32]
    """The first row of each decision, ascending."""
    left_out: int
    """Rows that the page has no room for."""


def trace(run: Run) -> Trace:
    """The decisions of a packet trace.

    Left out are frames between neighbours, which are the pauses' own table, and packets that bypass
    all policies.
    """
    table = run.packets.filter(pl.col("flow") != NO_FLOW, pl.col("event").is_in(EVENTS))
    event = pl.col("event").replace_strict(
        {name: number for number, name in enumerate(EVENTS)}, return_dtype=pl.UInt8
    )
    rows = table.head(ROWS_MAX).with_columns(event)
    keys = ("time_ps", "node", "flow", "sequence", "ingress")
    differs = pl.any_horizontal(pl.col(key) != pl.col(key).shift() for key in keys)
    is_first = rows.select(differs.fill_null(True)).to_series()
    decisions = np.flatnonzero(is_first.to_numpy()).astype(np.uint32)
    return Trace(rows, decisions, table.height - rows.height)


def drops(run: Run) -> pl.DataFrame:
    """A row per dropped packet: time_ps, node, link."""
    return run.events.filter(pl.col("event") == "drop").select("time_ps", "node", "link")
