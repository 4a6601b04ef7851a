"""From the packet trace alone every decision of a BFC switch can be held against the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from bfc_replay import NO_FLOW, Replay, Row, rows_of

from penstock import Scenario
from penstock.cli import main

TOR, SPINE = 12, 15
SWITCHES = range(TOR, SPINE + 2)

# With this seed every situation of the paper occurs, also at the first ToR.
SCENARIO = """
seed = 7
duration = "120 us"
drain = "2 ms"

[topology]
kind = "leaf-spine"
racks = 3
hosts_per_rack = 4
spines = 2
spine_rate = "40 Gb/s"
spine_delay = "1500 ns"
pipeline_delay = "250 ns"

[scheme]
preset = "bfc"
[scheme.switch.assignment]
queues = 6
table_factor = 8
[scheme.switch.backpressure]
bitmap_interval = "30 us"

[[traffic]]
kind = "open-loop"
sizes = "google"
load = 0.55

[[traffic]]
kind = "incast"
degree = 12
size = "240 kB"
period = "60 us"
"""


class Traced:
    """A run on disk, as somebody else's script would see it."""

    def __init__(self, directory: Path) -> None:
        self.scenario = Scenario.from_toml(directory / "scenario.toml")
        self.packets = pl.read_parquet(directory / "packets.parquet")

    def rows(self, node: int) -> list[Row]:
        return list(rows_of(self.packets, node))

    def replay(self, rows: list[Row], node: int) -> Replay:
        return Replay(self.scenario, node).run(rows)


def trace(directory: Path, *settings: str) -> Traced:
    (directory / "small.toml").write_text(SCENARIO)
    arguments = ["run", str(directory / "small.toml"), "--check", "--trace", "packets", *settings]
    assert main([*arguments, "--out", str(directory / "out")]) == 0
    return Traced(directory / "out")


def variant(grace: float) -> list[str]:
    """The settings of a scheme whose new flows avoid paused queues."""
    assignment = "scheme.switch.assignment"
    grace_setting = f"{assignment}.grace_hop_rtts={grace}"
    return ["--set", f"{assignment}.empty_queue=unpaused", "--set", grace_setting]


@pytest.fixture(scope="module")
def graced(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    return trace(tmp_path_factory.mktemp("grace"), *variant(0.1))


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    return trace(tmp_path_factory.mktemp("trace"))


@pytest.mark.parametrize("node", SWITCHES)
def test_every_decision_is_as_the_paper_demands(traced: Traced, node: int) -> None:
    replay = traced.replay(traced.rows(node), node)
    assert replay.violations[:5] == []
    assert all(not packets for port in replay.ports.values() for packets in port.queues.values())
    assert sum(replay.pause_counter.values()) == 0


def test_lost_pauses_change_no_decision(here: Path) -> None:
    lossy = trace(here, "--set", "faults.control_loss=0.3")
    for node in SWITCHES:
        assert lossy.replay(lossy.rows(node), node).violations[:5] == []


@pytest.mark.parametrize(("grace", "situation"), [
    (1.0, "grace"), (0.1, "end of a grace"), (0.0, "waits for an older pause"),
])  # fmt: skip
def test_remedies_for_paused_empty_queues(here: Path, grace: float, situation: str) -> None:
    traced = trace(here, *variant(grace))
    replays = [traced.replay(traced.rows(node), node) for node in SWITCHES]
    assert [replay.violations[:5] for replay in replays] == [[]] * len(replays)
    assert sum(replay.seen[situation] for replay in replays) >= 3


def test_every_situation_of_the_paper_occurs(traced: Traced) -> None:
    seen = sum((traced.replay(traced.rows(node), node).seen for node in SWITCHES), Counter())
    for situation in (
        "kept", "kept by stickiness", "sticky threshold expired", "empty queue", "no empty queue",
        "pause_sent", "resume_sent", "counted without a pause", "pause_received",
        "resume_received", "waits for an older pause",
    ):  # fmt: skip
        assert seen[situation] >= 3, situation


@dataclass(frozen=True)
class Forgery:
    """A switch that decides otherwise in one row: where it does, what it does, what it breaks."""

    name: str
    rule: str
    is_here: Callable[[Replay, Row], Any]
    """Asked with the state just before a row."""
    change: Callable[[Replay, Row], dict[str, Any] | None]
    """Columns that are different; nothing: the row is left out."""

    def __str__(self) -> str:
        return self.name


def is_new(replay: Replay, row: Row) -> bool:
    """Whether a flow must get a queue of its own now."""
    if row["event"] != "assign":
        return False
    entry = replay.entry(row)
    return not entry.queue or (not entry.size and replay.is_old(row))


def is_kept(replay: Replay, row: Row) -> bool:
    """Whether a flow must keep its queue now."""
    return row["event"] == "assign" and not is_new(replay, row)


def empty(replay: Replay, row: Row) -> list[int]:
    return replay.empty_queues(replay.ports[row["egress"]])


def used(replay: Replay, row: Row) -> list[int]:
    return [queue for queue in replay.data_queues if queue not in empty(replay, row)]


def held(replay: Replay, row: Row) -> list[int]:
    """The empty queues that the downstream has paused."""
    return [queue for queue in empty(replay, row) if replay.is_held(row, queue)]


def behind(replay: Replay, row: Row) -> Any:
    """The packet behind the head of a queue, if it is of another flow."""
    waiting = replay.ports[row["egress"]].queues[row["queue"]]
    return waiting[1] if len(waiting) > 1 and waiting[1].flow != waiting[0].flow else None


def pauses_again(replay: Replay, row: Row) -> bool:
    """Whether a counted packet arrives whose upstream queue is paused already."""
    key = (row["ingress"], row["upstream_queue"])
    return row["event"] == "enqueue" and row["counted"] and replay.pause_counter[key] > 0


def adding(column: str) -> Callable[[Replay, Row], dict[str, Any]]:
    return lambda _, row: {column: row[column] + 1}


def event(name: str) -> Callable[[Replay, Row], bool]:
    return lambda _, row: bool(row["event"] == name)


FORGERIES = [
    Forgery("a flow with packets changes its queue", "keeps its queue",
            lambda r, row: is_kept(r, row) and r.entry(row).size,
            lambda r, row: {"queue": row["queue"] % len(r.data_queues) + 1}),
    Forgery("a flow changes its queue within the sticky threshold", "keeps its queue",
            lambda r, row: is_kept(r, row) and not r.entry(row).size,
            lambda r, row: {"queue": row["queue"] % len(r.data_queues) + 1}),
    Forgery("a new flow shares a queue while one is empty", "empty queue",
            lambda r, row: is_new(r, row) and empty(r, row) and used(r, row),
            lambda r, row: {"queue": used(r, row)[0]}),
    Forgery("a new flow has a grace", "grace",
            event("resume_received"), lambda *_: {"flow": 1}),
    Forgery("a pause that no neighbour has sent", "end of a grace",
            event("pause_received"), lambda *_: {"flow": 1}),
    Forgery("a new flow gets the control queue", "data queue",
            lambda r, row: is_new(r, row) and not empty(r, row), lambda r, row: {"queue": 0}),
    Forgery("a packet joins another queue than it got", "joins its queue",
            event("enqueue"), adding("queue")),
    Forgery("a flow has two entries", "table index",
            is_kept, adding("table_index")),
    Forgery("a queue's bytes", "queue bytes", event("enqueue"), adding("queue_bytes")),
    Forgery("a port's bytes", "port bytes", event("depart"), adding("port_bytes")),
    Forgery("N_active", "N_active", event("enqueue"), adding("active_queues")),
    Forgery("the threshold", "threshold", event("enqueue"), adding("threshold_bytes")),
    Forgery("a packet above the threshold is not counted", "counted",
            lambda _, row: row["event"] == "enqueue" and row["counted"],
            lambda *_: {"counted": False}),
    Forgery("a packet below the threshold is counted", "counted",
            lambda _, row: row["event"] == "enqueue" and not row["counted"],
            lambda *_: {"counted": True}),
    Forgery("no pause on 0 to 1", "signal", event("pause_sent"), lambda *_: None),
    Forgery("no resume on 1 to 0", "signal", event("resume_sent"), lambda *_: None),
    Forgery("a pause of another queue", "signal", event("pause_sent"), adding("upstream_queue")),
    Forgery("a resume on another link", "signal", event("resume_sent"), adding("ingress")),
    Forgery("a paused queue sends", "paused queue",
            lambda r, row: row["event"] == "resume_received"
            and r.ports[row["egress"]].queues[row["queue"]],
            lambda *_: None),
    Forgery("a packet overtakes another in its queue", "FIFO",
            lambda r, row: row["event"] == "depart" and behind(r, row),
            lambda r, row: {"flow": behind(r, row).flow, "sequence": behind(r, row).sequence}),
]  # fmt: skip


FORGERIES_OF_REMEDIES = [
    Forgery("a new flow has no grace", "grace",
            lambda r, row: row["event"] == "resume_received"
            and row["flow"] != NO_FLOW,
            lambda *_: None),
    Forgery("a grace does not end", "end of a grace",
            lambda r, row: row["event"] == "pause_received" and row["flow"] != NO_FLOW,
            lambda *_: None),
    Forgery("a new flow gets a paused queue while another is empty", "unpaused queue",
            lambda r, row: is_new(r, row)
            and 0 < len(held(r, row)) < len(empty(r, row)),
            lambda r, row: {"queue": held(r, row)[0]}),
]  # fmt: skip


def forge(traced: Traced, forgery: Forgery) -> list[Row]:
    """The trace of the ToR with the first row changed where that is possible."""
    rows, replay = traced.rows(TOR), Replay(traced.scenario, TOR)
    for number, row in enumerate(rows):
        if forgery.is_here(replay, row):
            changed = forgery.change(replay, row)
            forged = [] if changed is None else [dict(row) | changed]
            return rows[:number] + forged + rows[number + 1 :]
        replay.step(row)
    raise AssertionError("the trace has no such row")


@pytest.mark.parametrize("forgery", FORGERIES, ids=str)
def test_a_switch_that_decides_otherwise_is_found_out(traced: Traced, forgery: Forgery) -> None:
    assert forgery.rule in traced.replay(forge(traced, forgery), TOR).rules()


@pytest.mark.parametrize("forgery", FORGERIES_OF_REMEDIES, ids=str)
def test_a_switch_without_the_remedy_is_found_out(graced: Traced, forgery: Forgery) -> None:
    assert forgery.rule in graced.replay(forge(graced, forgery), TOR).rules()


def test_a_pause_that_was_sent_already_is_found_out(traced: Traced) -> None:
    rows, replay = traced.rows(TOR), Replay(traced.scenario, TOR)
    for number, row in enumerate(rows):
        if pauses_again(replay, row):
            again = dict(row) | {"event": "pause_sent"}
            forged = [*rows[: number + 1], again, *rows[number + 1 :]]
            assert "signal" in traced.replay(forged, TOR).rules()
            return
        replay.step(row)
    raise AssertionError("no upstream queue has two counted packets")
