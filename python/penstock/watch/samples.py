"""Sampled queues and buffers, as matrices: a value for each link or switch at each sample.

What it is: `queues.parquet` and `buffers.parquet` without what repeats in each row. What it is not:
an interpolation. Invariant: a value stands in the table with the same time and link or switch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock.analysis.path import picoseconds
from penstock.results import Run

QUANTITIES = ("queue_bytes", "active_queues", "paused_queues", "allowed_bps")
"""Columns of a link that are shown as they were at a sample; ``sent_bytes`` is beside them."""


@dataclass(frozen=True)
class Samples:
    """Values at samples."""

    time_ps: NDArray[np.uint64]
    """When, ascending, [sample]."""
    number: NDArray[np.uint32]
    """Links or switches, [place]."""
    values: dict[str, NDArray[np.uint64]]
    """Name -> [place, sample]."""


def link_samples(run: Run) -> Samples:
    """Queues of the sampled links: :data:`QUANTITIES`, and `sent_bytes` since the sample before."""
    found = _matrices(run.series, "link", (*QUANTITIES, "tx_bytes"))
    carried = found.values.pop("tx_bytes")
    found.values["sent_bytes"] = np.diff(carried, axis=1, prepend=np.uint64(0))
    return found


def switch_samples(run: Run) -> Samples:
    """Data stored in each switch: `buffer_bytes`."""
    return _matrices(run.buffers, "node", ("buffer_bytes",))


def _matrices(table: pl.DataFrame, number: str, columns: tuple[str, ...]) -> Samples:
    """Columns of a table as matrices; samples that not all places have are left out."""
    numbers = table[number].unique().sort()
    whole = (
        table.lazy()
        .filter(pl.len().over("time_ns") == numbers.len())
        .sort(number, "time_ns")
        .select(number, "time_ns", *columns)
        .collect()
    )
    shape = (numbers.len(), whole.height // max(numbers.len(), 1))
    time = whole["time_ns"].to_numpy()[: shape[1]]
    values: dict[str, Any] = {
        name: whole[name].cast(pl.UInt64).to_numpy().reshape(shape) for name in columns
    }
    return Samples(picoseconds(time), numbers.to_numpy(), values)
