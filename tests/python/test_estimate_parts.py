"""What an estimate adds up, from a forecast that is given and a network small enough to count."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock import Scenario, ScenarioError, _core, estimate
from penstock.estimate import PROCESS_BYTES, Estimate, available_bytes, check, together
from penstock.scenario.declared.assignment import ClassAssignment

HOPS = 1e9


@pytest.fixture
def forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the scenario, a run of a billion packet-hops."""
    found = {"packet_hops": HOPS, "flows": 1_000, "open_flows": 10, "fullest_link": None}
    monkeypatch.setattr(_core, "forecast", lambda scenario: json.dumps(found))


def _estimate(measure: dict[str, Any], **fields: Any) -> Estimate:
    rack = {"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 2, "spines": 1}
    traffic = [{"kind": "long-lived", "pairs": [[0, 1]]}]
    usual = {"topology": rack, "scheme": "sfq", "traffic": traffic, "duration": "1 ms"}
    return estimate.estimate(Scenario(**{**usual, **fields, "measure": measure}))


@pytest.mark.usefixtures("forecast")
def test_every_part_is_counted_once() -> None:
    found = _estimate({"sample_interval": "1 us", "series": [["T0", "S0"]]})
    # Three switches and a link, 1,000 times each.
    assert found.parts["measure.sample_interval"] == 4_000 * 50
    assert found.seconds == pytest.approx(HOPS * 200e-9 + 4_000 * 1e-6)
    # The endless flow is a list of one.
    assert found.parts["traffic"] == 1_000 * 120 + 10 * 1_400 + 570
    assert (found.parts["measure.events"], found.parts["measure.trace"]) == (0, 0)
    assert found.memory_bytes == PROCESS_BYTES + sum(found.parts.values())
    # Every second packet-hop is one of data, and of four one begins at a switch that is traced.
    traced = _estimate({"events": True, "sample_interval": 0, "trace": {"nodes": ["T0"]}})
    assert traced.parts["measure.events"] == HOPS / 2 * 40
    assert traced.parts["measure.trace"] == pytest.approx(HOPS / 4 / 3 * 1_300)
    every = _estimate({"sample_interval": 0, "trace": {}})
    assert every.parts["measure.trace"] == pytest.approx(HOPS / 4 * 1_300)


@pytest.mark.usefixtures("forecast")
def test_a_list_is_counted_flow_by_flow() -> None:
    flows = [[0, 1, 1_000, start] for start in range(7)]
    found = _estimate({"sample_interval": 0}, traffic=[{"kind": "listed", "flows": flows}])
    assert found.parts["traffic"] == 1_000 * 120 + 10 * 1_400 + 7 * 570


@pytest.mark.usefixtures("forecast")
def test_a_network_is_counted_port_by_port() -> None:
    # Four hosts and six cables, of which twelve links; eight ports of switches; three switches.
    switch = Scenario.from_name("quickstart", {"scheme": "sfq"}).scheme.switch
    queues = estimate.queue_count(switch.assignment)
    found = _estimate({"sample_interval": 0})
    assert found.parts["topology"] == 12 * 1_100 + 4 * 1_500 + 8 * 56 * queues + 3 * 3 * 6


def test_a_port_has_a_control_queue_beside_those_of_classes() -> None:
    assignment = Scenario.from_name("quickstart", {"scheme": "wrr"}).scheme.switch.assignment
    assert isinstance(assignment, ClassAssignment)
    assert estimate.queue_count(assignment) == assignment.classes + 1


def test_of_several_runs_the_largest_are_in_memory_at_once() -> None:
    each = [Estimate({"topology": one}, 100.0, 6.0) for one in (3.0, 10.0, 5.0)]
    found = together(each, 2)
    assert found == Estimate({"topology": 15.0}, 300.0, 9.0)


def test_what_is_free_is_enough_and_the_largest_part_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needed = Estimate({"topology": 10.0, "traffic": 90.0, "measure.trace": 20.0}, 1e4, 1.0)
    monkeypatch.setattr(estimate, "available_bytes", lambda: needed.memory_bytes)
    check(needed)
    monkeypatch.setattr(estimate, "available_bytes", lambda: needed.memory_bytes - 1)
    with pytest.raises(ScenarioError, match="traffic: the run needs about"):
        check(needed)


def test_free_memory_is_that_of_the_machine_or_what_the_group_leaves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = "/sys/fs/cgroup/memory"
    texts = {"/proc/meminfo": "MemTotal: 900 kB\nMemAvailable:  500 kB\n"}

    class File:
        def __init__(self, name: str) -> None:
            self.name = name

        def read_text(self) -> str:
            if self.name not in texts:
                raise FileNotFoundError(self.name)
            return texts[self.name]

    monkeypatch.setattr(estimate, "Path", File)
    assert available_bytes() == 500 * 1_024
    texts |= {f"{group}.max": "300000\n", f"{group}.current": "100000\n"}
    assert available_bytes() == 200_000
    texts[f"{group}.max"] = "max\n"
    assert available_bytes() == 500 * 1_024


def test_times_and_counts_are_told_in_the_unit_that_leaves_two_or_more() -> None:
    words = {0.9: "less than a second", 119: "119 s", 120: "2 min", 7_200: "2 h"}
    assert {one: str(Estimate({}, 999.0, one)).split(", ")[2] for one in words} == words
    assert [str(Estimate({}, hops, 1.0)).split(", ")[1] for hops in (999.0, 1_000.0)] == [
        "999 packet-hops",
        "1.0·10³ packet-hops",
    ]
