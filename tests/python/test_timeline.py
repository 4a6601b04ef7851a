"""Timelines: what links carry, what controllers allow, queues and pauses, over windows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import penstock
from penstock import plot
from penstock.analysis import link_series
from penstock.analysis.timeline import ALLOWED, PAUSES, QUEUE, RATE, Lines, timeline
from penstock.plot.link import thinned
from penstock.report.kinds import WINDOWS, over_time
from penstock.results import Run
from penstock.scenario import Scenario

LINES = Lines(
    window_us=50.0,
    rates={"both": [(0, 3), (1, 3)], "received": [(3, 2)]},
    allowed={"F0": (0, 3)},
    queues={"receiver": (3, 2)},
    pauses={"F0": (0, 3)},
)


@pytest.fixture(scope="module")
def run() -> Run:
    """Two hosts that send to a third at line rate, over PFC, until PCN slows them down."""
    return penstock.run(
        Scenario.model_validate(
            {
                "name": "two to one",
                "duration": "2 ms",
                "drain": "0 ps",
                "topology": {"kind": "single-switch", "hosts": 3, "rate": "10 Gb/s"},
                "scheme": {"preset": "pcn", "switch": {"backpressure": {"xoff": "30 kB"}}},
                "traffic": [{"kind": "long-lived", "pairs": [[0, 2], [1, 2]]}],
                "measure": {
                    "sample_interval": "10 us",
                    "events": True,
                    "series": [[0, 3], [1, 3], [3, 2]],
                },
            }
        )
    )


def values(run: Run, panel: str, line: str) -> pl.DataFrame:
    table = timeline(run, LINES)
    return table.filter((pl.col("panel") == panel) & (pl.col("line") == line)).sort("time_us")


def test_rates_are_those_of_the_links_together(run: Run) -> None:
    received = values(run, RATE, "received")
    # The receiver's link is full but for the first packet's way; together the senders fill it.
    assert received["value"][1:].to_list() == pytest.approx([10.0] * (received.height - 1), rel=0.1)
    sent = values(run, RATE, "both")["value"]
    assert sent.mean() == pytest.approx(10.0, rel=0.1)
    steps = received["time_us"].diff().drop_nulls().to_list()
    assert steps == pytest.approx([50.0] * len(steps))


def test_controllers_begin_at_line_rate_and_share_the_link_whatever_pauses_do(run: Run) -> None:
    sampled = run.series.filter(pl.col("allowed_bps") > 0)["allowed_bps"]
    assert sampled[0] == 10e9
    allowed = values(run, ALLOWED, "F0")["value"]
    assert allowed[-1] == pytest.approx(5.0, rel=0.2)
    switch = run.series.filter(pl.col("queue_bytes") > 0)
    assert (switch["allowed_bps"] == 0).all()  # only hosts have controllers


def test_pauses_are_counted_where_they_take_effect(run: Run) -> None:
    found = values(run, PAUSES, "F0")
    paused = run.events.filter((pl.col("event") == "pause_received") & (pl.col("node") == 0))
    assert paused.height > 0
    assert (found["value"] * 0.05).sum() == pytest.approx(paused.height)


def test_a_span_shows_a_part(run: Run) -> None:
    part = timeline(run, Lines(window_us=50.0, queues={"q": (3, 2)}, span_us=(500.0, 1_000.0)))
    assert part["panel"].unique().to_list() == [QUEUE]
    # Windows of the samples at 500, 510, 520, 530 and 540 us and so on.
    assert part["time_us"].min() == 520.0
    assert part["time_us"].max() == 970.0


def test_a_queue_is_the_mean_of_the_samples_of_its_window(run: Run) -> None:
    found = values(run, QUEUE, "receiver")
    receiver = run.links.filter((pl.col("from") == 3) & (pl.col("to") == 2))["link"][0]
    samples = run.series.filter(pl.col("link") == receiver)
    for window in (0, 3, 30):
        five = samples[5 * window : 5 * window + 5]
        assert found["time_us"][window] == five["time_ns"][2] / 1e3
        assert found["value"][window] == pytest.approx(five["queue_bytes"].mean())
    assert found["value"].n_unique() > 10


def test_a_row_for_each_name_and_a_column_for_each_quantity(run: Run) -> None:
    figure = plot.timeline({"one": run, "other": run}, LINES, origin_us=1_000.0)
    assert len(figure.axes) == 8
    assert figure.axes[0].get_xlim()[0] < 0  # times count from the origin


def test_a_line_has_one_colour_in_all_panels(run: Run) -> None:
    rates = {"sent": [(0, 3)], "got": [(3, 2)]}
    figure = plot.timeline(run, Lines(window_us=50.0, rates=rates, queues={"got": (3, 2)}))
    words = [(text.get_text(), text.get_color()) for ax in figure.axes for text in ax.texts]
    heads = [one for one in words if one[0].startswith("—")]
    assert len(heads) == 3 and len(set(heads)) == 2
    (queue,) = figure.axes[-1].lines
    assert ("— got", queue.get_color()) in heads


def test_the_rate_of_a_sample_is_that_since_the_one_before(run: Run) -> None:
    sampled = link_series(run, [(0, 3)])
    sent = run.series.filter(pl.col("link") == run.series["link"][0])["tx_bytes"]
    assert sampled["rate_bps"][0] is None
    assert sampled["rate_bps"][1:].to_list() == pytest.approx(
        [(later - sooner) * 8e5 for sooner, later in pairwise(sent)]
    )


def test_the_first_window_of_a_figure_is_no_slower_for_the_sample_without_a_rate() -> None:
    """A link at 10 Gb/s, of which there are more samples than a figure has points."""
    count = 3 * WINDOWS
    table = pl.DataFrame(
        {
            "name": ["one"] * count,
            "link": ["T0–S0"] * count,
            "time_ns": [10_000.0 * place for place in range(count)],
            "queue_bytes": [0] * count,
            "rate_bps": [None] + [10e9] * (count - 1),
        }
    )
    assert over_time(table).table["rate_gbps"].to_list() == [10.0] * WINDOWS
    time, rate = thinned(table["time_ns"].to_numpy(), table["rate_bps"].to_numpy())
    assert time.size < count and (rate == 10e9).all()


def test_all_windows_of_a_drawing_have_equally_many_samples() -> None:
    for count in (241, 400, 481):
        time, value = thinned(np.arange(float(count)), np.arange(float(count)))
        step = time[1] - time[0]
        assert (np.diff(time) == step).all() and count / 2 / 240 <= step
        assert value[:-1].tolist() == (time[:-1] + (step - 1) / 2).tolist()
