"""Jobs and slow flows: critical paths, stragglers, causes of lost time, the bound of a topology."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from page_data import data_of

from penstock import Run, Scenario, ScenarioError, report, run
from penstock.analysis import request
from penstock.analysis.bound import bus_bound
from penstock.analysis.cause import CAUSES, Spans, time_lost, together
from penstock.analysis.job import PARTS, CriticalPath, Job, job_labels
from penstock.analysis.path import routes
from penstock.analysis.reason import reasons
from penstock.cli.options import CAUSE_EVENTS
from penstock.presented import application_lines
from penstock.report.gantt import BARS_MAX, RANKS_MAX, chosen_ranks, gantt, merged
from penstock.report.jobs import job_part
from penstock.report.slow import slow_flows, slowest
from penstock.tables import COLUMNS

STAR = {"kind": "single-switch", "hosts": 4}
RING = {"kind": "collective", "operation": "ring-all-reduce", "bytes": "1 MB"}


def frame(table: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    """A table of a run; columns that are not given are 0."""
    columns = COLUMNS[table]
    whole = [
        {name: False if kind == pl.Boolean else 0 for name, kind in columns.items()} | row
        for row in rows
    ]
    return pl.DataFrame(whole, schema=columns)


def flow(
    number: int, ends: tuple[int, int], start: float, took: float, ideal: float
) -> dict[str, Any]:
    names = ("flow", "src", "dst", "start_ns", "fct_ns", "ideal_fct_ns")
    row = dict(zip(names, (number, *ends, start, took, ideal), strict=True))
    return row | {"finished": True, "size_bytes": 1_000, "slowdown": took / ideal}


def hand_made() -> Any:
    """Three ranks on the hosts 2, 0 and 1, and two iterations, by hand.

    Iteration 0: rank 0 -> 1 (flow 0), then 1 -> 2 (flow 1, released at 100), which takes 300 where
    100 is ideal. Rank 2 -> 0 (flow 2) ends early. Iteration 1 begins with rank 0 (flow 3) at 150;
    rank 2 waits for flow 1 and 20 more, until 420 (flow 4), and releases flow 5 at 560.
    """
    flows = [
        flow(0, (2, 0), 0, 110, 100),
        flow(1, (0, 1), 100, 310, 110),
        flow(2, (1, 2), 0, 90, 90),
        flow(3, (2, 0), 150, 100, 100),
        flow(4, (1, 2), 420, 150, 100),
        flow(5, (2, 0), 560, 210, 110),
    ]
    waited = [(1, 0, 0, 1), (3, 2, 1, 0), (4, 1, 1, 2), (5, 4, 1, 0)]
    dependents = [
        {"flow": number, "released_by": by, "iteration": iteration, "rank": rank, "step": 1}
        for number, by, iteration, rank in waited
    ]
    jobs = [
        {"iteration": 0, "start_ps": 0, "time_ps": 400_000, "bytes": 3_000},
        {"iteration": 1, "start_ps": 150_000, "time_ps": 600_000, "bytes": 3_000},
    ]
    scenario = Scenario(
        name="hand",
        duration="1 ms",
        topology=STAR,
        scheme="pfc",
        traffic=[RING | {"ranks": [2, 0, 1], "iterations": 2}],
    )
    links = [{"link": 2 * host, "from": host, "to": 4} for host in range(4)]
    links += [{"link": 2 * host + 1, "from": 4, "to": host} for host in range(4)]
    return SimpleNamespace(
        scenario=scenario,
        summary={
            "labels": ["collective"],
            "node_names": ["H0", "H1", "H2", "H3", "S0"],
            "sim_end_ps": 1_000_000,
        },
        flows=frame("flows", flows[::-1]),  # they are in order of their ends
        dependents=frame("dependents", dependents),
        jobs=frame("jobs", jobs),
        links=frame("links", links),
        events=frame("events", []),
        packets=frame("packets", []),
        requests=frame("requests", []),
    )


def test_the_critical_path_leads_from_the_last_flow_back() -> None:
    made = hand_made()
    job = Job(made, "collective")
    path = job.critical_path(0)
    assert path.steps["flow"].to_list() == [0, 1]
    assert path.steps["rank"].to_list() == [0, 1]
    assert path.steps["time_ns"].to_list() == [100, 300]
    assert path.steps["lost_ns"].to_list() == [10, 200]
    assert path.steps["alone_ns"].to_list() == [90, 100]
    assert (path.late_ns, path.released_by, path.worst["flow"]) == (0, None, 1)
    parts = path.time_by_part(made)
    assert parts == dict.fromkeys(PARTS, 0.0) | {"alone_ns": 190, "queued_ns": 210}


def test_a_path_that_waits_for_the_iteration_before_begins_late() -> None:
    made = hand_made()
    job = Job(made, "collective")
    assert job.slowest() == 1
    path = job.critical_path(1)
    assert path.steps["flow"].to_list() == [4, 5]
    assert (path.late_ns, path.released_by) == (270, 1)
    # 560 - 420 = 140 of 150; until 750, of 210 after 560.
    assert path.steps["time_ns"].to_list() == [140, 190]
    parts = path.time_by_part(made)
    assert parts["late_ns"] == 270 and parts["queued_ns"] == pytest.approx(50 + 100)
    assert sum(parts.values()) == pytest.approx(path.time_ns)


def test_what_passes_between_two_flows_is_computing_or_news() -> None:
    made = hand_made()
    later = pl.when(pl.col("flow") == 5).then(600.0).otherwise(pl.col("start_ns"))
    made.flows = made.flows.with_columns(start_ns=later)
    path = Job(made, "collective").critical_path(1)
    assert path.steps["gap_ns"].to_list() == [30, 0]  # flow 4 is acknowledged at 570
    assert sum(path.time_by_part(made).values()) == pytest.approx(path.time_ns)


def test_the_straggler_is_the_rank_that_ends_last() -> None:
    found = Job(hand_made(), "collective").stragglers()
    first, second = found.iter_rows(named=True)
    # The ranks 0, 1, 2 (hosts 2, 0, 1) have their last messages at 90, 110 and 410.
    assert first == {
        "iteration": 0,
        "rank": 2,
        "host": 1,
        "flow": 1,
        "ranks": [2],
        "of": 3,
        "late_ns": 300,
        "spread_ns": 320,
    }
    assert (second["rank"], second["host"], second["flow"], second["late_ns"]) == (1, 0, 5, 100)


def test_ranks_that_end_together_are_told_together() -> None:
    made = hand_made()
    made.links = made.links.with_columns(rate_bps=pl.lit(100_000_000_000, pl.UInt64))
    # In iteration 0 ranks 1 and 2 end at 410, in iteration 1 ranks 0 and 1 as before.
    longer = pl.when(pl.col("flow") == 0).then(410.0).otherwise(pl.col("fct_ns"))
    made.flows = made.flows.with_columns(fct_ns=longer)
    first = Job(made, "collective").stragglers().row(0, named=True)
    assert (first["rank"], first["ranks"], first["of"]) == (1, [1, 2], 3)
    part = job_part({"pfc": [made]})
    assert part is not None
    assert part.tables[0].rows[0][5] == "rank 1, 2 of 2"
    # All messages of a job end together.
    made.flows = made.flows.with_columns(fct_ns=1_000.0 - pl.col("start_ns"))
    made.jobs = made.jobs.with_columns(time_ps=pl.lit(1_000_000, pl.UInt64))
    part = job_part({"pfc": [made]})
    assert part is not None
    ((_, words),) = part.sentences
    assert words.startswith(
        "All 2 iterations took 1 µs; this is iteration 0. All 3 ranks ended at "
    )
    assert "the same time; rank 0 (H2), the first by number, waited for flow " in words
    # The hand-made iteration 1 has no message to rank 2.
    assert part.tables[0].rows[0][3:6] == ["1 µs", "0 ns", "ranks 0 and 1, each 2 of 2"]
    made.jobs = made.jobs.filter(iteration=0)
    part = job_part({"pfc": [made]})
    assert part is not None and part.sentences[0][1].startswith("The iteration took 1 µs.")
    assert part.tables[0].rows[0][3:6] == ["1 µs", "0 ns", "all ranks, each 1 of 1"]


def test_a_job_of_a_list_has_no_bandwidth_and_hosts_are_its_ranks() -> None:
    made = hand_made()
    flows = [(0, 1, 1_000, 0), (1, 2, 1_000, 0)]
    listed = {"kind": "listed", "label": "collective", "flows": flows, "after": [[1, 0, "natural"]]}
    made.scenario = made.scenario.with_overrides({"traffic": [listed]})
    without = pl.lit(None, pl.Float64)
    made.jobs = made.jobs.with_columns(bus_bandwidth_bps=without, algorithm_bandwidth_bps=without)
    part = job_part({"pfc": [made]})
    assert part is not None
    assert [figure.name for figure in part.figures] == ["job-time", "time-lost", "gantt"]
    (row,) = part.tables[0].rows
    assert row[:3] == ["pfc", "2", "500 ns"] and row[-3:] == ["–", "–", "–"]
    assert "Rank 0 (H0) ended last, 100 ns after the median rank" in part.sentences[0][1]


def test_the_sentence_names_the_worst_message_or_says_that_none_was_slow() -> None:
    made = hand_made()
    made.links = made.links.with_columns(rate_bps=pl.lit(100_000_000_000, pl.UInt64))
    part = job_part({"pfc": [made]})
    assert part is not None and "most of a single one in step 1: flow 5" in part.sentences[0][1]
    # Nobody calls a hundredth slow.
    made.flows = made.flows.with_columns(ideal_fct_ns=pl.col("fct_ns") / 1.01)
    part = job_part({"pfc": [made]})
    assert part is not None
    assert "Each message that decided the time was as fast as alone." in part.sentences[0][1]


def test_pauses_count_where_they_held_the_flow_and_once() -> None:
    made = hand_made()
    made.scenario = made.scenario.with_overrides({"measure.events": True})
    # Host 0 sends flow 1 by link 0 to link 3, from 100 to 410. It is paused from 50 to 150; the
    # switch towards host 1 from 120 to 200. Class 3 is not that of the flow.
    spans = [(0, 50, 150, 0), (3, 120, 200, 0), (0, 250, 400, 3), (2, 100, 410, 0)]
    events = [
        {"time_ps": time * 1_000, "link": link, "queue": queue, "event": event}
        for link, begin, end, queue in spans
        for time, event in ((begin, "pause_received"), (end, "resume_received"))
    ]
    made.events = frame("events", events).sort("time_ps")
    one = made.flows.filter(flow=1)
    row = time_lost(made, one).row(0, named=True)
    assert row == dict.fromkeys(CAUSES, 0.0) | {
        "flow": 1,
        "lost_ns": 200,
        "paused_ns": 100,
        "queued_ns": 100,
    }
    (why,) = reasons(made, one)
    assert "100 ns paused: H1 paused S0→H1 once, at 120 ns, and 1 more of its links" in why
    assert "100 ns in queues, or for a slow sender" in why


def test_without_events_pauses_are_supposed_only_where_some_were_counted() -> None:
    made = hand_made()
    one = made.flows.filter(flow=1)
    assert time_lost(made, one)["queued_ns"].item() == 200
    paused = pl.when(pl.col("link") == 3).then(40.0).otherwise(0.0)
    made.links = made.links.with_columns(port_pause_ns=paused)
    assert time_lost(made, one)["unknown_ns"].item() == 200
    (why,) = reasons(made, one)
    assert why == (
        "200 ns paused or queued: S0→H1 was paused for 4 % of the run (--trace causes tells when)"
    )


def test_the_length_of_a_union_counts_overlaps_once() -> None:
    spans = [
        Spans(np.array([0.0, 5.0]), np.array([3.0, 9.0])),
        Spans(np.array([2.0]), np.array([6.0])),
    ]
    assert together(spans).total() == 9
    assert together([Spans(np.array([1.0, 2.0]), np.array([10.0, 3.0]))]).total() == 9
    assert together([]).total() == 0


@pytest.fixture(scope="module")
def victim() -> Run:
    """A ring in a rack; host 3 also sends to host 6 in the other rack, where four senders meet."""
    scenario = Scenario(
        name="victim",
        duration="1 ms",
        topology={"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 4, "spines": 1},
        scheme="pfc",
        traffic=[
            RING | {"ranks": [0, 1, 2, 3], "iterations": 2, "gap": "10 us"},
            {"kind": "listed", "flows": [(host, 6, "2 MB", 0) for host in (3, 4, 5, 7)]},
        ],
        measure={"events": True, "sample_interval": 0},
    )
    return run(scenario.with_overrides({"scheme.switch.admission.ingress.alpha": 0.002}))


def test_a_paused_link_of_a_ring_is_named(victim: Run, tmp_path: Path) -> None:
    job = Job(victim, "collective")
    path = job.critical_path(job.slowest())
    parts = path.time_by_part(victim)
    assert sum(parts.values()) == pytest.approx(path.time_ns)
    assert parts["paused_ns"] > 0.05 * path.time_ns and parts["resent_ns"] == 0
    assert (path.worst["src"], path.worst["dst"]) == (3, 0)
    (why,) = reasons(victim, victim.flows.filter(flow=path.worst["flow"]))
    assert "paused: T0 paused H3→T0" in why
    page = report.write(victim, tmp_path).read_text("utf-8")
    assert "T0 paused H3→T0" in page[page.index("<h2>Jobs") : page.index("<h2>Figures")]


def test_the_steps_of_a_path_follow_each_other(victim: Run) -> None:
    job = Job(victim, "collective")
    for path in map(job.critical_path, (0, 1)):
        steps = path.steps
        released = victim.dependents.filter(pl.col("flow").is_in(steps["flow"].implode()))
        by = dict(released["flow", "released_by"].rows())
        assert [by[one] for one in steps["flow"][1:]] == steps["flow"][:-1].to_list()
        assert steps["step"].to_list() == sorted(steps["step"])
        total = path.late_ns + steps["time_ns"].sum()
        assert total == pytest.approx(path.time_ns)
        assert (steps["alone_ns"] >= 0).all() and (steps["lost_ns"] >= 0).all()


def test_lost_packets_are_named_with_their_port() -> None:
    scheme = {
        "preset": "line-rate",
        "switch": {
            "backpressure": {"kind": "none"},
            "admission": {"kind": "shared", "buffer": "100 kB"},
        },
    }
    found = run(
        Scenario(
            name="drops",
            duration="1 ms",
            topology=STAR,
            scheme=scheme,
            traffic=[{"kind": "listed", "flows": [(host, 3, "100 kB", 0) for host in range(3)]}],
            measure={"sample_interval": 0, "trace": {"events": ["drop"]}},
        )
    )
    lost = found.flows.filter(pl.col("retransmitted_packets") > 0)
    assert lost.height
    shares = time_lost(found, lost)
    assert shares["resent_ns"].to_list() == shares["lost_ns"].to_list()
    for one, why in zip(lost.iter_rows(named=True), reasons(found, lost), strict=True):
        count = one["retransmitted_packets"]
        assert re.search(rf"to lost packets: {count} packets sent again, \d+ dropped at S0→H3", why)


@pytest.mark.parametrize("ask", [Job, bus_bound, request.request_latencies])
def test_a_label_that_a_run_does_not_have_is_refused(victim: Run, ask: Any) -> None:
    with pytest.raises(ScenarioError, match=r'label = "colective": .*; did you mean "collective"'):
        ask(victim, "colective")


def test_an_iteration_that_is_not_over_is_refused(victim: Run) -> None:
    [incast] = [one for one in victim.summary["labels"] if one != "collective"]
    with pytest.raises(ScenarioError, match=r"no iteration of it is over; .* job_labels\(run\)"):
        Job(victim, incast).slowest()
    with pytest.raises(ScenarioError, match="iteration = 99: it is not over, or there is none"):
        Job(victim, "collective").critical_path(99)


def test_what_unfinished_flows_lost_is_refused(victim: Run) -> None:
    flows = victim.flows.head(2).with_columns(fct_ns=pl.lit(None, pl.Float64))
    with pytest.raises(ScenarioError, match="2 of 2 did not finish"):
        time_lost(victim, flows)


def test_a_flow_that_an_outage_moved_has_no_single_path() -> None:
    """Its packets were on T0→S1 for most of the time; what was lost is told of its first path."""
    found = run(
        Scenario(
            seed=1,
            duration="2 ms",
            topology={"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 4, "spines": 2},
            scheme="dctcp",
            traffic=[{"kind": "listed", "flows": [(0, 4, "2 MB", 0), (1, 5, "2 MB", 0)]}],
            faults={"outages": [{"link": (8, 10), "start": "50 us"}]},
            measure={"sample_interval": 0, "events": True, "trace": {"events": ["depart"]}},
        )
    )
    taken = found.packets.group_by("flow").agg(pl.col("egress").unique())
    links = dict(found.links.select(pl.concat_str("from", "to", separator="-"), "link").rows())
    moved = 0
    for row in found.flows.iter_rows(named=True):
        used = set(taken.row(by_predicate=pl.col("flow") == row["flow"], named=True)["egress"])
        (route,) = routes(found, found.flows.filter(pl.col("flow") == row["flow"]))
        assert used <= {*route.links.tolist(), *route.others.tolist()}
        assert route.is_whole == (not {links["8-10"], links["8-11"]} <= used)
        moved += not route.is_whole
    assert moved
    first = found.flows.filter(pl.col("retransmitted_packets") > 0)
    assert all("T0→S0 dropped" in why for why in reasons(found, first))


def test_a_queue_of_bfc_is_told_apart_only_with_a_trace() -> None:
    traffic = [{"kind": "listed", "flows": [(host, 3, "300 kB", 0) for host in range(3)]}]
    scenario = Scenario(
        name="queues",
        duration="1 ms",
        topology=STAR,
        scheme="bfc",
        traffic=traffic,
        measure={"sample_interval": 0, "events": True},
    )
    without = run(scenario)
    shares = time_lost(without, without.flows)
    assert shares["paused_ns"].sum() == 0 and shares["unknown_ns"].sum() > 0
    assert (
        "not recorded for which flows (--trace causes tells)" in reasons(without, without.flows)[0]
    )
    for events in ((), CAUSE_EVENTS):
        traced = run(scenario.with_overrides({"measure.trace": {"events": list(events)}}))
        shares = time_lost(traced, traced.flows)
        assert shares["paused_ns"].sum() > 0 and shares["unknown_ns"].sum() == 0
        assert "paused: S0 paused H" in reasons(traced, traced.flows)[0]
        assert "for packets to H3" in reasons(traced, traced.flows)[0]


@pytest.fixture(scope="module")
def asked() -> Run:
    """Requests beside an incast."""
    traffic = [
        {
            "kind": "rpc",
            "clients": [0],
            "outstanding": 2,
            "fan_out": 2,
            "request": {"kind": "fixed", "size": 300},
            "response": {"kind": "fixed", "size": 20_000},
        },
        {"kind": "incast", "degree": 3, "size": "300 kB", "period": "50 us", "receiver": 0},
    ]
    scenario = {"name": "asked", "duration": "300 us", "topology": STAR, "scheme": "dcqcn"}
    return run(Scenario(traffic=traffic, **scenario))


def test_the_steps_of_slow_requests_add_up_to_their_latency(asked: Run) -> None:
    assert request.request_labels(asked) == ["rpc"] and job_labels(asked) == []
    slow = request.slow_requests(asked, "rpc")
    assert slow["latency_ps"][0] == asked.requests["latency_ps"].max()
    parts = request.time_by_part(asked, "rpc")
    assert sum(parts.values()) == pytest.approx(slow["latency_ps"].mean() / 1e3)
    assert parts["queued_ns"] > 0


def test_requests_stand_in_the_report_beside_their_rate(asked: Run, tmp_path: Path) -> None:
    page = report.write(asked, tmp_path).read_text("utf-8")
    part = page[page.index("<h2>Jobs") : page.index("<h2>Figures")]
    count = asked.requests.height
    assert re.search(rf"<td>rpc</td><td>{count}</td><td>[\d,]+ /s</td><td>[\d.]+ µs</td>", part)
    names = [one["name"] for one in data_of(page)["figures"]]
    assert names[0] == "time-lost" and "gantt" not in names


@pytest.mark.parametrize(
    ("operation", "spines", "gbps"),
    [
        ("ring-all-reduce", 4, 100),  # the host's own link
        ("ring-all-reduce", 1, 100),  # 2 * 7/8 * 100 is more
        ("all-to-all", 1, 7 / (4 * 4) * 100),
        ("all-gather", 1, 100),  # 7/8 * 100 / (4/8) is more
    ],
)
def test_the_bound_is_that_of_the_narrowest_cut(operation: str, spines: int, gbps: float) -> None:
    scenario = Scenario(
        name="bound",
        duration="1 ms",
        topology={"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 4, "spines": spines},
        traffic=[RING | {"operation": operation, "bytes": "80 kB"}],
        measure={"sample_interval": 0},
    )
    found = run(scenario)
    bound = bus_bound(found, "collective")
    assert bound is not None and bound.bandwidth_bps == pytest.approx(gbps * 1e9)
    assert found.jobs["bus_bandwidth_bps"].item() < bound.bandwidth_bps
    assert ("own link" in bound.formula) == (gbps == 100)


@pytest.mark.parametrize("hosts", [4, 8])
def test_a_slow_leaf_of_a_tree_keeps_the_bound(hosts: int) -> None:
    """A leaf sends and gets each byte once: less than the mean of all ranks, 2 (n - 1)/n times."""
    rates = ["400 Gb/s"] * (hosts - 1) + ["10 Gb/s"]
    cables = [
        {"a": host, "b": hosts, "rate": rate, "delay": "100 ns"} for host, rate in enumerate(rates)
    ]
    tree = {"kind": "collective", "operation": "tree-all-reduce", "bytes": "8 MB", "chunks": 32}
    found = run(
        Scenario(
            duration="20 ms",
            topology={"kind": "graph", "hosts": hosts, "switches": 1, "links": cables},
            scheme="ideal-fq",
            traffic=[tree],
            measure={"sample_interval": 0},
        )
    )
    bound = bus_bound(found, "collective")
    assert bound is not None and bound.bandwidth_bps == pytest.approx(
        2 * (hosts - 1) / hosts * 10e9
    )
    assert 10e9 < found.jobs["bus_bandwidth_bps"].item() < bound.bandwidth_bps


def test_a_gantt_chart_of_many_messages_stays_small() -> None:
    ranks, messages = 40, 500
    rows = {
        "rank": np.repeat(np.arange(ranks, dtype=np.uint32), messages),
        "flow": np.arange(ranks * messages, dtype=np.uint64),
        "src": np.repeat(np.arange(ranks, dtype=np.uint32), messages),
        "dst": np.repeat(np.arange(ranks, dtype=np.uint32), messages),
        "step": np.tile(np.arange(messages, dtype=np.uint32), ranks),
        "start_ns": np.tile(np.arange(messages) * 10.0, ranks),
        "end_ns": np.tile(np.arange(messages) * 10.0 + 9, ranks),
        "fct_ns": np.full(ranks * messages, 9.0),
        "ideal_ns": np.full(ranks * messages, 8.0),
        "iteration": np.zeros(ranks * messages, dtype=np.uint32),
    }
    flows = pl.DataFrame(rows)
    ends = pl.DataFrame({"rank": range(ranks), "end_ns": range(ranks), "iteration": [0] * ranks})
    steps = flows.filter(rank=7).with_columns(lost_ns=pl.lit(1.0))
    job: Any = SimpleNamespace(flows=flows, rank_ends=ends)
    path = CriticalPath(0, 0.0, 5_000.0, None, steps)
    drawn = gantt([("x", job, path), ("y", job, path)])
    assert drawn.table.height <= BARS_MAX and drawn.is_merged
    assert (drawn.ranks, len(drawn.shown)) == (ranks, RANKS_MAX)
    assert {0, 7, 39} <= set(drawn.shown) and drawn.left_out == 0
    assert set(drawn.table["rank"]) == {f"rank {rank}" for rank in drawn.shown}
    own = drawn.table.filter(name="x", rank="rank 7")
    assert set(own["path"]) == {"critical path"}
    assert (own["begin_us"][0], own["end_us"][-1]) == (0, pytest.approx(4.999))
    whole = merged(
        flows.filter(rank=3).with_columns(
            is_critical=False, place=pl.int_range(pl.len()), count=pl.len()
        ),
        messages,
        0.0,
    )
    assert whole["message"][1] == "step 1, flow 1501 to H3, lost 1 ns"


def test_schemes_of_a_gantt_chart_show_the_same_ranks() -> None:
    assert chosen_ranks([[1]], [[3, 1, 2]]) == [1, 2, 3]
    orders = [list(range(40)), list(range(100, 0, -1))]
    assert chosen_ranks([[], []], orders) == [*range(6), *range(95, 101)]
    assert chosen_ranks([[4], [9]], [[5, 4], [5, 9, 7]]) == [4, 5, 7, 9]


def test_the_ranks_of_critical_paths_are_drawn_first() -> None:
    # Six schemes, whose first and last ranks alone would take all the room.
    orders = [[10 + 2 * place, 11 + 2 * place, 1, 2, 3] for place in range(6)]
    assert {1, 2, 3} <= set(chosen_ranks([[1, 2], [3], [], [], [], []], orders))
    ranks = 30
    flows = pl.DataFrame({key: range(ranks) for key in ("rank", "flow", "src", "dst", "start_ns")})
    flows = flows.with_columns(
        end_ns=pl.col("start_ns") + 9.0, fct_ns=9.0, ideal_ns=8.0, iteration=0, step=0
    )
    job: Any = SimpleNamespace(
        flows=flows, rank_ends=pl.DataFrame({"rank": range(ranks), "end_ns": 9.0, "iteration": 0})
    )
    steps = flows.head(20).with_columns(lost_ns=pl.col("rank").cast(pl.Float64))
    drawn = gantt([("x", job, CriticalPath(0, 0.0, 50.0, None, steps))])
    assert drawn.shown == list(range(8, 20)), "those of the path that lost most"
    assert drawn.left_out == 8


def test_the_slowest_flows_are_those_of_each_size(victim: Run) -> None:
    flows = slowest(victim)
    assert flows["sizes"].to_list() == ["medium"] * 3
    wanted = victim.flows.sort("slowdown", descending=True)["slowdown"][:3].to_list()
    assert flows["slowdown"].to_list() == wanted
    table = slow_flows({"pfc": [victim]})
    assert [len(row) for row in table.rows] == [len(table.columns)] * 3
    assert all(row[-1] for row in table.rows)


def test_a_run_tells_its_jobs_and_requests_in_a_sentence_each(victim: Run, asked: Run) -> None:
    (line,) = application_lines(victim)
    assert re.fullmatch(
        r"collective: 2 of 2 iterations are over, [\d.]+ µs on average \([\d.]+ µs to [\d.]+ µs\), "
        r"bus bandwidth [\d.]+ Gb/s",
        line,
    )
    (line,) = application_lines(asked)
    wanted = r"rpc: [\d,]+ requests a second, latency p50 [\d.]+ µs, p99 [\d.]+ µs"
    assert re.fullmatch(wanted, line)


def test_seeds_stand_together_and_schemes_beside_each_other(victim: Run, tmp_path: Path) -> None:
    other = run(victim.scenario.with_overrides({"seed": 2}))
    page = report.write({"pfc": [victim, other], "again": victim}, tmp_path).read_text("utf-8")
    part = page[page.index("<h3>Iterations") : page.index("<h2>Figures")]
    assert re.findall(r"<tr><td>(\w+)</td><td>(\d+)</td>", part) == [("pfc", "4"), ("again", "2")]
    charts = {one["name"]: one for one in data_of(page)["figures"]}
    assert charts["gantt"]["table"]["name"]["words"] == ["pfc", "again"]
    assert len(charts["job-time"]["table"]["time_us"]) == 2


def test_a_run_without_jobs_has_no_part_about_them(tmp_path: Path) -> None:
    scenario = Scenario(
        name="plain",
        duration="1 ms",
        topology=STAR,
        traffic=[{"kind": "listed", "flows": [(0, 1, 1_000, 0)]}],
    )
    page = report.write(run(scenario), tmp_path).read_text("utf-8")
    assert "<h2>Jobs" not in page
    assert "as fast as alone" in page[page.index("<h2>Slowest flows") :]
