"""What happens after a moment, on a link whose samples and pauses are written by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from penstock.analysis import transient
from penstock.experiments.expression import METRICS

MICROSECOND = 1_000.0


def run(
    megabytes: list[float],
    queue: list[int],
    events: list[tuple[int, str, int]],
    backpressure: str = "pfc",
) -> Any:
    """A link from 0 to 1, sampled every 10 us; what it carried in each, in units of 12.5 kB.

    One unit in 10 us is 10 Gb/s. Events are (time [us], kind, queue or class).
    """
    sent = [0]
    for one in megabytes:
        sent.append(sent[-1] + int(one * 12_500))
    count = len(sent)
    switch = SimpleNamespace(backpressure=SimpleNamespace(kind=backpressure))
    return SimpleNamespace(
        scenario=SimpleNamespace(
            duration=(count - 1) * 10_000_000, scheme=SimpleNamespace(switch=switch)
        ),
        summary={"sim_end_ps": (count - 1) * 10_000_000},
        links=pl.DataFrame({"link": [7], "from": [0], "to": [1], "rate_bps": [10_000_000_000]}),
        series=pl.DataFrame(
            {
                "time_ns": [place * 10 * MICROSECOND for place in range(count)],
                "link": [7] * count,
                "tx_bytes": sent,
                "queue_bytes": queue or [0] * count,
            }
        ),
        events=pl.DataFrame(
            {
                "time_ps": [time * 1_000_000 for time, _, _ in events],
                "link": [7] * len(events),
                "event": [kind for _, kind, _ in events],
                "queue": [queue for _, _, queue in events],
            },
            schema={
                "time_ps": pl.UInt64,
                "link": pl.UInt32,
                "event": pl.String,
                "queue": pl.UInt32,
            },
        ),
    )


RECOVERY = run([1, 1, 0.25, 0.5, 1, 0.5, 1, 1, 1, 1], [0, 0, 9, 7, 5, 3, 5, 2, 0, 0, 0], [])
PAUSED = run(
    [1] * 10,
    [],
    [
        (5, "pause_received", 0),
        (8, "resume_received", 0),
        (20, "pause_sent", 0),
        (30, "pause_received", 0),
        (40, "resume_received", 0),
        (60, "pause_received", 0),
    ],
)


def test_a_rate_is_the_mean_of_the_window_that_follows() -> None:
    time, rate = transient.carried_rate(RECOVERY, [(0, 1)], window_ns=20 * MICROSECOND)
    assert time.tolist() == [place * 10 * MICROSECOND for place in range(9)]
    expected = [10, 6.25, 3.75, 7.5, 7.5, 7.5, 10, 10, 10]
    assert rate.tolist() == [one * 1e9 for one in expected]
    both = transient.carried_rate(RECOVERY, [(0, 1), (0, 1)], window_ns=20 * MICROSECOND)[1]
    assert both.tolist() == [2 * one for one in rate.tolist()]


@pytest.mark.parametrize(("hold", "expected"), [(0, 20.0), (10, 40.0), (40, math.inf)])
def test_a_rate_is_reached_when_it_is_held(hold: float, expected: float) -> None:
    found = METRICS["reaches"]([RECOVERY], links=[[0, 1]], after=20, window=10, hold=hold, least=9)
    assert found == expected


def test_a_rate_that_is_there_from_the_beginning_takes_no_time() -> None:
    assert METRICS["reaches"]([RECOVERY], links=[[0, 1]], after=70, window=10, least=9) == 0


def test_bounds_of_a_rate_are_rates_that_are_wanted() -> None:
    reaches = METRICS["reaches"]
    assert reaches([RECOVERY], links=[[0, 1]], after=20, window=10, least=10) == 20
    assert reaches([RECOVERY], links=[[0, 1]], after=0, window=10, least=5, most=5) == 30


def test_a_rate_is_held_from_the_time_on_that_is_asked_for() -> None:
    reaches = METRICS["reaches"]
    # The last windows with 10 Gb/s begin at 60, 70, 80 and 90 us.
    assert reaches([RECOVERY], links=[[0, 1]], after=70, window=10, hold=20, least=9) == 0
    assert reaches([RECOVERY], links=[[0, 1]], after=70, window=10, hold=30, least=9) == math.inf
    assert reaches([RECOVERY], links=[[0, 1]], after=95, window=10, least=9) == math.inf


def test_a_window_goes_to_the_sample_that_is_nearest_to_its_end() -> None:
    whole = transient.carried_rate(RECOVERY, [(0, 1)], window_ns=20 * MICROSECOND)
    nearly = transient.carried_rate(RECOVERY, [(0, 1)], window_ns=18 * MICROSECOND)
    assert [one.tolist() for one in nearly] == [one.tolist() for one in whole]


def test_a_queue_falls_after_its_largest_sample() -> None:
    assert METRICS["queue_falls"]([RECOVERY], link=[0, 1], after=0, most=3) == 50
    assert METRICS["queue_falls"]([RECOVERY], link=[0, 1], after=60, most=2) == 10
    assert METRICS["queue_falls"]([RECOVERY], link=[0, 1], after=0, most=-1) == math.inf
    assert METRICS["queue_falls"]([RECOVERY], link=[0, 1], after=20, most=9) == 0


def test_the_rate_between_two_times() -> None:
    assert METRICS["carried"]([RECOVERY], link=[0, 1], after=20, until=40) == pytest.approx(3.75)
    assert METRICS["carried"]([RECOVERY], link=[0, 1], after=60) == pytest.approx(10)
    # To the end of the traffic; one interval; from the sample that is nearest.
    for after, until, rate in [(60, 500, 10), (20, 30, 2.5), (24, 44, 3.75)]:
        found = METRICS["carried"]([RECOVERY], link=[0, 1], after=after, until=until)
        assert found == pytest.approx(rate)


def test_a_swing_is_between_the_fastest_and_the_slowest_window() -> None:
    swing = METRICS["rate_swing"]
    assert swing([RECOVERY], links=[[0, 1]], after=0, window=20) == pytest.approx(10 - 3.75)
    assert swing([RECOVERY], links=[[0, 1], [0, 1]], after=20, window=20, until=60) == (
        pytest.approx(2 * (7.5 - 3.75))
    )
    # The window from 20 to 40 us is the only one between these times.
    assert swing([RECOVERY], links=[[0, 1]], after=20, window=20, until=40) == 0
    with pytest.raises(ValueError, match="no window of 200 us"):
        swing([RECOVERY], links=[[0, 1]], after=0, window=200)


def test_pauses_are_those_that_took_effect() -> None:
    assert transient.pauses(PAUSED, (0, 1)).rows()[:2] == [(5_000, 8_000), (30_000, 40_000)]
    assert METRICS["pauses"]([PAUSED], link=[0, 1]) == 3
    assert METRICS["pauses"]([PAUSED], link=[0, 1], after=6, until=60) == 1


def test_pauses_behind_the_duration_are_none_of_its_traffic() -> None:
    assert METRICS["pauses_per_ms"]([PAUSED], link=[0, 1]) == pytest.approx(3 / 0.1)
    assert METRICS["pauses_per_ms"]([PAUSED], link=[0, 1], after=50) == pytest.approx(1 / 0.05)
    scenario = SimpleNamespace(**vars(PAUSED.scenario) | {"duration": 20_000_000})
    short = SimpleNamespace(**vars(PAUSED) | {"scenario": scenario})
    assert METRICS["pauses_per_ms"]([short], link=[0, 1]) == pytest.approx(1 / 0.02)


def test_each_queue_that_is_paused_counts_and_a_repeated_pause_does_not() -> None:
    events = [
        (5, "pause_received", 3),
        (6, "pause_received", 4),
        (7, "pause_received", 3),
        (8, "resume_received", 3),
        (9, "resume_received", 4),
    ]
    found = run([1] * 10, [], events, "bfc")
    assert transient.pauses(found, (0, 1)).rows() == [(5_000, 8_000), (6_000, 9_000)]
    assert METRICS["pauses"]([found], link=[0, 1], after=6) == 1
    assert METRICS["pause_episode"]([found], links=[[0, 1]], after=0) == 4


def test_an_episode_is_from_the_first_pause_to_the_end_of_the_last() -> None:
    assert METRICS["pause_episode"]([PAUSED], links=[[0, 1]], after=0, until=50) == 35
    assert METRICS["pause_episode"]([PAUSED], links=[[0, 1]], after=10) == 70  # it lasts
    assert METRICS["pause_episode"]([PAUSED], links=[[0, 1]], after=70) == 0


def test_a_link_without_samples_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"measure\.series"):
        transient.carried_rate(run([], [], []), [(0, 1)], window_ns=10 * MICROSECOND)


def test_nothing_is_carried_where_no_two_samples_lie() -> None:
    carried = METRICS["carried"]
    assert carried([RECOVERY], link=[0, 1], after=0, until=20) == 10
    for after, until in [(100, math.inf), (150, math.inf), (50, 20), (50, 55)]:
        with pytest.raises(ValueError, match="carried: no two samples lie between"):
            carried([RECOVERY], link=[0, 1], after=after, until=until)
    with pytest.raises(ValueError, match="ends at 100 us, before `after`"):
        METRICS["pauses_per_ms"]([PAUSED], link=[0, 1], after=100)
    with pytest.raises(ValueError, match="no sample after 101 us"):
        METRICS["queue_falls"]([RECOVERY], link=[0, 1], after=101, most=0)
