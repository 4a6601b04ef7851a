"""Flow completion time against flow size.

Slowdown = completion time / completion time of the same flow alone on its path at line rate.
Flows that did not finish have no slowdown. The statistics leave these flows out,
and the column `unfinished` counts them, because leaving them out silently flatters a scheme that
starves flows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock.analysis.runs import MeasuredRun, RunInput, check_labels, group_runs, selected_flows
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


@dataclass(frozen=True)
class FlowSlowdowns:
    """Finite flows of one or several runs, a place per flow in each array."""

    size_bytes: NDArray[np.uint64]
    slowdown: NDArray[np.float64]
    """NaN where a flow did not finish."""
    finished: NDArray[np.bool_]

    def finished_between(self, above: int = 0, most: int | None = None) -> NDArray[np.float64]:
        """Slowdowns of finished flows of more than `above` and at most `most` bytes."""
        wanted = self.size_bytes > above
        if most is not None:
            wanted &= self.size_bytes <= most
        chosen = self.slowdown[wanted]
        return chosen if self.finished.all() else chosen[self.finished[wanted]]


def flow_slowdowns(
    runs: Sequence[MeasuredRun], labels: Sequence[str] | None = None
) -> FlowSlowdowns:
    """The flows of some labels; by default of all but incasts."""
    flows = selected_flows(
        runs, labels=labels, finished=False, columns=("size_bytes", "slowdown", "finished")
    )
    # Each column leaves the table as it is copied: a seventh less memory with 16 million flows.
    return FlowSlowdowns(*(flows.drop_in_place(name).to_numpy() for name in flows.columns))


def slowdown_by_size(
    runs: RunInput, *, bins: str | Sequence[int] = "log", labels: Sequence[str] | None = None
) -> pl.DataFrame:
    """Slowdown statistics per size bin, one row per name and bin that holds a flow.

    Columns: name, size_from, size_to [bytes] (size_from excluded, size_to included; size_to of
    the open bin is its largest flow), size_typical [bytes] (median), flows (finished), unfinished,
    mean, p50, p95, p99, p999 (null where no flow finished). Where a name has several runs, for each
    statistic also its smallest and its largest value in a single run: mean_low, mean_high, ...
    """
    edges = bin_edges(bins)
    groups = group_runs(runs)
    check_labels(groups, labels)
    rows: list[dict[str, object]] = []
    for name, members in groups.items():
        pooled = _binned(flow_slowdowns(members, labels), edges)
        single = [_binned(flow_slowdowns([run], labels), edges) for run in members[1:] and members]
        for index, row in pooled.items():
            rows.append({"name": name, **row, **_spread([one.get(index) for one in single])})
    repeated = any(len(members) > 1 for members in groups.values())
    return pl.DataFrame(rows, schema=_SCHEMA | (_SPREAD if repeated else {})).fill_nan(None)


def _binned(flows: FlowSlowdowns, edges: Sequence[int]) -> dict[int, dict[str, float]]:
    """Number of a size bin that holds a flow -> its row."""
    sizes = np.sort(flows.size_bytes)
    ends = [*np.searchsorted(sizes, np.asarray(edges, dtype=np.uint64), side="right"), sizes.size]
    place = np.zeros(sizes.size, dtype=np.min_scalar_type(len(edges)))
    for edge in edges:  # for few bins three times as fast as a search per flow
        place += flows.size_bytes > edge
    slowdown = flows.slowdown
    if not flows.finished.all():
        place, slowdown = place[flows.finished], slowdown[flows.finished]
    slowdown = slowdown[np.argsort(place, kind="stable")]
    finished = np.cumsum(np.bincount(place, minlength=len(edges) + 1))
    rows = {}
    for index, (begin, end) in enumerate(pairwise([0, *map(int, ends)])):
        if begin == end:
            continue
        first, last = int(finished[index - 1]) if index else 0, int(finished[index])
        rows[index] = {
            "size_from": 0 if index == 0 else edges[index - 1],
            "size_to": edges[index] if index < len(edges) else int(sizes[-1]),
            "size_typical": (
                float(sizes[(begin + end - 1) // 2]) + float(sizes[(begin + end) // 2])
            )
            / 2,
            "flows": last - first,
            "unfinished": end - begin - (last - first),
            **slowdown_statistics(slowdown[first:last]),
        }
    return rows


def _spread(single: Sequence[Mapping[str, float] | None]) -> dict[str, float]:
    """The smallest and the largest value of each statistic over runs that have one."""
    found = [one for one in single if one is not None and one["flows"]]
    if not found:
        return {}
    each = {key: [one[key] for one in found] for key in ("mean", *STATISTICS)}
    low = {f"{key}_low": min(values) for key, values in each.items()}
    return low | {f"{key}_high": max(values) for key, values in each.items()}


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
_SPREAD: dict[str, type[pl.DataType]] = {
    f"{key}_{end}": pl.Float64 for key in ("mean", *STATISTICS) for end in ("low", "high")
}


def slowdown_cdf(runs: RunInput, *, labels: Sequence[str] | None = None) -> pl.DataFrame:
    """Distribution of the slowdown over finished flows: name, slowdown, share of flows."""
    groups = group_runs(runs)
    check_labels(groups, labels)
    return pl.concat(
        curve(
            name,
            selected_flows(members, labels=labels, columns=["slowdown"])["slowdown"].to_numpy(),
            column="slowdown",
        )
        for name, members in groups.items()
    )


def slowdown_statistics(values: np.ndarray) -> dict[str, float]:
    """Mean and percentiles of a set of numbers; NaN when it is empty."""
    mean = float(np.mean(values)) if values.size else float("nan")
    tail = percentiles(values, [*STATISTICS.values()])
    return {"mean": mean, **dict(zip(STATISTICS, tail, strict=True))}


def slowdown_by_label(runs: RunInput) -> pl.DataFrame:
    """Completion times and slowdowns of each traffic entry, a row per name and label.

    Columns: name, label, and what :func:`slowdown_summary` has; null where no flow finished.
    """
    rows = [
        {"name": name, "label": label, **slowdown_summary(members, labels=[label])}
        for name, members in group_runs(runs).items()
        for label in dict.fromkeys(one for run in members for one in run.summary["labels"])
    ]
    counts = {"flows": pl.Int64, "unfinished": pl.Int64}
    return pl.DataFrame(rows, schema_overrides=counts).fill_nan(None)


def slowdown_summary(
    runs: Sequence[MeasuredRun],
    *,
    labels: Sequence[str] | None = None,
    size_min: int = 0,
    size_max: int | None = None,
) -> dict[str, float]:
    """Statistics of one size range.

    Keys: flows (finished), unfinished, fct_mean_ns, fct_p50_ns, fct_p99_ns, and of the slowdown
    mean, p50, p95, p99, p999.
    """
    flows = selected_flows(
        runs,
        labels=labels,
        size_min=size_min,
        size_max=size_max,
        finished=False,
        columns=("fct_ns", "slowdown", "finished"),
    )
    finished = flows.filter("finished")
    time = slowdown_statistics(finished["fct_ns"].to_numpy())
    return {
        "flows": float(finished.height),
        "unfinished": float(flows.height - finished.height),
        **{f"fct_{key}_ns": time[key] for key in ("mean", "p50", "p99")},
        **slowdown_statistics(finished["slowdown"].to_numpy()),
    }
