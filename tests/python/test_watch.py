"""The watch page: its numbers are those of the tables; layouts, options, refusals."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from watch_page import PageData, unpack

from penstock import Scenario, ScenarioError, run
from penstock.analysis.pause import ALL_CLASSES
from penstock.cli import main
from penstock.results import Run
from penstock.scenario.topology import SingleSwitch
from penstock.watch import for_watching, layout, overview, recording
from penstock.watch.column import VALUE_MAX, Columns
from penstock.watch.recording import CELLS_MAX, every_link, what_is_missing

SCENARIO = """
seed = 3
duration = "30 us"
drain = "2 ms"
scheme = "bfc"

[topology]
kind = "leaf-spine"
racks = 3
hosts_per_rack = 4
spines = 2

[[traffic]]
kind = "open-loop"
sizes = "google"
load = 0.5

[[traffic]]
kind = "incast"
degree = 8
size = "160 kB"
period = "15 us"
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, PageData]:
    """A run under BFC with all that can be watched, and its page."""
    folder = tmp_path_factory.mktemp("watch")
    (folder / "small.toml").write_text(SCENARIO)
    found = run(for_watching(Scenario.load(folder / "small.toml")))
    return found, PageData(found.watch(folder))


def test_queues_and_use_are_those_of_the_samples(watched: tuple[Run, PageData]) -> None:
    found, page = watched
    links, times = page["samples.number"], page["samples.time_ps"]
    assert links.tolist() == found.links["link"].to_list()
    for name in ("queue_bytes", "active_queues", "paused_queues", "allowed_bps"):
        matrix = page[f"samples.{name}"].reshape(links.size, times.size)
        table = found.series.pivot(on="time_ns", index="link", values=name).sort("link")
        assert (matrix == table.drop("link").to_numpy()).all()
        assert matrix.any()
    sent = page["samples.sent_bytes"].reshape(links.size, times.size)
    last = found.series.group_by("link").agg(pl.col("tx_bytes").last()).sort("link")
    assert sent.sum(axis=1).tolist() == last["tx_bytes"].to_list()
    assert times.tolist() == [round(ns * 1_000) for ns in found.series["time_ns"].unique().sort()]


def test_buffers_are_those_of_the_samples(watched: tuple[Run, PageData]) -> None:
    found, page = watched
    nodes, times = page["buffers.number"], page["buffers.time_ps"]
    matrix = page["buffers.buffer_bytes"].reshape(nodes.size, times.size)
    table = found.buffers.pivot(on="time_ns", index="node", values="buffer_bytes").sort("node")
    assert (matrix == table.drop("node").to_numpy()).all()


def test_what_is_recorded_changes_no_result(watched: tuple[Run, PageData]) -> None:
    found, _ = watched
    nothing = {"events": False, "trace": None, "series": [], "sample_interval": "10 us"}
    plain = run(found.scenario.with_overrides({"measure": nothing}))
    assert plain.summary["digest"] == found.summary["digest"]


def test_pauses_in_force_are_those_of_the_events(watched: tuple[Run, PageData]) -> None:
    found, page = watched
    begin, length = page["pause.begin_ps"], page["pause.length_ps"]
    keys = list(zip(page["pause.link"].tolist(), page["pause.queue"].tolist(), strict=True))
    end = np.where(length == 0, found.summary["sim_end_ps"] + 1, begin + length - 1)
    moments = np.linspace(0, found.summary["sim_end_ps"], 41).astype(int).tolist()
    counts = set()
    for moment in moments:
        in_force: set[tuple[int, int]] = set()
        for time, link, event, queue in found.events.select(
            "time_ps", "link", "event", "queue"
        ).iter_rows():
            if time <= moment and event == "pause_received":
                in_force.add((link, queue))
            if time <= moment and event == "resume_received":
                in_force.discard((link, queue))
        shown = np.flatnonzero((begin <= moment) & (moment < end))
        assert sorted(keys[row] for row in shown) == sorted(in_force)
        counts.add(len(in_force))
    assert len(counts) > 3


def test_a_pause_names_the_packet_that_caused_it(watched: tuple[Run, PageData]) -> None:
    found, page = watched
    sent = found.packets.filter(pl.col("event") == "pause_sent")
    known = set(sent.select("ingress", "upstream_queue", "egress", "queue", "flow").iter_rows())
    assert page["pause.begin_ps"].size > 5
    for row in range(page["pause.begin_ps"].size):
        cause = [page[f"pause.cause_{name}"][row] - 1 for name in ("port", "queue", "flow")]
        assert (page["pause.link"][row], page["pause.queue"][row], *cause) in known


def paths_of(page: PageData, flow: int) -> list[int]:
    row = page["flow.number"].tolist().index(flow)
    path = page["flow.path"][row]
    return page["path.link"][page["path.start"][path] : page["path.start"][path + 1]].tolist()


def test_paths_are_those_that_packets_took(watched: tuple[Run, PageData]) -> None:
    found, page = watched
    first = found.packets.filter((pl.col("event") == "arrive") & (pl.col("sequence") == 0))
    lengths = set()
    for (flow,), hops in first.group_by("flow", maintain_order=True):
        took = hops.sort("time_ps")["egress"].to_list()[:-1]
        assert paths_of(page, flow) == took
        lengths.add(len(took))
    assert lengths == {0, 2}


@pytest.mark.parametrize("varied", ["symmetric-ecmp", "outage"])
def test_paths_follow_the_routes_of_their_time(tmp_path: Path, varied: str) -> None:
    chosen: dict[str, Any] = {"symmetric-ecmp": {"scheme": "expresspass"}, "outage": {}}[varied]
    if varied == "outage":
        chosen["faults.outages"] = [{"link": ["T0", "S1"], "start": "10 us", "end": "20 us"}]
    (tmp_path / "small.toml").write_text(SCENARIO)
    found = run(for_watching(Scenario.load(tmp_path / "small.toml", chosen)))
    page = PageData(found.watch(tmp_path))
    started = dict(found.flows.select("flow", "start_ns").iter_rows())
    first = found.packets.filter((pl.col("event") == "depart") & (pl.col("sequence") == 0))
    compared = 0
    for (flow,), hops in first.group_by("flow", maintain_order=True):
        # A packet that is under way when routes change leaves the path that its flow began with.
        near = any(edge - 12_000 < started[flow] < edge for edge in (10_000, 20_000))
        if varied == "outage" and near:
            continue
        path = hops.sort("time_ps")["egress"].to_list()
        if path[-1] in found.links.filter(pl.col("to") < 12)["link"].to_list():
            assert paths_of(page, flow) == path[:-1]
            compared += 1
    assert compared > 20


def test_flows_are_those_of_the_table(watched: tuple[Run, PageData]) -> None:
    found, page = watched
    table = found.flows.sort("flow")
    for name in ("src", "dst", "size_bytes", "label", "class"):
        assert page[f"flow.{name}"].tolist() == table[name].to_list()
    assert page["flow.number"].tolist() == table["flow"].to_list()
    assert (page["flow.start_ps"] / 1e3).tolist() == pytest.approx(table["start_ns"].to_list())
    took = (page["flow.length_ps"] - 1) / 1e3
    assert took.tolist() == pytest.approx(table["fct_ns"].to_list())


def test_the_trace_is_the_table_without_frames(watched: tuple[Run, PageData]) -> None:
    found, page = watched
    is_control = pl.col("event").str.starts_with("control_")
    table = found.packets.filter(pl.col("flow") != 2**64 - 1, ~is_control)
    for name in ("time_ps", "node", "flow", "sequence", "size_bytes", "queue_bytes", "port_bytes"):
        assert page[f"trace.{name}"].tolist() == table[name].to_list()
    for name in ("ingress", "egress", "queue", "upstream_queue", "threshold_bytes"):
        assert (page[f"trace.{name}"] - 1).tolist() == table[name].to_list()
    events = [page.facts["events"][number] for number in page["trace.event"]]
    assert events == table["event"].to_list()
    # A decision is one packet at one switch at one instant.
    starts = page["trace.decision"].tolist()
    keys = table.select("time_ps", "node", "flow", "sequence", "ingress").rows()
    assert all(len(set(keys[a:b])) == 1 for a, b in zip(starts, [*starts[1:], None], strict=True))
    assert all(keys[start] != keys[start - 1] for start in starts[1:])


def test_the_overview_loses_no_peak(watched: tuple[Run, PageData]) -> None:
    found, page = watched
    by_time = found.buffers.group_by("time_ns").agg(pl.col("buffer_bytes").sum())
    for level in page.facts["levels"]:
        assert page[f"overview.{level}.stored"].max() == by_time["buffer_bytes"].max()


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 50)), max_size=20))
def test_most_open_is_counted_as_by_hand(spans: list[tuple[int, int]]) -> None:
    begin = np.array([one for one, _ in spans], np.uint64)
    end = np.array([one + more for one, more in spans], np.uint64)
    found = overview.most_open(begin, end, 100, 10)
    open_at = [sum(b <= t < b + n for b, n in spans) for t in range(100)]
    assert found.tolist() == [max(open_at[10 * span : 10 * span + 10]) for span in range(10)]


@given(st.lists(st.integers(0, VALUE_MAX - 1)), st.booleans())
def test_columns_come_out_as_they_went_in(values: list[int], ascending: bool) -> None:
    given_values = np.array(sorted(values) if ascending else values, np.uint64)
    columns = Columns()
    columns.add("a", given_values, ascending=ascending)
    columns.add("b", np.array([7], np.uint8))
    packed = columns.pack()
    found = unpack(packed["columns"], base64.b64decode(packed["text"]))
    assert found["a"].tolist() == given_values.tolist()
    assert found["b"].tolist() == [7]


def test_a_value_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="below 0"):
        Columns().add("a", np.array([-1]))


TOPOLOGIES: dict[str, dict[str, Any]] = {
    "leaf-spine": {"racks": 3, "hosts_per_rack": 20, "spines": 4},
    "single-switch": {"hosts": 12},
    "dumbbell": {"left": 3, "right": 5},
    "chain": {"switches": 4, "hosts_per_switch": 2},
    "clos": {"pods": 2, "tors_per_pod": 2, "leafs_per_pod": 2, "spines": 2, "hosts_per_tor": 3},
    "graph": {
        "hosts": 6,
        "switches": 3,
        "links": [
            *({"a": host, "b": 6 + host % 3} for host in range(6)),
            *({"a": 6 + switch, "b": 6 + (switch + 1) % 3} for switch in range(3)),
        ],
    },
}


@pytest.mark.parametrize("kind", TOPOLOGIES)
def test_no_two_nodes_are_drawn_at_one_place(kind: str) -> None:
    topology = {"kind": kind, **TOPOLOGIES[kind]}
    scenario = Scenario.model_validate(
        {
            "topology": topology,
            "duration": "1 us",
            "scheme": "bfc",
            "traffic": [{"kind": "listed", "flows": [[0, 1, 1000, 0]]}],
        }
    )
    cables = [(a, b) for a, b in every_link(scenario) if a < b]
    place = layout.positions(scenario.topology, cables)
    assert (place == layout.positions(scenario.topology, cables)).all()
    apart = np.hypot(*(place[:, None] - place[None]).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    assert apart.min() >= 0.5
    if kind in ("leaf-spine", "clos"):
        hosts, names = scenario.topology.host_count(), scenario.topology.node_names()
        tors = [y for name, (_, y) in zip(names, place, strict=True) if name[0] == "T"]
        spines = [y for name, (_, y) in zip(names, place, strict=True) if name[0] == "S"]
        assert max(spines) < min(tors) <= max(tors) < place[:hosts, 1].min()


def test_a_nic_of_a_run_in_real_time_is_between_its_host_and_its_switch() -> None:
    topology = SingleSwitch.model_validate({"kind": "single-switch", "hosts": 3})
    # Hosts 0 to 2, switch 3; host 1 has the NIC 4.
    plain = layout.positions(topology, [(0, 3), (1, 3), (2, 3)])
    place = layout.positions(topology, [(0, 3), (3, 4), (2, 3), (1, 4)])
    assert (place[:4] == plain).all()
    assert place[4] == pytest.approx((plain[1] + plain[3]) / 2, abs=0.01)


def test_only_what_a_page_needs_is_switched_on() -> None:
    small = Scenario.from_name("quickstart")
    chosen = for_watching(small)
    assert chosen.measure.events
    assert chosen.measure.trace is not None
    assert len(chosen.measure.series) == 16
    assert chosen.measure.active_flows == small.measure.active_flows
    large = for_watching(Scenario.from_name("bfc-demo"))
    assert large.measure.trace is None
    cells = len(large.measure.series) * int(large.duration) / int(large.measure.sample_interval)
    assert cells <= CELLS_MAX


def test_a_page_names_the_option_that_records_what_it_lacks(tmp_path: Path) -> None:
    plain = run(Scenario.from_name("quickstart", {"duration": "5 us"}))
    missing = what_is_missing(plain)
    assert set(missing) == {"samples", "events", "packets"}
    assert "--watch" in missing["samples"]
    assert "measure.events" in missing["events"]
    assert "--trace packets" in missing["packets"]
    page = PageData(plain.watch(tmp_path / "plain.html"))
    assert page.facts["notes"] == missing


def test_pauses_that_carry_their_length_are_shown_with_it(tmp_path: Path) -> None:
    scenario = Scenario.from_name("quickstart", {"duration": "20 us", "scheme": "fafc"})
    found = run(for_watching(scenario))
    page = PageData(found.watch(tmp_path))
    lengths = page["pause.length_ps"]
    assert lengths.size > 0 and (lengths > 1).all()
    assert set(page["pause.queue"].tolist()) == {ALL_CLASSES}


def test_sprayed_packets_have_no_path(tmp_path: Path) -> None:
    found = run(
        for_watching(Scenario.from_name("quickstart", {"duration": "5 us", "scheme": "homa"}))
    )
    page = PageData(found.watch(tmp_path))
    assert "sprayed" in page.facts["notes"]["paths"]
    assert "flow.path" not in page.columns


def test_a_flow_inside_a_server_takes_no_link(tmp_path: Path) -> None:
    servers = {"kind": "rail", "servers": 2, "gpus": 2, "servers_per_group": 2, "spines": 1}
    flows = {"kind": "listed", "flows": [[0, 1, "100 kB", 0], [0, 2, "10 kB", 0]]}
    found = run(for_watching(Scenario(duration="50 us", topology=servers, traffic=[flows])))
    page = PageData(found.watch(tmp_path))
    assert page["flow.path"].tolist() == [2**32 - 1, 0]
    assert page["flow.length_ps"][0] == 222_223 + 2_000_000 + 1, "100 kB at 3.6 Tb/s, and 2 us"


def test_too_large_a_network_is_refused(
    watched: tuple[Run, PageData], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "NODES_MAX", 16)
    with pytest.raises(ScenarioError, match="at most 16 nodes, and this network has 17"):
        watched[0].watch(tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_too_large_a_network_is_refused_before_it_runs(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "clos-8192", "--set", "duration=1us", "--watch", "--out", "one"]) == 2
    assert "at most 4,096 nodes, and this network has 8,608" in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_the_commands_write_the_page(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("small.toml").write_text(SCENARIO)
    assert main(["run", "small.toml", "--watch", "--out", "one"]) == 0
    said = capsys.readouterr()
    assert "watch:   one/watch.html" in said.out
    assert "every link sampled each 100 ns, packets traced" in said.err
    assert main(["watch", "one", "--out", "two.html"]) == 0
    assert PageData(Path("two.html")).columns["flow.number"].size > 0
    assert Path("two.html").read_bytes() == Path("one/watch.html").read_bytes()
    # The page is no file of the run: the run is still whole beside it, and can be replaced.
    Run.load("one")
    assert main(["run", "small.toml", "--watch", "--out", "one"]) == 0
    Path("mine.html").write_text("mine")
    assert main(["watch", "one", "--out", "mine.html"]) == 2
    assert Path("mine.html").read_text() == "mine"
    assert main(["watch", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
