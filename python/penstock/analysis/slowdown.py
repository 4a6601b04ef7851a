"""Flow completion time against flow size.

Slowdown = completion time / completion time of the same flow alone on its path at line rate
(DESIGN sec. 5). Flows that did not finish have no slowdown. The statistics leave these flows out,
and the column `unfinished` counts them, because leaving them out silently flatters a scheme that
starves flows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from penstock.analysis.runs import MeasuredRun, RunInput, group_runs, selected_flows
from penstock.analysis.statistic import curve, percentiles

PACKET = 1_000
"""Payload of a packet in the BFC paper [bytes] (sec. 6.2.1, MTU 1 KB); its bins count packets."""

BINS: dict[str, list[int]] = {
    # Three bins per decade from 100 B to 100 MB; our choice: smooth curves, enough flows in each.
    "log": [round(10 ** (2 + step / 3)) for step in range(19)],
    # Upper ends of the BFC authors' bins for their two workloads, BASELINES 0.3.
    "google": [PACKET * n for n in (1, 2, 4, 8, 16, 64, 256, 1024)],
    "facebook": [PACKET * n for n in (3, 12, 48, 192, 768, 3072, 12288, 49152)],
}
"""Upper ends of named size bins [bytes]; the last bin of each is open."""

STATISTICS = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def bin_edges(bins: str | Sequence[int]) -> list[int]:
    """Upper ends [bytes] of named bins or of a list of one's own, in rising order."""
    if isinstance(bins, str):
        if bins not in BINS:
            raise ValueError(f"bins: {bins!r} is not known; use one of {', '.join(BINS)}")
        return BINS[bins]
    return sorted(bins)


def slowdown_by_size(
    runs: RunInput, *, bins: str | Sequence[int] = "log", labels: Sequence[str] | None = None
) -> pl.DataFrame:
    """Slowdown statistics per size bin, one row per name and bin that holds a flow.

    Columns: name, size_from, size_to [bytes] (size_from excluded, size_to included; size_to of
    the open bin is its largest flow), size_typical [bytes] (median), flows (finished), unfinished,
    mean, p50, p95, p99, p999.
    """
    edges = bin_edges(bins)
    rows: list[dict[str, object]] = []
    for name, members in group_runs(runs).items():
        flows = selected_flows(members, labels=labels, finished=False)
        size = flows["size_bytes"].to_numpy()
        slowdown = flows["slowdown"].to_numpy()
        done = flows["finished"].to_numpy()
        place = np.searchsorted(edges, size, side="left")
        for index in np.unique(place):
            here = place == index
            finished = here & done
            statistics = slowdown_statistics(slowdown[finished])
            rows.append(
                {
                    "name": name,
                    "size_from": 0 if index == 0 else edges[index - 1],
                    "size_to": edges[index] if index < len(edges) else int(size[here].max()),
                    "size_typical": float(np.median(size[here])),
                    "flows": int(finished.sum()),
                    "unfinished": int(here.sum() - finished.sum()),
                    **statistics,
                }
            )
    return pl.DataFrame(rows, schema=_SCHEMA)


_SCHEMA: dict[str, type[pl.DataType]] = {
    "name": pl.String,
    "size_from": pl.Int64,
    "size_to": pl.Int64,
    "size_typical": pl.Float64,
    "flows": pl.Int64,
    "unfinished": pl.Int64,
    "mean": pl.Float64,
    **dict.fromkeys(STATISTICS, pl.Float64),
}


def slowdown_cdf(runs: RunInput, *, labels: Sequence[str] | None = None) -> pl.DataFrame:
    """Distribution of the slowdown over finished flows: name, slowdown, share of flows."""
    return pl.concat(
        curve(
            name, selected_flows(members, labels=labels)["slowdown"].to_numpy(), column="slowdown"
        )
        for name, members in group_runs(runs).items()
    )


def slowdown_statistics(values: np.ndarray) -> dict[str, float]:
    """Mean and percentiles of a set of slowdowns; NaN when it is empty."""
    mean = float(np.mean(values)) if values.size else float("nan")
    tail = percentiles(values, [*STATISTICS.values()])
    return {"mean": mean, **dict(zip(STATISTICS, tail, strict=True))}


def slowdown_summary(
    runs: Sequence[MeasuredRun],
    *,
    labels: Sequence[str] | None = None,
    size_min: int = 0,
    size_max: int | None = None,
) -> dict[str, float]:
    """Statistics of one size range: flows, unfinished, mean, p50, p95, p99, p999."""
    flows = selected_flows(
        runs, labels=labels, size_min=size_min, size_max=size_max, finished=False
    )
    finished = flows.filter("finished")
    return {
        "flows": float(finished.height),
        "unfinished": float(flows.height - finished.height),
        **slowdown_statistics(finished["slowdown"].to_numpy()),
    }
