"""The topology file of the HPCC family of simulators, as a graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import Scenario, ScenarioError

# Two hosts (0 and 3) on two switches (1 and 2): hosts are not the first nodes of the file.
GOOD = """4 2 3
1 2
0 1 100Gbps 0.001ms 0
1 2 400Gbps 5us 0
2 3 40Gbps 1000ns
"""


def load(directory: Path, text: str, extra: str = "") -> Scenario:
    (directory / "topology.txt").write_text(text)
    (directory / "scenario.toml").write_text(
        'duration = "10 us"\nscheme = "bfc"\n'
        f'[topology]\nkind = "graph"\nfile = "topology.txt"\n{extra}'
        '[[traffic]]\nkind = "listed"\nlabel = "one"\nflows = [[0, 1, 1000, 0]]\n'
    )
    return Scenario.from_toml(directory / "scenario.toml")


def test_hosts_come_first_and_cables_keep_their_order(tmp_path: Path) -> None:
    graph = load(tmp_path, GOOD).topology.model_dump()
    assert (graph["hosts"], graph["switches"]) == (2, 2)
    ends = [(cable["a"], cable["b"]) for cable in graph["links"]]
    assert ends == [(0, 2), (2, 3), (3, 1)]
    assert [cable["rate"] for cable in graph["links"]] == [10**11, 4 * 10**11, 4 * 10**10]
    assert [cable["delay"] for cable in graph["links"]] == [10**6, 5 * 10**6, 10**6]


@pytest.mark.parametrize(
    "header",
    [
        "4 2 3\n1 2",
        "4 2 2 3\n1 2",  # inet-tub/ns3-datacenter, PowerTCP
        "4 2 2 3 100000000000 100000000000\n1 2",  # inet-tub/ns3-datacenter, Reverie
        "4 8 1 1 3 A100\n1 2",  # aliyun/SimAI: 1 is an NVSwitch
        "4 2 3\n1\n2",  # a list of switches may be broken
    ],
)
def test_every_header_of_the_family_means_the_same(tmp_path: Path, header: str) -> None:
    plain = load(tmp_path, GOOD).to_json()
    words = "\n\nFirst line: total node #, switch node #, link #\n"
    assert load(tmp_path, GOOD.replace("4 2 3\n1 2", header) + words).to_json() == plain


def test_rates_without_a_unit_are_in_bits_per_second(tmp_path: Path) -> None:
    plain = load(tmp_path, GOOD).to_json()
    text = GOOD.replace("100Gbps", "100000000000.0").replace("400Gbps", "400000000000")
    assert load(tmp_path, text).to_json() == plain


def test_delays_without_a_unit_are_exact_seconds(tmp_path: Path) -> None:
    plain = load(tmp_path, GOOD.replace("1000ns", "0.5ns").replace("5us", "2us")).to_json()
    text = GOOD.replace("1000ns", "0.0000000005").replace("5us", "0.000002")
    assert load(tmp_path, text).to_json() == plain


def test_the_resolved_scenario_needs_no_file(tmp_path: Path) -> None:
    scenario = load(tmp_path, GOOD)
    (tmp_path / "resolved.toml").write_text(scenario.to_toml())
    (tmp_path / "topology.txt").unlink()
    assert Scenario.from_toml(tmp_path / "resolved.toml").to_json() == scenario.to_json()


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (GOOD.replace("4 2 3", "4 2 7"), ["line 1", "announces 7 links"]),
        (GOOD.replace("4 2 3", "4 2"), ["line 1", "2 words"]),
        (GOOD.replace("4 2 3", "4 two 3"), ["line 1", '"two" for the switches']),
        (GOOD + "3 1 1Gbps 1us\n", ["line 1", "announces 3 links, but 4 follow"]),
        (GOOD.replace("1 2\n0", "1\n0"), ["line 3", "a switch"]),
        (GOOD.replace("1 2\n0", "1 1\n0"), ["line 2", "2 different switches"]),
        (GOOD.replace("2 3 40Gbps 1000ns", "2 9 40Gbps 1000ns"), ["line 5", "node 9"]),
        (GOOD.replace("2 3 40Gbps 1000ns", "2 3 40Gbps"), ["line 5", "3 words"]),
        (GOOD.replace("40Gbps", "fast"), ["line 5", "rate"]),
        (GOOD.replace("40Gbps", "40"), ["line 5", '"40" has no unit', "means 40 b/s", "100Gbps"]),
        (GOOD.replace("5us", "5."), ["line 4", '"5." has no unit', "means 5 s", "such as 1us"]),
        (GOOD.replace("0.001ms 0", "0.001ms 0.1"), ["line 3", "error rate"]),
        (GOOD.replace("1 2 400", "0 1 400"), ["line 4", '"0 1" is wrong', "line 3 joins the same"]),
        (GOOD.replace("2 3 40G", "3 3 40G"), ["line 5", '"3 3" is wrong', "to itself"]),
        (
            GOOD.replace("5us", "5s"),
            ["topology.file", "line 4", '"5s" is wrong', "1 s"],
        ),
        ("", ["empty"]),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, broken: str, words: list[str]) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path, broken)
    assert all(word in str(caught.value) for word in [*words, "topology.txt"])


def test_a_file_and_cables_are_one_too_many(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="both written"):
        load(tmp_path, GOOD, "hosts = 2\n")
