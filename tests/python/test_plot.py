"""Figures: every one draws, nothing global is touched, a scheme looks the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from synthetic_runs import HOSTS, RACKS, SyntheticRun, synthetic_run

from penstock import ScenarioError, look, plot
from penstock.analysis.runs import caption_text
from penstock.plot import style
from penstock.plot.bands import Places, band_panels
from penstock.readable import bytes_text, counted, number_text, rate_text, time_text
from penstock.scenario.scheme import preset_names
from penstock.workload import find_workload

RUNS = {name: synthetic_run(name, badness=b) for name, b in {"bfc": 1, "hpcc": 3, "pfc": 6}.items()}
TABLE = pl.DataFrame({"name": ["a", "a", "b"], "x": [1.0, 2.0, 1.0], "y": [3.0, 4.0, 5.0]})
GROUPED = pl.DataFrame(
    {
        "group": ["all", "all", "one", "one"],
        "name": ["bfc", "pfc", "bfc", "pfc"],
        "y": [3.0, 0.0, 2.0, float("inf")],
        "tip": [9.0, 4.0, 2.0, float("nan")],
    }
)

UPLINK = (HOSTS, HOSTS + RACKS)

FIGURES: dict[str, Callable[[], Axes | Figure]] = {
    "slowdown": lambda: plot.slowdown(RUNS),
    "slowdown mean": lambda: plot.slowdown(RUNS, percentile="mean", bins="google"),
    "slowdown panels": lambda: plot.slowdown_panels(RUNS),
    "buffer": lambda: plot.buffer(RUNS, size=12_582_912),
    "active flows": lambda: plot.active_flows(RUNS, queues=32),
    "pause time": lambda: plot.pause_time(RUNS),
    "paused queues": lambda: plot.paused_queues(RUNS),
    "utilization": lambda: plot.utilization(RUNS),
    "throughput": lambda: plot.throughput(RUNS),
    "one run": lambda: plot.slowdown(RUNS["bfc"]),
    "backlog": lambda: plot.backlog(RUNS),
    "curves": lambda: plot.curves(TABLE, title="t", x="x", y="y", note="n"),
    "hollow": lambda: plot.curves(TABLE.with_columns(hollow=1), title="t", x="x", y="y"),
    "bars": lambda: plot.bars(GROUPED, title="t", y="y", tip="p99"),
    "bars on a logarithmic axis": lambda: plot.bars(GROUPED, title="t", y="y", y_log=True),
    "flow packets": lambda: plot.flow_packets(RUNS),
    "link pauses": lambda: plot.link_pauses(RUNS, [(0, HOSTS), (1, HOSTS)], title="t"),
    "queue": lambda: plot.queue(RUNS, UPLINK, title="t"),
    "workload": lambda: plot.workload_bytes({"w": ([(100, 0.5), (1e6, 1.0)], "step")}),
}


ODD = {name: synthetic_run(name, badness=b) for name, b in {r"$\foo{$": 1, "_a_{": 3}.items()}

BY_NAME: dict[str, Callable[[dict[str, SyntheticRun]], Axes | Figure]] = {
    "slowdown panels": plot.slowdown_panels,
    "buffer": plot.buffer,
    "active flows": plot.active_flows,
    "pause time": plot.pause_time,
    "paused queues": plot.paused_queues,
    "throughput": plot.throughput,
    "backlog": plot.backlog,
    "flow packets": plot.flow_packets,
    "link pauses": lambda runs: plot.link_pauses(runs, [(0, HOSTS), (1, HOSTS)], title=r"$\x{$"),
    "queue": lambda runs: plot.queue(runs, UPLINK, title=r"$\x{$"),
}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_name_is_no_formula(name: str) -> None:
    drawn = BY_NAME[name](ODD)
    figure = drawn.figure if isinstance(drawn, Axes) else drawn
    texts = [text.get_text() for text in figure.findobj(Text)]
    figure.canvas.draw()
    assert name in ("buffer",) or any(r"\foo{" in text for text in texts)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_renders_and_touches_nothing_global(name: str) -> None:
    before = dict(mpl.rcParams)
    drawn = FIGURES[name]()
    figure: Any = drawn if isinstance(drawn, Figure) else drawn.figure
    figure.canvas.draw()
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("name", ["slowdown", "buffer", "active flows"])
def test_a_scheme_has_its_own_colour_in_every_figure(name: str) -> None:
    ax = FIGURES[name]()
    assert isinstance(ax, Axes)
    colours = {to_hex(line.get_color()).lower() for line in ax.lines}
    assert {look.look(scheme).colour.lower() for scheme in RUNS} <= colours


@pytest.mark.parametrize("percentile", [101, "a", "p99", float("nan")])
def test_a_percentile_that_is_not_computed_is_refused(percentile: Any) -> None:
    with pytest.raises(ScenarioError, match=r'write one of 50, 95, 99, 99\.9, or "mean"'):
        plot.slowdown(RUNS, percentile=percentile)
    assert plot.slowdown(RUNS, percentile="99.9").get_title("left").startswith("p99.9")


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in ("link pauses", "queue")])
@pytest.mark.parametrize("runs", [[], {}, {"a": []}, 3, "runs/bfc", [RUNS["bfc"].scenario]])
def test_what_is_no_finished_run_is_refused(name: str, runs: Any) -> None:
    words = "tables and figures are of (finished runs; write a Run|runs, not of directories)"
    with pytest.raises(ScenarioError, match=words):
        BY_NAME[name](runs)


def test_a_figure_that_would_be_empty_is_refused() -> None:
    with pytest.raises(ScenarioError, match='labels = "incst": no run has such a label; did you'):
        plot.slowdown(RUNS, labels=["incst"])
    with pytest.raises(ScenarioError, match="no sample of such a link in this time; choose links"):
        plot.throughput(RUNS, span_us=(-2, -1))


def test_doubted_points_are_hollow() -> None:
    hollow = TABLE.with_columns(hollow=pl.Series([0.0, 1.0, 1.0]))
    ax = plot.curves(hollow, title="t", x="x", y="y")
    found = [line for line in ax.lines if line.get_markerfacecolor() == "white"]
    points = sorted((x, y) for line in found for x, y in zip(*line.get_data(), strict=True))
    assert points == [(1.0, 5.0), (2.0, 4.0)]


def test_bars_of_many_names_have_a_colour_each() -> None:
    names = [f"name {number}" for number in range(20)]
    table = pl.DataFrame({"group": ["g"] * 20, "name": names, "y": [1.0] * 20})
    bars = plot.bars(table, title="t", y="y").patches
    assert len({bar.get_facecolor() for bar in bars}) == 20


def test_a_paler_bar_is_unlike_the_other_colours_of_its_figure() -> None:
    assert look.difference("#000000", "#ffffff") == pytest.approx(100, abs=0.1)
    names = ["bfc", "bfc-cc", "fafc", "hpcc"]  # half of BFC's blue is the light blue of FAFC
    found = look.bar_colours(
        {name: (one.colour, one.on_dark) for name, one in look.looks(names).items()}
    )
    for one, other in combinations(found.values(), 2):
        assert min(look.difference(*two) for two in zip(one, other, strict=True)) >= 20
    assert found["bfc"][0] == look.looks(names)["bfc"].colour.lower()


def test_a_bar_is_as_high_as_its_number_and_the_hatched_one_ends_at_the_tip() -> None:
    ax = plot.bars(GROUPED, title="t", y="y", tip="p99")
    drawn = [bar for bar in ax.patches if isinstance(bar, Rectangle)]
    solid = [bar.get_height() for bar in drawn if not bar.get_hatch()]
    hatched = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in drawn if bar.get_hatch()]
    assert solid == [3.0, 2.0]  # none for nothing or for what is not a number
    assert hatched == [(3.0, 9.0), (0.0, 4.0)]
    assert ax.get_ylim()[1] > 9.0


def test_numbers_above_bars_tell_their_values_apart() -> None:
    def words(*heights: float) -> list[str]:
        table = pl.DataFrame({"group": "a", "name": ["x", "y", "z"], "y": heights})
        return [text.get_text() for text in plot.bars(table, title="t", y="y").texts]

    assert words(1.04, 1.03, float("nan")) == ["1.04", "1.03", "–"]
    assert words(1.04, 1.13, 1.04) == ["1", "1.1", "1"]


def test_a_bar_below_zero_goes_down_from_zero() -> None:
    table = pl.DataFrame({"group": ["a", "b"], "name": ["x", "x"], "y": [-3.0, 2.0]})
    ax = plot.bars(table, title="t", y="y")
    drawn = [(bar.get_y(), bar.get_height()) for bar in ax.patches if isinstance(bar, Rectangle)]
    assert drawn == [(0, -3), (0, 2)]
    low, high = ax.get_ylim()
    assert low < -3 and high > 2


def test_nothing_stands_on_a_logarithmic_axis_below_the_rest() -> None:
    points = pl.DataFrame({"name": ["a"] * 3, "x": [1.0, 2.0, 3.0], "y": [0.0, 40.0, 3_000.0]})
    ax = plot.curves(points, title="t", x="x", y="y", y_log=True)
    assert (ax.get_yscale(), ax.get_ylim()[0]) == ("symlog", 0)
    assert ax.get_yticks().tolist() == [0, 10, 100, 1_000, 10_000]
    ax = plot.curves(points.filter(pl.col("y") > 0), title="t", x="x", y="y", y_log=True)
    assert ax.get_yscale() == "log"
    shares = points.with_columns(x=pl.Series([0.0, 1e-4, 0.1]))
    ax = plot.curves(shares, title="t", x="x", y="y", x_log=True)
    at = ax.transData.transform([(x, 1.0) for x in shares["x"]])[:, 0]
    assert at[0] < at[1] < at[2]
    assert at[1] - at[0] < at[2] - at[1] < 10 * (at[1] - at[0])


def test_throughput_shows_queues_where_there_are_any_and_a_colour_for_each_name() -> None:
    assert len(plot.throughput(RUNS).axes) == 2 * len(RUNS)
    hosts = {name: synthetic_run(name) for name in ("one", "two")}
    for run in hosts.values():
        run.series = run.series.with_columns(queue_bytes=pl.lit(0, dtype=pl.UInt64))
    axes = plot.throughput(hosts).axes
    assert len(axes) == 2
    assert len({to_hex(ax.lines[0].get_color()) for ax in axes}) == 2


def test_a_figure_over_time_says_which_rows_it_leaves_out() -> None:
    run = synthetic_run("bfc", flows=10)
    twelve = plot.throughput({f"n{place}": run for place in range(12)})
    assert len(twelve.axes) == 24
    assert [text.get_text() for text in twelve.texts] == ["synthetic · 12 runs · seed 1"]
    more = plot.throughput({f"n{place}": run for place in range(14)})
    assert len(more.axes) == 24
    said = [text.get_text() for text in more.texts]
    assert said == ["synthetic · 12 runs · seed 1 · 12 of 14 rows"]


def test_a_figure_can_be_drawn_into_given_axes() -> None:
    axes = Figure().subplots()
    assert plot.slowdown(RUNS, ax=axes) is axes


def test_an_unknown_name_keeps_its_look() -> None:
    assert look.look("my-scheme") == look.look("my-scheme")
    mine = look.looks(["one", "two", "three"])
    assert len({one.colour for one in mine.values()}) == 3


def test_an_unknown_name_does_not_look_like_a_scheme_beside_it() -> None:
    mine = look.looks(["bfc", "hpcc", "one", "two"])
    assert len(set(mine.values())) == 4
    assert mine["bfc"] == look.LOOKS["bfc"]


@pytest.mark.parametrize("y_log", [False, True])
@pytest.mark.parametrize("unmeasured", [np.nan, np.inf])
def test_a_curve_that_was_not_measured_everywhere_hides_no_name(
    unmeasured: float, y_log: bool
) -> None:
    heights = [unmeasured, 0.0, 5.0, 1.0, 2.0, unmeasured, unmeasured, unmeasured, unmeasured]
    names = [name for name in "abc" for _ in range(3)]
    table = pl.DataFrame({"name": names, "x": [1.0, 2, 3] * 3, "y": heights})
    ax = plot.curves(table, title="t", x="x", y="y", y_log=y_log)
    places = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert places["b"] < places["a"]  # "c" has no point
    assert len(places) == 2


def test_zeros_alone_are_drawn_where_an_axis_should_be_logarithmic() -> None:
    ax = plot.curves(TABLE.with_columns(y=0.0), title="t", x="x", y="y", y_log=True)
    assert ax.get_yscale() == "linear"
    assert plot.link_pauses(RUNS["bfc"], [(0, HOSTS)], log=True).get_yscale() == "linear"
    assert plot.link_pauses(RUNS["pfc"], [(0, HOSTS)], log=True).get_yscale() == "log"


@pytest.mark.parametrize("name", ["FB_Hadoop", "DataMining_VL2"])
def test_all_bytes_of_a_workload_are_in_its_figure(name: str) -> None:
    found = find_workload(name)
    ax = plot.workload_bytes({name: (found.points, found.convention)})
    sizes = np.asarray(ax.lines[0].get_xdata())
    assert sizes[-1] == found.points[-1][0] < ax.get_xlim()[1]


def test_words_of_bars_and_workloads_are_no_formula() -> None:
    odd = r"$\foo{$"
    points = {odd: ([(100, 0.5), (1e6, 1.0)], "step")}
    for ax in (
        plot.bars(GROUPED, title="t", y="y", tip=odd),
        plot.workload_bytes(points, marks={odd: 1_000}),
    ):
        assert isinstance(ax.figure, Figure)
        ax.figure.draw_without_rendering()


def test_every_preset_has_a_look_of_its_own() -> None:
    assert set(look.LOOKS) == set(preset_names())


def test_a_name_looks_alike_in_figures_that_show_some_of_the_names() -> None:
    runs = {name: synthetic_run(name) for name in ("a", "bfc-mine", "b")}
    (bar, *_) = plot.paused_queues(runs).patches
    assert isinstance(bar, Rectangle)
    assert to_hex(bar.get_facecolor()) == look.looks(list(runs))["bfc-mine"].colour.lower()


def test_twelve_names_have_twelve_looks_and_each_colour_one_on_dark_ground() -> None:
    for names in ([f"mine-{place}" for place in range(12)], list(look.LOOKS)[:12]):
        mine = look.looks(names)
        assert len({(one.colour, one.marker, one.dash) for one in mine.values()}) == 12
    assert len(set(look.LOOKS.values())) == len(look.LOOKS)
    assert len({one.on_dark for one in look.LOOKS.values()}) == len(look.ON_DARK)


def test_a_hundred_names_have_a_hundred_looks() -> None:
    for known in ([], list(look.LOOKS)):
        names = [*known, *(f"mine-{place}" for place in range(100))]
        assert len(set(look.looks(names).values())) == len(names)


def test_labels_at_line_ends_do_not_overlap() -> None:
    places = style._spread([0.5, 0.5, 0.51, 0.9], 0.1)
    ordered = sorted(places)
    assert all(b - a >= 0.1 - 1e-9 for a, b in pairwise(ordered))
    assert places[3] == 0.9


def test_caption_says_scenario_runs_and_seeds() -> None:
    groups = {"bfc": [synthetic_run("bfc", seed=s, flows=10) for s in (1, 2)]}
    assert caption_text(groups) == "synthetic · 2 runs · seeds 1, 2"  # type: ignore[arg-type]


def test_numbers_as_people_read_them() -> None:
    assert bytes_text(1_500) == "1.5 KB"
    assert bytes_text(999_900) == "1 MB"
    assert time_text(12_000) == "12 µs"
    assert rate_text(1e11) == "100 Gb/s"
    assert number_text(float("nan")) == "–"
    counts = [counted(count, "flow", "flows") for count in (0, 1, 1_500)]
    assert counts == ["0 flows", "1 flow", "1,500 flows"]
    assert number_text(12_345) == "12,345"
    assert number_text(999.4) == "999"
    assert number_text(999.6) == number_text(1_000.4) == "1,000"
    assert number_text(-99.6, 2) == "-100"
    assert number_text(0.0999, 2) == "0.1"


def test_a_share_of_nearly_one_reads_as_a_hundred_percent() -> None:
    run = synthetic_run("bfc", flows=10)
    full = pl.lit(100_000_000_000 * 2 // 1_000 // 8 * 996 // 1_000, pl.UInt64)  # of 2 ms
    run.links = run.links.with_columns(duration_tx_bytes=full)
    ax = plot.utilization(run)
    assert {text.get_text() for text in ax.texts} == {"bfc  100 %"}
    assert 0.5 < max(ax.get_yticks()) <= 1
    half = run.links["duration_tx_bytes"] // 2
    run.links = run.links.with_columns(half)
    ax = plot.utilization(run)
    assert max(ax.get_yticks()) < ax.get_ylim()[1] == pytest.approx(0.996 / 2 * 1.55)


def test_panels_hold_the_lines_of_all_their_columns() -> None:
    run = synthetic_run("bfc", badness=5.0)
    run.flows = run.flows.with_columns(pl.col("slowdown") / 2)  # as after an outage
    figure = plot.slowdown_panels(run, columns=("p99", "p50"))
    lowest = []
    for ax in figure.axes:
        low, high = ax.get_ylim()
        lines = [np.asarray(line.get_ydata()) for line in ax.lines]
        drawn = np.concatenate([one for one in lines if one.size > 2])  # the others are leaders
        assert low < drawn.min() and drawn.max() < high
        lowest.append(drawn.min())
    assert min(lowest) < 0.93


def test_a_distribution_is_drawn_in_steps() -> None:
    run = synthetic_run("bfc", flows=10)
    for ax in (plot.buffer(run), plot.slowdown_distribution(run)):
        lines = [line for line in ax.lines if np.size(line.get_xdata()) > 2]
        assert {line.get_drawstyle() for line in lines} == {"steps-post"}


def test_a_figure_over_time_names_the_seeds_that_it_shows() -> None:
    figure = plot.throughput([synthetic_run("bfc", seed=seed, flows=10) for seed in (3, 4)])
    assert [text.get_text() for text in figure.texts] == ["synthetic · 1 run · seed 3"]


def test_a_mean_without_an_interval_has_no_whisker() -> None:
    spread = {"low": [1.0, np.nan], "high": [4.0, np.nan]}
    table = pl.DataFrame({"x": ["a", "b"], "mean": [2.0, 3.0], **spread})
    places = Places("scheme", {"a": 0.0, "b": 1.0}, is_number=False)
    (ax,) = band_panels(table, places, title="t", y="y", note="").axes
    caps = [line for line in ax.lines if line.get_marker() == "_"]
    drawn = [one for line in caps for one in np.asarray(line.get_ydata()) if np.isfinite(one)]
    assert drawn == [1.0, 4.0]
