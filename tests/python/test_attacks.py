"""Attacks on what users' files and arguments are read by, one by one; the fuzzer found them."""

from __future__ import annotations

import gzip
import os
import re
import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from penstock import Scenario, ScenarioError
from penstock.cli.options import read_scenario, read_settings
from penstock.dependency import FLOWS_MAX
from penstock.errors import PROBLEMS_MAX, VALUE_WIDTH, Problem
from penstock.experiments import catalogue
from penstock.hpcc.case import case_of_config
from penstock.hpcc.output import read_fct, read_pfc
from penstock.lines import LINE_WIDTH, LINES_MAX
from penstock.scenario.base import LABEL_WIDTH
from penstock.text_file import TEXT_MAX, read_text
from penstock.toml_text import (
    ENTRIES_MAX,
    KEYS_MAX,
    NESTING_MAX,
    ROWS_LONG,
    ROWS_MAX,
    WORD_MAX,
    parse_toml,
)
from penstock.topology_file import CABLES_MAX
from penstock.units import DIGITS_MAX, NUMBER_WIDTH, U64_MAX, whole_number

SWITCH = 'duration = "1 s"\n[topology]\nkind = "single-switch"\nhosts = 4\n'
TRACE = SWITCH + '[[traffic]]\nkind = "trace"\nfile = "input"\n'
GRAPH = '[topology]\nkind = "graph"\nfile = "input"\n[[traffic]]\nkind = "incast"\n'
SIZES = SWITCH + '[[traffic]]\nkind = "open-loop"\nload = 0.5\nsizes = {kind="cdf", file="input"}\n'
LONG = SWITCH + '[[traffic]]\nkind = "long-lived"\npairs = [[0, 1]]\n'
CSV = "src,dst,size,start_ns\n0,1,1000,0\n"
CONFIG = "TOPOLOGY_FILE topology.txt\nFLOW_FILE flows.txt\nCC_MODE 8\nEWMA_GAIN 0.1\n"
FCT = "0b000001 0b000101 10000 100 1000 2000000000 4000 3900\n"


def scenario_of(text: str) -> Callable[[Path], object]:
    """Reads a file that a scenario names."""

    def read(path: Path) -> Scenario:
        outer = path.with_name("scenario.toml")
        outer.write_text(text.replace('"input"', f'"{path.name}"'))
        return Scenario.from_toml(outer)

    return read


def config(path: Path) -> object:
    """Reads a config beside a topology and flows."""
    path.with_name("topology.txt").write_text("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n")
    path.with_name("flows.txt").write_text("1\n0 1 3 100 1000 2.0\n")
    return case_of_config(path, "ns3-hpcc", {})


DIGITS = "9" * 5000
CONTENTS: dict[str, tuple[Callable[[Path], object], str, list[str]]] = {
    "5,000 digits in TOML": (Scenario.from_toml, f"seed = {DIGITS}", ["256 characters"]),
    "long hexadecimal": (Scenario.from_toml, "seed = 0x" + "f" * 30_000, ["256 characters"]),
    "300 bits": (Scenario.from_toml, "seed = 0x" + "f" * 75 + "\n" + LONG, ["seed", "0xfff"]),
    "deep lists": (Scenario.from_toml, "traffic = " + "[" * 5000, ["32 levels"]),
    "deep tables": (Scenario.from_toml, "traffic = " + "{a=" * 5000, ["32 levels"]),
    "deep behind a text": (Scenario.from_toml, 'x = ["""a"""", ' + "[" * 5000, ["32 levels"]),
    "dotted key": (Scenario.from_toml, "a." * 20_000 + "a = 1", ["32 levels"]),
    "dotted texts": (Scenario.from_toml, '"a" . ' * 20_000 + "a = 1", ["32 levels"]),
    "many keys": (Scenario.from_toml, "a=1\n" * 600_000, ["600,000 keys"]),
    "many entries": (Scenario.from_toml, "a=[" + "1," * 9_000_000, ["9,000,001 entries"]),
    "many bad nodes": (Scenario.from_toml, "[[traffic]]\nkind = 'incast'\nsenders = ["
                       + "-1," * 9999 + "]", ["traffic[0].senders[0]", "at least 0"]),
    "traffic of texts": (Scenario.from_toml, 'traffic = ["x", 3]', ["traffic[0]", "no table"]),
    "date": (Scenario.from_toml, "duration = 1979-05-27", ["duration", "no quantity"]),
    "duplicate key": (Scenario.from_toml, "a = 1\na = 2", ["Cannot overwrite"]),
    "colours": (Scenario.from_toml, '"\\u001b[31m" = 1\n' + LONG, [r"\x1b[31m", "no such field"]),
    "colours in a name": (Scenario.from_toml, 'name = "\\u001b[31m"\n' + LONG, ["name", "\\x1b"]),
    "null in a name": (Scenario.from_toml, 'name = "a\\u0000"\n' + LONG, ["name", "\\x00"]),
    "null in a path": (Scenario.from_toml, TRACE.replace("input", "\\u0000"), ["file", "shown"]),
    "long path": (Scenario.from_toml, TRACE.replace("input", "a" * 5000), ["too long"]),
    "home of nobody": (Scenario.from_toml, TRACE.replace("input", "~nobody_/x"), ["home"]),
    "hosts without cables": (Scenario.from_toml, "topology = {kind = 'graph', hosts = 9999, "
                             "switches = 1, links = [{a=0, b=9999}]}\n[[traffic]]\nkind = 'incast'",
                             ["host 1 has cables to nothing", "more is wrong"]),
    "trace: digits": (scenario_of(TRACE), CSV + f"0,1,{DIGITS},0", ["line 3", "999..."]),
    "trace: first line of digits": (scenario_of(TRACE), DIGITS, ["line 1", "number of flows"]),
    "trace: exponent": (scenario_of(TRACE), CSV + "0,1,10,1e999999", ["line 3", '"1e999999"']),
    "trace: other digits": (scenario_of(TRACE), CSV + "0,1,²,0", ["line 3", '"²" for the size']),
    "trace: node": (scenario_of(TRACE), CSV + "0,4294967296,1,0", ["line 3", "destination"]),
    "trace: start": (scenario_of(TRACE), "1\n0 1 3 100 9 " + "9" * 60, ["line 2", "no time"]),
    "trace: lines": (scenario_of(TRACE), "1\n" * 4_200_000, ["4,200,000 lines"]),
    "trace: line": (scenario_of(TRACE), "1 " * 600_000, ["line 1", "characters"]),
    "graph: milliard": (scenario_of(GRAPH), "1000000000 1 1\n0\n", ["line 1", "the nodes"]),
    "graph: switches": (scenario_of(GRAPH), "9999 5000 1\n0\n", ["line 1", "the switches"]),
    "graph: error rate": (scenario_of(GRAPH), "3 1 1\n2\n0 2 1Gbps 1us ²", ["line 3", "²"]),
    "graph: rate": (scenario_of(GRAPH), f"3 1 1\n2\n0 2 {'9' * 400} 1us", ["line 3", "no rate"]),
    "graph: delay": (scenario_of(GRAPH), f"3 1 1\n2\n0 2 1Gbps {'9' * 63}", ["line 3", "no time"]),
    "sizes: huge": (scenario_of(SIZES), "10 0.5\n1e300 1\n", ["line 2", f"at most {U64_MAX}"]),
    "config: number": (config, CONFIG + "U_TARGET 1e999", ["line 5", '"1e999"']),
    "config: interval": (config, CONFIG + "RP_TIMER 1e400", ["line 5", '"1e400"']),
    "config: digits": (config, CONFIG + f"BUFFER_SIZE {DIGITS}", ["line 5", "999..."]),
    "config: null": (config, "FLOW_FILE a\0b", ["line 1", r"a\x00b", "no file"]),
    "fct: 63 bits": (read_fct, FCT.replace("1000 ", f"{2**63} "), ["line 1", f"{2**63}"]),
    "pfc: digits": (read_pfc, f"{DIGITS} 1 0 1 1", ["line 1", "time_ns"]),
    "experiment": (catalogue.read, "id = 'x'\nseeds = inf", ["this field is missing", "title"]),
    "experiment: deep": (catalogue.read, "id = " + "[" * 5000, ["32 levels"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTENTS)
def test_a_file_that_attacks_its_reader_is_refused(name: str, here: Path) -> None:
    read, text, expected = CONTENTS[name]
    (here / "input").write_text(text)
    with pytest.raises(ScenarioError) as caught:
        read(here / "input")
    assert len(caught.value.problems) <= PROBLEMS_MAX + 1
    for words in expected:
        assert words in str(caught.value)


FILE_READERS: dict[str, Callable[[Path], object]] = {
    "scenario": Scenario.from_toml,
    "scenario by name": Scenario.load,
    "trace": scenario_of(TRACE),
    "graph": scenario_of(GRAPH),
    "sizes": scenario_of(SIZES),
    "config": config,
    "fct": read_fct,
    "pfc": read_pfc,
    "experiment": catalogue.read,
}


@pytest.mark.parametrize("name", FILE_READERS)
def test_a_file_that_holds_secrets_is_not_quoted(name: str, here: Path) -> None:
    (here / "input").write_text("root x:0:0:hunter2 /root\nother x:1:1:hunter2 /\n")
    with pytest.raises(ScenarioError) as caught:
        FILE_READERS[name](here / "input")
    assert "hunter2" not in str(caught.value)


def make_socket(path: Path) -> None:
    """A socket in the place of a file."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


PLACES: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (os.mkfifo, "to a file"),
    "directory": (Path.mkdir, "name a file in it"),
    "socket": (make_socket, "a socket"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "a device"),
    "link to itself": (lambda path: path.symlink_to(path), "symbolic links"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", FILE_READERS)
def test_what_is_no_regular_file_is_refused_at_once(name: str, place: str, here: Path) -> None:
    make, expected = PLACES[place]
    make(here / "input")
    began = time.monotonic()
    with pytest.raises(ScenarioError) as caught:
        FILE_READERS[name](here / "input")
    assert time.monotonic() - began < 5
    # A link to itself is no file, so its name is taken for that of a built-in scenario.
    assert (name, place) == ("scenario by name", "link to itself") or expected in str(caught.value)


GOOD = gzip.compress(CSV.encode())
ZIPPED = {
    "no gzip": (CSV.encode(), "not gzipped"),
    "truncated": (GOOD[:-9], "damaged"),
    "damaged": (GOOD[:20] + b"\xff\xff\xff\xff" + GOOD[24:], "damaged"),
    "wrong checksum": (GOOD[:-8] + bytes(8), "damaged"),
    "words behind": (GOOD + b"words", "damaged"),
    "bomb": (gzip.compress(bytes(TEXT_MAX)) * 48, "128 MiB"),
    "members": (gzip.compress(b"") * 20_000, "damaged"),
}


@pytest.mark.parametrize("name", ZIPPED)
def test_a_gzipped_file_is_inflated_within_a_bound(name: str, here: Path) -> None:
    content, expected = ZIPPED[name]
    (here / "input.gz").write_bytes(content)
    with pytest.raises(ScenarioError, match=expected):
        scenario_of(TRACE)(here / "input.gz")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (GOOD, ["it is gzipped", "let its name end in .gz"]),
        (b"PAR1" + bytes(range(256)), ["a Parquet file", "as text"]),
        (b"PK\x03\x04" + bytes(range(256)), ["a spreadsheet", "as text"]),
        (CSV.encode("utf-16"), ["in UTF-16", "save it in UTF-8"]),
        (CSV.encode() + b"\xe9", ["no text file in UTF-8", "name a text file"]),
    ],
    ids=["gzip", "Parquet", "zip", "UTF-16", "Latin-1"],
)
def test_a_file_of_another_kind_is_called_so(content: bytes, words: list[str], here: Path) -> None:
    (here / "input").write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        scenario_of(TRACE)(here / "input")
    assert all(word in str(caught.value) for word in words)


def test_gzipped_members_and_padding_are_read(here: Path) -> None:
    (here / "input.gz").write_bytes(gzip.compress(b"a") + gzip.compress(b"b") + bytes(512))
    assert read_text(here / "input.gz") == "ab"


SETTINGS = {
    "text in traffic": (['traffic=["x"]', "load=0.2"], "0 traffics have a load"),
    "text for traffic": (["traffic=x", "load=0.2"], "0 traffics have a load"),
    "label in texts": (['traffic=["x"]', "traffic.a.load=1"], 'labelled "a"'),
    "superscript": (["traffic.².load=0.2"], 'labelled "²"'),
    "arabic": (["traffic[٣].load=0.2"], "no entry is labelled"),
    "far": (["traffic[999999999].load=1"], "no entry 999999999"),
    "too far": ([f"traffic[{DIGITS}].load=1"], "no list has that many"),
    "digits": ([f"seed={DIGITS}"], "a whole number"),
    "deep value": (["traffic=" + "[" * 5000], "traffic"),
    "deep path": (["a" + ".a" * 5000 + "=1"], "no path"),
    "colour": (["\x1b[31m=1"], r"\x1b"),
    "half a pair": (["\udcff=1"], "wrong type"),
    "two values": (["seed=1\nduration=3"], "a whole number"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_attacks_is_refused(name: str) -> None:
    settings, expected = SETTINGS[name]
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_name("quickstart", read_settings(settings))
    assert expected in str(caught.value)
    assert str(caught.value).replace("\n", "").isprintable()


NAMES = [
    "\0",
    "a\0.toml",
    "\udcff",
    "\udcff.toml",
    "a" * 5000,
    "a" * 5000 + ".toml",
    "",
    "\x1b[31m",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_name_that_attacks_is_refused(name: str) -> None:
    for read in (Scenario.load, Scenario.from_name, Scenario.from_toml):
        with pytest.raises(ScenarioError) as caught:
            read(name)
        assert str(caught.value).isprintable()


def test_an_experiment_of_no_name_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"\\x00\\udcff.*the nearest of "):
        catalogue.load("\0\udcff" + "a" * 5000)


@pytest.mark.parametrize("nodes", ["²", DIGITS, "\0", "٣"])
def test_a_node_to_trace_that_is_none_is_refused(nodes: str) -> None:
    with pytest.raises(ScenarioError, match="no such node"):
        read_scenario("quickstart", trace=f"packets:{nodes}")


def test_tables_nested_in_themselves_are_refused() -> None:
    table: dict[str, object] = {}
    table["scheme"] = table
    with pytest.raises(ScenarioError, match="levels"):
        Scenario(**table)
    with pytest.raises(ScenarioError, match="levels"):
        Scenario.from_name("quickstart", {"measure": table})


def test_a_number_of_any_size_is_refused() -> None:
    for path in ("seed", "topology.hosts", "traffic[0].load", "duration"):
        with pytest.raises(ScenarioError, match=path.partition("[")[0]):
            Scenario.from_name("quickstart", {path: 10**5000})


def test_a_file_that_has_gone_is_a_refusal_too(here: Path) -> None:
    (here / "input").write_text(CSV)
    scenario = scenario_of(TRACE)(here / "input")
    assert isinstance(scenario, Scenario)
    (here / "input").unlink()
    with pytest.raises(ScenarioError, match=r"traffic\[0\].file.*No such file"):
        scenario.to_json()


def test_a_byte_order_mark_and_line_ends_of_windows_are_read(here: Path) -> None:
    (here / "input").write_bytes(b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode())
    (here / "scenario.toml").write_bytes(b"\xef\xbb\xbf" + TRACE.replace("\n", "\r\n").encode())
    entry = Scenario.from_toml("scenario.toml").resolve().traffic[0]
    assert entry.model_dump()["flows"] == ((0, 1, 1000, 0),)


def test_as_many_levels_as_are_allowed_are_read() -> None:
    assert parse_toml("a = " + "[" * NESTING_MAX + "]" * NESTING_MAX)
    assert parse_toml('a = "' + "[" * 999 + '" # ' + "[" * 999 + "\nb = '''" + "{" * 999 + "'''")


def test_a_message_is_short_and_can_be_shown() -> None:
    error = ScenarioError(Problem(f"{n}", "\x1b" * 9999, "x" * 9999, "v" * 999) for n in range(999))
    assert len(error.problems) == PROBLEMS_MAX + 1
    assert "more is wrong" in str(error.problems[-1])
    assert "v" * VALUE_WIDTH not in str(error)
    for problem in error.problems:
        assert str(problem).isprintable()
        assert len(str(problem)) < 13_000


def test_the_bounds_are_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "files.md").read_text()
    section = text.partition("## What is read")[2].partition("## ")[0]
    bounds = (
        TEXT_MAX >> 20,
        LINES_MAX,
        LINE_WIDTH,
        DIGITS_MAX,
        NUMBER_WIDTH,
        NESTING_MAX,
        KEYS_MAX,
        ENTRIES_MAX,
        WORD_MAX,
        FLOWS_MAX,
        CABLES_MAX,
        LABEL_WIDTH,
        VALUE_WIDTH,
        PROBLEMS_MAX,
    )
    for bound in bounds:
        assert f" {bound:,} " in section, bound


def test_the_longest_lists_can_be_written_and_read_again() -> None:
    """What one more entry takes in a resolved scenario, and how many of them TOML may have."""

    def written(hosts: int, flows: int = 1) -> str:
        links = [{"a": host, "b": hosts} for host in range(hosts)]
        graph = {"kind": "graph", "hosts": hosts, "switches": 1, "links": links}
        rows = [[0, 1, 12_345_678, 1_234_567_890_123]] * flows
        traffic = [{"kind": "listed", "flows": rows}]
        return Scenario(topology=graph, traffic=traffic, duration="2 s").to_toml()

    def more(one: str, other: str, signs: Iterable[str]) -> int:
        bare, bare_one = (re.sub(r'"[^"]*"', "", text) for text in (other, one))
        return sum(bare.count(sign) - bare_one.count(sign) for sign in signs)

    few, cable = written(3), written(4)
    assert (len(cable) - len(few)) * CABLES_MAX < TEXT_MAX
    assert more(few, cable, ("=", ".", "\n[")) * CABLES_MAX < KEYS_MAX
    assert more(few, cable, ",[]\n") * CABLES_MAX < ENTRIES_MAX
    long, longer = written(3, ROWS_LONG), written(3, ROWS_LONG + 1)
    assert (len(longer) - len(long)) * FLOWS_MAX < TEXT_MAX
    assert parse_toml(long)["traffic"][0]["flows"][-1] == (0, 1, 12_345_678, 1_234_567_890_123)
    assert FLOWS_MAX < ROWS_MAX


@pytest.mark.parametrize("text", ["", "-1", "+1", "1_0", "²", "٣", " 1", "1.0", "0" * 21, DIGITS])
def test_what_is_no_whole_number(text: str) -> None:
    assert whole_number(text) is None


def test_whole_numbers_end_with_64_bits() -> None:
    assert whole_number(str(U64_MAX)) == U64_MAX
    assert whole_number(str(U64_MAX + 1)) is None
    assert whole_number("9", most=8) is None
