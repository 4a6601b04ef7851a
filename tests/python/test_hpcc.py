"""Files of the ns-3 HPCC simulator: what is read, what is refused, what is written."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import polars as pl
import pytest
from fake_core import FakeCore

from penstock import Run, ScenarioError
from penstock.cli import main
from penstock.hpcc.case import Case, case_of_config
from penstock.hpcc.compare import compare, percentile
from penstock.hpcc.config import IGNORED, KEYS, Config, read_config
from penstock.hpcc.flow_file import read_hpcc_flows
from penstock.hpcc.ideal import IdealTimes
from penstock.hpcc.output import address, read_fct, read_pfc
from penstock.hpcc.quantity import rate_bps, seconds_ns, time_ns
from penstock.lines import read_lines
from penstock.topology_file import read_topology

DATA = Path(__file__).parents[1] / "data" / "ns3-hpcc"

# Hosts 1, 2 and 4 on switch 3, which is joined to switch 0 with host 5.
TOPOLOGY = """6 2 5
3 0
1 3 100Gbps 0.001ms 0
2 3 100Gbps 1us 0
3 4 100Gbps 0.001ms 0
0 3 400Gbps 0.002ms 0
0 5 100Gbps 0.001ms 0

First line: total node #, switch node #, link #
"""
FLOWS = """4
1 4 3 100 1000000 2.000000101
2 4 3 100 1000000 2.0000002
5 4 3 200 1 2.0000002
1 4 3 101 2500 2.000001

First line: # of flows
"""
CONFIG = """# two senders, one receiver
TOPOLOGY_FILE topology.txt
FLOW_FILE flows.txt
FCT_OUTPUT_FILE mix/fct.txt
SIMULATOR_STOP_TIME 2.1
CC_MODE 8
EWMA_GAIN 0.00390625
MULTI_RATE 0
L2_ACK_INTERVAL 1
ACK_HIGH_PRIO 1
KMIN_MAP 2 100000000000 100 400000000000 400
KMAX_MAP 2 100000000000 400 400000000000 1600
PMAX_MAP 2 100000000000 0.2 400000000000 0.2
BUFFER_SIZE 1
"""


@pytest.fixture
def files(here: Path) -> Path:
    """A folder with a config, a topology and a flow file."""
    (here / "mix").mkdir()
    (here / "mix" / "topology.txt").write_text(TOPOLOGY)
    (here / "mix" / "doubled.txt").write_text(TOPOLOGY.replace("0 5", "0 3"))
    (here / "mix" / "flows.txt").write_text(FLOWS)
    (here / "mix" / "config.txt").write_text(CONFIG)
    (here / "mix" / "empty").write_text("")
    return here / "mix"


def case(folder: Path) -> Case:
    return case_of_config(folder / "config.txt", "ns3-hpcc", {})


# -- reading --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A double a little below the decimal number, and one a little above it.
        ("2.000000101", 2_000_000_100),
        ("2.0001", 2_000_100_000),
        ("0.001ms", 1_000),
        ("0.0005ms", 500),
        ("1us", 1_000),
        ("7ns", 7),
    ],
)
def test_times_are_cut_as_a_double_is(text: str, expected: int) -> None:
    assert time_ns(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1e-3", 10**6), ("2e0", 2 * 10**9), ("2.1E+0", 2_100_000_000), ("2.0001", 2_000_100_000)],
)
def test_seconds_are_read_as_a_stream_reads_a_double(text: str, expected: int) -> None:
    assert seconds_ns(text) == expected


@pytest.mark.parametrize("text", ["1us", "1e", "e3", "-1", "nan", "1e400", "1e12"])
def test_what_is_no_number_of_seconds(text: str) -> None:
    with pytest.raises(ValueError, match="is no time"):
        seconds_ns(text)


@pytest.mark.parametrize("trace", ["fb60_s1", "fb55_incast5_s1"])
def test_start_times_are_those_of_the_reference_runs(trace: str) -> None:
    flows = read_hpcc_flows(read_lines(DATA / "flows" / f"{trace}.txt.gz"))
    reference = read_fct(DATA / "fct" / f"fct_dctcp__{trace}.txt.gz")
    assert sorted(flow.start_ns for flow in flows) == reference["start_ns"].sort().to_list()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("100Gbps", 10**11), ("50Mb/s", 5 * 10**7), ("25000000000.0", 25 * 10**9), ("2KB/s", 16_000)],
)
def test_rates(text: str, expected: int) -> None:
    assert rate_bps(text) == expected


@pytest.mark.parametrize("text", ["", "fast", "-1Gbps", "0bps", "1 Gbps", "nan", "1e9"])
def test_what_is_no_rate(text: str) -> None:
    with pytest.raises(ValueError, match="is no rate"):
        rate_bps(text)


def test_every_key_fills_a_field_and_no_other_key_is_passed_over() -> None:
    names = {name for name, _ in KEYS.values()}
    assert names == set(Config.__dataclass_fields__) - {"path", "lines"}
    assert not KEYS.keys() & IGNORED.keys()
    assert all(reason for reason in IGNORED.values())


@pytest.mark.parametrize("path", sorted((DATA / "conf").glob("*.txt")), ids=lambda path: path.stem)
def test_the_configs_of_the_reference_runs_are_read(path: Path) -> None:
    config = read_config(path)
    assert config.buffer == 12
    assert config.kmax == {10**11: 400}
    assert config.stop_ns == 4 * 10**9


def test_a_config_is_a_scheme(files: Path) -> None:
    scenario = case(files).scenario
    assert scenario.fidelity == "ns3-hpcc"
    switch, host = scenario.scheme.switch.model_dump(), scenario.scheme.host.model_dump()
    assert switch["admission"]["buffer"] == 2**20
    marking = switch["marking"]
    assert (marking["kmin"], marking["kmax"], marking["pmax"]) == (100_000, 400_000, 0.2)
    fast = {"rate": 4 * 10**11, "kmin": 400_000, "kmax": 1_600_000, "pmax": 0.2}
    assert marking["per_rate"] == (fast,)
    controller = host["controller"]
    assert controller["gain"] == 1 / 256
    assert controller["increase"] == {"kind": "rate", "rate": 10**9}
    assert (controller["window"], controller["minimum_rate"]) == ("bdp", 10**8)
    assert scenario.wire.control_frame == 43


@pytest.mark.parametrize(
    ("lines", "window"),
    [("HAS_WIN 0\nVAR_WIN 1\n", "none"), ("VAR_WIN 1\n", "scaled"), ("VAR_WIN 0\n", "bdp")],
)
def test_windows(files: Path, lines: str, window: str) -> None:
    (files / "config.txt").write_text(CONFIG + lines)
    controller = case(files).scenario.scheme.host.controller.model_dump()
    assert controller["window"] == window


def test_hpcc_of_a_config(files: Path) -> None:
    text = CONFIG.replace("CC_MODE 8", "CC_MODE 3\nRATE_AI 50Mb/s\nINT_MULTI 4\nFAST_REACT 0")
    (files / "config.txt").write_text(text)
    scheme = case(files).scenario.scheme
    assert scheme.switch.marking.model_dump() == {"kind": "telemetry", "multiplier": 4}
    controller = scheme.host.controller.model_dump()
    assert controller["additive_increase"] == {"kind": "rate", "rate": 5 * 10**7}
    assert (controller["maximum_stage"], controller["react"]) == (5, "per-rtt")


def test_a_path_may_begin_where_that_simulator_was_started(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its configs lie in the folder mix and name files in mix; it is started above."""
    config = CONFIG.replace("TOPOLOGY_FILE ", "TOPOLOGY_FILE mix/")
    (files / "config.txt").write_text(config.replace("FLOW_FILE ", "FLOW_FILE mix/"))
    assert len(case(files).flows) == 4
    monkeypatch.chdir(files)
    assert len(case(Path()).flows) == 4
    (files / "mix").mkdir()
    (files / "mix" / "flows.txt").write_text("1\n1 4 3 100 1000000 2.0000001\n")
    assert len(case(files).flows) == 1  # the nearest file


def test_the_clock_begins_at_a_whole_second(files: Path) -> None:
    found = case(files)
    entry = found.scenario.resolve().traffic[0].model_dump()
    assert found.base_ns == 2 * 10**9
    # Hosts 1, 2, 4, 5 of the file are ours 0 to 3.
    assert entry["flows"][0] == (0, 2, 1_000_000, 100_000)
    assert entry["flows"][2][:2] == (3, 2)
    assert entry["destination_ports"] == (100, 100, 200, 101)


def test_flows_behind_the_stop_time_are_left_out(files: Path) -> None:
    (files / "config.txt").write_text(CONFIG.replace("TIME 2.1", "TIME 2.0000005"))
    found = case(files)
    assert (len(found.flows), found.left_out) == (3, 1)


# -- refusals -------------------------------------------------------------------------------

BAD_CONFIGS = {
    "unknown key": (("BUFFER_SIZE 1", "BUFER_SIZE 1"), ["line 14", "BUFER_SIZE", "did you mean"]),
    "twice": (("BUFFER_SIZE 1", "CC_MODE 8"), ["line 14", "repeats line 6"]),
    "no number": (("BUFFER_SIZE 1", "BUFFER_SIZE big"), ["line 14", '"big"']),
    "no rate": (("BUFFER_SIZE 1", "MIN_RATE slow"), ["line 14", '"slow" is no rate']),
    "two values": (("BUFFER_SIZE 1", "BUFFER_SIZE 1 2"), ["line 14", "2 values"]),
    "missing speed": (("KMAX_MAP 2 100000000000 400", "KMAX_MAP 2 40000000000 400"),
                      ["line 12", "100000000000 b/s"]),
    "no speeds": (("PMAX_MAP 2 100000000000 0.2 400000000000 0.2\n", ""),
                  ["PMAX_MAP", "100000000000 b/s"]),
    "wrong count": (("KMIN_MAP 2", "KMIN_MAP 3"), ["line 11", "announces 3 rates"]),
    "K above": (("KMIN_MAP 2 100000000000 100", "KMIN_MAP 2 100000000000 500"),
                ["line 11", "above kmax"]),
    "gain": (("EWMA_GAIN 0.00390625", "EWMA_GAIN 2"), ["line 7", "at most 1"]),
    "no gain": (("EWMA_GAIN 0.00390625\n", ""), ["EWMA_GAIN", "no usable default"]),
    "mode": (("CC_MODE 8", "CC_MODE 10"), ["line 6", "does not have", "8 (DCTCP)"]),
    "per hop": (("CC_MODE 8\nEWMA_GAIN 0.00390625\nMULTI_RATE 0",
                 "CC_MODE 3\nRATE_AI 5Mb/s\nMULTI_RATE 1"), ["line 8", "MULTI_RATE 0"]),
    "no acks first": (("ACK_HIGH_PRIO 1\n", ""), ["ACK_HIGH_PRIO", "default 0"]),
    "acks": (("L2_ACK_INTERVAL 1", "L2_ACK_INTERVAL 4000"), ["line 9", "each packet"]),
    "go-back-0": (("BUFFER_SIZE 1", "L2_BACK_TO_ZERO 1"), ["line 14", "go-back-0"]),
    "errors": (("BUFFER_SIZE 1", "ERROR_RATE_PER_LINK 0.01"), ["line 14", "loses packets"]),
    "no marks": (("BUFFER_SIZE 1", "ENABLE_QCN 0"), ["line 14", "ENABLE_QCN 1"]),
    "rate bound": (("BUFFER_SIZE 1", "RATE_BOUND 0"), ["line 14", "RATE_BOUND 1"]),
    "pair RTTs": (("BUFFER_SIZE 1", "GLOBAL_T 0"), ["line 14", "GLOBAL_T 1"]),
    "no pause": (("BUFFER_SIZE 1", "PAUSE_TIME 0"), ["line 14", "resume"]),
    "link down": (("BUFFER_SIZE 1", "LINK_DOWN 2000000 0 3"), ["line 14", "LINK_DOWN 0 0 0"]),
    "no file": (("FLOW_FILE flows.txt", "FLOW_FILE flow.txt"), ["line 3", "is no file"]),
    "no flows": (("FLOW_FILE flows.txt\n", ""), ["FLOW_FILE"]),
    "stop": (("TIME 2.1", "TIME 1"), ["flows.txt, line 2", "SIMULATOR_STOP_TIME"]),
}  # fmt: skip

BAD_FLOWS = {
    "count": (("4\n", "5\n"), ["line 1", "announces 5 flows, but 4 follow"]),
    "short count": (("4\n", "3\n"), ["line 1", "announces 3 flows, but 4 follow"]),
    "truncated": (("1 4 3 101 2500 2.000001", "1 4 3 1"), ["line 5", "4 columns"]),
    "unsorted": (("2.000001", "2.0000001"), ["line 5", "before the line above"]),
    "unknown node": (("2 4 3 100", "9 4 3 100"), ["line 3", "node 9", "0 to 5"]),
    "switch": (("2 4 3 100", "3 4 3 100"), ["line 3", "node 3, a switch"]),
    "to itself": (("2 4 3 100", "4 4 3 100"), ["line 3", "itself"]),
    "groups": (("2 4 3 100", "2 4 4 100"), ["line 3", "priority group 4"]),
    "port": (("2 4 3 100", "2 4 3 65536"), ["line 3", "65535"]),
    "no size": (("5 4 3 200 1 ", "5 4 3 200 0 "), ["line 4", '"0" for the size', "1 or more"]),
    "no start": (("2.000001\n", "soon\n"), ["line 5", '"soon" is no time']),
}

BAD_TOPOLOGIES = {
    "links": (("6 2 5", "6 2 6"), ["line 1", "announces 6 links, but 5 follow"]),
    "truncated": (("0 5 100Gbps 0.001ms 0", "0 5 100"), ["line 7", "3 words"]),
    "node": (("0 5 100Gbps", "0 6 100Gbps"), ["line 7", "node 6"]),
    "error rate": (("0.002ms 0", "0.002ms 0.1"), ["line 6", "error rate"]),
    "header": (("6 2 5", "6 2 5 1 1"), ["line 1", "5 words"]),
    "switches": (("3 0\n", "3 3\n"), ["line 2", "2 different switches"]),
    "doubled": (
        ("0 5 100Gbps", "0 3 100Gbps"),
        ['topology.txt, line 7: "0 3" is wrong; line 6 joins the same two nodes'],
    ),
    "to itself": (("0 5 100Gbps", "5 5 100Gbps"), ['line 7: "5 5" is wrong', "to itself"]),
    "two hosts": (("0 5 100Gbps", "4 5 100Gbps"), ['line 7: "4 5" is wrong', "two hosts"]),
}


@pytest.mark.parametrize(
    ("file", "text", "change", "expected"),
    [
        pytest.param(file, text, *broken, id=f"{file} {name}")
        for file, text, cases in (
            ("config.txt", CONFIG, BAD_CONFIGS),
            ("flows.txt", FLOWS, BAD_FLOWS),
            ("topology.txt", TOPOLOGY, BAD_TOPOLOGIES),
        )
        for name, broken in cases.items()
    ],
)
def test_a_bad_file_is_refused_with_its_line_and_nothing_runs(
    file: str,
    text: str,
    change: tuple[str, str],
    expected: list[str],
    files: Path,
    core: FakeCore,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert change[0] in text
    (files / file).write_text(text.replace(*change, 1))
    assert main(["import-hpcc", "mix/config.txt"]) == 2
    message = capsys.readouterr().err
    assert file in message or file == "config.txt"
    for words in ["mix/", *expected]:
        assert words in message
    assert core.scenarios == []


COMMAND_LINES = {
    "nothing": ([], ["CONFIG", "--topology and --flows"]),
    "half": (["--topology", "mix/topology.txt"], ["--flows"]),
    "both": (["mix/config.txt", "--scheme", "bfc"], ["--scheme", "mix/config.txt"]),
    "scheme": (["--topology", "mix/topology.txt", "--flows", "mix/flows.txt", "--scheme", "bcf"],
               ["bcf", 'did you mean "bfc"']),
    "no config": (["mix/conf.txt"], ["mix/conf.txt", "cannot be read"]),
    "pauses alone": (["mix/config.txt", "--compare-pfc", "mix/pfc.txt"], ["--compare FCT"]),
    "bad reference": (["mix/config.txt", "--compare", "mix/flows.txt"], ["flows.txt, line 1"]),
    "empty reference": (["mix/config.txt", "--compare", "mix/empty"], ["mix/empty is empty"]),
    "doubled cable": (["--topology", "mix/doubled.txt", "--flows", "mix/flows.txt"],
                      ['error: mix/doubled.txt, line 7: "0 3" is wrong; line 6 joins the same']),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMAND_LINES)
def test_a_bad_command_line_is_refused(
    name: str, files: Path, core: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, expected = COMMAND_LINES[name]
    assert main(["import-hpcc", *arguments]) == 2
    message = capsys.readouterr().err
    assert all(words in message for words in expected), message
    assert core.scenarios == []


# -- results --------------------------------------------------------------------------------


def test_addresses() -> None:
    assert [address(node) for node in (0, 3, 127, 256)] == [
        "0b000001", "0b000301", "0b007f01", "0b010001"
    ]  # fmt: skip


@pytest.mark.parametrize("trace", ["fb60_s1", "fb55_incast5_s1"])
def test_ideal_times_are_those_of_the_reference_runs(trace: str) -> None:
    ideal = IdealTimes(read_topology(DATA / "topo_bfc.txt"), 1000)
    reference = read_fct(DATA / "fct" / f"fct_hpcc__{trace}.txt.gz")
    nodes = {address(node): node for node in range(128)}
    rows = reference.select("sip", "dip", "size").iter_rows()
    ours = [ideal.ideal_ns(nodes[sip], nodes[dip], size) for sip, dip, size in rows]
    assert ours == reference["ideal_ns"].to_list()


def test_ideal_times_over_rates_and_delays_that_differ(files: Path) -> None:
    ideal = IdealTimes(read_topology(files / "topology.txt"), 1000)
    # 1-3-0-5: 4 us there, 80 + 20 + 80 ns of stores, 2,548 + 48 B at 100 Gb/s.
    assert ideal.ideal_ns(1, 5, 2_500) == 8_000 + 180 + (2_500 + 3 * 48) * 8 // 100


def test_a_config_runs_and_its_results_read_back(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import-hpcc", "mix/config.txt", "--out", "out", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    fct, pfc = read_fct(Path(shown["fct"])), read_pfc(Path(shown["pfc"]))
    assert fct.height == 4
    ends = (fct["start_ns"] + fct["fct_ns"]).to_list()
    assert ends == sorted(ends)
    second = fct.filter(pl.col("dport") == 101)
    # The second flow from 1 to 4: source port 10001, 3 packets.
    assert second.rows()[0][:6] == ("0b000101", "0b000401", 10_001, 101, 2_500, 2_000_001_000)
    # Two flows of 1 MB into 100 Gb/s.
    assert 160_000 < fct["fct_ns"].max() < 200_000  # type: ignore[operator]
    # With 1 MiB switch 3 pauses its hosts 1 and 2, and both are resumed.
    assert set(pfc.select("node", "node_type", "ifindex").rows()) <= {(1, 0, 1), (2, 0, 1)}
    assert pfc.filter(pl.col("type") == 1).height == pfc.filter(pl.col("type") == 0).height > 0
    assert Run.load("out").summary["flows_finished"] == 4
    assert Run.load("out").scenario.fidelity == "ns3-hpcc"


def test_interfaces_are_numbered_in_the_order_of_the_cables(files: Path) -> None:
    # 5 and 4 send to 2 through switch 3, which pauses 4, and switch 0 at its second cable.
    (files / "config.txt").write_text(CONFIG + "HAS_WIN 0\n")
    last, before = "0 5 100Gbps 0.001ms 0\n", "0 3 400Gbps 0.002ms 0\n"
    swapped = TOPOLOGY.replace(before + last, last + before.replace("400", "100"))
    (files / "topology.txt").write_text(swapped)
    (files / "flows.txt").write_text("2\n5 2 3 1 2000000 2\n4 2 3 1 2000000 2\n")
    assert main(["import-hpcc", "mix/config.txt", "--out", "out"]) == 0
    pfc = read_pfc(Path("out/pfc.txt"))
    devices = set(pfc.select("node", "node_type", "ifindex").rows())
    assert devices == {(0, 1, 2), (4, 0, 1)}
    assert pfc["time_ns"].min() > 2 * 10**9  # type: ignore[operator]


def test_topology_and_flows_run_under_any_preset(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "flows.txt.gz").write_bytes(gzip.compress(FLOWS.encode()))
    arguments = ["--topology", "mix/topology.txt", "--flows", "mix/flows.txt.gz"]
    choice = ["--scheme", "bfc", "--fidelity", "exact", "--set", "seed=3", "--out", "out"]
    assert main(["import-hpcc", *arguments, *choice]) == 0
    scenario = Run.load("out").scenario
    assert (scenario.scheme.name, scenario.fidelity, scenario.seed) == ("bfc", "exact", 3)
    assert read_fct(Path("out/fct.txt")).height == 4
    assert read_pfc(Path("out/pfc.txt")).is_empty(), "BFC pauses queues, which are not listed"


@pytest.mark.every_format
def test_a_file_is_compared_with_itself(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import-hpcc", "mix/config.txt", "--out", "first"]) == 0
    again = ["--compare", "first/fct.txt", "--compare-pfc", "first/pfc.txt"]
    capsys.readouterr()
    assert main(["import-hpcc", "mix/config.txt", "--out", "out", *again, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["comparison"]
    assert (found["flows_in_both"], found["equal_fct"]) == (4, 4)
    assert found["pauses"]["ours"] == found["pauses"]["reference"] > 0
    assert [row["bin"] for row in found["slowdown"]] == ["1-3KB", "768KB-3MB", "incast"]
    assert all(row["p99"]["ratio"] == 1 for row in found["slowdown"])
    assert (Path("out") / "comparison.png").stat().st_size > 10_000
    assert main(["import-hpcc", "mix/config.txt", "--out", "out", *again]) == 0
    said = capsys.readouterr().out
    assert "addresses, ports and size: 4, of 4 here and 4 there" in said
    assert "4 of 4 flows took the same time" in said


def test_percentiles_and_bins_are_those_of_the_reference() -> None:
    """Against the table of the reference's README: bins of run hpcc on fb60_s1."""
    reference = read_fct(DATA / "fct" / "fct_hpcc__fb60_s1.txt.gz")
    none = pl.DataFrame(schema={"type": pl.Int64})
    rows = {row["bin"]: row for row in compare(reference, reference, none).to_json()["slowdown"]}
    expected = {
        "<=1KB": (14311, 1.007, 1.633, 2.383),
        "192-768KB": (1112, 2.543, 7.622, 16.526),
        ">3MB": (217, 6.223, 12.059, 14.318),
    }
    for name, (count, *values) in expected.items():
        found = [round(rows[name][f"p{percent}"]["ours"], 3) for percent in (50, 95, 99)]
        assert (rows[name]["n"], found) == (count, values)
    assert percentile(reference["fct_ns"].head(0).to_numpy(), 50) is None


FLOW = "0b000001 0b000101 10000 100 1 2000000000 4000 3900"


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ("0b0000", "1 of 8 columns"),
        (FLOW, "is of the same flow as line 1; keep one of them"),
        (FLOW.replace("4000", "0"), '"0" for fct_ns; write a whole number, 1 or more'),
        (FLOW.replace("3900", "0"), '"0" for ideal_ns; write a whole number, 1 or more'),
        (FLOW.replace("100 1 ", "100 0 "), '"0" for size; write a whole number, 1 or more'),
        (FLOW.replace("0b000001", "zz"), '"zz" is no address; write eight hexadecimal digits'),
    ],
)
def test_a_result_file_with_a_bad_line_is_refused(second: str, expected: str, here: Path) -> None:
    (here / "fct.txt").write_text(f"{FLOW}\n{second}")
    with pytest.raises(ScenarioError, match=f"fct.txt, line 2.*{re.escape(expected)}"):
        read_fct(here / "fct.txt")


def test_flows_of_another_size_do_not_match(here: Path) -> None:
    (here / "ours").write_text(f"{FLOW}\n{FLOW.replace('10000', '10001')}")
    (here / "reference").write_text(f"{FLOW.replace('100 1 ', '100 2 ')}")
    none = pl.DataFrame(schema={"type": pl.Int64})
    found = compare(read_fct(here / "ours"), read_fct(here / "reference"), none)
    assert (found.flows, found.flows_ours, found.flows_reference, found.equal) == (0, 2, 1, 0)
