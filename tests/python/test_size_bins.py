"""Slowdown by size of flow, on flows whose sizes are the ends of bins."""

from __future__ import annotations

import polars as pl
import pytest
from synthetic_runs import SyntheticRun, synthetic_run

from penstock import analysis
from penstock.analysis.slowdown import BINS, flow_slowdowns
from penstock.experiments.expression import METRICS


def _of(*flows: tuple[int, float | None], seed: int = 1) -> SyntheticRun:
    """A run of flows of a size and a slowdown, none of one that did not finish."""
    sizes, slowdowns = [one for one, _ in flows], [one for _, one in flows]
    run = synthetic_run("bfc", seed=seed, flows=len(flows))
    run.flows = run.flows.with_columns(
        size_bytes=pl.Series(sizes, dtype=pl.UInt64),
        slowdown=pl.Series(slowdowns, dtype=pl.Float64),
        finished=pl.Series([one is not None for one in slowdowns]),
        label=pl.lit(0, pl.UInt32),
    )
    return run


def test_a_flow_as_large_as_the_upper_end_of_a_bin_is_in_it() -> None:
    run = _of((100, 1.0), (100, None), (150, 2.0), (200, 4.0), (300, None))
    table = analysis.slowdown_by_size(run, bins=[200, 100])
    columns = ("size_from", "size_to", "size_typical", "flows", "unfinished", "mean", "p50")
    assert table.select(columns).rows() == [
        (0, 100, 100, 1, 1, 1, 1),
        (100, 200, 175, 2, 0, 3, 4),
        (200, 300, 300, 0, 1, None, None),
    ]
    flows = flow_slowdowns([run])
    assert flows.finished_between(100, 200).tolist() == [2, 4]
    assert flows.finished_between(150, 200).tolist() == [4]
    assert flows.finished_between(150).tolist() == [4]


def test_a_run_in_which_no_flow_of_a_bin_finished_has_no_part_in_its_spread() -> None:
    runs = [_of((100, None)), _of((100, 2.0), (100, 4.0), seed=2), _of((100, 7.0), seed=3)]
    row = analysis.slowdown_by_size({"bfc": runs}, bins=[100]).row(0, named=True)
    assert (row["flows"], row["unfinished"]) == (3, 1)
    assert (row["mean_low"], row["mean_high"]) == (3, 7)
    assert (row["p99_low"], row["p99_high"]) == (4, 7)


def test_a_spread_is_of_the_traffic_that_is_asked_for() -> None:
    runs = [_of((100, 2.0), (100, 9.0)), _of((100, 3.0), (100, 9.0), seed=2)]
    for run in runs:
        run.flows = run.flows.with_columns(label=pl.Series([1, 0], dtype=pl.UInt32))
    row = analysis.slowdown_by_size(runs, bins=[100], labels=["incast"]).row(0, named=True)
    assert (row["mean_low"], row["mean"], row["mean_high"]) == (2, 2.5, 3)


def test_a_summary_is_of_sizes_from_one_end_to_the_other() -> None:
    run = _of((99, 1.0), (100, 2.0), (200, 4.0), (200, None), (201, 9.0))
    found = analysis.slowdown_summary([run], size_min=100, size_max=200)
    assert (found["flows"], found["unfinished"], found["mean"]) == (2, 1, 3)


def test_the_tail_of_a_thousand_flows() -> None:
    run = _of(*((100, float(rank)) for rank in range(1_000)))
    row = analysis.slowdown_by_size(run, bins=[100]).row(0, named=True)
    assert [row[key] for key in ("p50", "p95", "p99", "p999")] == [500, 950, 990, 999]


def test_three_bins_to_a_decade() -> None:
    assert BINS["log"][:7] == [100, 215, 464, 1_000, 2_154, 4_642, 10_000]
    assert BINS["log"][-1] == 100_000_000


def test_a_metric_has_a_value_for_each_bin_with_enough_flows() -> None:
    # Bins of Google's workload end at 1, 2, 4 kB; the last is open.
    run = _of((1_000, 2.0), (1_000, 4.0), (1_001, 9.0), (4_000, 6.0), (4_000, 8.0), (9**9, 5.0))
    by_bin = METRICS["slowdown_by_bin"]
    found = by_bin([run], statistic="mean", flows_min=2)
    assert found == pytest.approx([3, *[float("nan")], 7, *[float("nan")] * 6], nan_ok=True)
    every = by_bin([run], statistic="mean", flows_min=1)
    assert every == pytest.approx([3, 9, 7, *[float("nan")] * 5, 5], nan_ok=True)
    assert (by_bin([run], flows_min=1, label="incast") != every).all()
