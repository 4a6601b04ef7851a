"""Python and Rust mean the same by a scenario, and by the tables of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from good_scenarios import FAULTS, MEASURE, OPEN, PAIR, SCHEMES, TOPOLOGIES, TRAFFICS
from swarm.cable import working_cables

from penstock import Scenario, ScenarioError, _core
from penstock.scenario import preset_names, scenario_names
from penstock.tables import COLUMNS
from penstock.units import RATE, SIZE, TIME, Quantity


def same(scenario: Scenario) -> None:
    ours = scenario.to_json()
    assert json.loads(_core.normalize(ours)) == json.loads(ours)


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
    ends = [pair for a, b in working_cables(topology) for pair in ((a, b), (b, a))]
    assert list(zip(links["from"], links["to"], strict=True)) == ends
    names = scenario.topology.node_names()
    assert len(names) == scenario.topology.host_count() + scenario.topology.switch_count()
    assert json.loads(output["summary"])["node_names"] == names


@pytest.mark.parametrize("number", range(len(TRAFFICS)))
def test_traffics(number: int) -> None:
    same(Scenario(traffic=[TRAFFICS[number]]))


@pytest.mark.parametrize("number", range(len(SCHEMES)))
def test_schemes_that_are_no_preset(number: int) -> None:
    same(Scenario(scheme={"preset": "bfc", **SCHEMES[number]}, traffic=PAIR))


def test_faults_and_measures() -> None:
    same(Scenario(faults=FAULTS, measure=MEASURE, traffic=PAIR))


def test_an_unknown_field_is_refused_by_the_core() -> None:
    table = json.loads(Scenario(traffic=PAIR).to_json())
    table["topology"]["colour"] = "red"
    with pytest.raises(_core.ScenarioError, match="colour"):
        _core.normalize(json.dumps(table))


def test_a_load_that_a_link_cannot_carry_is_refused() -> None:
    traffic = [OPEN | {"load": 0.9, "load_on": {"kind": "edge"}}]
    with pytest.raises(ScenarioError, match="load"):
        Scenario(traffic=traffic)


def test_a_packet_that_ns3_sends_in_no_time_is_refused_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "tiny.toml"
    file.write_text(
        'fidelity = "ns3-hpcc"\nscheme = "dcqcn-mellanox"\nwire.payload = 1\n'
        'topology = {kind = "single-switch", hosts = 2, rate = "400 Gb/s", delay = 0}\n'
        '[[traffic]]\nkind = "long-lived"\npairs = [[0, 1]]\n'
    )
    with pytest.raises(ScenarioError) as refused:
        Scenario.from_toml(file)
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
    fixed = {"kind": "fixed", "size": 1000}
    traffic = [
        {"kind": "collective", "operation": "all-gather", "bytes": "10 kB"},
        {"kind": "rpc", "request": fixed, "response": fixed},
        {"kind": "listed", "flows": [[0, 1, 1000, 0]], "places": [[0, 0, 0]]},
    ]
    overrides = {"measure": measure, "duration": "20 us", "traffic": traffic}
    output = _core.run(Scenario.from_name("quickstart", overrides).to_json())
    assert set(output["tables"]) == set(COLUMNS)
    for table, columns in output["tables"].items():
        expected: dict[str, Any] = dict(COLUMNS[table])
        # The core has numbers where frames have names.
        expected |= dict.fromkeys({"event", "kind"} & expected.keys(), pl.UInt32())
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
