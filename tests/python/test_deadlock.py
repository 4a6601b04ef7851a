"""Deadlocks: those that runs meet, and the cycles that make them possible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from synthetic_runs import synthetic_run

from penstock import Scenario, ScenarioError, report, run
from penstock.analysis import deadlock
from penstock.cli import main
from penstock.experiments.expression import METRICS

POD: dict[str, Any] = {
    "kind": "leaf-spine",
    "racks": 4,
    "hosts_per_rack": 2,
    "spines": 2,
    "failed_links": [[12, 11], [13, 8]],
}
"""One pod of PCN's Clos network without L0-T3 and L1-T0 (app. B.5), leafs being S0 and S1 here."""


def ring(switches: int, **more: Any) -> Scenario:
    """Switches in a ring with two hosts each, which send to the next switch but one."""
    hosts = 2 * switches
    links = [{"a": host, "b": hosts + host // 2} for host in range(hosts)]
    links += [{"a": hosts + one, "b": hosts + (one + 1) % switches} for one in range(switches)]
    flows = [[host, (host + 4) % hosts, 20_000_000, 0] for host in range(hosts)]
    table = {
        "topology": {"kind": "graph", "hosts": hosts, "switches": switches, "links": links},
        "scheme": {"preset": "pfc", "switch": {"backpressure": {"xoff": "100 kB"}}},
        "traffic": [{"kind": "listed", "flows": flows}],
        "duration": "10 us",
        "drain": "100 ms",
        "measure": {"events": True},
    }
    return Scenario.model_validate(table | more)


def pod(**more: Any) -> Scenario:
    traffic = [{"kind": "long-lived", "pairs": [[0, 7]]}]
    return Scenario.model_validate({"topology": POD, "scheme": "pfc", "traffic": traffic} | more)


def test_a_run_ends_with_its_deadlock_and_names_it(tmp_path: Path) -> None:
    done = run(ring(5), check=True)
    found = done.summary["deadlock"]
    assert found["time_ps"] == done.summary["sim_end_ps"] < 1e9
    assert done.summary["notes"][0].startswith("deadlock at ")
    assert "S0->S1->S2->S3->S4->S0 wait for each other" in done.summary["notes"][0]
    rows = done.events.filter(done.events["event"] == "deadlock")
    assert rows["link"].to_list() == [one["link"] for one in found["cycle"]]
    assert rows["bytes"].min() > 0
    head, _, rest = report.write(done, tmp_path).read_text("utf-8").partition("</header>")
    assert "S0-&gt;S1-&gt;S2-&gt;S3-&gt;S4-&gt;S0 wait for each other" in head
    assert "<h2>Results</h2>" in rest and "ncast flows are not in it" not in rest
    table = deadlock.deadlocks([done, run(ring(3))])
    assert table["nodes"].to_list() == ["S0->S1->S2->S3->S4->S0"]
    assert METRICS["deadlocked"]([done]) == 1
    time_us = found["time_ps"] / 1e6
    assert METRICS["deadlocked"]([done], before=time_us + 1) == 1
    assert METRICS["deadlocked"]([done], before=time_us - 1) == 0
    by_class = METRICS["pause_rate"]([done], by="S", traffic_class=0)
    assert by_class == pytest.approx(
        done.summary["pfc_pauses"] * 1e9 / done.scenario.duration, rel=1e-9
    )


def test_a_ring_of_three_does_not_deadlock() -> None:
    done = run(ring(3), check=True)
    assert done.summary["deadlock"] is None
    assert done.summary["flows_finished"] == 6
    assert METRICS["deadlocked"]([done]) == 0
    assert METRICS["completion_rate"]([done]) == 0  # all of them after the 10 us
    last_ns = (done.flows["start_ns"] + done.flows["fct_ns"]).max()
    to_the_last = METRICS["completion_rate_to_the_last"]
    assert to_the_last([done]) == pytest.approx(6 / (last_ns / 1e9))
    # Every pause that was sent has arrived, whether it is counted at links or in the events.
    expected = pytest.approx(done.summary["pfc_pauses"] * 1e9 / done.scenario.duration)
    assert METRICS["pause_rate"]([done], by="S") == expected
    assert METRICS["pause_rate"]([done], by="S", traffic_class=0) == expected
    ends = done.links.select("from", "to").rows()
    of_links = sum(float(METRICS["pause_rate"]([done], link=link)) for link in ends)
    assert of_links == expected
    rate = METRICS["pause_rate"]
    assert sum(rate([done], link=link, traffic_class=0) for link in ends) == expected
    assert sum(rate([done], link=link, traffic_class=1) for link in ends) == 0
    assert sum(rate([done], link=link, by="T") for link in ends) == 0
    assert METRICS["pause_rate"]([done], by="T") == METRICS["pause_rate"]([done], by="H") == 0


def test_the_pods_cycles_and_their_elision_are_those_of_the_papers() -> None:
    found = deadlock.dependencies(pod())
    assert [cycle.nodes for cycle in found.cycles] == [
        "T1->S0->T2->S1->T1",
        "S0->T1->S1->T2->S0",
    ]
    # BFC app. B: packets from a higher tier that return to one; here at T1 and T2, for T0 and T3.
    assert found.down_up_suffices
    assert {turn.switch for turn in found.elided} <= {"T1", "T2"}
    towards_t3 = {switch: hops for edge, switch, hops in found.routes if edge == "T3"}
    assert towards_t3["T0"] == ("T0->S0",)
    assert towards_t3["S0"] == ("S0->T1", "S0->T2")
    counted = deadlock.dependencies(pod(), listed=False)
    assert counted.turn_count == len(found.turns) and counted.turns == counted.routes == ()
    assert counted.cycles == found.cycles


def test_the_command_says_it_in_words_and_in_json(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pod.toml"
    file.write_text(pod().to_toml())
    assert main(["deadlock", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "cycle 1 of 2: T1->S0->T2->S1->T1 can wait for each other" in shown
    assert "elide_down_up" in shown
    assert "scheme.switch.backpressure.elide = [[1" in shown
    assert main(["deadlock", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["cycles"]) == len(found["elided"]) == 2
    assert found["elided"][0].keys() == {"first", "then", "switch", "nodes"}
    assert main(["deadlock", str(file), "--set", "topology.failed_links=[]"]) == 0
    assert "no cycle: no deadlock is possible" in capsys.readouterr().out


OUTAGES = [
    {"link": [12, 11], "start": "20 us", "end": "200 us"},
    {"link": [13, 8], "start": "20 us", "end": "200 us"},
]
"""The same links, which fail for a while."""


def test_the_match_table_of_the_command_leaves_no_deadlock() -> None:
    whole = POD | {"failed_links": []}
    racks = [(0, 6), (1, 7), (6, 0), (7, 1), (2, 4), (3, 5), (4, 2), (5, 3)]
    traffic = [{"kind": "long-lived", "pairs": [pair for pair in racks for _ in range(4)]}]
    faults = {"outages": OUTAGES}

    def made(**backpressure: Any) -> Scenario:
        scheme = {"preset": "bfc-single", "switch": {"backpressure": backpressure}}
        more = {"topology": whole, "faults": faults, "traffic": traffic, "scheme": scheme}
        return pod(duration="400 us", drain="0 ps", **more)

    found = deadlock.dependencies(made())
    assert len(found.cycles) == 1
    assert found.down_up_suffices
    stuck = run(made(), check=True)
    assert stuck.summary["deadlock"] is not None
    assert 20e6 < stuck.summary["deadlock"]["time_ps"] < 200e6
    for elision in ({"elide": [turn.nodes for turn in found.elided]}, {"elide_down_up": True}):
        done = run(made(**elision), check=True)
        assert done.summary["deadlock"] is None
        assert done.summary["lost_packets"] > 0


def test_whatever_the_routes_only_down_up_packets_have_to_be_elided() -> None:
    found = deadlock.dependencies(pod(topology=POD | {"failed_links": []}), any_route=True)
    assert found.down_up_suffices
    # From a spine to a ToR to a spine, back to the same one included.
    expected = {(a, tor, b) for tor in range(8, 12) for a in (12, 13) for b in (12, 13)}
    elided = {turn.nodes for turn in found.elided}
    # One spine may still push back to another by a ToR, if none pushes back to the first.
    assert elided < expected
    assert {tor for _, tor, _ in elided} == {8, 9, 10, 11}


def test_what_failed_links_cut_off_is_refused_by_name() -> None:
    apart = {"topology": POD | {"failed_links": [[12, 11], [13, 11]]}}
    with pytest.raises(ScenarioError, match="no path between H0 and H6, H0 and H7, H0 and T3"):
        deadlock.dependencies(pod(**apart))
    with pytest.raises(ScenarioError, match=r"topology.failed_links\[1\].*no link"):
        pod(topology=POD | {"failed_links": [[12, 11], [11, 12]]})


def test_a_row_for_each_run_that_a_deadlock_ended() -> None:
    free, stuck = synthetic_run(seed=1, flows=10), synthetic_run(seed=2, flows=10)
    stuck.summary |= {
        "seed": 2,
        "deadlock": {"time_ps": 1_500_000, "nodes": [16, 18, 16], "stuck_pauses": 4},
    }
    found = deadlock.deadlocks([free, stuck])
    assert found.rows() == [(2, 1_500.0, "T0->S0->T0", 4)]
