"""Python and Rust mean the same by a scenario, and by the tables of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from penstock import Scenario, ScenarioError, _core
from penstock.runner import run, validate
from penstock.scenario import preset_names, scenario_names
from penstock.tables import COLUMNS
from penstock.units import RATE, SIZE, TIME, Quantity

PAIR = [{"kind": "long-lived", "pairs": [[0, 1]]}]
OPEN: dict[str, Any] = {"kind": "open-loop", "sizes": "google", "load": 0.2}
LINKS = [{"a": 0, "b": 2}, {"a": 1, "b": 2, "rate": "40 Gb/s", "delay": "3 us"}]

FAST = {"rate": "400 Gb/s", "kmin": "400 kB", "kmax": "1600 kB", "pmax": 0.2}

TOPOLOGIES: list[dict[str, Any]] = [
    {"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 2, "spines": 2, "spine_rate": "40 Gb/s"},
    {"kind": "single-switch", "hosts": 4, "pipeline_delay": "500 ns"},
    {"kind": "dumbbell", "left": 2, "right": 2, "core_delay": "200 us"},
    {"kind": "chain", "switches": 3, "hosts_per_switch": 2},
    {"kind": "graph", "hosts": 2, "switches": 1, "links": LINKS},
    {"kind": "clos", "pods": 2, "tors_per_pod": 2, "hosts_per_tor": 2, "spines": 2},
    {"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 2, "spines": 2, "failed_links": [[5, 6]]},
]

TRAFFICS: list[dict[str, Any]] = [
    OPEN,
    OPEN | {"sizes": {"kind": "fixed", "size": "10 kB"}, "arrivals": {"kind": "poisson"}},
    OPEN | {"sizes": {"kind": "exponential", "mean": "10 kB"}, "load_on": {"kind": "edge"}},
    OPEN | {"sizes": {"kind": "pareto"}, "arrivals": {"kind": "deterministic"}},
    OPEN | {"pairs": {"kind": "rack-local", "fraction": 0.5}, "load_counts": "all"},
    OPEN | {"pairs": {"kind": "permutation"}, "load_on": {"kind": "edge"}},
    OPEN
    | {
        "pairs": {"kind": "between", "sources": [0, 1], "destinations": [20]},
        "load_on": {"kind": "links", "links": [[129, 20]]},
    },
    OPEN | {"pairs": {"kind": "fan-in", "least": 2, "most": 3}},
    OPEN
    | {
        "pairs": {"kind": "synchronous", "sources": [1, 2], "receiver": 20},
        "load_on": {"kind": "links", "links": [[129, 20]]},
    },
    {"kind": "incast", "degree": 8, "receiver": 5, "senders": [1, 2], "period": "2 ms"},
    {"kind": "listed", "flows": [[0, 1, 10, 0], [1, 2, 0, "3 us"]], "destination_ports": [1, 2]},
    {"kind": "long-lived", "pairs": [[0, 1]]},
]

SCHEMES: list[dict[str, Any]] = [
    {"switch": {"admission": {"kind": "static", "per_port": "512 kB"}}},
    {
        "switch": {
            "assignment": {"kind": "class", "classes": 4},
            "scheduling": {"kind": "strict"},
            "backpressure": {"kind": "pfc", "xoff": "250 kB"},
        }
    },
    {"switch": {"backpressure": {"threshold": {"kind": "time", "time": "2 us"}}}},
    {
        "switch": {
            "assignment": {"full_port": "closest-remaining", "classes": 2, "classes_share": True},
            "backpressure": {"kind": "credits", "pauses": {"elide_down_up": True}},
        }
    },
    {"switch": {"backpressure": {"bitmap_interval": "10 us", "elide_down_up": True}}},
    {"switch": {"backpressure": {"kind": "flow-pauses"}}},
    {"switch": {"backpressure": {"elide": [[136, 128, 137]]}}, "host": {"base_rtt": "own"}},
    {"switch": {"admission": {"other_buffers": [[128, "64 MiB"]]}}},
    {"switch": {"marking": {"kind": "ecn", "at": "enqueue", "pmax": 0.2, "per_rate": [FAST]}}},
    {
        "host": {
            "controller": {
                "kind": "timely",
                "update": {"kind": "segment"},
                "band": {"kind": "patched"},
                "window": "bdp",
            }
        }
    },
    {"host": {"controller": {"kind": "swift", "base_target": "20 us"}}},
    {
        "switch": {
            "assignment": {"kind": "ingress"},
            "marking": {"kind": "predicted", "threshold": "150 kB"},
            "backpressure": {"kind": "fafc", "pfc": {"xoff": "1 MB"}},
        }
    },
    {
        "switch": {
            "assignment": {"kind": "rounds", "bids": "audited"},
            "scheduling": {"kind": "rotating-strict"},
            "marking": {"kind": "rounds", "rounds": 4},
            "backpressure": {"kind": "none"},
        },
        "host": {"controller": {"kind": "packet-pair", "bytes_per_round": "4 kB"}},
    },
    {
        "switch": {
            "assignment": {"kind": "class"},
            "scheduling": {"kind": "credit-shaping", "queue": 8, "frame": "1048 B"},
            "backpressure": {"kind": "none"},
        },
        "host": {
            "controller": {"kind": "expresspass", "feedback": {"kind": "paper"}},
            "nic": {"queues": 0},
        },
        "routing": {"kind": "symmetric-ecmp"},
    },
    {"host": {"controller": {"kind": "new-reno"}, "recovery": {"kind": "selective-repeat"}}},
    {
        "switch": {
            "assignment": {"kind": "priority", "levels": 8},
            "scheduling": {"kind": "strict"},
            "backpressure": {"kind": "none"},
        },
        "host": {
            "controller": {"kind": "homa", "overcommitment": 4, "cutoffs": ["1 kB", "5 kB"]},
            "recovery": {"kind": "resend", "timeout": "1 ms"},
        },
        "routing": {"kind": "spray", "order": "round-robin"},
    },
]


def same(scenario: Scenario) -> None:
    ours = scenario.to_json()
    assert json.loads(_core.normalize(ours)) == json.loads(ours)
    validate(scenario)


@pytest.mark.parametrize("preset", preset_names())
def test_presets(preset: str) -> None:
    same(Scenario(scheme=preset, traffic=PAIR))


@pytest.mark.parametrize("name", scenario_names())
def test_built_in_scenarios(name: str) -> None:
    same(Scenario.from_name(name))


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=lambda one: str(one["kind"]))
def test_topologies(topology: dict[str, Any]) -> None:
    scenario = Scenario(topology=topology, traffic=PAIR, duration="1 us", drain="1 us")
    same(scenario)
    output = _core.run(scenario.to_json())
    links = output["tables"]["links"]
    ends = [pair for a, b in scenario.topology.cables() for pair in ((a, b), (b, a))]
    assert list(zip(links["from"], links["to"], strict=True)) == ends
    assert json.loads(output["summary"])["node_names"] == scenario.topology.node_names()


@pytest.mark.parametrize("number", range(len(TRAFFICS)))
def test_traffics(number: int) -> None:
    same(Scenario(traffic=[TRAFFICS[number]]))


@pytest.mark.parametrize("number", range(len(SCHEMES)))
def test_schemes_that_are_no_preset(number: int) -> None:
    same(Scenario(scheme={"preset": "bfc", **SCHEMES[number]}, traffic=PAIR))


def test_faults_and_measures() -> None:
    measure = {
        "sample_interval": 0,
        "active_flows": True,
        "queue_delays": True,
        "series": [[0, 128]],
        "events": True,
        "trace": {"nodes": [128]},
    }
    outages = [
        {"link": [128, 136], "start": "1 us"},
        {"link": [137, 128], "start": "2 us", "end": "3 us"},
    ]
    faults = {"control_loss": 0.01, "outages": outages}
    same(Scenario(faults=faults, measure=measure, traffic=PAIR))


def test_an_unknown_field_is_refused_by_the_core() -> None:
    table = json.loads(Scenario(traffic=PAIR).to_json())
    table["topology"]["colour"] = "red"
    with pytest.raises(_core.ScenarioError, match="colour"):
        _core.normalize(json.dumps(table))


def test_a_load_that_a_link_cannot_carry_is_refused() -> None:
    traffic = [OPEN | {"load": 0.9, "load_on": {"kind": "edge"}}]
    with pytest.raises(ScenarioError, match="load"):
        validate(Scenario(traffic=traffic))


def test_a_packet_that_ns3_sends_in_no_time_is_refused_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "tiny.toml"
    file.write_text(
        'fidelity = "ns3-hpcc"\nscheme = "dcqcn-mellanox"\nwire.payload = 1\n'
        'topology = {kind = "single-switch", hosts = 2, rate = "400 Gb/s", delay = 0}\n'
        '[[traffic]]\nkind = "long-lived"\npairs = [[0, 1]]\n'
    )
    scenario = Scenario.from_toml(file)
    for check in (validate, run):
        with pytest.raises(ScenarioError) as refused:
            check(scenario)
        [problem] = refused.value.problems
        assert problem.file == str(file)
        assert (problem.field, problem.message) == ("wire.payload", "it is 1 B")
        assert problem.remedy.startswith("fidelity ns3-hpcc cuts times")


def test_tables_have_the_columns_that_are_documented() -> None:
    measure = {
        "sample_interval": "1 us",
        "active_flows": True,
        "queue_delays": True,
        "series": [[0, 8]],
        "events": True,
        "trace": {"nodes": []},
    }
    overrides = {"measure": measure, "duration": "20 us"}
    output = _core.run(Scenario.from_name("quickstart", overrides).to_json())
    assert set(output["tables"]) == set(COLUMNS)
    for table, columns in output["tables"].items():
        expected: dict[str, Any] = dict(COLUMNS[table])
        if "event" in expected:
            expected["event"] = pl.UInt32()
        assert dict(pl.DataFrame(dict(columns)).schema) == expected, table


@pytest.mark.parametrize(
    ("quantity", "field", "text"),
    [(TIME, "duration", "1.5 us"), (RATE, "rate", "40 Gb/s"), (SIZE, "payload", "1.5 kB")],
)
def test_the_core_gets_base_units(quantity: Quantity, field: str, text: str) -> None:
    single = {"kind": "single-switch", "hosts": 2, "rate": "40 Gb/s"}
    scenario = Scenario(
        duration="1.5 us", wire={"payload": "1.5 kB"}, topology=single, traffic=PAIR
    )
    table = json.loads(scenario.to_json())
    found = {**table, **table["wire"], **table["topology"]}
    assert found[field] == quantity.parse(text)
