"""Backlogs: a queue that keeps up is told from one that does not, and every run says which."""

from __future__ import annotations

import heapq
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import special

from penstock import Run, Scenario, report, run
from penstock.analysis import backlog_series, measure_backlog
from penstock.analysis.backlog import FLOWS_MIN, NOT_JUDGED, SCORE_UNSTABLE
from penstock.experiments.expression import METRICS
from penstock.report.table import headline

SAMPLES = 31
END_NS = 1e6


def _run(**series: Any) -> Any:
    """A run of which only the backlog is known: `series`, and arrivals that are enough to judge."""
    time = np.linspace(0, END_NS, SAMPLES)
    arrived = {"arrived_flows": 100 * np.arange(SAMPLES), "arrived_bytes": time}
    sampled = {"time_ns": time, "flows": np.ones(SAMPLES), **arrived, **series}
    return SimpleNamespace(
        scenario=SimpleNamespace(duration=END_NS * 1e3, scheme=SimpleNamespace(name="bfc")),
        summary={"backlog": {key: list(value) for key, value in sampled.items()}},
    )


def _processor_sharing(load: float, flows: int, seed: int) -> Any:
    """An M/M/1 processor-sharing queue, `flows` flows of mean size 1 and a server of rate 1.

    All flows get the same service while they are there, so that one is done when the service per
    flow reaches that at its arrival plus its size.
    """
    draw = np.random.default_rng(seed)
    arrival = np.cumsum(draw.exponential(1 / load, flows))
    size = draw.exponential(1.0, flows)
    samples = np.linspace(0, arrival[-1], SAMPLES)
    served = now = 0.0
    present: list[float] = []
    rows = []
    for time, work in sorted([*zip(arrival, size, strict=True), *((t, 0.0) for t in samples)]):
        while present and now + (present[0] - served) * len(present) <= time:
            now += (present[0] - served) * len(present)
            served = heapq.heappop(present)
        served += (time - now) / len(present) if present else 0.0
        now = time
        if work:
            heapq.heappush(present, served + work)
        else:
            rows.append((len(present), sum(present) - served * len(present)))
    arrived = np.searchsorted(arrival, samples, side="right")
    total = np.concatenate([[0.0], np.cumsum(size)])
    return _run(
        flows=[row[0] for row in rows],
        bytes=[row[1] for row in rows],
        arrived_flows=arrived,
        arrived_bytes=total[arrived],
    )


@pytest.mark.parametrize("load", [0.5, 0.8, 0.9])
def test_a_stable_queue_is_hardly_ever_called_unstable(load: float) -> None:
    found = [measure_backlog([_processor_sharing(load, 2_000, seed)]) for seed in range(100)]
    # At most 1 in 100 by the choice of the bound; 5 or more of 100 then have a chance of 0.3 %.
    assert sum(one is None or one.is_unstable for one in found) < 5


def test_an_overloaded_queue_is_found() -> None:
    found = [measure_backlog([_processor_sharing(1.3, 2_000, seed)]) for seed in range(50)]
    # Drift and deviation of the work over an interval of 67 flows: 15.4 and sqrt(67 * 2) = 11.6, so
    # that t is 5.9 on average with a deviation of about 1.4.
    assert sum(one is not None and one.is_unstable for one in found) >= 48
    growth = np.mean([one.growth for one in found if one])
    assert growth == pytest.approx(1 - 1 / 1.3, abs=0.03)  # the share that is not served


def test_a_burst_at_the_end_is_no_growth() -> None:
    burst = np.zeros(SAMPLES)
    burst[-1] = 1e6
    found = measure_backlog([_run(bytes=burst)])
    assert found is not None and found.score == pytest.approx(1.0) and not found.is_unstable


def test_growth_at_the_start_does_not_count() -> None:
    filled = np.minimum(np.arange(SAMPLES), 10)
    found = measure_backlog([_run(bytes=filled)])
    assert found is not None and found.score == 0 and found.growth == 0


def test_a_steady_growth_is_certain() -> None:
    found = measure_backlog([_run(bytes=2e3 * np.arange(SAMPLES), flows=np.arange(SAMPLES))])
    assert found is not None and found.score == float("inf")
    assert found.words == (
        "unstable: the backlog grew from 0.02 MB (10 flows) to 0.06 MB (30 flows) between 0.3333 "
        "and 1 ms, by 6 % of what arrived"
    )


def test_seeds_are_pooled() -> None:
    # Increments 3, -1, 3, -1 ...: mean 1, deviation 2.05, so t = 2.2 for one run, 4.4 for four.
    uneven = np.concatenate([[0], np.cumsum(np.tile([3.0, -1.0], SAMPLES // 2))])
    one, four = measure_backlog([_run(bytes=uneven)]), measure_backlog([_run(bytes=uneven)] * 4)
    assert one is not None and one.score == pytest.approx(2.18, abs=0.01) and not one.is_unstable
    assert four is not None and four.score == pytest.approx(4.44, abs=0.01)
    assert one.score < SCORE_UNSTABLE < four.score
    pooled = backlog_series({"bfc": [_run(bytes=uneven)] * 2})
    assert pooled["bytes"].to_list() == uneven.tolist()


def test_what_cannot_be_judged_is_not() -> None:
    grown = 1e3 * np.arange(SAMPLES)
    few = _run(bytes=grown, arrived_flows=np.linspace(0, 1.4 * FLOWS_MIN, SAMPLES).round())
    stopped = _run(bytes=grown)
    stopped.summary["backlog"] = {k: v[:20] for k, v in stopped.summary["backlog"].items()}
    nearly = _run(bytes=grown)
    nearly.summary["backlog"] = {k: v[:-1] for k, v in nearly.summary["backlog"].items()}
    for one in (few, stopped, nearly):
        assert measure_backlog([one]) is None
        assert np.isnan(METRICS["is_unstable"]([one]))
        assert np.isnan(METRICS["backlog_growth"]([one]))
    assert measure_backlog([]) is None
    assert measure_backlog([_run(bytes=grown), few]) is None
    # Ten flows in each of the 20 intervals of the last two thirds are 200, and just enough.
    assert measure_backlog([_run(bytes=grown, arrived_flows=10 * np.arange(SAMPLES))]) is not None


def test_one_in_a_hundred_is_called_unstable_by_chance() -> None:
    assert pytest.approx(special.stdtrit(19, 0.99), abs=0.005) == SCORE_UNSTABLE


def _loaded(header: str, **changes: Any) -> Run:
    """Four hosts send to four over one link: 70 % of payload, and what the headers add."""
    ends = {"sources": [0, 1, 2, 3], "destinations": [4, 5, 6, 7]}
    return run(
        Scenario(
            name="one-link",
            duration="2 ms",
            drain="100 us",
            topology={"kind": "dumbbell", "left": 4, "right": 4},
            scheme="ideal-fq",
            wire={"header": header},
            measure={"sample_interval": 0},
            traffic=[
                {
                    "kind": "open-loop",
                    "sizes": {"kind": "fixed", "size": "10 kB"},
                    "arrivals": {"kind": "poisson"},
                    "pairs": {"kind": "between", **ends},
                    "load": 0.7,
                    "load_on": {"kind": "links", "links": [[8, 9]]},
                }
            ],
        ).with_overrides(changes)
    )


def test_a_run_that_headers_overload_ends_and_says_so(tmp_path: Any) -> None:
    made = _loaded("1000 B")
    assert made.summary["sim_end_ps"] == 2_100_000_000  # duration and drain, and no more
    assert made.summary["flows_finished"] < made.summary["flows_started"]
    words = made.summary["stability"]
    assert words.startswith("unstable: the backlog grew from ") and words in made.summary["notes"]
    assert METRICS["is_unstable"]([made]) == 1
    # With headers as long as the payload 1.4 times what the link carries arrives.
    assert METRICS["backlog_growth"]([made]) == pytest.approx(1 - 1 / 1.4, abs=0.05)
    ((_, cells),) = headline({"one": [made]}).rows
    assert cells[-1][0].startswith("unstable, +2")
    page = report.write({"one": [made]}, tmp_path).read_text("utf-8")
    assert "one: the steady state, for there is none. Unstable: the backlog grew" in page


def test_a_run_that_keeps_up_says_so(tmp_path: Any) -> None:
    made = _loaded("48 B")
    assert made.summary["stability"].startswith("no lasting growth: the backlog went from ")
    assert not any("backlog" in note for note in made.summary["notes"])
    assert METRICS["is_unstable"]([made]) == 0
    page = report.write({"one": [made]}, tmp_path).read_text("utf-8")
    assert made.summary["stability"] in page and "the steady state, for" not in page


def test_a_short_run_is_not_judged() -> None:
    assert _loaded("48 B", duration="20 us").summary["stability"] == NOT_JUDGED


def test_the_backlog_is_that_of_the_flow_records() -> None:
    made = _loaded("1000 B")
    sampled, flows = made.summary["backlog"], made.flows
    start, size = flows["start_ns"].to_numpy(), flows["size_bytes"].to_numpy().astype(np.int64)
    end = np.where(flows["finished"], start + flows["fct_ns"].to_numpy(), np.inf)
    for place, time in enumerate(sampled["time_ns"]):
        here = (start <= time) & (end > time)
        assert sampled["flows"][place] == here.sum()
        assert sampled["arrived_flows"][place] == (start <= time).sum()
        assert sampled["arrived_bytes"][place] == size[start <= time].sum()
        assert 0 <= sampled["bytes"][place] <= size[here].sum()
    down = made.links.filter(made.links["from"] == 9, made.links["to"] < 8)
    carried = int(down["duration_data_bytes"].sum())
    late = sampled["arrived_bytes"][-1] - carried - sampled["bytes"][-1]
    assert -4 * 15_000 <= late <= 0  # what is on the last wires, 1 us long, has been sent only


def test_sums_of_sizes_that_no_number_holds_are_judged() -> None:
    flows = [[flow % 3, 3, 2**63 - 1, f"{flow} us"] for flow in range(390)]
    traffic = [{"kind": "listed", "flows": flows, "lasts": ["1 us"] * 390}]
    star = {"kind": "single-switch", "hosts": 4}
    scenario = {"name": "t", "scheme": "pfc", "topology": star, "duration": "390 us"}
    summary = run(Scenario.model_validate(scenario | {"traffic": traffic})).summary
    assert summary["backlog"]["arrived_bytes"][-1] == 2**64 - 1
    assert "by 0 % of what arrived" in summary["stability"]
