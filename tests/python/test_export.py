"""Data out: tables as CSV, frames as pcapng, runs one by one, what a notebook shows."""

from __future__ import annotations

import csv
import gc
import json
import re
import shutil
import struct
import subprocess
import sys
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from fake_core import FakeCore

from penstock import Run, Scenario, ScenarioError, _core, run, run_each
from penstock.cli import main
from penstock.export import capture, write_capture, write_csv
from penstock.export.columns import meanings, unit
from penstock.export.frames import FRAME_EVENTS, LEAVES
from penstock.tables import COLUMNS, FILES

ROOT = Path(__file__).resolve().parents[2]
DISSECTOR = ROOT / "tools" / "wireshark" / "penstock.lua"
QUICK = Scenario.from_name("quickstart", {"duration": "20 us"})
# Little memory, so that PFC pauses, and marks that come early.
PFC = """
duration = "40 us"
topology = {kind = "leaf-spine", racks = 2, hosts_per_rack = 3, spines = 1}
[scheme]
preset = "dctcp"
[scheme.switch.admission]
buffer = "200 kB"
[scheme.switch.marking]
kmin = "5 kB"
kmax = "10 kB"
[[traffic]]
kind = "incast"
degree = 5
size = "500 kB"
period = "1 ms"
receiver = 0
[measure]
trace = {}
"""
BFC_SETTINGS = {"scheme": "bfc", "scheme.switch.assignment.queues": 8}


class Frame(NamedTuple):
    """A frame as it is in a file."""

    interface: str
    time_ns: int
    data: bytes
    length: int
    is_outbound: bool


def blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Kind and content of the blocks of a pcapng file."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert struct.unpack_from("<I", data, at + length - 4) == (length,)
        yield kind, data[at + 8 : at + length - 4]
        at += length


def frames_of(path: Path) -> list[Frame]:
    names, found = [], []
    for kind, body in blocks(path):
        if kind == 1:
            link_type, _, _, option, size = struct.unpack_from("<HHIHH", body)
            assert (link_type, option) == (1, 2)
            names.append(body[12 : 12 + size].decode())
            assert b"\x09\x00\x01\x00\x09" in body, "times in 10^-9 s"
        elif kind == 6:
            number, high, low, kept, length = struct.unpack_from("<IIIII", body)
            flags = struct.unpack_from("<I", body, 20 + -(-kept // 4) * 4 + 4)[0]
            data = body[20 : 20 + kept]
            found.append(Frame(names[number], high << 32 | low, data, length, flags == 2))
    return found


@pytest.fixture(scope="module")
def pfc(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A traced run with marks and with pauses of classes, on disk."""
    place = tmp_path_factory.mktemp("pfc")
    (place / "pfc.toml").write_text(PFC)
    made = run(Scenario.from_toml(place / "pfc.toml"))
    assert made.summary["pfc_pauses"] > 0
    made.save(place / "run")
    return Run.load(place / "run")


@pytest.fixture(scope="module")
def pfc_file(pfc: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("capture") / "pfc.pcapng"
    count = write_capture(pfc, path)
    assert count == pfc.packets["event"].is_in(FRAME_EVENTS).sum()
    return path


# -- tables --------------------------------------------------------------------------------------


def test_csv_has_every_value_of_every_table(pfc: Run, tmp_path: Path) -> None:
    target = write_csv(pfc, tmp_path / "csv")
    assert {path.name for path in target.iterdir()} == {
        *(file.replace(".parquet", ".csv") for file in FILES.values()),
        "columns.csv",
        "names.csv",
    }
    for table, file in FILES.items():
        wanted = pl.read_parquet(pfc.directory / file)
        found = pl.read_csv(target / file.replace(".parquet", ".csv"), schema=wanted.schema)
        assert found.equals(wanted), table


def test_a_flow_that_did_not_finish_has_no_completion_time(tmp_path: Path) -> None:
    lists = [{"kind": "listed", "flows": [[0, 1, "1 kB", 0], [2, 1, "1 MB", 0]]}]
    made = run(QUICK.with_overrides({"traffic": lists, "duration": "9 us", "drain": "1 us"}))
    text = (write_csv(made, tmp_path / "csv") / "flows.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert [(one["finished"], one["fct_ns"] == "") for one in rows] == [
        ("true", False),
        ("false", True),
    ]
    assert made.flows["fct_ns"].mean() == float(rows[0]["fct_ns"])


def test_columns_csv_says_what_each_column_means(core: FakeCore, tmp_path: Path) -> None:
    write_csv(run(QUICK), tmp_path / "csv")
    rows = list(csv.DictReader((tmp_path / "csv" / "columns.csv").read_text().splitlines()))
    assert len(rows) == sum(map(len, COLUMNS.values()))
    by_name = {(row["file"], row["column"]): row for row in rows}
    assert by_name["flows.csv", "fct_ns"]["unit"] == "ns"
    assert by_name["links.csv", "rate_bps"]["unit"] == "bit/s"
    assert by_name["queues.csv", "queue_bytes"]["meaning"] == "data queued for it"
    assert all(row["meaning"] for row in rows)
    assert (unit("time_ps"), unit("queue_bytes_max"), unit("slowdown")) == ("ps", "B", "")


def test_names_csv_says_which_host_link_and_label_a_number_is(tmp_path: Path) -> None:
    made = run(QUICK)
    target = write_csv(made, tmp_path / "csv")
    rows = list(csv.DictReader((target / "names.csv").read_text().splitlines()))
    names = {(row["what"], int(row["number"])): row["name"] for row in rows}
    assert len(names) == len(rows)
    for number, name in enumerate(made.summary["node_names"]):
        assert names["node", number] == name
    flow = next(csv.DictReader((target / "flows.csv").read_text().splitlines()))
    assert names["label", int(flow["label"])] in made.summary["labels"]
    link = next(csv.DictReader((target / "links.csv").read_text().splitlines()))
    ends = (names["node", int(link[end])] for end in ("from", "to"))
    assert names["link", int(link["link"])] == "-".join(ends)
    assert names["layer", int(link["layer"])] == made.summary["layers"][int(link["layer"])]


def test_names_csv_has_the_steps_of_jobs(tmp_path: Path) -> None:
    job = {
        "kind": "listed",
        "label": "backup",
        "flows": [[0, 1, "1 kB", 0], [1, 2, "1 kB", 0]],
        "after": [[1, 0, "received"]],
        "places": [[0, 0, 0], [0, 1, 1]],
        "steps": ["read", "copy"],
    }
    target = write_csv(run(QUICK.with_overrides({"traffic": [job]})), tmp_path / "csv")
    names = {
        (row["what"], row["number"]): row["name"]
        for row in csv.DictReader((target / "names.csv").read_text().splitlines())
    }
    steps = list(csv.DictReader((target / "steps.csv").read_text().splitlines()))
    assert [names["step of backup", row["step"]] for row in steps] == ["read", "copy"]


def test_the_meanings_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "files.md").read_text()
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", page)
    rows = [line.split("|") for line in plain.splitlines() if line.startswith("|")]
    listed = {
        (column, cells[-2].strip())
        for cells in rows
        for cell in cells[1:3]
        for column in re.findall(r"`(\w+)`", cell)
    }
    for table, columns in COLUMNS.items():
        name = FILES[table].removesuffix(".parquet")
        assert set(meanings()[name]) == set(columns), name
        for column, meaning in meanings()[name].items():
            assert (column, meaning) in listed, (name, column)


def test_an_earlier_export_is_replaced_with_force_only(core: FakeCore, tmp_path: Path) -> None:
    made, target = run(QUICK), tmp_path / "csv"
    write_csv(made, target)
    (target / "flows.csv").write_text("old")
    with pytest.raises(ScenarioError, match=r"--csv.*earlier export; .*--force"):
        write_csv(made, target)
    write_csv(made, target, force=True)
    assert (target / "flows.csv").read_text() != "old"
    (target / "mine.txt").write_text("kept")
    with pytest.raises(ScenarioError, match=r'other files, such as "mine\.txt"'):
        write_csv(made, target, force=True)
    assert (target / "mine.txt").read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["csv"], "nothing is left beside it"


def test_a_place_that_takes_no_folder_is_named_by_its_option(core: FakeCore) -> None:
    with pytest.raises(ScenarioError, match=r"^--csv .*/proc/.*nothing can be written beside it"):
        write_csv(run(QUICK), Path("/proc/foo"))


def test_an_export_that_fails_leaves_nothing(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    made = run(QUICK)
    monkeypatch.setattr("penstock.export.csv_files._write_description", fail)
    with pytest.raises(Exception, match="the disk is full"):
        write_csv(made, tmp_path / "csv")
    assert list(tmp_path.iterdir()) == []


def test_a_signal_leaves_nothing_of_a_folder(tmp_path: Path) -> None:
    script = """
import os, pathlib, signal
from penstock import interruption
from penstock.storage.folder import put_folder

def write(sink):
    sink.write(b"half of it")
    os.kill(os.getpid(), signal.SIGTERM)

interruption.install()
put_folder(pathlib.Path("csv"), {"flows.csv": write}, option="--csv")
"""
    ended = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True)
    assert b"interrupted" in ended.stderr, ended.stderr
    assert list(tmp_path.iterdir()) == []


# -- frames --------------------------------------------------------------------------------------


def test_frames_have_times_to_the_nanosecond_and_names(pfc: Run, pfc_file: Path) -> None:
    found = frames_of(pfc_file)
    rows = pfc.packets.filter(pl.col("event").is_in(FRAME_EVENTS))
    assert [frame.time_ns for frame in found] == (rows["time_ps"] // 1_000).to_list()
    leaves = rows["event"].is_in(LEAVES)
    assert [frame.is_outbound for frame in found] == leaves.to_list()
    names = pfc.summary["node_names"]
    links = pfc.links.select("link", "from", "to").iter_rows()
    ends = {link: (names[sender], names[receiver]) for link, sender, receiver in links}
    for frame, row in zip(found, rows.rows(named=True), strict=True):
        sender, receiver = ends[row["egress"] if frame.is_outbound else row["ingress"]]
        here, there = (sender, receiver) if frame.is_outbound else (receiver, sender)
        assert frame.interface == f"{here}-{there}"
        assert here == names[row["node"]]
    data = [f for f, kind in zip(found, rows["kind"], strict=True) if kind == "data"]
    assert {(len(frame.data), frame.length) for frame in data} == {(60, 1_060)}


def test_every_packet_that_came_leaves_unless_it_is_dropped(pfc: Run) -> None:
    """Acknowledgements, too: what comes to a switch and is for somebody else leaves it."""
    events = Counter(pfc.packets.filter(~pl.col("kind").str.contains("class"))["event"])
    assert events["control_arrive"] == events["control_depart"] > 0
    assert events["arrive"] == events["depart"] + events["drop"] > 0
    pauses = pfc.packets.filter(pl.col("kind") == "pause_class")
    sent = pauses.filter(pl.col("event") == "control_depart").height
    assert sent == pfc.summary["pfc_pauses"]


def test_nodes_choose_and_keep_keeps(pfc: Run, tmp_path: Path) -> None:
    path = tmp_path / "some.pcapng"
    count = write_capture(pfc, path, nodes=["T1"], kept=100)
    found = frames_of(path)
    assert len(found) == count > 0
    assert {frame.interface.split("-")[0] for frame in found} == {"T1"}
    assert max(len(frame.data) for frame in found) == 100


def test_chunks_make_no_difference(
    pfc: Run, pfc_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "CHUNK_ROWS", 777)
    write_capture(pfc, tmp_path / "again.pcapng")
    assert (tmp_path / "again.pcapng").read_bytes() == pfc_file.read_bytes()


def tshark(path: Path, fields: list[str], *more: str) -> list[dict[str, str]]:
    """The fields of each frame as tshark shows them."""
    command = ["tshark", "-r", str(path), "-X", f"lua_script:{DISSECTOR}", "-T", "fields"]
    command += ["-E", "separator=|", *more]
    for field in fields:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines()]
    return [dict(zip(fields, row, strict=True)) for row in rows]


needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed (apt-get install tshark)"
)


@needs_tshark
def test_wireshark_reads_marks_and_pauses_of_classes(pfc: Run, pfc_file: Path) -> None:
    fields = ["frame.time_epoch", "frame.interface_name", "frame.len", "penstock.kind",
              "penstock.flags.marked", "penstock.offset", "macc.opcode", "macc.cbfc.enbv",
              "macc.cbfc.pause_time.c7", "_ws.expert.message"]  # fmt: skip
    rows = tshark(pfc_file, fields)
    trace = pfc.packets.filter(pl.col("event").is_in(FRAME_EVENTS)).rows(named=True)
    assert len(rows) == len(trace)
    marked = 0
    for row, wanted in zip(rows, trace, strict=True):
        seconds, _, fraction = row["frame.time_epoch"].partition(".")
        shown = int(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9])
        assert shown == wanted["time_ps"] // 1_000
        assert "docs/wire.md" not in row["_ws.expert.message"]
        if wanted["kind"] in ("pause_class", "resume_class"):
            quanta = {"pause_class": "65535", "resume_class": "0"}[wanted["kind"]]
            assert row["macc.opcode"] == "0x0101"
            assert int(row["macc.cbfc.enbv"], 16) == 0x80, "class 0 is priority 7"
            assert row["macc.cbfc.pause_time.c7"] == quanta
        else:
            assert row["penstock.kind"]
            assert row["penstock.offset"] == str(wanted["sequence"])
            assert row["penstock.flags.marked"] == str(wanted["flags"] & 1)
            marked += wanted["flags"] & 1
    assert marked > 0


@needs_tshark
def test_wireshark_reads_pauses_of_queues(tmp_path: Path) -> None:
    scenario = Scenario.from_name("quickstart", {"duration": "20 us", "measure.trace": {}})
    made = run(scenario.with_overrides(BFC_SETTINGS))
    write_capture(made, tmp_path / "bfc.pcapng")
    rows = tshark(tmp_path / "bfc.pcapng", ["penstock.kind", "penstock.label"])
    kinds = Counter(row["penstock.kind"] for row in rows)
    sent = made.packets.filter(pl.col("event") == "control_depart", pl.col("kind") == "pause_queue")
    assert kinds["0x82"] == sent.height == made.summary["queue_pauses"] > 0
    labels = [int(row["penstock.label"], 16) for row in rows if row["penstock.kind"] == "0x82"]
    assert labels == sent["upstream_queue"].to_list()


@needs_tshark
def test_wireshark_reads_times_late_in_a_second(tmp_path: Path) -> None:
    """Wireshark's arithmetic has 64 bits, in which finer units overflow."""
    at = [3, 18_446, 18_447, 40_000, 999_999]
    flows = [[0, 1, "1 kB", f"{start} us"] for start in at]
    lists = {"traffic": [{"kind": "listed", "flows": flows}], "measure.trace": {}}
    made = run(QUICK.with_overrides({**lists, "duration": "1 s"}))
    write_capture(made, tmp_path / "late.pcapng")
    rows = tshark(tmp_path / "late.pcapng", ["frame.time_epoch"])
    shown = [int(row["frame.time_epoch"].replace(".", "")) for row in rows]
    wanted = made.packets.filter(pl.col("event").is_in(FRAME_EVENTS))["time_ps"] // 1_000
    assert shown == wanted.to_list()
    assert shown[-1] > 1_000_000_000


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["export", "out"], ["add --csv DIR or --pcapng FILE"]),
        (["export", "nothing", "--csv", "csv"],
         ["no complete run", "no such directory", "penstock run"]),
        (["export", ".", "--csv", "csv"], ["no summary.json", "one of the runs in it", "traced"]),
        (["export", "out", "--csv", "file"], ["--csv", "a file has this name"]),
        (["export", "out", "--csv", "c", "--nodes", "S0"], ["--nodes", "--pcapng"]),
        (["export", "out", "--csv", "c", "--keep", "70"], ["--keep", "--pcapng"]),
        (["export", "out", "--pcapng", "f.pcapng"],
         ['RUN = "out"', "no packet trace", "--trace packets"]),
        (["export", "traced", "--pcapng", "file"], ["--pcapng", "a file has this name"]),
        (["export", "traced", "--pcapng", "out"], ["--pcapng", "this is a directory"]),
        (["export", "traced", "--pcapng", "f", "--nodes", "S7"], ["--nodes", '"S7"', "S0"]),
        (["export", "traced", "--pcapng", "f", "--nodes", "H0"], ["--nodes", "no traced switch"]),
        (["export", "traced", "--pcapng", "f", "--keep", "8"], ["--keep", "60 or more"]),
        (["export", "traced", "--pcapng", "traced/flows.parquet", "--force"],
         ["--pcapng", "this file is part of a run"]),
        (["report", "traced", "--out", "out/summary.json", "--force"],
         ["--out", "this file is part of a run"]),
        (["export", "some", "--pcapng", "f"], ["control_arrive", "--trace packets"]),
    ],
)  # fmt: skip
def test_bad_inputs_are_refused(
    runs: Path, words: list[str], said: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.name for path in runs.iterdir())
    assert main(words) == 2
    shown = capsys.readouterr().err
    for text in said:
        assert text in shown
    assert sorted(path.name for path in runs.iterdir()) == before


@pytest.fixture
def runs(core: FakeCore, here: Path) -> Path:
    """Runs without a trace, with one, and with a trace of some events; and a file."""
    run(QUICK).save("out")
    run(QUICK.with_overrides({"measure.trace": {}})).save("traced")
    run(QUICK.with_overrides({"measure.trace": {"events": ["arrive", "depart"]}})).save("some")
    Path("file").write_text("mine")
    return here


def test_the_command_says_what_it_wrote(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(QUICK.with_overrides({"measure.trace": {}})).save("out")
    assert main(["export", "out", "--csv", "c", "--pcapng", "f.pcapng", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {"csv": "c", "pcapng": "f.pcapng", "frames": len(frames_of(Path("f.pcapng")))}
    assert main(["export", "out", "--pcapng", "f.pcapng", "--force"]) == 0
    assert "f.pcapng" in capsys.readouterr().out


def test_the_core_refuses_rows_that_are_no_packets() -> None:
    with pytest.raises(ValueError, match="time_ps is missing"):
        _core.capture_frames({}, 2, 60)


# -- runs one by one -----------------------------------------------------------------------------


def many(count: int) -> dict[str, Scenario]:
    return {f"seed {seed}": QUICK.with_overrides({"seed": seed}) for seed in range(count)}


def test_runs_are_yielded_and_not_kept(core: FakeCore) -> None:
    alive: list[weakref.ref[Run]] = []
    most = 0
    for name, made in run_each(many(12), jobs=2):
        assert name == f"seed {made.scenario.seed}"
        alive.append(weakref.ref(made))
        del made
        gc.collect()
        most = max(most, sum(one() is not None for one in alive))
    assert len(alive) == 12
    assert most == 0, "nobody else holds a run that was yielded"


def test_a_slow_caller_holds_new_runs_up(core: FakeCore) -> None:
    runs = run_each(many(10), jobs=2)
    next(runs)
    for _ in range(2):
        next(runs)
    assert len(core.scenarios) <= 2 + 3
    runs.close()
    assert len(core.scenarios) <= 2 + 3


def test_cancelling_stops_all(core: FakeCore) -> None:
    core.steps, heard = 2_000, []

    def hear(name: str, _: Any) -> None:
        heard.append(name)

    found = list(run_each(many(6), jobs=2, progress=hear, cancel=lambda: len(heard) > 5))
    assert {made.is_cancelled for _, made in found} == {True}
    assert len(found) < 6


def test_a_failure_is_raised(core: FakeCore) -> None:
    core.error = _core.ScenarioError([("duration", "0 ns", "write more")])
    with pytest.raises(ScenarioError, match="write more"):
        list(run_each(many(3), jobs=2))


# -- what a notebook shows -----------------------------------------------------------------------


def test_scenarios_and_runs_show_themselves(core: FakeCore) -> None:
    made = run(QUICK)
    assert repr(QUICK) == (
        "<Scenario quickstart: 8 hosts, 1 switch (single-switch), bfc, 20 µs, seed 1>"
    )
    assert repr(made) == "<Run quickstart under bfc, seed 1: 2 of 2 flows in 1 µs>"
    assert "<th>rate of hosts</th><td>100 Gb/s</td>" in QUICK._repr_html_()
    assert "<th>flows finished</th><td>2 of 2</td>" in made._repr_html_()


def test_texts_of_users_are_escaped() -> None:
    named = QUICK.with_overrides({"name": "<script>alert(1)</script>"})
    assert "<script>" not in named._repr_html_()
    assert "&lt;script&gt;" in named._repr_html_()
