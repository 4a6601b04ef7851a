"""Analysis: the numbers behind figures and claims, on tables small enough to check by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from synthetic_runs import SyntheticRun, synthetic_run

import penstock
import penstock.plot as plot
from penstock import Scenario, ScenarioError, analysis
from penstock.analysis.interval import Interval, mean_interval
from penstock.analysis.statistic import cumulative, curve
from penstock.experiments.expression import METRICS
from penstock.report.busiest import busy_links


@pytest.fixture(scope="module")
def run() -> SyntheticRun:
    return synthetic_run("bfc")


def test_percentile_is_the_value_at_the_floor_of_p_times_n() -> None:
    values = [5, 1, 4, 2, 3, 10, 9, 8, 7, 6]
    assert analysis.percentile(values, 0.5) == 6
    assert analysis.percentile(values, 0.99) == 10
    assert analysis.percentile(values, 1.0) == 10
    assert analysis.percentile([7], 0.99) == 7
    assert math.isnan(analysis.percentile([], 0.5))


@pytest.mark.parametrize("fraction", [99, -0.1, 1.01, math.nan])
def test_a_percentile_of_no_share_is_refused(fraction: float) -> None:
    with pytest.raises(ScenarioError, match=r"it is no share; write 0 to 1: 0\.99 is p99"):
        analysis.percentile(range(100), fraction)


def test_every_percentile_of_a_hundred_values_is_at_its_place() -> None:
    places = [analysis.percentile(range(100), percent / 100) for percent in range(100)]
    assert places == list(range(100))


@given(st.lists(st.floats(0, 1e9), min_size=1), st.floats(0, 1))
def test_a_percentile_is_a_value_that_occurred(values: list[float], fraction: float) -> None:
    found = analysis.percentile(values, fraction)
    assert found in values
    assert sum(value < found for value in values) <= Fraction(str(fraction)) * len(values)


def test_cumulative_weights_and_ends_at_one() -> None:
    distinct, share = cumulative([3, 1, 3], [1, 2, 1])
    assert distinct.tolist() == [1, 3]
    assert share.tolist() == [0.5, 1.0]


def test_a_thinned_curve_keeps_its_largest_value() -> None:
    values = np.random.default_rng(1).lognormal(0, 1, 50_000)
    thinned = curve("x", values, column="value")
    assert thinned.height < 500
    assert thinned["value"][-1] == values.max()
    assert thinned["share"][-1] == pytest.approx(1)
    rare = curve("x", range(1_000_000), column="value")  # ten of them lie above 1 - 1e-5
    assert rare.row(-1) == ("x", 999_999, 1)


def test_jain_index() -> None:
    assert analysis.jain_index([4, 4, 4]) == 1
    assert analysis.jain_index([1, 0, 0, 0]) == 0.25


def test_slowdown_by_size_counts_what_did_not_finish(run: SyntheticRun) -> None:
    table = analysis.slowdown_by_size(run)
    background = run.flows.filter(pl.col("label") == 0)
    assert table["flows"].sum() == background["finished"].sum()
    assert table["unfinished"].sum() == (~background["finished"]).sum()
    one = table.filter(pl.col("size_to") == 1_000).row(0, named=True)
    flows = background.filter(
        "finished", pl.col("size_bytes") > one["size_from"], pl.col("size_bytes") <= 1_000
    )
    assert one["flows"] == flows.height
    assert one["p99"] == analysis.percentile(flows["slowdown"], 0.99)
    assert one["mean"] == pytest.approx(flows["slowdown"].mean())


def test_incast_flows_are_left_out_unless_named(run: SyntheticRun) -> None:
    assert analysis.background_labels(run) == ["background"]
    named = analysis.selected_flows([run], labels=["incast"], finished=False)
    assert named["label"].unique().to_list() == [1]


def test_slowdown_by_label_has_a_row_for_each_traffic(run: SyntheticRun) -> None:
    table = analysis.slowdown_by_label({"mine": run})
    assert table.select("name", "label").rows() == [("mine", "background"), ("mine", "incast")]
    incast = run.flows.filter(pl.col("label") == 1)
    row = table.row(1, named=True)
    assert row["flows"] == incast["finished"].sum()
    assert row["unfinished"] == (~incast["finished"]).sum()
    assert row["fct_mean_ns"] == pytest.approx(incast["fct_ns"].mean())
    assert row["p99"] == analysis.percentile(incast.filter("finished")["slowdown"], 0.99)
    run = synthetic_run(flows=100)
    run.flows = run.flows.with_columns(finished=pl.lit(False))
    assert analysis.slowdown_by_label(run)["fct_p99_ns"].to_list() == [None, None]


def test_runs_of_one_name_are_pooled() -> None:
    runs = [synthetic_run("bfc", seed=seed, flows=500) for seed in (1, 2)]
    both = analysis.slowdown_by_size(runs)
    each = sum(analysis.slowdown_by_size(run)["flows"].sum() for run in runs)
    assert both["name"].unique().to_list() == ["bfc"]
    assert both["flows"].sum() == each


def test_unknown_bins_are_refused() -> None:
    with pytest.raises(ValueError, match="'weird' is not known; use one of log, google, facebook"):
        analysis.slowdown_by_size(synthetic_run(flows=10), bins="weird")


def test_buffer_leaves_out_the_drain(run: SyntheticRun) -> None:
    late = run.buffers.with_columns(time_ns=pl.lit(3e6), buffer_bytes=pl.lit(10**9, pl.UInt64))
    drained = SyntheticRun(**{**vars(run), "buffers": pl.concat([run.buffers, late])})
    assert analysis.buffer_percentiles([drained]) == analysis.buffer_percentiles([run])
    sampled = SyntheticRun(**vars(run))
    sampled.buffers = pl.DataFrame(
        {"time_ns": [*map(float, range(1_999_001, 2_000_002))], "buffer_bytes": [*range(1_001)]}
    )
    # The last of 1,001 samples lies behind the end of the traffic, and the last but one on it.
    assert analysis.buffer_percentiles([sampled]) == [500, 990, 999]


def test_active_flows_are_weighted_by_time() -> None:
    run = synthetic_run(flows=10)
    run.active_flows = pl.DataFrame(
        {"link": [1, 1, 0], "flows": [0, 10, 99], "time_ns": [3.0, 1.0, 50.0]},
        schema_overrides={"link": pl.UInt32, "flows": pl.UInt32},
    )
    to_host = (16, 0)  # link 1; link 0 leaves a host and counts only where it is asked for
    assert analysis.active_flows_mean([run], link=to_host) == 2.5
    assert analysis.share_of_time_below([run], 10, link=to_host) == 0.75
    assert analysis.active_flows_cdf(run, link=to_host)["share"].to_list() == [0.75, 1.0]
    assert analysis.active_flows_mean([run], link=(0, 16)) == 99


def test_a_link_without_a_row_had_no_active_flow() -> None:
    run = synthetic_run(flows=10)
    run.summary["sim_end_ps"] = 4_000
    run.active_flows = pl.DataFrame(
        {"link": [1, 1], "flows": [0, 10], "time_ns": [3.0, 1.0]},
        schema_overrides={"link": pl.UInt32, "flows": pl.UInt32},
    )
    idle = (16, 1)
    assert analysis.active_flows_mean([run], link=idle) == 0
    assert analysis.share_of_time_below([run], 1, link=idle) == 1
    from_switches = run.links.filter(run.links["from"] >= 16).height
    assert analysis.share_of_time_below([run], 10) == pytest.approx(1 - 1 / 4 / from_switches)
    run.active_flows = run.active_flows.clear()  # nothing was recorded, and so nothing is known
    assert analysis.active_flows_cdf(run).is_empty()
    unknown = [
        analysis.active_flows_mean([run]),
        analysis.share_of_time_below([run], 10),
        METRICS["active_flows"]([run], link=[16, 1], statistic="p99"),
    ]
    assert all(math.isnan(float(one)) for one in unknown)


def test_many_bins_hold_their_own_flows() -> None:
    run = synthetic_run(flows=2_000)
    run.flows = run.flows.with_columns(
        size_bytes=pl.Series(range(1, 2_001), dtype=pl.UInt64), label=pl.lit(0, pl.UInt32)
    )
    table = analysis.slowdown_by_size(run, bins=list(range(5, 2_000, 5)))
    for row in table.filter(pl.col("flows") > 0).iter_rows(named=True):
        own = run.flows.filter(
            pl.col("size_bytes").is_between(row["size_from"] + 1, row["size_to"])
        )
        assert row["mean"] == pytest.approx(own["slowdown"].mean())


def test_layer_summary_averages_links(run: SyntheticRun) -> None:
    table = analysis.layer_summary(run)
    up = table.filter(pl.col("layer") == "ToR-spine").row(0, named=True)
    links = run.links.filter(pl.col("layer") == 1)
    assert up["links"] == links.height == 4
    # 2 ms of traffic at 100 Gb/s are 25 MB; the drain of 0.4 ms does not count.
    assert up["utilization"] == pytest.approx((links["duration_tx_bytes"] / 2.5e7).mean())
    collisions, assignments = links["collisions"].to_numpy(), links["assignments"].to_numpy()
    assert up["collision_share"] == pytest.approx(collisions.sum() / assignments.sum())


def test_busiest_links_are_single_links_and_means_over_seeds() -> None:
    one, other = synthetic_run(seed=1), synthetic_run(seed=2)
    table = analysis.busiest_links([one, other], 2)
    bytes_of = sum(run.links["duration_tx_bytes"].to_numpy().astype(float) for run in (one, other))
    order = np.argsort(-bytes_of, kind="stable")[:2]  # all links have one rate
    assert table["link"].to_list() == one.links["link"].to_numpy()[order].tolist()
    assert table["utilization"].to_list() == pytest.approx(bytes_of[order] / 2 / 2.5e7)
    ends = table.select("from", "to").row(0)
    assert analysis.link_between(one, *ends) == table["link"][0]


def test_the_utilization_of_a_link_is_of_the_traffic_time_and_no_mean() -> None:
    scenario = Scenario(
        duration="1 ms",
        scheme="dctcp",
        topology={"kind": "single-switch", "hosts": 3},
        traffic=[{"kind": "listed", "flows": [[0, 1, "1 MB", 0], [0, 2, "1 MB", "999 us"]]}],
    )
    found = penstock.run(scenario)
    # 1,000 packets of 1,048 B at 100 Gb/s in 1 ms; the other flow goes on behind the traffic.
    assert METRICS["utilization"]([found], link=["S0", "H1"]) == pytest.approx(0.083_84)
    assert METRICS["busy"]([found], link=["S0", "H1"]) < 0.08
    assert METRICS["utilization"]([found], layer="switch-host") < 0.04
    rows = busy_links({"dctcp": [found]}).rows
    assert [row[:4] for row in rows[:2]] == [
        ["dctcp", "H0→S0", "100 Gb/s", "8.48 %"],
        ["dctcp", "S0→H1", "100 Gb/s", "8.38 %"],
    ]


def test_busy_links_tell_paused_queues_and_no_queue_of_a_host() -> None:
    run = synthetic_run("bfc")
    run.links = run.links.filter(pl.col("layer") < 2).with_columns(
        duration_tx_bytes=pl.lit(10) - pl.col("layer"),
        queue_pause_ns=pl.lit(1.2e6),
        port_pause_ns=pl.when(pl.col("layer") == 0).then(0.0).otherwise(2.4e4),
        queue_bytes_max=pl.col("layer") * 1000,
    )
    run.links = run.links.group_by("layer", maintain_order=True).head(1)
    rows = busy_links({"bfc": [run]}).rows
    assert [row[4:6] for row in rows] == [["0.5 queues", "–"], ["1 %, 0.5 queues", "1 KB"]]


def test_link_window_reads_only_the_window() -> None:
    run = synthetic_run(flows=10)
    run.series = pl.DataFrame(
        {
            "time_ns": [0.0, 100.0, 200.0, 300.0],
            "link": [0, 0, 0, 0],
            "queue_bytes": [9_999, 10, 20, 30],
            "active_flows": [0, 1, 1, 1],
            "tx_bytes": [0, 1_000, 1_625, 2_250],
        }
    )
    window = analysis.link_window(run, 0, 16, after_ns=50)
    assert window["utilization"] == pytest.approx(0.5)  # 1250 B in 200 ns at 100 Gb/s
    assert window["queue_bytes"] == 20
    with pytest.raises(ValueError, match=r"list it in measure\.series"):
        analysis.link_window(run, 0, 16, after_ns=5_000)
    with pytest.raises(ValueError, match="no link from node 0 to node 1"):
        analysis.link_window(run, 0, 1)


def test_long_lived_goodput_counts_from_the_start() -> None:
    run = synthetic_run(flows=10)
    run.summary["long_lived"][0] |= {"start_ns": 400_000.0, "delivered_bytes": 20_000_000}
    assert analysis.long_lived(run)["goodput_bps"][0] == pytest.approx(1e11)  # 160 Mb in 1.6 ms


def test_share_of_bytes_below() -> None:
    points = [(100, 0.5), (300, 1.0)]
    assert analysis.share_of_bytes_below(points, "step", 100) == 0.25
    assert analysis.share_of_bytes_below(points, "step", 99) == 0
    assert analysis.share_of_bytes_below(points, "step", 1_000) == 1
    linear = analysis.share_of_bytes_below([(0, 0.0), (100, 1.0)], "linear", 50)
    assert linear == pytest.approx(0.25)  # sizes uniform in [0, 100]: bytes grow as the square


def test_a_run_goes_by_the_name_of_its_scheme() -> None:
    run = SimpleNamespace(scenario=SimpleNamespace(scheme=SimpleNamespace(name="hpcc")))
    assert list(analysis.group_runs(run)) == ["hpcc"]
    assert analysis.group_runs({"mine": run})["mine"] == [run]


def _of(overrides: dict[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(scenario=BASE.with_overrides(overrides))


BASE = Scenario.from_name("quickstart", {"scheme": "dctcp"})
KMIN, KMAX = "scheme.switch.marking.kmin", "scheme.switch.marking.kmax"


def test_runs_of_a_scheme_that_differ_in_a_field_are_not_pooled() -> None:
    low, high = ({KMIN: f"{size} kB", KMAX: "400 kB"} for size in (20, 200))
    runs = [_of(low), _of(high), _of(low | {"seed": 2}), _of({"scheme": "bfc"})]
    assert analysis.group_runs(runs) == {
        "dctcp, kmin = 20 kB": [runs[0], runs[2]],
        "dctcp, kmin = 200 kB": [runs[1]],
        "bfc": [runs[3]],
    }


def test_a_part_of_another_kind_is_named_by_its_kind() -> None:
    runs = [_of({}), _of({"scheme.switch.backpressure.kind": "none", "load": 0.3})]
    assert list(analysis.group_runs(runs)) == [
        "dctcp, backpressure = pfc, load = 0.5",
        "dctcp, backpressure = none, load = 0.3",
    ]


def test_runs_that_differ_in_more_than_a_name_can_say_are_refused() -> None:
    many = _of({KMIN: "1 kB", KMAX: "2 kB", "load": 0.3, "duration": "2 ms"})
    words = r'runs = "dctcp": 2 scenarios have this scheme, .*duration, .* …; name the runs'
    with pytest.raises(ScenarioError, match=words):
        analysis.group_runs([_of({}), many])
    pairs = [[[host, 7] for host in range(7)], [[host, 0] for host in range(1, 8)]]
    lists = [_of({"traffic": [{"kind": "long-lived", "pairs": one}]}) for one in pairs]
    with pytest.raises(ScenarioError, match=r"differ in traffic\[0\].flows; name the runs"):
        analysis.group_runs(lists)


def test_packets_of_a_flow_at_a_port(run: SyntheticRun) -> None:
    table = analysis.packets_ccdf(run)
    # Ten flows with one packet for one with six.
    assert table["packets"].to_list() == [1, 2, 3, 4, 5, 6]
    assert table["share"].to_list() == pytest.approx([1.0] + [1 / 11] * 5)
    names = run.summary["layers"]
    assert analysis.packets_ccdf(run, names[0]).equals(table)
    assert analysis.packets_ccdf(run, names).equals(table)
    with pytest.raises(ScenarioError, match="there are no such links"):
        analysis.packets_ccdf(run, ["ToR-spin"])
    one_layer = analysis.flow_packets(run, names[0])
    assert 0 < one_layer.height < run.flow_packets.height


def test_packets_of_flows_that_no_run_has_counted_are_refused() -> None:
    star = {"kind": "single-switch", "hosts": 3}
    flows = {"kind": "listed", "flows": [[0, 1, 3_000, 0]]}
    scenario = Scenario(name="t", scheme="pfc", topology=star, duration="1 us", traffic=[flows])
    without = penstock.run(scenario)
    for show in (analysis.packets_ccdf, plot.flow_packets):
        with pytest.raises(ScenarioError, match=r"set measure\.active_flows = true"):
            show(without)
    # Counted, and never sampled.
    unsampled = {"measure": {"active_flows": True, "sample_interval": "0 us"}}
    counted = penstock.run(scenario.with_overrides(unsampled))
    assert analysis.packets_ccdf(counted).is_empty()
    plot.flow_packets(counted)


def test_pauses_and_queue_of_single_links() -> None:
    runs = [synthetic_run("pfc", badness=6, seed=seed) for seed in (1, 2)]
    ends = (int(runs[0].links["from"][0]), int(runs[0].links["to"][0]))
    table = analysis.pauses_by_link({"pfc": runs}, [ends])
    mean = sum(float(run.links["port_pause_ns"][0]) for run in runs) / 2e3
    assert table["pause_us"].to_list() == pytest.approx([mean])
    sampled = int(runs[0].series["link"][0])
    row = runs[0].links.row(sampled, named=True)
    queues = analysis.queue_cdf(runs[0], (row["from"], row["to"]))
    assert queues["share"][-1] == 1.0
    assert queues["queue_bytes"].max() == runs[0].series["queue_bytes"].max()
    early = analysis.queue_cdf(runs[0], (row["from"], row["to"]), span_us=(0.0, 10.0))
    first = runs[0].series.filter(pl.col("time_ns") <= 10_000)["queue_bytes"]
    assert early["queue_bytes"].max() == first.max()


def test_a_share_of_time_paused_is_a_mean_over_classes() -> None:
    pairs = [[host, 0] for host in range(1, 5)]
    scenario = Scenario(
        name="two classes",
        scheme="wrr",
        topology={"kind": "single-switch", "hosts": 5},
        traffic=[
            {"kind": "long-lived", "label": f"class {one}", "class": one, "pairs": pairs}
            for one in (0, 1)
        ],
        duration="1 ms",
        drain="0 ps",
    ).with_overrides(
        {
            "scheme.host.controller": {"kind": "line-rate"},
            "scheme.switch.admission.buffer": "1 MB",
        }
    )
    found = penstock.run(scenario)
    # Four hosts at line rate in two classes: every class of a host may send for an eighth of a
    # link's time or three, so that each is paused for the most of it, and none for more than all.
    summed = found.links.filter(pl.col("to") == 5)["port_pause_ns"].mean() / 1e6
    share = METRICS["pause_time"]([found], layer="host-switch")
    assert share == pytest.approx(summed / 2)
    assert 0.5 < share < 1 < summed


def test_what_is_left_over_is_known_of_the_traffic_alone() -> None:
    def left_over(drain: str) -> float:
        scenario = Scenario(
            name="left-over",
            scheme="ideal-fq",
            topology={"kind": "single-switch", "hosts": 3, "rate": "10 Gb/s"},
            traffic=[
                {"kind": "long-lived", "label": "long", "pairs": [[1, 0]]},
                {"kind": "listed", "label": "other", "flows": [[2, 0, "1 MB", 0]]},
            ],
            duration="1 ms",
            drain=drain,
        )
        found = METRICS["left_over_share"](
            [penstock.run(scenario)], link=["S0", "H0"], label="other"
        )
        assert isinstance(found, float)
        return found

    assert left_over("0 ps") == pytest.approx(1, abs=0.01)
    # In the drain the other flow delivers more, and the endless flow is no longer measured.
    with pytest.raises(ValueError, match="went on after its traffic; write drain = 0"):
        left_over("1 ms")


def test_an_interval_of_a_mean_is_that_of_student() -> None:
    # The quantile of three degrees of freedom is 3.182446; the deviation of the values is 1.
    values = [3 - 1.5**0.5, 3.0, 3.0, 3 + 1.5**0.5]
    found = mean_interval([*values, math.nan])
    assert (found.mean, found.count) == (pytest.approx(3), 4)
    assert (found.low, found.high) == (pytest.approx(1.408777), pytest.approx(4.591223))
    assert mean_interval([2.0, 2.0]) == Interval(2.0, 2.0, 2.0, 2)
    assert math.isnan(mean_interval([2.0]).low)


def test_an_interval_has_nothing_that_no_value_can_be() -> None:
    drops = [0.0, 0.0, 11.0]
    assert mean_interval(drops).low == pytest.approx(-12.10973)
    assert mean_interval(drops, least=0).low == 0
    # A ratio that rounding has brought below its bound.
    below = mean_interval([0.999, 1.001, 1.3], least=1)
    assert below.low == 0.999 < below.mean
    # A link that is busy all of the time in one of three runs.
    shares = [0.5, 0.6, 1.0]
    assert mean_interval(shares).high == pytest.approx(1.3572417)
    assert mean_interval(shares, most=1).high == 1
    above = mean_interval([0.7, 0.999, 1.001], most=1)
    assert above.high == 1.001 > above.mean


def test_an_interval_is_within_a_share_of_its_mean_where_its_farther_end_is() -> None:
    skewed = Interval(10.0, 8.0, 11.0, 5)
    assert skewed.half == 2
    assert skewed.is_within(0.2) and not skewed.is_within(0.19)
    assert Interval(-10.0, -11.0, -8.0, 5).is_within(0.2)


def test_a_percentile_of_eight_runs_has_the_interval_of_the_bootstrap() -> None:
    values = [1.0, 1.0, 2.0, 2.0, 3.0, 5.0, 8.0, 20.0]
    seven = mean_interval(values[:7], is_percentile=True)
    assert seven == mean_interval(values[:7])
    # Student's quantile with 7 degrees of freedom is 2.364624; times sqrt(8 / 7) it is 2.527890,
    # below whose negative lie 0.573752 % of a normal distribution.
    expected = stats.bootstrap(
        (np.array(values),),
        np.mean,
        n_resamples=9_999,
        confidence_level=1 - 2 * 0.00573752,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    eight = mean_interval(values, is_percentile=True)
    assert (eight.low, eight.high) == pytest.approx((expected.low, expected.high), abs=1e-3)
    assert eight.low > mean_interval(values).low  # no value is negative, and no mean is
