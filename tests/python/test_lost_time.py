"""Where flows and jobs lose time, on a run that is written by hand (`test_jobs.hand_made`).

Flow 1 goes from host 0 to host 1, by the links 0 and 3, from 100 to 410 ns. Alone it takes 110 ns,
so that it loses 200 ns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from test_jobs import RING, frame, hand_made

from penstock import Scenario, run
from penstock.analysis.cause import CAUSES, time_lost
from penstock.analysis.job import PARTS, Job
from penstock.analysis.path import picoseconds, routes
from penstock.analysis.pause import ALL_CLASSES
from penstock.analysis.reason import is_as_alone, reasons


def _with_times(made: Any, number: int, **columns: float | None) -> Any:
    """The run with other times of a flow."""
    here = pl.col("flow") == number
    made.flows = made.flows.with_columns(
        pl.when(here).then(pl.lit(time, pl.Float64)).otherwise(pl.col(name)).alias(name)
        for name, time in columns.items()
    )
    return made


def _with_pauses(made: Any, *spans: tuple[int, int, int, int]) -> Any:
    """The run with pauses: link, begin and end [ns], and class or queue."""
    made.scenario = made.scenario.with_overrides({"measure.events": True})
    events = [
        {"time_ps": time * 1_000, "link": link, "queue": queue, "event": event}
        for link, begin, end, queue in spans
        for time, event in ((begin, "pause_received"), (end, "resume_received"))
    ]
    made.events = frame("events", events).sort("time_ps")
    return made


def _lost(made: Any, number: int = 1) -> dict[str, float]:
    """What a flow lost, by cause; only what is not 0."""
    found = time_lost(made, made.flows.filter(flow=number)).row(0, named=True)
    assert sum(found[cause] for cause in CAUSES) == pytest.approx(found["lost_ns"])
    return {key: time for key, time in found.items() if time and key != "flow"}


def _why(made: Any, number: int = 1) -> str:
    (words,) = reasons(made, made.flows.filter(flow=number))
    return words


def test_a_flow_that_was_faster_than_alone_lost_nothing() -> None:
    made = _with_times(hand_made(), 1, ideal_fct_ns=400.0)  # an outage gave it a shorter path
    assert _lost(made) == {}
    assert _why(made) == "as fast as alone"


@pytest.mark.parametrize(("end", "unknown", "queued"), [(250, 50, 50), (410, 100, 0)])
def test_pauses_of_queues_that_are_not_told_count_behind_those_that_are(
    end: int, unknown: float, queued: float
) -> None:
    made = hand_made()
    made.scenario = made.scenario.with_overrides({"scheme": "bfc"})
    # A trace tells queue 5 of link 0. Of link 3 it tells nothing.
    _with_pauses(made, (0, 100, 200, 5), (0, 250, 400, 6), (3, 150, end, 1))
    arrived = {"flow": 1, "event": "arrive", "ingress": 0, "upstream_queue": 5}
    made.packets = frame("packets", [arrived])
    expected = {"lost_ns": 200, "paused_ns": 100, "unknown_ns": unknown, "queued_ns": queued}
    assert _lost(made) == {key: time for key, time in expected.items() if time}


def test_a_pause_of_all_classes_holds_every_flow() -> None:
    made = hand_made()
    made.scenario = made.scenario.with_overrides({"scheme": "fafc"})
    _with_pauses(made, (3, 100, 250, ALL_CLASSES))
    assert _lost(made) == {"lost_ns": 200, "paused_ns": 150, "queued_ns": 50}


@pytest.mark.parametrize(
    "spans",
    [[(0, 410, 500, 0)], [(0, 50, 100, 0)], [(0, 0, 300, 3), (0, 50, 100, 0)]],
    ids=["behind", "before", "before, within a pause of another class"],
)
def test_a_pause_that_only_touches_the_time_of_a_flow_did_not_hold_it(
    spans: list[tuple[int, int, int, int]],
) -> None:
    told = _why(_with_pauses(hand_made(), (3, 100, 250, 0), *spans))
    assert "150 ns paused: H1 paused S0→H1 once, at 100 ns" in told
    assert "more of its links" not in told


def test_paused_queues_may_have_held_a_flow_where_nothing_tells_when() -> None:
    made = hand_made()
    paused = pl.when(pl.col("link") == 3).then(40.0).otherwise(0.0)
    made.links = made.links.with_columns(queue_pause_ns=paused)
    assert _lost(made) == {"lost_ns": 200, "unknown_ns": 200}
    assert "S0→H1 had paused queues (--trace causes tells when)" in _why(made)


def test_a_link_is_paused_for_all_of_the_run_at_most() -> None:
    made = hand_made()  # of 1 us; the pauses of all classes are added up
    paused = pl.when(pl.col("link") == 3).then(1_500.0).otherwise(40.0)
    made.links = made.links.with_columns(port_pause_ns=paused)
    assert "S0→H1 was paused for 100 % of the run" in _why(made)


def test_of_a_path_that_is_not_known_any_pause_may_be() -> None:
    made = hand_made()
    sprayed = {"scheme.routing.kind": "spray", "scheme.host.recovery": {"kind": "timeout-only"}}
    made.scenario = made.scenario.with_overrides(sprayed)
    assert _lost(made) == {"lost_ns": 200, "queued_ns": 200}
    assert "its packets took several paths" in _why(made)
    made.summary["pfc_pauses"] = 1
    assert _lost(made) == {"lost_ns": 200, "unknown_ns": 200}


def test_the_largest_cause_is_told_first_and_less_than_a_tenth_is_not() -> None:
    told = _why(_with_pauses(hand_made(), (3, 100, 250, 0)))
    assert told.startswith("150 ns paused: ") and "; 50 ns in queues" in told
    told = _why(_with_pauses(hand_made(), (3, 100, 120, 0)))
    assert told.startswith("180 ns in queues") and "; 20 ns paused" in told
    assert "paused" not in _why(_with_pauses(hand_made(), (3, 100, 119, 0)))


def test_two_hundredths_of_the_time_alone_are_as_fast_as_alone() -> None:
    assert is_as_alone(2.0, 100.0) and not is_as_alone(2.01, 100.0)
    assert _why(_with_times(hand_made(), 1, fct_ns=102.0, ideal_fct_ns=100.0)) == "as fast as alone"
    slower = _with_times(hand_made(), 1, fct_ns=102.03, ideal_fct_ns=100.0)
    assert _why(slower).startswith("2.03 ns in queues")


def test_drops_count_while_the_flow_lasted() -> None:
    made = _with_pauses(hand_made())
    times = [50, 99, 100, 300, 410, 411]
    drops = [{"time_ps": one * 1_000, "link": 3, "event": "drop"} for one in times]
    made.events = frame("events", drops)
    made.flows = made.flows.with_columns(retransmitted_packets=pl.lit(4, pl.UInt32))
    assert _lost(made) == {"lost_ns": 200, "resent_ns": 200}
    assert _why(made) == (
        "200 ns to lost packets: 4 packets sent again; S0→H1 dropped 3 packets meanwhile"
    )


def test_the_longest_queue_of_a_path_is_named() -> None:
    made = hand_made()
    longest = pl.when(pl.col("link") == 3).then(900).when(pl.col("link") == 0).then(80)
    made.links = made.links.with_columns(queue_bytes_max=longest.otherwise(5_000))
    assert "S0→H1 had the longest queue of its path, up to 900 B" in _why(made)


def test_the_worst_step_is_the_one_that_lost_most_and_not_the_longest() -> None:
    made = _with_times(hand_made(), 1, ideal_fct_ns=305.0)
    path = Job(made, "collective").critical_path(0)
    assert path.steps["time_ns"].to_list() == [100, 300]
    assert path.steps["lost_ns"].to_list() == [10, 5]
    assert path.worst["flow"] == 0


def test_of_a_flow_that_the_next_did_not_wait_for_only_a_part_counts() -> None:
    # Flow 0 loses 140 ns, of which flow 1 waits for 100.
    path = Job(
        made := _with_times(hand_made(), 0, fct_ns=150.0, ideal_fct_ns=10.0), "collective"
    ).critical_path(0)
    assert path.steps["lost_ns"].to_list() == [100, 200]
    assert path.time_by_part(made) == dict.fromkeys(PARTS, 0.0) | {
        "alone_ns": 100,
        "queued_ns": 300,
    }
    made = _with_times(hand_made(), 0, ideal_fct_ns=130.0)  # faster than alone
    assert Job(made, "collective").critical_path(0).steps["lost_ns"].to_list() == [0, 200]


def test_a_flow_that_was_never_acknowledged_lasts_to_the_end_of_the_run() -> None:
    made = _with_times(hand_made(), 5, fct_ns=None)
    made.flows = made.flows.with_columns(finished=pl.col("flow") != 5)
    path = Job(made, "collective").critical_path(1)
    assert path.steps["flow"].to_list() == [4, 5]
    # Of 190 ns it would need 110 alone; what it lost the other 80 to is not known.
    assert path.time_by_part(made) == dict.fromkeys(PARTS, 0.0) | {
        "alone_ns": 90 + 110,
        "late_ns": 270,
        "queued_ns": 50,
        "unknown_ns": 80,
    }


def test_a_path_may_wait_for_the_flow_of_number_0() -> None:
    made = hand_made()
    first = pl.when(pl.col("flow") == 4).then(0).otherwise(pl.col("released_by"))
    made.dependents = made.dependents.with_columns(released_by=first.cast(pl.UInt64))
    assert Job(made, "collective").critical_path(1).released_by == 0


def test_the_first_messages_of_an_all_to_all_are_numbered_by_their_sender() -> None:
    made = hand_made()
    entry = RING | {"operation": "all-to-all", "ranks": [2, 0, 1]}
    made.scenario = made.scenario.with_overrides({"traffic": [entry]})
    made.dependents = made.dependents.clear()
    to_host_1 = pl.when(pl.col("flow") == 3).then(1).otherwise(pl.col("dst"))
    made.flows = made.flows.with_columns(dst=to_host_1.cast(pl.UInt32))
    # Their sources are the hosts 2, 0, 1, 2, 1, 2.
    assert Job(made, "collective").flows["step"].to_list() == [0, 0, 0, 1, 1, 2]


def test_times_of_a_table_are_whole_picoseconds() -> None:
    # In floating point 1.005 times 1,000 is less than 1,005.
    assert picoseconds(np.array([1.005, 4.35, 0.0])).tolist() == [1_005, 4_350, 0]


@pytest.mark.parametrize("drain", ["1 ms", "0 ps"])
def test_a_link_that_recovers_moves_flows_that_began_without_it(drain: str) -> None:
    """With drain 0 no flow finishes, and each lasts to the end of the run."""
    found = run(
        Scenario(
            duration="200 us",
            drain=drain,
            topology={"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 4, "spines": 2},
            scheme="dctcp",
            traffic=[
                {"kind": "listed", "flows": [(one, 4 + one, "2 MB", "20 us") for one in range(4)]}
            ],
            faults={"outages": [{"link": (8, 10), "start": "1 us", "end": "100 us"}]},
            measure={"sample_interval": 0, "trace": {"events": ["depart"]}},
        )
    )
    assert found.flows["finished"].any() == (drain != "0 ps")
    links = dict(found.links.select(pl.concat_str("from", "to", separator="-"), "link").rows())
    taken = found.packets.group_by("flow").agg(pl.col("egress").unique())
    moved = []
    for row, route in zip(
        found.flows.iter_rows(named=True), routes(found, found.flows), strict=True
    ):
        used = set(taken.row(by_predicate=pl.col("flow") == row["flow"], named=True)["egress"])
        assert used <= {*route.links.tolist(), *route.others.tolist()}
        moved.append({links["8-10"], links["8-11"]} <= used)
        assert route.is_whole == (not moved[-1])
    assert any(moved)
