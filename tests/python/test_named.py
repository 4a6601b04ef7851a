"""Schemes, scenarios and experiments of users, and names of nodes in place of numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock import Scenario, ScenarioError
from penstock.cli import main
from penstock.errors import nearest

FILES = {
    "schemes/bfc-64.toml": """
preset = "bfc"
title = "BFC with 64 queues"
[switch.assignment]
queues = 64
""",
    "mine/varied.toml": """
preset = "../schemes/bfc-64.toml"
[host.nic]
queues = 16
""",
    "scenarios/small.toml": """
duration = "20 us"
scheme = "../mine/varied.toml"
topology = {kind = "single-switch", hosts = 4}
[[traffic]]
kind = "listed"
flows = [[0, 3, 5000, "0 us"], [1, 3, 5000, "0 us"]]
""",
    "experiments/queues.toml": """
id = "own/queues"
title = "Mine"
source = "none"
shows = "Queues"
scenario = "../scenarios/small.toml"
deterministic = "listed flows"
[scales.quick]
[[sweeps]]
schemes = ["bfc", "../mine/varied.toml"]
[[claims]]
claim = "Both finish."
reported = "never"
at_most = 0
one_sided = "a share"
margin = "exact"
measure = "unfinished(scheme='varied') + unfinished(scheme='bfc')"
""",
}


@pytest.fixture
def own(here: Path) -> Path:
    """A working directory with a scheme, one that varies it, a scenario and an experiment."""
    for name, text in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    return here


def test_names_and_files_are_compared_together(own: Path) -> None:
    schemes = "bfc,bfc-64,./mine/varied.toml"
    assert main(["compare", "small", "--scheme", schemes, "--out", "out"]) == 0
    found = {path.parent.name: path for path in own.glob("out/*/summary.json")}
    assert {name: json.loads(path.read_text())["scheme"] for name, path in found.items()} == {
        name: name for name in ("bfc", "bfc-64", "varied")
    }


def test_a_file_varies_a_file_relative_to_itself(own: Path) -> None:
    scheme = Scenario.load("small").model_dump()["scheme"]
    assert (scheme["name"], scheme["title"]) == ("varied", "BFC with 64 queues")
    assert scheme["switch"]["assignment"]["queues"] == 64
    assert scheme["host"]["nic"]["queues"] == 16
    more = Scenario.load("small", {"scheme.host.nic.queues": 8}).model_dump()["scheme"]
    assert more["host"]["nic"]["queues"] == 8
    assert more["switch"]["assignment"]["queues"] == 64


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('preset = "./loop.toml"', "loop.toml varies itself"),
        ("preset = 3", "`preset` is no text"),
        ('preset = "bfk"', 'did you mean "bfc"'),
        ('preset = "bfc"\nsource = 3', "`source` is no table"),
        ('preset = "bfc"\nwire = 3', "`wire` is no table"),
        ('preset = "bfc"\n[host]\nnics = 3', "loop.toml: scheme.host.nics"),
        ('preset = "bfc"\n[switch.assignment]\nqueues = 0', "loop.toml: scheme.switch.assignment"),
    ],
)
def test_a_wrong_scheme_names_its_file(
    own: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    Path("loop.toml").write_text(text)
    assert main(["run", "small", "--scheme", "./loop.toml"]) == 2
    assert words in capsys.readouterr().err
    assert not Path("runs").exists()


def test_a_built_in_name_of_a_file_is_refused_and_its_path_is_not(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("schemes/dctcp.toml").write_text(FILES["schemes/bfc-64.toml"])
    assert main(["run", "small", "--scheme", "dctcp"]) == 2
    assert "schemes/dctcp.toml has the name of a built-in scheme" in capsys.readouterr().err
    schemes = "dctcp-ss,./schemes/dctcp.toml"  # dctcp-ss varies the built-in dctcp
    assert main(["compare", "small", "--scheme", schemes]) == 0


def test_two_schemes_of_one_name_are_refused(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bfc.toml").write_text(FILES["schemes/bfc-64.toml"])
    assert main(["compare", "small", "--scheme", "bfc,./bfc.toml"]) == 2
    assert "two schemes are called bfc" in capsys.readouterr().err


def test_a_pattern_means_all_schemes_of_such_names(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schemes = "afq-dctcp*,bfc-6*,bfc-64"  # bfc-64 is of ./schemes
    assert main(["compare", "small", "--scheme", schemes, "--out", "out"]) == 0
    runs = sorted(path.name for path in Path("out").iterdir() if path.is_dir())
    assert runs == ["afq-dctcp", "bfc-64"]
    capsys.readouterr()
    for wrong, words in (("bfc-9*", "no scheme has a name of this"), ("[", "of this pattern")):
        assert main(["compare", "small", "--scheme", wrong]) == 2
        assert words in capsys.readouterr().err


def test_a_run_takes_one_scheme(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "small", "--scheme", "bfc,dctcp"]) == 2
    assert "penstock compare takes several" in capsys.readouterr().err


def test_what_lies_in_the_working_directory_is_listed_and_shown(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind, name in (("schemes", "bfc-64"), ("scenarios", "small"), ("experiments", "queues")):
        assert main(["list", kind, "--json"]) == 0
        assert name in {row["name"] for row in json.loads(capsys.readouterr().out)}
        assert main(["show", name]) == 0
        capsys.readouterr()
    for file in ("mine/varied.toml", "scenarios/small.toml", "experiments/queues.toml"):
        assert main(["show", f"./{file}"]) == 0
    shown = capsys.readouterr().out
    assert all(kind in shown for kind in ("Scheme  varied", "Scenario  small", "Experiment  own/"))


def test_what_is_part_of_another_experiment_gives_way_to_a_file(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "pcn/fig3"]) == 0
    assert "Experiment  pcn/fig2" in capsys.readouterr().out
    mine = Path("experiments/pcn/fig3.toml")
    mine.parent.mkdir()
    mine.write_text(Path("experiments/queues.toml").read_text())
    assert main(["show", "pcn/fig3"]) == 0
    assert "Experiment  own/" in capsys.readouterr().out


def test_reproduce_takes_files(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "./experiments/queues.toml", "--json"]) == 0
    page = json.loads(capsys.readouterr().out)
    assert page["id"] == "own/queues"
    assert [one["verdict"] for one in page["claims"]] == ["holds"]
    assert Path("runs/own/queues-quick/report.html").is_file()
    assert main(["reproduce", "queues", "--scale", "paper"]) == 2
    assert "queues has no such scale" in capsys.readouterr().err


def test_many_wrong_names_show_three() -> None:
    told = nearest("name7x", [f"name{number}" for number in range(63)])
    assert told.startswith('did you mean "name7"? the nearest of 63 are name7, ')
    assert told.count(",") == 2
    assert nearest("y", ["b", "a"]) == "one of a, b"
    assert nearest("BFC", ["bfc", "Wrr"]) == 'did you mean "bfc"? one of Wrr, bfc'
    assert nearest("wr", ["bfc", "Wrr"]).startswith('did you mean "Wrr"?')


def flows(**entry: Any) -> dict[str, Any]:
    return {"traffic": [entry]}


def open_loop(pairs: dict[str, Any], links: list[Any]) -> dict[str, Any]:
    on = {"kind": "links", "links": links}
    return flows(kind="open-loop", sizes="google", load=0.3, pairs=pairs, load_on=on)


SIZE = {"kind": "fixed", "size": "1 kB"}
NODES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "failed_links": (
        {"topology": {"failed_links": [["T1", "S0"]]}},
        {"topology": {"failed_links": [[5, 6]]}},
    ),
    "elide": (
        {"scheme": {"preset": "bfc", "switch": {"backpressure": {"elide": [["S0", "T0", 0]]}}}},
        {"scheme": {"preset": "bfc", "switch": {"backpressure": {"elide": [[6, 4, 0]]}}}},
    ),
    "outage": (
        {"faults": {"outages": [{"link": ["T0", "S1"], "start": "1 us"}]}},
        {"faults": {"outages": [{"link": [4, 7], "start": "1 us"}]}},
    ),
    "series and trace": (
        {"measure": {"series": [["H0", "T0"], [1, "T0"]], "trace": {"nodes": ["T0", "S1"]}}},
        {"measure": {"series": [[0, 4], [1, 4]], "trace": {"nodes": [4, 7]}}},
    ),
    "listed": (
        flows(kind="listed", flows=[["H0", "H3", "5 kB", "1 us"]]),
        flows(kind="listed", flows=[[0, 3, "5 kB", "1 us"]]),
    ),
    "long-lived": (
        flows(kind="long-lived", pairs=[["H0", "H3"]]),
        flows(kind="long-lived", pairs=[[0, 3]]),
    ),
    "incast": (
        flows(kind="incast", degree=2, period="5 ms", receiver="H3", senders=["H0", "H1"]),
        flows(kind="incast", degree=2, period="5 ms", receiver=3, senders=[0, 1]),
    ),
    "ranges": (
        flows(kind="collective", operation="all-to-all", bytes="1 kB", ranks=["H0..H2", "H3"]),
        flows(kind="collective", operation="all-to-all", bytes="1 kB", ranks=[0, 1, 2, 3]),
    ),
    "rpc": (
        flows(kind="rpc", clients=["H0..H1"], servers=["H3"], request=SIZE, response=SIZE),
        flows(kind="rpc", clients=[0, 1], servers=[3], request=SIZE, response=SIZE),
    ),
    "between": (
        open_loop(
            {"kind": "between", "sources": ["H0"], "destinations": ["H2", "H3"]},
            [["T0", "S0"], ["T0", "S1"]],
        ),
        open_loop({"kind": "between", "sources": [0], "destinations": [2, 3]}, [[4, 6], [4, 7]]),
    ),
    "synchronous": (
        open_loop(
            {"kind": "synchronous", "sources": ["H0", "H1"], "receiver": "H2"}, [["T0", "S0"]]
        ),
        open_loop({"kind": "synchronous", "sources": [0, 1], "receiver": 2}, [[4, 6]]),
    ),
    "emulation": (
        {"emulation": {"other_hosts": ["H1"], "programs": [{"host": "H0", "command": "true"}]}},
        {"emulation": {"other_hosts": [1], "programs": [{"host": 0, "command": "true"}]}},
    ),
}
NETWORK = {"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 2, "spines": 2}


def scenario(changes: dict[str, Any]) -> Scenario:
    base = {"topology": NETWORK} | flows(kind="long-lived", pairs=[[0, 3]])
    network = NETWORK | changes.get("topology", {})
    return Scenario.model_validate(base | changes | {"topology": network})


@pytest.mark.parametrize("case", NODES)
def test_names_of_nodes_mean_their_numbers(case: str) -> None:
    named, numbered = (scenario(one) for one in NODES[case])
    assert named.content_hash() == numbered.content_hash()
    assert named.with_overrides({"seed": 2}).seed == 2


def test_a_node_that_does_not_exist_is_named() -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario({"measure": {"series": [["H0", "T0"], ["T9", "S1"]]}})
    (problem,) = refused.value.problems
    assert (problem.field, problem.value) == ("measure.series[1][0]", "T9")
    assert "T0" in problem.remedy


@pytest.mark.parametrize(
    ("written", "remedy"),
    [("H2..H0", 'write "H0..H2"'), ("H0..H9", "the first and the last"), ("H0..", "the first")],
)
def test_a_range_without_nodes_is_refused(written: str, remedy: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario(flows(kind="incast", degree=1, receiver=3, senders=[written]))
    (problem,) = refused.value.problems
    assert (problem.field, problem.value) == ("traffic[0].senders", written)
    assert remedy in problem.remedy


def test_the_home_of_nobody_is_refused(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "quickstart", "--scheme", "~nobody-here/mine.toml"]) == 2
    assert "~nobody-here/mine.toml" in capsys.readouterr().err
    assert main(["sweep", "quickstart", "--set", "scheme=bfc,~nobody-here/mine.toml"]) == 2
