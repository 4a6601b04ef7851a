"""Scenarios: defaults, presets, overriding, resolving, round trips."""

from __future__ import annotations

import pickle
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

import penstock
from penstock import Scenario, ScenarioError, _core, run, run_many
from penstock.estimate import estimate
from penstock.flow_rows import FlowRows
from penstock.scenario import load_preset, preset_names, scenario_names
from penstock.scenario.base import is_default, note
from penstock.scenario.table import merge, parse_value, to_toml, with_key
from penstock.toml_text import ROWS_LONG, parse_toml
from penstock.trace import read_trace

LONG_LIVED = [{"kind": "long-lived", "pairs": [[0, 1]]}]
SWITCH = {"kind": "single-switch", "hosts": 8}


def test_public_names() -> None:
    assert penstock.__all__ == [
        "Controller",
        "Marking",
        "Problem",
        "Progress",
        "Run",
        "Scenario",
        "ScenarioError",
        "Scheduler",
        "Scheme",
        "SchemeError",
        "SimulationError",
        "StorageError",
        "__version__",
        "resume",
        "run",
        "run_each",
        "run_many",
    ]


def test_defaults_are_the_fabric_of_bfc_section_6_2_1() -> None:
    scenario = Scenario(traffic=LONG_LIVED)
    assert scenario.topology.host_count() == 128
    assert scenario.topology.switch_count() == 16
    assert scenario.topology.model_dump()["host_rate"] == 100_000_000_000
    assert scenario.topology.model_dump()["spine_delay"] == 1_000_000
    assert scenario.wire.model_dump() == {
        "payload": 1000,
        "header": 48,
        "acknowledgement": 60,
        "telemetry": 42,
        "timestamp": 8,
        "control_frame": 64,
    }
    assert scenario.scheme.name == "bfc"


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_is_a_scheme_and_says_what_it_is(preset: str) -> None:
    scheme = Scenario(traffic=LONG_LIVED, scheme=preset).scheme
    assert scheme.name == preset
    assert scheme.title
    assert scheme.cite


@pytest.mark.parametrize("preset", preset_names())
def test_only_pfc_without_a_static_xoff_has_thresholds_for_ingresses(preset: str) -> None:
    switch = Scenario(traffic=LONG_LIVED, scheme=preset).scheme.switch
    has_thresholds = getattr(switch.admission, "ingress", None) is not None
    is_static = getattr(switch.backpressure, "xoff", None) is not None
    is_pfc = switch.backpressure.kind in ("pfc", "fafc", "capfc", "p-pfc")
    assert has_thresholds == (is_pfc and not is_static)


def leaves(part: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any, FieldInfo]]:
    for name, info in type(part).model_fields.items():
        value = getattr(part, name)
        if isinstance(value, BaseModel):
            yield from leaves(value, f"{prefix}{name}.")
        elif name != "kind":
            yield f"{prefix}{name}", value, info


@pytest.mark.parametrize("preset", preset_names())
def test_every_number_of_a_preset_has_a_source(preset: str) -> None:
    """A constant without a source is a bug: of the preset, or of the default that it has."""
    scenario = Scenario(traffic=LONG_LIVED, scheme=preset)
    sources = load_preset(preset)["source"]
    named = {"name", "title", "cite"}
    found = [*leaves(scenario.scheme), *leaves(scenario.wire, "wire.")]
    for path, value, info in found:
        if path not in named and path not in sources:
            assert is_default(value, info), f"{preset}: {path} has no source"
            assert note(info, "source"), f"{preset}: the default of {path} has no source"
    assert set(sources) <= {path for path, _, _ in found}


def test_a_preset_is_varied_at_any_depth() -> None:
    scheme = {"preset": "bfc", "switch": {"assignment": {"queues": 8}}}
    assert Scenario(traffic=LONG_LIVED, scheme=scheme).scheme.switch.assignment.queues == 8


def test_a_table_with_its_kind_is_written_whole() -> None:
    over = {"scheme.switch.assignment": {"kind": "dynamic", "queues": 8}}
    scenario = Scenario(traffic=LONG_LIVED, scheme="bfc-incast-label")
    assert scenario.scheme.switch.assignment.model_dump()["incast_queue"] is True
    varied = scenario.with_overrides({"scheme.switch.assignment": {"queues": 8}})
    assert varied.scheme.switch.assignment.model_dump()["incast_queue"] is True
    replaced = scenario.with_overrides(over)
    assert replaced.scheme.switch.assignment.model_dump()["incast_queue"] is False


def test_the_scheme_comes_before_its_parts_whatever_the_order() -> None:
    parts = {"scheme.switch.assignment.queues": 8}
    for over in (parts | {"scheme": "bfc"}, {"scheme": "bfc"} | parts):
        scenario = Scenario(traffic=LONG_LIVED, scheme="dctcp").with_overrides(over)
        assert scenario.scheme.switch.assignment.queues == 8


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({"traffic[0].lasts": 1}, {"traffic.long-lived.lasts": 2}),
        ({"scheme": "bfc"}, {"scheme.preset": "dctcp"}),
        ({"topology.racks": 4}, {"topology": {"kind": "leaf-spine"}}),
        ({"topology.racks": 4}, {"topology": {"racks": 8}}),
    ],
)
def test_one_field_is_not_set_twice(first: dict[str, Any], then: dict[str, Any]) -> None:
    scenario = Scenario(traffic=LONG_LIVED)
    (name,) = first
    with pytest.raises(ScenarioError, match=r"it replaces .* which is set as well") as caught:
        scenario.with_overrides(first | then)
    assert f'"{name}"' in str(caught.value)


def test_what_is_no_scenario_is_told_with_what_to_write(tmp_path: Path) -> None:
    for wrong, words in (("quickstart", "write Scenario.load"), ({}, "is a dict and no Scenario")):
        with pytest.raises(TypeError, match=words):
            run(wrong)  # type: ignore[arg-type]
    scenario = Scenario.from_name("quickstart", {"duration": "1 us", "seed": np.int64(3)})
    assert scenario.seed == 3
    with pytest.raises(TypeError, match="scenarios have names"):
        run_many([scenario])  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match="jobs = -1: no run would be made"):
        run_many({"a": scenario}, jobs=-1)
    assert run_many({"a": scenario}, out=str(tmp_path))["a"].directory == tmp_path / "a"


def test_changing_a_kind_replaces_the_table() -> None:
    over = {"scheme.switch.assignment": {"kind": "stochastic"}}
    scenario = Scenario(traffic=LONG_LIVED).with_overrides(over)
    assert scenario.scheme.switch.assignment.model_dump() == {
        "kind": "stochastic",
        "queues": 32,
        "classes": 1,
    }


def test_packet_weights_follow_the_preset_and_leave_with_it() -> None:
    scenario = Scenario(traffic=LONG_LIVED, scheme="hpcc-80")
    assert scenario.wire.telemetry == 80
    assert scenario.with_overrides({"scheme": "hpcc"}).wire.telemetry == 42
    assert scenario.with_overrides({"wire.telemetry": 50}).wire.telemetry == 50


def test_a_scenario_cannot_be_changed() -> None:
    scenario = Scenario(traffic=LONG_LIVED)
    with pytest.raises(ValidationError):
        scenario.seed = 2  # type: ignore[misc]


def test_equal_fields_make_equal_scenarios_however_they_were_written(here: Path) -> None:
    scenario = Scenario(traffic=LONG_LIVED, duration="20 us")
    same = scenario.with_overrides({"duration": "20000 ns"})
    text = 'name = "scenario"\nduration = 20_000_000\n[[traffic]]\nkind = "long-lived"\n'
    Path("other.toml").write_text(f"{text}pairs = [[0, 1]]\n")
    assert scenario == same == Scenario.load("other.toml")
    assert len({scenario, same, Scenario.load("other.toml")}) == 1
    assert scenario != scenario.with_overrides({"seed": 2})
    assert scenario != "scenario"
    assert str(scenario) == repr(scenario)


def test_a_scenario_keeps_the_directory_of_its_paths(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("flows.csv").write_text("src,dst,size_bytes,start_us\n0,3,1500,0\n")
    traffic = [{"kind": "trace", "file": "flows.csv"}]
    Path("mine.toml").write_text('traffic = [{kind = "trace", file = "flows.csv"}]\n')
    made = [Scenario(traffic=traffic), Scenario.load("mine.toml")]
    (here / "elsewhere").mkdir()
    monkeypatch.chdir(here / "elsewhere")
    for one in (*made, *pickle.loads(pickle.dumps(made))):
        assert one.with_overrides({"seed": 2}).traffic[0].file == str(here / "flows.csv")


def test_a_refusal_comes_whole_from_another_process() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario(traffic=LONG_LIVED, seed=-1, duration="5 parsecs")
    found = pickle.loads(pickle.dumps(caught.value))
    assert str(found) == str(caught.value)
    assert found.problems == caught.value.problems
    assert len(found.problems) == 2


@pytest.mark.parametrize("overrides", ["load=0.3", [("load", 0.3)], {5: 1}])
def test_overrides_that_are_no_paths_with_values_are_refused(overrides: Any) -> None:
    with pytest.raises(TypeError, match=r'write a dict, e\.g\. \{"load": 0\.5'):
        Scenario(traffic=LONG_LIVED).with_overrides(overrides)


def test_load_is_that_of_the_only_open_loop_traffic() -> None:
    scenario = Scenario.from_name("bfc-demo", {"load": 0.7, "traffic.incast.degree": 50})
    assert scenario.traffic[0].load == 0.7
    assert scenario.traffic[1].degree == 50


def test_resolving_leaves_nothing_to_look_up() -> None:
    resolved = Scenario.from_name("parking-lot").resolve()
    assert [entry.kind for entry in resolved.traffic] == ["listed", "listed"]
    assert resolved.traffic[0].flows == ((0, 6, 0, 0),)
    demo = Scenario.from_name("bfc-demo").resolve()
    assert {entry.stop for entry in demo.traffic} == {demo.duration}


@pytest.mark.parametrize("name", scenario_names())
def test_a_built_in_scenario_reads_back_from_its_toml(name: str, tmp_path: Path) -> None:
    scenario = Scenario.from_name(name)
    file = tmp_path / "scenario.toml"
    file.write_text(scenario.to_toml())
    again = Scenario.from_toml(file)
    assert again.to_json() == scenario.to_json()
    assert again.content_hash() == scenario.content_hash()
    assert again.to_toml() == scenario.to_toml()


def test_traffic_without_an_end_of_its_own_lasts_as_long_as_a_longer_run(tmp_path: Path) -> None:
    own = Scenario.from_name("quickstart")
    file = tmp_path / "best.toml"
    file.write_text(own.to_toml())
    longer = {"duration": own.duration * 3}
    again = Scenario.from_toml(file, longer)
    assert {one.stop for one in again.resolve().traffic} == {again.duration}
    assert again.content_hash() == own.with_overrides(longer).content_hash()
    file.write_text(own.with_overrides({"traffic[0].stop": "100 us"}).to_toml())
    assert Scenario.from_toml(file, longer).traffic[0].stop == 100_000_000
    file.write_text(own.resolve().to_toml())  # as a run records it
    recorded = Scenario.from_toml(file, longer)
    assert {one.stop for one in recorded.resolve().traffic} == {recorded.duration}


def test_a_distribution_of_ones_own_is_stored_whole(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("size,percent\n100,40\n2000,100\n")
    file = tmp_path / "mine.toml"
    file.write_text(
        '[[traffic]]\nkind = "open-loop"\nload = 0.5\n'
        'sizes = { kind = "cdf", file = "mine.csv", convention = "step" }\n'
    )
    scenario = Scenario.from_toml(file)
    assert scenario.name == "mine"
    assert scenario.traffic[0].sizes.points == ((100, 0.4), (2000, 1.0))
    stored = tmp_path / "stored" / "scenario.toml"
    stored.parent.mkdir()
    stored.write_text(scenario.to_toml())
    (tmp_path / "mine.csv").unlink()
    assert Scenario.from_toml(stored).to_json() == scenario.to_json()


def test_a_trace_is_read_relative_to_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("src,dst,size_bytes,start_us\n0,1,1000,0\n1,0,10,2.5\n")
    file = tmp_path / "replay.toml"
    file.write_text('[[traffic]]\nkind = "trace"\nfile = "flows.csv"\n')
    resolved = Scenario.from_toml(file).resolve()
    assert resolved.traffic[0].flows == ((0, 1, 1000, 0), (1, 0, 10, 2_500_000))


def test_a_trace_is_read_once_and_again_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flows, file, read = tmp_path / "flows.csv", tmp_path / "replay.toml", []
    monkeypatch.setattr(
        "penstock.scenario.traffic.read_trace", lambda path: read.append(path) or read_trace(path)
    )
    flows.write_text("src,dst,size_bytes,start_us\n0,1,1000,0\n")
    file.write_text('[[traffic]]\nkind = "trace"\nfile = "flows.csv"\n')
    scenario = Scenario.from_toml(file)
    before = scenario.with_overrides({"scheme": "dctcp"}).to_json(), scenario.content_hash()
    assert len(read) == 1
    flows.write_text("src,dst,size_bytes,start_us\n0,1,100,0\n")
    assert before != (scenario.with_overrides({"scheme": "dctcp"}).to_json(), before[1])
    assert scenario.content_hash() != before[1]
    assert len(read) == 2
    flows.unlink()
    with pytest.raises(ScenarioError, match=r"flows\.csv"):
        scenario.to_json()


def test_a_long_trace_is_the_list_of_its_flows(tmp_path: Path) -> None:
    flows = [[host % 8, (host + 1) % 8, 1 + host, 1_500_000 * host] for host in range(ROWS_LONG)]
    file = tmp_path / "flows.csv"
    rows = [f"{source},{to},{size},{start // 1000}" for source, to, size, start in flows]
    file.write_text("\n".join(["src,dst,size_bytes,start_ns", *rows]))
    trace = {"kind": "trace", "label": "long", "file": str(file)}
    listed = {"kind": "listed", "label": "long", "flows": flows}
    short = {"kind": "listed", "label": "short", "flows": flows[:2]}
    traced, written = (
        Scenario(topology=SWITCH, scheme="bfc", traffic=[long, short]) for long in (trace, listed)
    )
    assert traced.content_hash() == written.content_hash()
    assert traced.to_json() == written.to_json() and traced.to_toml() == written.to_toml()
    text, lists = traced.handed_over()
    assert '"flows":[]' in text and list(lists) == [0]
    assert _core.normalize((text, lists)) == _core.normalize(written.to_json())
    assert estimate(traced) == estimate(written)
    again = Scenario(topology=SWITCH, scheme="bfc", traffic=traced.resolve().traffic)
    assert again.to_json() == traced.to_json()
    record = tmp_path / "record.toml"
    record.write_text(traced.to_toml())
    stored = Scenario.from_toml(record)
    assert isinstance(stored.traffic[0].flows, FlowRows)
    assert stored.content_hash() == traced.content_hash() and stored.to_toml() == traced.to_toml()


@pytest.mark.parametrize(
    ("row", "refused"),
    [
        ("[0, 1, 9223372036854775808, 5]", "9223372036854775808 for the size"),
        ("[0, 4294967296, 9, 5]", "flows[5][1] = 4294967296"),
        ("[0, 1, 9, 18446744073709551616]", "a time is at most"),
        ("[0, 1, 9]", "flows[5][3]"),
        ("[0, 1, 9, 5, 5]", "flows[5]"),
        ("[0, 9, 9, 5]", "flows[5][1]: it is 9; there is no such host"),
        ("[0, 01, 9, 5]", "line"),
    ],
)
def test_a_wrong_row_of_a_long_record_is_refused_as_in_a_short_one(
    row: str, refused: str, tmp_path: Path
) -> None:
    rows = ["[0, 1, 9, 5]"] * ROWS_LONG
    rows[5] = row
    listed = "\n".join(f"  {one}," for one in rows)[:-1]
    file = tmp_path / "record.toml"
    file.write_text(
        'topology = { kind = "single-switch", hosts = 8 }\n'
        f'[[traffic]]\nkind = "listed"\nflows = [\n{listed}\n]\n'
    )
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(file)
    assert refused in str(caught.value)


def test_a_long_trace_is_stored_by_rows_of_numbers_and_reads_back(tmp_path: Path) -> None:
    flows = [(host % 8, (host + 1) % 8, 1 + host, 1_500 * host) for host in range(ROWS_LONG)]
    traffic = [
        {"kind": "listed", "label": "long", "flows": flows, "lasts": [0] * len(flows)},
        {"kind": "listed", "label": "short", "flows": flows[:2]},
    ]
    scenario = Scenario.model_validate({"topology": SWITCH, "traffic": traffic})
    file = tmp_path / "scenario.toml"
    file.write_text(scenario.to_toml())
    rows = file.read_text().splitlines()
    assert '  [1, 2, "2 B", "1.5 ns"],' in rows and "  [1, 2, 2, 1500]," in rows
    again = Scenario.from_toml(file)
    assert again.to_json() == scenario.to_json()
    assert again.to_toml() == scenario.to_toml()


LONG_LIST = "\n".join(["rows = [", *["  [1, 22],"] * ROWS_LONG, "  [3, 4]", "]", ""])


@pytest.mark.parametrize(
    "text",
    [
        f"a = 1\n{LONG_LIST}[b]\nc = 'rows'\n",
        LONG_LIST.replace("[1, 22]", "[]", 1),
        LONG_LIST.replace("  [3, 4]\n", ""),
        f"text = '''\n{LONG_LIST}'''\n",
        f"# {LONG_LIST}"[:-3].replace("\n", "\n# "),
    ],
)
def test_a_long_list_is_read_as_any_other(text: str) -> None:
    assert parse_toml(text) == tomllib.loads(text)


@pytest.mark.parametrize(
    "text",
    [LONG_LIST.replace("22", "022", 1), f"{LONG_LIST}rows = 1\n", f"{LONG_LIST}b = [\n"],
)
def test_what_is_wrong_with_a_long_list_is_said_with_its_line(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError) as expected:
        tomllib.loads(text)
    with pytest.raises(tomllib.TOMLDecodeError) as found:
        parse_toml(text)
    assert str(found.value) == str(expected.value)


def test_every_problem_is_reported_at_once() -> None:
    with pytest.raises(ScenarioError) as refused:
        Scenario(duration="5 parsecs", seed=-1, traffic=LONG_LIVED, shceme="bfc")
    fields = {problem.field for problem in refused.value.problems}
    assert fields == {"duration", "seed", "shceme"}
    assert 'did you mean "scheme"?' in str(refused.value)


def test_problems_of_the_whole_are_reported_with_the_field() -> None:
    with pytest.raises(ScenarioError, match=r"traffic\[0\]\.class: it is 3; "):
        Scenario(traffic=[{"kind": "long-lived", "pairs": [[0, 1]], "class": 3}])


def test_merging_and_setting_leave_their_inputs_alone() -> None:
    base: dict[str, Any] = {"a": {"kind": "x", "size": 1}, "list": [{"label": "one", "n": 1}]}
    assert merge(base, {"a": {"size": 2}})["a"] == {"kind": "x", "size": 2}
    assert merge(base, {"a": {"kind": "y"}})["a"] == {"kind": "y"}
    assert merge(base, {"a": {"kind": "x"}})["a"] == {"kind": "x"}
    assert with_key(base, "list.one.n", 2)["list"] == [{"label": "one", "n": 2}]
    assert with_key(base, "list[0].n", 3)["list"] == [{"label": "one", "n": 3}]
    assert base == {"a": {"kind": "x", "size": 1}, "list": [{"label": "one", "n": 1}]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.7", 0.7),
        ("4", 4),
        ("true", True),
        ("12 us", "12 us"),
        ("bfc", "bfc"),
        ("[1, 2]", [1, 2]),
    ],
)
def test_values_on_the_command_line_are_toml_or_text(text: str, value: object) -> None:
    assert parse_value(text) == value


@given(rows=st.lists(st.tuples(st.integers(0, 2**63), st.floats(0, 1)), min_size=1))
def test_rows_of_numbers_stay_exact_in_toml(rows: list[tuple[int, float]]) -> None:
    text = to_toml({"points": rows, "text": "[\n 1,\n]"})
    table = tomllib.loads(text)
    assert table == {"points": [list(row) for row in rows], "text": "[\n 1,\n]"}
    assert text.count("\n") <= len(rows) + 4
