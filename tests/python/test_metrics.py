"""Metrics of experiments, sweeps and searches, on tables small enough to work out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from synthetic_runs import SyntheticRun, synthetic_run

import penstock
from penstock import Scenario
from penstock.experiments.bound import least, most
from penstock.experiments.expression import METRICS, Evaluator
from penstock.experiments.grid import Cell
from penstock.experiments.model import Point
from penstock.experiments.vocabulary import statistic_of
from penstock.tables import COLUMNS


def _of_flows(*, label: int = 0, seed: int = 1, **columns: list[Any]) -> SyntheticRun:
    """A run of flows of which some columns are given; it lasts 2 ms, and its drain 0.4 ms more."""
    count = len(next(iter(columns.values())))
    run = synthetic_run("bfc", seed=seed, flows=count)
    kinds = COLUMNS["flows"]
    given = [pl.Series(name, one, dtype=kinds[name]) for name, one in columns.items()]
    usual = [pl.lit(value=True).alias("finished"), pl.lit(label, pl.UInt32).alias("label")]
    run.flows = run.flows.with_columns(usual).with_columns(given)
    return run


def test_statistics_of_values() -> None:
    values = np.arange(1_000.0)
    found = {name: statistic_of(values, name) for name in ("min", "max", "p50", "p99", "p999")}
    assert found == {"min": 0, "max": 999, "p50": 500, "p99": 990, "p999": 999}
    assert statistic_of(np.array([1.0, 3.0]), "deviation") == 1  # of the population
    assert statistic_of(np.array([1.0, 3.0, 8.0]), "mean") == 4
    assert statistic_of(np.array([]), "count") == 0
    assert math.isnan(statistic_of(np.array([]), "max"))


def test_times_of_flows() -> None:
    run = _of_flows(fct_ns=[10_000.0, 20_000.0, 30_000.0], ideal_fct_ns=[1_000.0, 2_000.0, 9_000.0])
    assert METRICS["fct"]([run]) == 20
    assert METRICS["normalized_fct"]([run]) == 5  # 20 over the mean of 1, 2 and 9
    assert METRICS["delay"]([run], statistic="max") == 21
    assert METRICS["delay"]([run], statistic="min") == 9
    assert math.isnan(float(METRICS["fct"]([run], label="incast")))


def test_the_size_of_a_choice_has_both_of_its_ends() -> None:
    run = _of_flows(size_bytes=[0, 100, 200, 300], slowdown=[9.0, 1.0, 2.0, 3.0])
    count = METRICS["slowdown"]
    assert count([run], statistic="count", size_min=100, size_max=200) == 2
    assert count([run], statistic="count") == 3  # a flow of size 0 never ends


def test_an_incast_lasts_until_its_last_flow_has_ended() -> None:
    first = _of_flows(label=1, start_ns=[0.0, 0.0, 5_000.0], fct_ns=[1_000.0, 3_000.0, 2_000.0])
    second = _of_flows(label=1, seed=2, start_ns=[0.0], fct_ns=[7_000.0])
    assert METRICS["incast_time"]([first, second]) == 4  # 3, 2 and 7
    cut = _of_flows(label=1, start_ns=[0.0, 0.0], fct_ns=[1_000.0, None], finished=[True, False])
    assert math.isnan(float(METRICS["incast_time"]([cut])))
    assert math.isnan(float(METRICS["incast_time"]([first, cut])))


def test_flows_that_finish_with_the_traffic_are_counted() -> None:
    run = _of_flows(start_ns=[0.0, 500_000.0, 0.0], fct_ns=[1e6, 1.5e6, 2.5e6])
    assert METRICS["completion_rate"]([run]) == pytest.approx(1_000)  # two in 2 ms
    assert METRICS["completion_rate_to_the_last"]([run]) == pytest.approx(1_200)  # three in 2.5
    none = _of_flows(start_ns=[0.0], fct_ns=[None], finished=[False])
    assert METRICS["completion_rate_to_the_last"]([none]) == 0


def test_goodputs_are_of_the_time_that_each_flow_lasted() -> None:
    run = _of_flows(
        start_ns=[0.0, 2_300_000.0],
        fct_ns=[1_000.0, None],
        finished=[True, False],
        delivered_bytes=[1_000, 100_000],
    )
    # 1 byte in a ns each: the second flow has lasted for 0.1 ms when the run ends at 2.4 ms.
    assert METRICS["fairness"]([run], label="background") == pytest.approx(1)


def test_evenness_is_of_what_was_delivered() -> None:
    run = _of_flows(src=[0, 1, 2], size_bytes=[5, 5, 5], delivered_bytes=[100, 300, 900])
    assert METRICS["evenness"]([run], sources=[0, 1]) == pytest.approx(0.8)  # 400² / (2 · 10⁵)


def test_a_fair_share_changes_when_flows_begin_and_end() -> None:
    run = _of_flows(start_ns=[2_000.0], fct_ns=[4_000.0])
    run.scenario.duration = 10_000_000
    # Beside an endless flow. The share halves 1 us after a time from 1 to 2 us, and doubles 1 us
    # after one from 5 to 6 us: (0.5 · 1 + 1 · 1) / 9 over the 9 us that have a later time.
    assert METRICS["fair_share_change"]([run], span=1) == pytest.approx(1 / 6)


def test_a_sample_at_the_end_of_the_traffic_is_one_of_its_time() -> None:
    run = synthetic_run(flows=10)
    run.series = pl.DataFrame(
        {"time_ns": [0.0, 2e6, 2.1e6], "link": [0, 0, 0], "queue_bytes": [0, 500, 0]}
    )
    assert METRICS["queue_at_most"]([run], link=[0, 16], most=499) == 0.5
    assert METRICS["queue_at_most"]([run], link=[0, 16], most=500) == 1


def test_goodput_of_a_host_is_a_mean_over_runs() -> None:
    runs = [synthetic_run(seed=seed, flows=10) for seed in (1, 2)]
    for run, size in zip(runs, (10_000_000, 30_000_000), strict=True):
        flow = {"flow": 3, "src": 0, "dst": 9, "start_ns": 0.0, "delivered_bytes": size}
        run.summary["long_lived"] = [flow, flow | {"flow": 4}, flow | {"flow": 5, "src": 1}]
    assert METRICS["goodput"](runs, source=0) == pytest.approx(160)  # 80 and 240 Gb/s


def test_the_share_of_a_link_has_headers_unless_payload_is_asked_for() -> None:
    long = {"kind": "long-lived", "pairs": [[0, 1]]}
    star = {"kind": "single-switch", "hosts": 2}
    run = penstock.run(
        Scenario(duration="1 ms", drain=0, scheme="line-rate", topology=star, traffic=[long])
    )
    share = METRICS["long_flow_share"]
    whole = float(share([run], link=["H0", "S0"]))
    assert 0.99 < whole <= 1  # of 1 ms a few µs pass until the first packet arrives
    payload = share([run], link=["H0", "S0"], count="payload")
    assert payload == pytest.approx(whole * 1_000 / 1_048)


def test_shares_of_a_link_are_means_over_runs() -> None:
    runs = [synthetic_run(seed=seed, flows=10) for seed in (1, 2)]
    for run, part in zip(runs, (0.2, 0.6), strict=True):
        run.links = run.links.with_columns(
            busy_ns=pl.lit(part * 2.4e6),  # of 2.4 ms, drain included
            duration_tx_bytes=pl.lit(part * 2.5e7).cast(pl.UInt64),  # of 25 MB in 2 ms
            port_pause_ns=pl.col("link").cast(pl.Float64) * part * 1e4,
        )
    link = [0, 16]
    assert METRICS["busy"](runs, link=link) == pytest.approx(0.4)
    assert METRICS["utilization"](runs, link=link) == pytest.approx(0.4)
    last = runs[0].links.height - 1  # links are paused for 0, 2, 4 ... µs, and for thrice as long
    pause = {one: METRICS["link_pause"](runs, statistic=one) for one in ("mean", "min", "max")}
    assert pause == pytest.approx({"mean": 2 * last, "min": 0, "max": 4 * last})


def test_active_flows_of_a_link_are_weighted_by_time() -> None:
    run = synthetic_run(flows=10)
    run.active_flows = pl.DataFrame(
        {"link": [1, 1, 1, 1], "flows": [0, 1, 2, 7], "time_ns": [400.0, 580.0, 15.0, 5.0]},
        schema_overrides={"link": pl.UInt32, "flows": pl.UInt32},
    )
    found = [METRICS["active_flows"]([run], link=[16, 0], statistic=f"p{one}") for one in (3, 5)]
    assert found == [0, 1]
    assert METRICS["active_flows"]([run], link=[16, 0], statistic="p99") == 2
    assert METRICS["active_flows"]([run], link=[16, 0], statistic="p999") == 7
    assert METRICS["active_flows"]([run], link=[16, 0]) == pytest.approx(0.645)


def test_flows_with_more_packets_are_weighted_by_flows() -> None:
    run = synthetic_run(flows=10)  # at every link ten samples with one packet and one with six
    above = METRICS["flows_above"]
    assert [above([run], packets=one) for one in (0, 1, 5, 6)] == pytest.approx(
        [1, 1 / 11, 1 / 11, 0]
    )


def test_delays_at_a_layer_are_of_the_packets_that_are_asked_for() -> None:
    run = synthetic_run(flows=10)
    rows = {"layer": [1, 1, 2], "scheduled": [False, True, False], "p99_ns": [3e3, 7e3, 9e3]}
    run.queue_delays = pl.DataFrame(rows)
    delay = METRICS["core_delay"]
    assert delay([run], layer="ToR-spine") == 3
    assert delay([run], layer="ToR-spine", scheduled=True) == 7
    assert math.isnan(float(delay([run], layer="spine-ToR", scheduled=True)))


def test_shares_of_packets_are_of_all_links_together() -> None:
    run = synthetic_run(flows=10)
    run.links = run.links.head(2).with_columns(
        misestimates=pl.Series([1, 5]), assignments=pl.Series([100, 20]), collisions=pl.lit(30)
    )
    assert METRICS["misestimated"]([run]) == pytest.approx(0.05)
    assert METRICS["collision_share"]([run]) == pytest.approx(0.5)


def test_a_deadlock_at_a_time_is_not_before_it() -> None:
    run = synthetic_run(flows=10)
    run.summary["deadlock"] = {"time_ps": 5_000_000}
    found = [METRICS["deadlocked"]([run], before=one) for one in (5, 5.1)]
    assert found == [0, 1] and METRICS["deadlocked"]([run]) == 1


def test_the_fullest_switch_is_a_mean_over_runs() -> None:
    runs = [synthetic_run(seed=seed, flows=10) for seed in (1, 2)]
    runs[0].summary["buffer_peak_bytes"] = [1, 700]
    runs[1].summary["buffer_peak_bytes"] = [100, 2]
    assert METRICS["buffer_peak"](runs) == 400


def test_requests_and_iterations_count_where_they_ended() -> None:
    run = synthetic_run(flows=10)
    run.summary["labels"] = ["rpc", "collective"]
    run.requests = pl.DataFrame(
        {"label": [0, 0, 0, 1], "end_ps": [1, 2_000_000_000, 2_000_000_001, 1]}
    )
    assert METRICS["request_rate"]([run]) == pytest.approx(1_000)  # two in 2 ms
    run.jobs = pl.DataFrame({"label": [1, 1, 0], "time_ps": [1_000_000, 3_000_000, 99_000_000]})
    jobs = {"collective": {"finished": 2, "iterations": 2}}
    run.summary["applications"] = {"jobs": jobs}
    assert METRICS["iteration_time"]([run]) == 2
    jobs["collective"]["iterations"] = 3
    assert math.isnan(float(METRICS["iteration_time"]([run])))


def test_what_no_run_can_be_less_than() -> None:
    drops = "total(of='drops')"
    ends = {
        "slowdown()": 1,
        "slowdown(statistic='deviation')": 0,
        "slowdown() * 2": 2,
        f"slowdown() + {drops}": 1,
        f"slowdown() - {drops}": -math.inf,
        f"slowdown() / {drops}": 0,
        f"max({drops}, 5)": 5,
        f"min(slowdown(), {drops})": 0,
        "backlog_growth() * 2": -math.inf,
        "backlog_growth() / 2": -math.inf,
    }
    assert {text: least(text) for text in ends} == ends
    assert (most("busy(link=[0, 1])"), most("busy(link=[0, 1]) * 2")) == (1, math.inf)


def test_expressions_are_arithmetic() -> None:
    evaluator = Evaluator([], [])
    texts = ("5 - 3", "2 ** -1", "-2 * 3", "mean(1, 2, 6)", "abs(1 - 4)")
    assert [evaluator.value(one) for one in texts] == [2, 0.5, -6, 3, 3]


def test_a_value_for_each_bin_is_no_number() -> None:
    cell = Cell({"scheme": Point(name="bfc")}, 1, {}, run=synthetic_run(flows=50))
    evaluator = Evaluator([cell], ["scheme"])
    with pytest.raises(ValueError, match="gives a value per bin; reduce it with max, min or mean"):
        evaluator.value("slowdown_by_bin()")
