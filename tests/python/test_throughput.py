"""Throughput and queueing of packets, on tables small enough to work out by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest
from synthetic_runs import SyntheticRun, synthetic_run

from penstock import analysis
from penstock.experiments.expression import METRICS


def _delayed(seed: int, **labels: tuple[int, float]) -> SyntheticRun:
    """A run of which is known how many packets of each label waited, and for how long [ns]."""
    run = synthetic_run("bfc", seed=seed, flows=10)
    run.summary["queue_delay_ns"] = {
        label: {"count": count, "mean": delay, "p50": 2 * delay, "p99": 3 * delay}
        for label, (count, delay) in labels.items()
    }
    return run


def test_a_run_without_a_packet_of_a_label_says_nothing_of_its_delay() -> None:
    first = _delayed(1, often=(10, 100.0), rare=(0, 0.0), never=(0, 0.0))
    second = _delayed(2, often=(30, 300.0), rare=(5, 80.0), never=(0, 0.0))
    assert analysis.queue_delay({"bfc": [first, second]}).rows() == [
        ("bfc", "often", 200.0, 400.0, 600.0),
        ("bfc", "rare", 80.0, 160.0, 240.0),
    ]
    delay = METRICS["packet_delay"]
    assert delay([first, second], label="rare") == pytest.approx(0.24)
    assert delay([first, second], label="often", statistic="mean") == pytest.approx(0.2)
    assert math.isnan(float(delay([first], label="rare")))


def test_a_rate_over_time_is_that_of_the_bytes_since_the_sample_before() -> None:
    run = synthetic_run("bfc", flows=10)
    run.series = pl.DataFrame(
        {
            "time_ns": [200.0, 0.0, 100.0],  # a table of another program need not be in order
            "link": [0, 0, 0],
            "queue_bytes": [30, 10, 20],
            "active_flows": [3, 1, 2],
            "paused_queues": [0, 0, 0],
            "tx_bytes": [1_750, 0, 1_250],
            "data_bytes": [1_000, 0, 500],
        }
    )
    table = analysis.link_series(run)
    assert table["time_ns"].to_list() == [0, 100, 200]
    assert table["queue_bytes"].to_list() == [10, 20, 30]
    assert table["rate_bps"].to_list() == [None, 1e11, 4e10]  # 1,250 B and 500 B in 100 ns
    part = analysis.link_series(run, span_us=(0.1, 0.2))
    assert part["rate_bps"].to_list() == [1e11, 4e10]  # both ends of the span count


def test_the_goodput_of_a_run_that_was_stopped_is_of_the_time_that_it_lasted() -> None:
    run = synthetic_run("bfc", flows=10)
    run.summary["sim_end_ps"] = 1_000_000_000  # half of its 2 ms
    run.summary["long_lived"][0] |= {"start_ns": 200_000.0, "delivered_bytes": 1_000_000}
    assert analysis.long_lived(run)["goodput_bps"].to_list() == [1e10]  # 8 Mb in 0.8 ms
