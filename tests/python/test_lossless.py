"""Packets that should not have been lost: what is said of them, and that the remedy is right."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from penstock import Run, Scenario, report, run
from penstock.cli import main
from penstock.lossless import (
    PauseRoom,
    headroom_note,
    longest_packet,
    loss_notes,
    pause_room,
)

STAR = {"kind": "single-switch", "hosts": 17, "rate": "10 Gb/s", "delay": "1 us"}
CABLES = [
    {"a": 0, "b": 2, "rate": "100 Gb/s", "delay": "15 ns"},
    {"a": 1, "b": 3, "rate": "1 Gb/s", "delay": "15 ns"},
    {"a": 2, "b": 3, "rate": "100 Gb/s", "delay": "250 ns"},
]
"""A host behind a slow cable, so that nothing leaves while a pause is under way."""
CHAIN = {"kind": "graph", "hosts": 2, "switches": 2, "links": CABLES, "pipeline_delay": "500 ns"}
HEADROOM = "scheme.switch.admission.ingress.headroom"


def incast(scheme: str, topology: dict[str, Any], **overrides: Any) -> Run:
    """A megabyte from every host but the last to that one, after 2 ms at the latest."""
    last = topology["hosts"] - 1
    flows = [[host, last, "1 MB", 0] for host in range(last)]
    scenario = Scenario(
        name="incast",
        scheme=scheme,
        topology=topology,
        traffic=[{"kind": "listed", "flows": flows}],
        duration="2 ms",
    )
    return run(scenario.with_overrides(overrides))


def test_what_comes_until_a_pause_acts() -> None:
    rooms = pause_room(incast("pfc", CHAIN).scenario)
    # Three packets of 1,048 B, a frame of 64 B, and what a link carries in two of its delays and in
    # the pipelines at its ends: 530 ns at 100 and at 1 Gb/s, 1,500 ns at 100 Gb/s.
    # The headroom is three times 15 or 250 ns of the link, of whole bytes.
    assert rooms == [
        PauseRoom(0, 2, 6_625 + 3_208, 3 * 187),
        PauseRoom(3, 2, 18_750 + 3_208, 3 * 3_125),
        PauseRoom(1, 3, 66 + 3_208, 3),
        PauseRoom(2, 3, 18_750 + 3_208, 3 * 3_125),
    ]
    needed = [room.needed for room in rooms]
    telemetry = incast("hpcc", CHAIN).scenario
    assert [room.needed - 3 * 42 for room in pause_room(telemetry)] == needed
    assert longest_packet(telemetry) == 1_048 + 42
    lossless = incast("pfc", CHAIN, **{HEADROOM: {"kind": "lossless"}}).scenario
    assert [room.headroom for room in pause_room(lossless)] == needed
    assert {room.headroom for room in pause_room(incast("pfc-static", CHAIN).scenario)} == {None}


@pytest.mark.parametrize(
    ("scheme", "more"), [("hpcc", 42), ("powertcp", 42), ("theta-powertcp", 8), ("swift", 8)]
)
def test_the_longest_packet_has_the_telemetry_or_the_timestamp_of_its_scheme(
    scheme: str, more: int
) -> None:
    traffic = [{"kind": "listed", "flows": [[0, 1, 1, 0]]}]
    scenarios = (
        Scenario(name="one", scheme=name, topology=STAR, traffic=traffic, duration="1 ms")
        for name in (scheme, "pfc")
    )
    with_it, without_it = map(longest_packet, scenarios)
    assert with_it == without_it + more == 1_048 + more


def test_the_longest_packet_has_what_another_controller_needs() -> None:
    scenario = Scenario(
        name="two",
        scheme="tcp",
        topology=STAR,
        traffic=[{"kind": "listed", "label": "timed", "flows": [[0, 1, 1, 0]]}],
        duration="1 ms",
    )
    others = [{"label": "timed", "controller": {"kind": "cubic"}}]
    timed = scenario.with_overrides({"scheme.host.other_controllers": others})
    assert longest_packet(timed) == longest_packet(scenario) + 8


@pytest.mark.parametrize("topology", [STAR, STAR | {"pipeline_delay": "500 ns"}, CHAIN])
def test_the_headroom_that_a_note_names_is_enough_and_no_packet_too_much(
    topology: dict[str, Any],
) -> None:
    small = {"scheme.switch.admission.buffer": "500 kB"}
    found = incast("pfc", topology, **small)
    [note, *_] = found.summary["notes"]
    assert note.startswith(
        f"{found.summary['drops']:,} packets were dropped although PFC pauses: the headroom of "
    )
    assert note.endswith(f'Set {HEADROOM} to {{ kind = "lossless" }}')
    mended = incast("pfc", topology, **small, **{HEADROOM: {"kind": "lossless"}})
    assert (mended.summary["drops"], mended.summary["notes"]) == (0, [])
    # It is a bound: what a link begins and waits for are whole packets.
    enough = max(room.headroom or 0 for room in pause_room(mended.scenario))
    assert enough - 3 * 1_048 - 64 < max(mended.summary["headroom_peak_bytes"]) <= enough


def test_a_sweep_says_it_once(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    buffer = "scheme.switch.admission.buffer"
    Path("incast.toml").write_text(incast("pfc", STAR).scenario.to_toml())
    command = ["sweep", "incast.toml", "--set", f"{buffer}=500kB,300kB,90MB", "--metric", "fct()"]
    assert main([*command, "--seeds", "1", "--out", "out"]) == 0
    told = capsys.readouterr().out
    found = pl.read_parquet("out/cells", hive_partitioning=True).sort("drops")
    assert found["losses"].str.contains("headroom").to_list() == [False, True, True]
    worst = found.row(-1, named=True)
    words = "packets were lost, or could have been, in 2 of 3 cells; at scheme.switch.admission."
    assert told.count(words) == 1
    assert f"buffer = {worst[buffer]}, seed = 1: {worst['losses']}\n" in told
    assert words.partition(";")[0] in Path("out/report.html").read_text("utf-8")


def test_what_nics_of_real_hosts_drop_is_not_blamed_on_the_headroom() -> None:
    """The NIC of a host with a kernel is a node behind those of the scenario."""
    small = {"scheme.switch.admission.buffer": "500 kB"}
    found = incast("pfc", STAR, **small)
    real = SimpleNamespace(
        scenario=found.scenario, summary=found.summary | {"emulation": {}}, links=found.links
    )
    blame = f"{found.summary['drops']:,} packets were dropped although PFC pauses"
    assert loss_notes(cast(Any, real))[0].startswith(blame)
    nic = len(found.scenario.topology.node_names())
    lossy = pl.when(pl.col("drops") > 0)
    real.links = found.links.with_columns(lossy.then(nic).otherwise("from").alias("from"))
    assert not any("were dropped" in note for note in loss_notes(cast(Any, real)))


def test_a_headroom_that_was_enough_by_chance_is_told() -> None:
    small = {"scheme.switch.admission.buffer": "300 kB"}
    # Of two senders half leaves meanwhile.
    found = incast("pfc", STAR | {"hosts": 3}, **small)
    assert (found.summary["drops"], found.summary["pfc_pauses"] > 0) == (0, True)
    [note] = found.summary["notes"]
    assert note.startswith("no packet was dropped, but more senders may bring it about: ")
    assert "S0 has 3,750 B and needs 5,708 B" in note
    enough = {HEADROOM: {"kind": "bytes", "size": 5_708}}
    assert incast("pfc", STAR | {"hosts": 3}, **small, **enough).summary["notes"] == []
    [quiet] = incast("pfc", STAR | {"hosts": 3}).summary["notes"]
    assert quiet.startswith("no PFC pause")


def test_a_fixed_xoff_that_the_memory_does_not_hold_for_all_is_told() -> None:
    small = {"scheme.switch.admission.buffer": "3 MB"}
    found = incast("pfc-static", STAR, **small)
    # 17 ports of 512 kB, and of 2,500 B in 2 us, three packets and a frame.
    [note, *_] = found.summary["notes"]
    assert note == (
        f"{found.summary['drops']:,} packets were dropped although PFC pauses: XOFF and what comes "
        "until a pause acts are 8.8 MB at the 17 ports of S0, which has 3 MB. Set an XOFF of at "
        "most 170,762 B, or a larger scheme.switch.admission.buffer"
    )
    mended = incast("pfc-static", STAR, **small, **{"scheme.switch.backpressure.xoff": 170_762})
    assert (mended.summary["drops"], mended.summary["notes"]) == (0, [])


def test_packets_lost_with_a_link_are_told_and_are_no_drops(tmp_path: Any) -> None:
    fabric = {"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 1, "spines": 2}
    scenario = Scenario(
        name="outage",
        scheme="dctcp",
        topology=fabric,
        traffic=[{"kind": "listed", "flows": [[0, 1, "5 MB", 0]]}],
        duration="1 ms",
        faults={"outages": [{"link": ["T0", "S0"], "start": "100 us", "end": "200 us"}]},
    )
    lossy = run(scenario)
    told = (
        f"{lossy.summary['lost_packets']:,} packets were lost on links that failed, "
        "and not counted among the drops"
    )
    assert (lossy.summary["drops"], lossy.summary["lost_packets"] > 0) == (0, True)
    assert lossy.summary["notes"][0] == told
    page = report.write([lossy], tmp_path).read_text("utf-8")
    assert f"<strong>dctcp, seed 1</strong>: {told}." in page


def test_a_fixed_xoff_that_may_lose_packets_is_told_before_a_run() -> None:
    fabric = Scenario.from_name("storage-fabric")
    assert "Set an XOFF of at most 183,792 B" in headroom_note(fabric)
    xoff = "scheme.switch.backpressure.xoff"
    assert headroom_note(fabric.with_overrides({xoff: "183792 B"})) == ""
    assert headroom_note(fabric.with_overrides({xoff: "183793 B"}))
