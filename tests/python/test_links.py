"""Links by layer, the busiest ones, and a link over a window of time, worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest
from synthetic_runs import SyntheticRun, synthetic_run

from penstock import analysis
from penstock.experiments.expression import METRICS

SENT = 12_500_000
"""Bytes of half of 2 ms of traffic at 100 Gb/s."""


def _of(seed: int, own: dict[str, list[float]]) -> SyntheticRun:
    """A run of two links of one layer and one of another; `own` replaces some of its columns."""
    run = synthetic_run("bfc", seed=seed, flows=10)
    rows = {
        "link": [0, 1, 2],
        "from": [0, 1, 16],
        "to": [16, 16, 0],
        "layer": [0, 0, 3],
        "rate_bps": [100_000_000_000] * 3,
        "duration_tx_bytes": [SENT] * 3,
        "tx_bytes": [2 * SENT] * 3,
        "port_pause_ns": [0.0] * 3,
        "queue_pause_ns": [0.0] * 3,
        "drops": [0] * 3,
        "queue_bytes_max": [0] * 3,
        "assignments": [0] * 3,
        "collisions": [0] * 3,
    }
    run.links = pl.DataFrame(rows | own, strict=False)
    return run


def test_a_layer_of_several_runs_has_its_links_once_and_the_drops_of_all() -> None:
    first = _of(1, {"drops": [1, 2, 9], "duration_tx_bytes": [0, SENT, 0]})
    second = _of(2, {"drops": [4, 0, 9], "duration_tx_bytes": [SENT, 2 * SENT, 0]})
    row = analysis.layer_summary({"bfc": [first, second]}).row(0, named=True)
    assert (row["layer"], row["links"], row["drops"]) == ("host-ToR", 2, 7)
    # Half of the time is 12.5 MB: a mean of 0.25 in the first run, of 0.75 in the second.
    ends = [row[key] for key in ("utilization", "utilization_low", "utilization_high")]
    assert ends == pytest.approx([0.5, 0.25, 0.75])


def test_busy_links_have_the_mean_of_their_drops_and_their_longest_queue() -> None:
    first = _of(1, {"drops": [1, 0, 0], "queue_bytes_max": [700, 0, 0]})
    second = _of(2, {"drops": [4, 0, 0], "queue_bytes_max": [100, 0, 0]})
    row = analysis.busiest_links({"bfc": [first, second]}, 1).row(0, named=True)
    assert (row["link"], row["drops"], row["queue_bytes_max"]) == (0, 2.5, 700)


def test_pauses_are_shares_of_the_run_and_a_utilization_of_the_traffic() -> None:
    paused = {"port_pause_ns": [600_000.0, 0, 0], "queue_pause_ns": [1_200_000.0, 0, 0]}
    run = _of(1, paused)  # 2 ms of traffic, and a drain to 2.4 ms
    names = ("utilization", "port_paused", "queues_paused")
    shares = analysis.link_shares(run).select(names).row(0)
    assert shares == pytest.approx((0.5, 0.25, 0.5))
    assert METRICS["pause_time"]([run], layer="host-ToR") == pytest.approx(0.125)
    # A mean over all links, of which one layer has two and the other one.
    assert METRICS["pause_time"]([run]) == pytest.approx(0.25 / 3)
    run.summary["sim_end_ps"] = 1_200_000_000  # stopped before its traffic ended
    shares = analysis.link_shares(run).select(names).row(0)
    assert shares == pytest.approx((0.5 * 2 / 1.2, 0.5, 1.0))


def test_a_window_has_both_of_its_ends_and_no_sample_of_the_drain() -> None:
    run = synthetic_run("bfc", flows=10)
    run.series = pl.DataFrame(
        {
            "time_ns": [2_000_100.0, 2_000_000.0, 1_999_900.0, 1_999_800.0],
            "link": [0, 0, 0, 0],
            "queue_bytes": [9_000, 30, 10, 8_000],
            "active_flows": [9, 3, 1, 8],
            "tx_bytes": [9_000, 1_625, 1_000, 0],
        }
    )
    window = analysis.link_window(run, 0, 16, after_ns=1_999_900)
    assert window == {
        "utilization": pytest.approx(0.5),  # 625 B in 100 ns at 100 Gb/s
        "queue_bytes": 20,
        "queue_bytes_max": 30,
        "active_flows": 2,
        "duration_ns": 100,
    }
    queue = METRICS["queue"]
    assert queue([run], link=[0, 16], after=1_999.9) == 20
    assert queue([run], link=[0, 16], after=1_999.9, statistic="max") == 30
