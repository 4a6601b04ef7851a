"""What figures draw: the points of their lines, from tables whose numbers are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from synthetic_runs import SyntheticRun, synthetic_run

from penstock import plot
from penstock.plot.bands import Places, band_panels

UPRIGHT = 2
"""Points of an upright line and of a line from a name to its curve; curves here have others."""


def _curves(ax: Axes) -> list[tuple[list[float], list[float]]]:
    """Places and heights of every line that is no upright one."""
    lines = [(np.asarray(one.get_xdata()), np.asarray(one.get_ydata())) for one in ax.lines]
    return [(x.tolist(), y.tolist()) for x, y in lines if x.size != UPRIGHT]


def _buffers(*sizes: int) -> SyntheticRun:
    run = synthetic_run("bfc", flows=10)
    run.buffers = pl.DataFrame({"time_ns": [0.0] * len(sizes), "buffer_bytes": sizes})
    return run


def test_the_tail_of_a_distribution_is_stretched_and_its_last_step_is_at_the_top() -> None:
    ax = plot.buffer(_buffers(*[5] * 2, *[10] * 48, *[20] * 40, *[30] * 9, 40))
    ((sizes, heights),) = _curves(ax)
    assert sizes == [5, 10, 20, 30, 40]
    # 2 %, 50 %, 90 % and 99 % of the samples; the last of all is drawn at 99.995 %.
    assert heights == pytest.approx([0.00877, 0.30103, 1, 2, 4.30103], abs=1e-4)
    assert ax.get_ylim() == pytest.approx((0, 4.30103), abs=1e-4)
    tick = ax.yaxis.get_major_formatter()
    assert [tick(height, 0) for height in (0, 1, 2)] == ["0 %", "90 %", "99 %"]


def test_the_size_of_a_buffer_is_drawn_where_it_is_within_reach() -> None:
    def uprights(size: int) -> list[float]:
        ax = plot.buffer(_buffers(10, 20, 30, 40), size=size)
        lines = [np.asarray(one.get_xdata()) for one in ax.lines]
        return [float(x[0]) for x in lines if x.size == UPRIGHT and x[0] == x[1] == size]

    assert uprights(60) == [60] and uprights(61) == []


def test_distributions_are_of_the_links_and_the_traffic_that_are_asked_for() -> None:
    run = synthetic_run("bfc", flows=6)
    run.active_flows = pl.DataFrame(
        {"link": [1, 1, 1, 3], "flows": [0, 2, 4, 50], "time_ns": [50.0, 40.0, 10.0, 900.0]},
        schema_overrides={"link": pl.UInt32, "flows": pl.UInt32},
    )
    ((flows, heights),) = _curves(plot.active_flows(run, link=(16, 0)))
    assert flows == [0, 2, 4]
    assert heights == pytest.approx([0.30103, 1, 4.30103], abs=1e-4)
    run.flows = run.flows.with_columns(
        slowdown=pl.Series([1.0, 2.0, 3.0, 7.0, 8.0, 9.0]),
        label=pl.Series([0, 0, 0, 1, 1, 1], dtype=pl.UInt32),
        finished=pl.lit(value=True),
    )
    ((slowdowns, _),) = _curves(plot.slowdown_distribution(run, labels=["incast"]))
    assert slowdowns == [7, 8, 9]


@pytest.mark.parametrize(
    ("convention", "shares"), [("step", [0.1, 0.25, 1]), ("linear", [2 / 11, 4 / 11, 1])]
)
def test_bytes_by_size_are_drawn_as_shares_of_bytes(convention: str, shares: list[float]) -> None:
    # Steps carry 0.5 · 100, 0.25 · 300 and 0.25 · 1,500 bytes, straight lines 0.5 · 100,
    # 0.25 · 200 and 0.25 · 700.
    points = [(100, 0.5), (300, 0.75), (1_500 if convention == "step" else 1_100, 1.0)]
    ax = plot.workload_bytes({"w": (points, convention)})
    ((sizes, drawn),) = _curves(ax)
    assert sizes == [one[0] for one in points]
    assert drawn == pytest.approx(shares)


def _flows(**count_of_size: int) -> SyntheticRun:
    """A run with so many flows of each size, whose slowdowns are 1, 2, 3 and so on."""
    sizes = [int(name[1:]) for name, count in count_of_size.items() for _ in range(count)]
    ranks = [float(rank + 1) for count in count_of_size.values() for rank in range(count)]
    run = synthetic_run("bfc", flows=len(sizes))
    run.flows = run.flows.with_columns(
        size_bytes=pl.Series(sizes, dtype=pl.UInt64),
        slowdown=pl.Series(ranks),
        finished=pl.lit(value=True),
        label=pl.lit(0, pl.UInt32),
    )
    return run


def test_a_bin_of_twenty_flows_is_drawn_at_its_median_size_and_one_of_nineteen_is_not() -> None:
    bins = [200, 400, 800, 1_600]
    run = _flows(s150=20, s300=30, s500=19, s1000=40)
    ((sizes, slowdowns),) = _curves(plot.slowdown(run, bins=bins, percentile=50))
    assert sizes == [150, 300, 1_000]
    assert slowdowns == [11, 16, 21]
    ((_, tail),) = _curves(plot.slowdown(run, bins=bins, percentile=95))
    assert tail == [20, 29, 39]
    many = _flows(s150=1_000)
    ends = [np.asarray(one.get_ydata()) for one in plot.slowdown(many, percentile=99.9).lines]
    assert [1_000] in [one.tolist() for one in ends]
    # Where no bin has enough flows, all that has some is drawn.
    few = _flows(s150=3, s300=2, s500=1)
    few.flows = few.flows.with_columns(
        finished=pl.col("size_bytes") != 500,
        slowdown=pl.when(pl.col("size_bytes") != 500).then("slowdown"),
    )
    ax = plot.slowdown(few, bins=bins, percentile="mean")
    drawn = [np.asarray(line.get_xdata()).tolist() for line in ax.lines]
    assert [150, 300] in drawn


def _bands(names: bool) -> Any:
    nan = float("nan")
    table = pl.DataFrame(
        {
            "x": ["8", "2", "4", "16"],
            "mean": [30.0, 10.0, 20.0, nan],
            "low": [27.0, 9.0, 15.0, nan],
            "high": [36.0, 12.0, 21.0, nan],
        }
    )
    at = {"2": 0.0, "4": 1.0, "8": 2.0} if names else {"2": 2.0, "4": 4.0, "8": 8.0}
    places = Places("q", at, is_number=not names)
    (ax,) = band_panels(table, places, title="t", y="y", note="").axes
    return ax


def test_a_band_goes_from_the_lower_to_the_upper_ends_along_the_axis() -> None:
    ax = _bands(names=False)
    assert _curves(ax) == [([2, 4, 8], [10, 20, 30])]
    (band,) = ax.collections
    corners = {tuple(one) for one in band.get_paths()[0].vertices.tolist()}
    assert corners == {(2, 9), (4, 15), (8, 27), (2, 12), (4, 21), (8, 36)}
    low, high = ax.get_ylim()
    assert low <= 9 and high >= 36


def _panel(means: dict[str, float], low: float) -> Axes:
    """A panel along numbers; the lower end of the first interval is given."""
    table = pl.DataFrame({"x": list(means), "mean": list(means.values())})
    first = pl.Series([low, *table["mean"][1:]])
    table = table.with_columns(low=first, high=pl.col("mean"))
    places = Places("x", {label: float(label) for label in means}, is_number=True)
    (ax,) = band_panels(table, places, title="t", y="y", note="").axes
    return ax


def test_axes_of_bands_hold_what_is_zero_or_below() -> None:
    assert _panel({"1": 1.0, "2": 100.0}, low=0.5).get_yscale() == "log"
    assert _panel({"1": 1.0, "2": 100.0}, low=0.0).get_yscale() == "linear"
    assert _panel({"1": 1.0, "2": 10.0}, low=-5.0).get_ylim()[0] < -5
    assert _panel({"1": 1.0, "2": 10.0}, low=0.5).get_ylim()[0] == 0
    assert _panel({"1": 1.0, "16": 10.0}, low=0.5).get_xscale() == "log"
    assert _panel({"0": 1.0, "16": 10.0}, low=0.5).get_xscale() == "linear"


def test_each_line_has_the_rows_of_its_name() -> None:
    rows = {"line": ["a", "b", "a", "b"], "x": ["1", "1", "2", "2"], "mean": [1.0, 5.0, 2.0, 6.0]}
    table = pl.DataFrame(rows).with_columns(low="mean", high="mean")
    numbers = Places("x", {"1": 1.0, "2": 2.0}, is_number=True)
    (ax,) = band_panels(table, numbers, line="line", title="t", y="y", note="").axes
    drawn = [np.asarray(one.get_ydata()).tolist() for one in ax.lines]
    assert [1, 2] in drawn and [5, 6] in drawn
    names = Places("x", {"1": 0.0, "2": 1.0}, is_number=False)
    (ax,) = band_panels(table, names, line="line", title="t", y="y", note="").axes
    whiskers = [one.get_paths()[0].vertices[0].tolist() for one in ax.collections]
    # Two marks at a name stand 0.12 apart.
    assert whiskers == [[pytest.approx(-0.06), 1], [pytest.approx(0.06), 5]]


def test_whiskers_go_from_the_lower_to_the_upper_ends() -> None:
    (whiskers,) = _bands(names=True).collections
    ends = [one[:, 1].tolist() for one in whiskers.get_paths() for one in [one.vertices]]
    assert ends == [[9, 12], [15, 21], [27, 36]]


def test_points_of_a_curve_are_in_order_with_their_deviations() -> None:
    table = pl.DataFrame(
        {"name": ["a"] * 3, "x": [4.0, 1.0, 2.0], "y": [-5.0, 3.0, 1.0], "deviation": [1.0] * 3}
    )
    ax = plot.curves(table, title="t", x="x", y="y")
    assert ([1, 2, 4], [3, 1, -5]) in _curves(ax)
    (whiskers,) = ax.collections
    ends = [path.vertices[:, 1].tolist() for path in whiskers.get_paths()]
    assert ends == [[2, 4], [0, 2], [-6, -4]]
    assert ax.get_ylim()[0] <= -6
