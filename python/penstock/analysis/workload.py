"""Flow-size distributions: how many bytes come in flows of which size (BFC Fig. 2).

A table has sizes and cumulative shares of flows. It is read as steps (each row one size) or as
straight lines between rows, as the tool that published the table samples it (workloads/README).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

Convention = Literal["linear", "step"]


def bytes_by_size(points: Sequence[Sequence[float]], convention: Convention) -> pl.DataFrame:
    """Share of all bytes that come in flows up to each size: size_bytes, flow_share, byte_share."""
    table = np.asarray(points, dtype=np.float64)
    size, share = table[:, 0], table[:, 1]
    if convention == "step":
        carried = size * np.diff(share, prepend=0.0)
    else:
        middle = (size + np.concatenate([size[:1], size[:-1]])) / 2
        carried = middle * np.diff(share, prepend=0.0)
    total = np.cumsum(carried)
    return pl.DataFrame({"size_bytes": size, "flow_share": share, "byte_share": total / total[-1]})


def share_of_bytes_below(
    points: Sequence[Sequence[float]], convention: Convention, size: float
) -> float:
    """Share of all bytes (in [0, 1]) in flows of at most `size` [bytes]."""
    frame = bytes_by_size(points, convention)
    sizes: NDArray[np.float64] = frame["size_bytes"].to_numpy()
    shares: NDArray[np.float64] = frame["byte_share"].to_numpy()
    place = int(np.searchsorted(sizes, size, side="right"))
    if place == 0 or place == sizes.size:
        return float(place > 0)
    below = float(shares[place - 1])
    if convention == "step":
        return below
    low, high = float(sizes[place - 1]), float(sizes[place])
    part = (size**2 - low**2) / (high**2 - low**2)  # sizes are uniform between two rows
    return below + (float(shares[place]) - below) * part
