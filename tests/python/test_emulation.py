"""The command `emulate`: what it refuses, what it leaves, and that a stop leaves nothing else.

Runs are in real time, so no test asserts how long anything took or how late a frame was. With
``PENSTOCK_REQUIRE_NAMESPACES=1`` no test is skipped.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl
import pytest
import tomli_w
from rich.console import Console

from penstock import Run
from penstock.cli import main
from penstock.cli.watching import Watching, live_table
from penstock.emulation.glance import Glance, HostGlance
from penstock.emulation.lateness import is_too_late, packets_late
from penstock.emulation.memory import check_hosts
from penstock.emulation.printed import replaced
from penstock.emulation.running import emulate, notes
from penstock.errors import ScenarioError, SimulationError
from penstock.experiments import catalogue
from penstock.experiments.campaign import reproduce_many
from penstock.experiments.reproduce import reproduce
from penstock.results import RUN_FILES
from penstock.runner import Progress
from penstock.scenario import Scenario
from penstock.scenario.emulation import Emulation, Program
from penstock.storage.record import REPORT_FILE, SUMMARY_FILE

pytestmark = pytest.mark.slow

PAIR = """
name = "pair"
duration = "{duration}"
drain = "{drain}"
scheme = "bfc"

[topology]
kind = "single-switch"
hosts = 3
rate = "100 Mb/s"
delay = "50 us"

[wire]
payload = 1452

[[traffic]]
kind = "listed"
label = "small"
flows = [[0, 1, 10000, 0], [1, 2, 10000, 0]]
"""
"""Two flows of a few packets, at a rate that every machine can do."""

QUICK = ["quickstart", "--set", "load=0.1", "--set", "duration=50 us", "--scale-time", "10000"]
QUICK += ["--force"]
"""About a hundred flows and an incast in a second, at 10 Mb/s, however busy the machine is."""

MARK = "PENSTOCK_TEST_MARK"
"""The variable by which the processes of a test are found in ``/proc``."""

PATIENCE_SECONDS = 60
"""How long a test waits for something that takes a second (our choice)."""


def namespaces_forbidden() -> str:
    """Why this machine makes no network namespaces; empty when it does."""
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    if shutil.which("unshare") is None:
        return "there is no unshare, with which namespaces are tried"
    tried = subprocess.run(["unshare", "-Urn", "true"], capture_output=True, text=True, check=False)
    return tried.stderr.strip() if tried.returncode else ""


REASON = "" if os.environ.get("PENSTOCK_REQUIRE_NAMESPACES") == "1" else namespaces_forbidden()

with_namespaces = pytest.mark.skipif(bool(REASON), reason=f"no namespaces: {REASON}")


@pytest.fixture
def pair(here: Path) -> str:
    """A scenario in an empty working directory."""
    (here / "pair.toml").write_text(PAIR.format(duration="100 ms", drain="30 s"))
    return "pair.toml"


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Marks all processes of a test; none is left when the test ends."""
    value = uuid4().hex
    monkeypatch.setenv(MARK, value)
    yield value
    assert wait_until(lambda: not processes(value)), processes(value)


def processes(mark: str) -> list[int]:
    """The other processes that have a mark."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            environment = (place / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"{MARK}={mark}".encode() in environment and int(place.name) != os.getpid():
            found.append(int(place.name))
    return found


def networks(wanted: list[int]) -> set[str]:
    """The network namespaces in which threads of these processes are."""
    found = set()
    for name in wanted:
        for link in Path("/proc").glob(f"{name}/task/*/ns/net"):
            try:
                found.add(str(link.readlink()))
            except OSError:
                continue
    return found


def interfaces() -> list[str]:
    return sorted(path.name for path in Path("/sys/class/net").iterdir())


def wait_until(holds: Callable[[], bool]) -> bool:
    """Whether something holds before the patience of a test is over."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def everything(place: Path) -> list[str]:
    return sorted(str(path.relative_to(place)) for path in place.rglob("*"))


FILE = "pair.toml: emulation"
REFUSED: dict[str, tuple[list[str], str]] = {
    "unknown label": (
        ["--send", "big=cubic"],
        f'{FILE}.senders.big = "big": no traffic has this label; choose from small',
    ),
    "no sender": (
        ["--send", "small"],
        '--send = "small": it is not LABEL=HOW; write e.g. background=cubic',
    ),
    "empty sender": (
        ["--send", "small="],
        '--send = "small=": it is not LABEL=HOW; write e.g. background=cubic',
    ),
    "sender twice": (
        ["--send", "small=cubic", "--send", "small=reno"],
        '--send = "small=reno": its label was given before; give each label once',
    ),
    "bad rate": (
        ["--send", "small=udp:fast"],
        f'{FILE}.senders.small = "udp:fast": "fast" is not a rate: its unit is unknown; '
        "write a number and a unit, one of b/s, kb/s, Mb/s, Gb/s, Tb/s",
    ),
    "small packets": (
        ["--set", "wire.payload=541B"],
        "pair.toml: wire.payload = 541: it makes packets of 589 B, and hosts with kernels need "
        '590 B; write more, or hosts = "penstock"',
    ),
    "rate below one": (
        ["--send", "small=udp:9b/s", "--scale-time", "10"],
        f'{FILE}.senders.small = "udp:9b/s": it is less than 1 b/s with scale_time = 10; '
        "at least udp:10b/s",
    ),
    "unknown host": (
        ["--program", "H3=true"],
        '--program = "H3": there is no such host; write a host of H0 to H2',
    ),
    "unknown kernel": (
        ["--hosts", "H1,H7"],
        '--hosts = "H7": there is no such host; write a host of H0 to H2',
    ),
    "no kernel": (
        ["--hosts", ""],
        '--hosts = "": it names nothing; write names separated by commas',
    ),
    "no host": (
        ["--program", "true"],
        "--program = \"true\": it is not HOST=COMMAND; write e.g. 'H0=ping 10.0.0.2'",
    ),
    "empty command": (
        ["--program", "H0="],
        f'{FILE}.programs[0].command = "": it names no program; write a program and its arguments',
    ),
    "open quote": (
        ["--program", "H0=sh -c 'exit"],
        f'{FILE}.programs[0].command = "sh -c \'exit": it cannot be read: no closing quotation; '
        "quote as in a shell",
    ),
    "no such program": (
        ["--program", "H0:=no-such-program -x"],
        'emulation.programs[0].command = "no-such-program -x": there is no program '
        "no-such-program; write a name that is in PATH, or a path",
    ),
    "program without a kernel": (
        ["--hosts", "H1", "--program", "H0=true"],
        f"{FILE}: host 0 of programs[0] has no kernel; name a host that has one",
    ),
    "sender without a kernel": (
        ["--hosts", "penstock", "--send", "small=cubic"],
        f"{FILE}: no host has a kernel; leave out senders, or change `hosts`",
    ),
    "host of a file": (
        ["--set", "emulation.other_hosts=[3]"],
        f"{FILE}.other_hosts[0] = 3: there is no such host; hosts are 0 to 2",
    ),
    "no terminal": (
        ["--watch"],
        "--watch: standard error is no terminal; run the command in a terminal, or leave the "
        "option out",
    ),
    "packet trace": (
        ["--set", "measure.trace={ nodes = [], events = [] }"],
        "pair.toml: measure.trace: it is a packet trace; in real time no packets are listed; leave "
        "it out and take --capture, or simulate the scenario",
    ),
    "mixed flow": (
        ["--hosts", "H0,H1"],
        "pair.toml: traffic[0]: it is a flow from host 1 to host 2; one of these has a kernel",
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals_name_the_option_and_the_remedy(
    words: str, pair: str, here: Path, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options, message = REFUSED[words]
    assert main(["emulate", pair, *options, "--out", "out"]) == 2
    assert f"error: {message}" in capsys.readouterr().err
    assert everything(here) == [pair]


@pytest.mark.parametrize("scale", ["0", "1000001", "half"])
def test_a_scale_of_time_out_of_range_is_refused(
    scale: str, pair: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["emulate", pair, "--scale-time", scale, "--out", "out"]) == 2
    assert re.search("--scale-time|emulation.scale_time", capsys.readouterr().err)
    assert everything(here) == [pair]


@with_namespaces
def test_a_congestion_control_that_the_kernel_lacks_is_refused(
    pair: str, here: Path, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["emulate", pair, "--send", "small=carrier-pigeon", "--program", "H0=true"]
    assert main([*command, "--out", "out"]) == 1
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().strip()
    message = (
        'the run failed: host H0: this kernel has no congestion control "carrier-pigeon"; '
        f"it has: {available}"
    )
    assert message in capsys.readouterr().err
    assert everything(here) == [pair]


@with_namespaces
@pytest.mark.parametrize("hosts", ["kernel", "penstock"])
def test_what_no_machine_can_forward_is_refused_with_a_scale(
    hosts: str, here: Path, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eight links of 100 Gb/s need tens of millions of frames a second."""
    assert main(["emulate", "quickstart", "--hosts", hosts, "--out", "out"]) == 1
    message = (
        r"the run failed: the run may need \d{8,} frames a second and this machine forwards \d+ in "
        r"time; slow it down with --set emulation.scale_time=\d{2,}, or add --force to see what "
        r"happens"
    )
    assert re.fullmatch(message, capsys.readouterr().err.strip())
    assert everything(here) == []


@with_namespaces
def test_a_program_that_cannot_be_started_leaves_nothing(pair: str, here: Path, mark: str) -> None:
    no_program = here / "no-program"
    no_program.touch(mode=0o755)
    no_program.write_text("#!/no/interpreter")
    programs = [{"host": 0, "command": "true"}, {"host": 1, "command": str(no_program)}]
    scenario = Scenario.load(pair, {"emulation.programs": programs})
    with pytest.raises(SimulationError, match=r"start .*/no-program on host H1: No such file"):
        emulate(scenario, output=here / "printed", capture=here / "frames.pcapng")
    assert everything(here) == [no_program.name, pair]


@with_namespaces
@pytest.mark.parametrize("hosts", ["kernel", "penstock"])
def test_every_flow_finishes_and_the_run_is_like_any_other(
    hosts: str, here: Path, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["emulate", *QUICK, "--hosts", hosts, "--out", "out"]) == 0
    shown = capsys.readouterr().out
    assert "results: out" in shown
    assert "bfc: real time: " in shown
    known = {*RUN_FILES, SUMMARY_FILE, REPORT_FILE}
    assert {path.name for path in (here / "out").iterdir()} <= known
    run = Run.load("out")
    assert not run.is_cancelled
    assert run.flows.height == run.summary["flows_finished"] == run.summary["flows_started"] > 100
    assert (run.flows["fct_ns"] > 0).all()
    emulation = run.summary["emulation"]
    assert emulation["scale_time"] == 10_000
    assert emulation["copies_per_second"] > 0
    assert emulation["lateness"]["network"]["frames"] > 0
    assert (emulation["lateness"]["hosts"]["frames"] > 0) == (hosts == "penstock")
    assert (emulation["connections"]["established"] > 0) == (hosts == "kernel")
    assert emulation["connections"]["failed"] == 0
    assert run.summary["digest"]
    assert "<html" in (here / "out" / "report.html").read_text()


SERVER = f"{sys.executable} -u -m http.server 80 --bind 10.0.0.1"
CLIENT = """
import sys, time, urllib.request
for _ in range(600):
    try:
        print(urllib.request.urlopen("http://10.0.0.1/pair.toml").read().decode(), end="")
        sys.exit(3)
    except OSError:
        time.sleep(0.1)
"""
"""Reads the scenario from the server as soon as that listens; ends with a code of its own."""


@with_namespaces
def test_programs_talk_and_what_they_print_is_kept(
    pair: str, here: Path, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "client.py").write_text(CLIENT)
    printed = here / "out-programs"
    printed.mkdir()
    (printed / "program-7.out").write_text("of an earlier run")
    client = f"{sys.executable} client.py"
    programs = ["--program", f"H0:={SERVER}", "--program", f"H2={client}"]
    assert main(["emulate", pair, *programs, "--out", "out", "--json"]) == 0
    assert everything(printed) == [f"program-{n}.{kind}" for n in (0, 1) for kind in ("err", "out")]
    assert (printed / "program-1.out").read_text() == (here / pair).read_text()
    assert (printed / "program-1.err").read_text() == ""
    assert "10.0.0.3" in (printed / "program-0.err").read_text()
    summary = json.loads(capsys.readouterr().out)["runs"]["bfc"]
    server, asked = summary["emulation"]["programs"]
    assert server == {"host": 0, "command": SERVER.split(), "signal": signal.SIGTERM, "told": True}
    assert asked == {"host": 2, "command": client.split(), "code": 3, "told": False}
    assert f"H2: {client}: ended with code 3" in summary["notes"]
    assert not any("http.server" in note for note in summary["notes"])
    assert summary["flows_finished"] == 2


@with_namespaces
def test_a_datagram_is_in_the_network_or_dropped_there_or_missed(
    pair: str, here: Path, mark: str
) -> None:
    """A host sends faster than anybody reads. Each of its frames has its place in one count."""
    sent = 30_000
    script = "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
    script += f"[s.sendto(bytes(1000), ('10.0.0.3', 9)) for _ in range({sent})]; time.sleep(1)"
    (here / "pair.toml").write_text((here / pair).read_text().replace("[[0, 1, 10000, 0], ", "["))
    command = ["emulate", pair, "--scheme", "pfc", "--out", "out", "--force"]
    assert main([*command, "--program", f'H0={sys.executable} -c "{script}"']) == 0
    run = Run.load("out")
    assert run.summary["node_names"][3:5] == ["S0", "N0"]
    from_nic = (pl.col("from") == 4) & (pl.col("to") == 3)
    nic = run.links.row(by_predicate=from_nic, named=True)
    missed = run.summary["emulation"]["missed"].get("H0", {"from_host": 0})
    assert nic["assignments"] + nic["drops"] + missed["from_host"] == sent
    assert nic["drops"] == run.summary["drops"]
    assert nic["assignments"] < sent, "some had no place, at the NIC or before it"


def listed(here: Path, flows: str, duration: str, drain: str) -> None:
    """Writes the scenario of a pair with other flows."""
    text = PAIR.format(duration=duration, drain=drain)
    before = "[[0, 1, 10000, 0], [1, 2, 10000, 0]]"
    assert before in text
    (here / "pair.toml").write_text(text.replace(before, flows))


@with_namespaces
def test_endless_flows_deliver_no_more_than_links_carry_in_the_traffic(
    here: Path, mark: str
) -> None:
    """Kernels still hold bytes when the traffic ends, which arrive behind it."""
    listed(here, "[[0, 1, 0, 0], [2, 1, 0, 0]]", "20 ms", "30 s")
    assert main(["emulate", "pair.toml", "--scale-time", "10", "--out", "out"]) == 0
    flows = Run.load("out").summary["long_lived"]
    assert len(flows) == 2
    assert 0 < sum(flow["delivered_bytes"] for flow in flows) <= 100e6 / 8 * 0.020


@with_namespaces
def test_endless_flows_of_our_hosts_end_with_the_traffic(here: Path, mark: str) -> None:
    listed(here, "[[0, 1, 0, 0], [2, 1, 10000, 0]]", "100 ms", "30 s")
    assert main(["emulate", "pair.toml", "--hosts", "penstock", "--out", "out"]) == 0
    summary = Run.load("out").summary
    assert summary["flows_finished"] == len(summary["long_lived"]) == 1
    assert 100e9 <= summary["sim_end_ps"] < 30e12


@with_namespaces
def test_a_run_waits_for_datagrams_that_the_network_stores(here: Path, mark: str) -> None:
    """The link to their host needs a second of the machine longer than their senders."""
    listed(here, "[[0, 1, 125000, 0], [2, 1, 125000, 0]]", "10 ms", "1 s")
    command = ["emulate", "pair.toml", "--send", "small=udp:90Mb/s", "--scale-time", "100"]
    assert main([*command, "--out", "out"]) == 0
    summary = Run.load("out").summary
    is_lost = summary["drops"] > 0 or summary["emulation"]["missed"]
    assert summary["flows_finished"] == 2 or is_lost


@with_namespaces
def test_servers_are_told_of_the_end_together(pair: str, here: Path, mark: str) -> None:
    """The second server is told while the first one, which does not listen, still lives."""
    stubborn = "H0:=sh -c 'trap \"\" TERM; echo $$ > first; sleep 600'"
    look = "until test -s first; do sleep 0.05; done; "
    look += 'trap "kill -0 $(cat first) && echo together; exit 0" TERM; echo > second; '
    wait = "until test -s second; do sleep 0.05; done"
    command = ["emulate", pair, "--out", "out", "--force", "--program", stubborn]
    command += ["--program", f"H0:=sh -c '{look} while :; do sleep 0.05; done'"]
    assert main([*command, "--program", f"H1=sh -c '{wait}'"]) == 0
    assert (here / "out-programs" / "program-1.out").read_text() == "together\n"
    assert Run.load("out").summary["notes"][-1].endswith("ended by signal 9")


@with_namespaces
def test_two_schemes_give_one_table_and_one_report(
    pair: str, here: Path, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["emulate", pair, "--scheme", "bfc,pfc", "--out", "out"]) == 0
    shown = capsys.readouterr().out
    for name in ("bfc", "pfc"):
        assert re.search(rf"^ {name} ", shown, re.MULTILINE), shown
        run = Run.load(here / "out" / name)
        assert run.scenario.scheme.name == name
        assert run.flows.height == 2
    assert sorted(path.name for path in (here / "out").iterdir()) == [
        "bfc",
        "comparison.json",
        "pfc",
        "report.html",
    ]


@with_namespaces
def test_a_stop_keeps_what_has_finished_and_leaves_nothing_else(here: Path, mark: str) -> None:
    listed(here, "[[0, 1, 10000, 0], [1, 2, 10000, 0], [0, 2, 10000, '40 s']]", "50 s", "1 s")
    interfaces_before = interfaces()
    command = [sys.executable, "-m", "penstock", "emulate", "pair.toml", "--out", "out"]
    # The two flows take a hundredth of a second.
    command += ["--program", "H2=sh -c 'sleep 2; echo ready; sleep 600'"]
    printed = here / "out-programs" / "program-0.out"
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as started:
        ready = wait_until(lambda: printed.exists() and printed.read_text() == "ready\n")
        made = networks(processes(mark)) - networks([os.getpid()])
        started.send_signal(signal.SIGTERM)
        message = started.communicate(timeout=PATIENCE_SECONDS)[1]
    assert ready, message
    assert started.returncode == 1, message
    assert "interrupted; what had finished is kept:" in message
    assert "out: stopped at " in message
    run = Run.load("out")
    assert run.is_cancelled
    assert run.summary["flows_finished"] == run.flows.height == 2
    assert run.summary["flows_started"] == 2, "the third one starts after the stop"
    assert printed.read_text() == "ready\n"
    # The network of the worker, and one for each host.
    assert len(made) == 4
    assert wait_until(lambda: not processes(mark)), processes(mark)
    assert interfaces() == interfaces_before
    assert [path.name for path in here.rglob(".*")] == []


@with_namespaces
def test_a_stop_while_the_worker_starts_is_a_stop(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Early(subprocess.Popen[str]):
        def __init__(self, *words: Any, **options: Any) -> None:
            super().__init__(*words, **options)
            self.send_signal(signal.SIGTERM)

    (here / "pair.toml").write_text(PAIR.format(duration="50 s", drain="1 s"))
    scenario = Scenario.from_toml(here / "pair.toml")
    monkeypatch.setattr(subprocess, "Popen", Early)
    assert emulate(scenario, output=here / "printed", forced=True).is_cancelled


def test_notes_say_what_went_wrong() -> None:
    late = {"frames": 5, "p50_us": 0.5, "p99_us": 1_500.0, "max_us": 2e6}
    done = {
        "frames": 12_345,
        "lateness": {"network": late, "hosts": late | {"frames": 0}},
        "refused": {"H1": {"multicast": 3, "spoofed": 1_000}},
        "missed": {"H0": {"from_host": 0, "to_host": 7}, "H2": {"from_host": 1_500, "to_host": 0}},
        "connections": {"failed": 2},
        "programs": [
            {"host": 0, "command": ["a", "-b"], "code": 0, "told": False},
            {"host": 1, "command": ["c"], "code": 7, "told": False},
            {"host": 1, "command": ["d"], "signal": 11, "told": False},
            {"host": 2, "command": ["e"], "signal": 15, "told": True},
            {"host": 2, "command": ["e2"], "code": 0, "told": True},
            {"host": 2, "command": ["f"], "signal": 15, "told": True},
            {"host": 2, "command": ["f2"], "code": 0, "told": True},
            {"host": 2, "command": ["g"], "signal": 11, "told": True},
        ],
    }
    programs = [Program(host=0, command=name) for name in ("a -b", "c", "d", "e", "e2")]
    servers = [Program(host=2, command=name, server=True) for name in ("f", "f2", "g")]
    asked = Emulation(programs=[*programs, *servers])
    # 3 ms a packet: a frame in a hundred is late by just half of it.
    in_time = notes(done | {"packet_us": 3_000.0}, asked)
    assert not any(note.startswith("too late") for note in in_time)
    assert notes(done | {"packet_us": 2_999.0}, asked) == [
        "real time: 12,345 frames, late by 500 ns (median), 1.5 ms (99th percentile), 2 s at most",
        "too late: a frame in a hundred is late by more than half of the 3 ms that a packet takes "
        "on the slowest link; completion times are too long (docs/emulation.md)",
        "frames of H1 that were not let in: 3 multicast, 1,000 spoofed",
        "frames to H0 that were lost: 7; the host was late in reading those before them",
        "frames from H2 that were lost: 1,500; the network was late in reading those before them",
        "H1: c: ended with code 7",
        "H1: d: ended by signal 11",
        "H2: e: had not ended when the run was over; it then ended by signal 15",
        "H2: e2: had not ended when the run was over; it then ended with code 0",
        "H2: g: ended by signal 11",
        "2 connections failed",
    ]


def test_what_programs_printed_is_replaced_when_the_run_has_ended(tmp_path: Path) -> None:
    directory = tmp_path / "out-programs"
    directory.mkdir()
    (directory / "program-0.out").write_text("earlier")
    (directory / "program-results.out").write_text("mine")
    with pytest.raises(ValueError, match="no worker"), replaced(directory, is_made=True):
        assert everything(directory) == ["program-results.out"]
        (directory / "program-0.out").write_text("of a run that fails")
        (directory / "program-1.err").write_text("of a run that fails")
        raise ValueError("no worker")
    assert everything(directory) == ["program-0.out", "program-results.out"]
    assert (directory / "program-0.out").read_text() == "earlier"
    with replaced(directory, is_made=True) as printed:
        (directory / "program-0.out").write_text("later")
        printed.is_kept = True
    assert (directory / "program-0.out").read_text() == "later"
    with replaced(directory, is_made=False) as printed:
        printed.is_kept = True
    assert everything(tmp_path) == ["out-programs", "out-programs/program-results.out"]
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(ScenarioError, match="a file has it"),
        replaced(tmp_path / "file", is_made=True),
    ):
        pass


@with_namespaces
def test_a_file_says_what_the_options_say(here: Path, mark: str) -> None:
    """Hosts of both kinds; and a simulation of the same file is another run."""
    table = """
[emulation]
hosts = "penstock"
other_hosts = [0, 1]
scale_time = 2
senders = { small = "cubic" }
programs = [{ host = 0, command = "echo of the file" }]

"""
    text = PAIR.format(duration="100 ms", drain="30 s")
    text = text.replace("[0, 1, 10000, 0], [1, 2, 10000, 0]", "[0, 1, 10000, 0]")
    text += '\n[[traffic]]\nkind = "listed"\nlabel = "ours"\nflows = [[2, 3, 10000, 0]]\n'
    (here / "mixed.toml").write_text(text.replace("hosts = 3", "hosts = 4") + table)
    command = ["emulate", "mixed.toml", "--program", "H1=echo of the option", "--out", "out"]
    assert main([*command, "--scale-time", "3"]) == 0
    printed = [(here / "out-programs" / f"program-{index}.out").read_text() for index in (0, 1)]
    assert printed == ["of the file\n", "of the option\n"]
    run = Run.load("out")
    assert run.flows.height == 2
    assert run.summary["emulation"]["scale_time"] == 3
    assert run.scenario.emulation is not None
    assert run.scenario.emulation.kernels(4) == [0, 1]
    assert main(["run", "mixed.toml", "--out", "out"]) == 2
    assert main(["run", "mixed.toml", "--out", "simulated"]) == 0
    simulated = Run.load("simulated")
    assert simulated.scenario.emulation is None
    assert simulated.summary["scenario_hash"] != run.summary["scenario_hash"]


@with_namespaces
def test_compare_puts_real_frames_beside_the_simulation(
    pair: str, here: Path, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = here / pair
    scenario.write_text(scenario.read_text() + '\n[emulation]\nhosts = "penstock"\n')
    assert main(["compare", pair, "--scheme", "pfc,bfc", "--emulate", "--out", "out"]) == 0
    shown = capsys.readouterr().out
    rows = [line.split("  ")[0].strip() for line in shown.splitlines()]
    assert [row for row in rows if row.startswith(("bfc", "pfc"))][:4] == [
        "pfc",
        "pfc with frames",
        "bfc",
        "bfc with frames",
    ]
    simulated, framed = Run.load("out/bfc"), Run.load("out/bfc-with-frames")
    assert "emulation" not in simulated.summary
    assert framed.summary["emulation"]["connections"]["established"] == 0
    assert simulated.flows.height == framed.flows.height == 2


@with_namespaces
@pytest.mark.parametrize("several", [False, True])
def test_an_experiment_has_runs_with_real_frames(
    several: bool, here: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = {
        "id": "x/frames",
        "title": "Frames",
        "source": "nobody",
        "shows": "A simulation, and the same with real frames.",
        "scenario": tomllib.loads(PAIR.format(duration="100 ms", drain="30 s")),
        "sweeps": [
            {"name": "frames", "frames": True, "set": {"emulation": {"hosts": "penstock"}}},
            {"name": "simulated"},
        ],
        "scales": {"quick": {"seeds": [1, 2]}, "paper": {}},
        "claims": [
            {
                "claim": "With real frames as many flows finish.",
                "reported": "all",
                "measure": "total(of='flows_finished', sweep='frames') / "
                "total(of='flows_finished', sweep='simulated')",
                "at_least": 1,
            }
        ],
    }
    (here / "x").mkdir()
    (here / "x" / "frames.toml").write_text(tomli_w.dumps(experiment))
    monkeypatch.setattr(catalogue, "DIRECTORY", here)
    if several:
        done = reproduce_many(["x/frames"], out="out")
        assert not done.outcomes["x/frames"].failure
    else:
        reproduce("x/frames", out="out/x/frames-quick")
    runs = here / "out" / "x" / "frames-quick" / "runs"
    names = ["frames-seed1", "frames-seed2", "simulated-seed1", "simulated-seed2"]
    assert sorted(path.name for path in runs.iterdir()) == names
    assert ["emulation" in Run.load(runs / name).summary for name in names] == [
        True,
        True,
        False,
        False,
    ]
    claims = json.loads((runs.parent / "claims.json").read_text())["claims"]
    late = [is_too_late(Run.load(runs / name).summary) for name in names]
    assert late[2:] == [False, False]
    assert [one["verdict"] for one in claims] == ["not decided" if any(late) else "holds"]
    assert any(late) == ("real frames were too late" in claims[0]["measured"])


def test_a_frame_in_a_hundred_is_late_by_so_many_packets() -> None:
    lateness = {"network": {"p99_us": 100.0}, "hosts": {"p99_us": 480.0}}
    assert packets_late({"lateness": lateness, "packet_us": 120.0}) == 4.0
    assert not is_too_late({"emulation": {"lateness": lateness, "packet_us": 120.0}})
    assert is_too_late({"emulation": {"lateness": lateness, "packet_us": 119.0}})
    assert not is_too_late({})


def tshark(file: Path, *fields: str) -> list[list[str]]:
    """The fields of each frame of a file."""
    command = ["tshark", "-r", str(file), "-T", "fields"]
    command += [word for field in fields for word in ("-e", field)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


@with_namespaces
@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("payload", [1_000, 1_452])
def test_a_capture_has_every_frame_for_wireshark(
    payload: int, pair: str, here: Path, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The longest are as long as the scenario's packets, whose headers are 48 B."""
    options = ["--set", f"wire.payload={payload}B", "--capture", "--out", "out"]
    assert main(["emulate", pair, *options]) == 0
    run = Run.load("out")
    rows = tshark(
        here / "out.pcapng", "frame.interface_name", "frame.time_relative", "frame.len", "tcp.len"
    )
    emulation = run.summary["emulation"]
    refused = sum(sum(reasons.values()) for reasons in emulation["refused"].values())
    assert len(rows) == emulation["frames"] + refused
    assert {row[0] for row in rows} == {"H0", "H1", "H2"}
    # Each byte enters once and leaves once; what was sent again comes on top.
    assert sum(int(row[3] or 0) for row in rows) >= 2 * 20_000
    times = [float(row[1]) for row in rows]
    assert max(times) <= run.summary["sim_end_ps"] / 1e12
    assert max(int(row[2]) for row in rows) == payload + 48


@with_namespaces
@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_frames_have_the_class_of_their_traffic(pair: str, here: Path, mark: str) -> None:
    """Class 0 is served first and is priority 7, the highest (IEEE 802.1Q)."""
    kinds = [
        {"kind": "listed", "label": name, "class": number, "flows": [[0, 1, 20_000, 0]]}
        for number, name in enumerate(["first", "second"])
    ]
    two = here / "two.toml"
    two.write_text(Scenario.load(pair, {"traffic": kinds, "scheme": "wrr"}).to_toml())
    assert main(["emulate", str(two), "--capture", "--out", "out"]) == 0
    rows = tshark(here / "out.pcapng", "tcp.stream", "ip.dsfield.dscp")
    streams = {stream: dscp for stream, dscp in rows if stream}
    assert sorted(streams.values()) == ["48", "56"]


@with_namespaces
def test_a_place_is_claimed_before_the_network_is_made(
    pair: str, here: Path, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "out.pcapng").write_text("mine")
    assert main(["emulate", pair, "--capture", "--out", "out"]) == 2
    assert '--capture = "out.pcapng": a file has this name' in capsys.readouterr().err
    assert (here / "out.pcapng").read_text() == "mine"
    assert not (here / "out").exists()


def glance(milliseconds: int, sent: int, stored: tuple[int, ...]) -> Glance:
    """The pair's network at one moment: host 0 has sent so much to host 1."""
    hosts = (HostGlance(0, sent, 0, 2), HostGlance(1, 0, sent // 2, 0), HostGlance(2, 0, 0, 0))
    return Glance(milliseconds * 10**9, hosts, stored, 3, 0, 17, 0, 0.5, 1500.0)


def test_the_live_table_has_rates_since_the_glance_before(pair: str) -> None:
    # Only host 0 has a kernel, and so a NIC.
    asked = {"emulation.hosts": "penstock", "emulation.other_hosts": [0]}
    scenario = Scenario.load(pair, asked)
    table = live_table("bfc", scenario, glance(100, 10_000, ()), glance(300, 35_000, (4_000, 700)))
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(table)
    lines = console.export_text().splitlines()
    # 25 kB in 200 ms are 1 Mb/s; half of the bytes have arrived.
    assert re.fullmatch(r" *H0 +1 Mb/s +0 b/s +700 B +2 +S0 +4 KB *", lines[3])
    assert re.fullmatch(r" *H1 +0 b/s +500 kb/s +– +0 *", lines[4])
    assert "drops 3  PFC pauses 0  queue pauses 17  timed pauses 0" in lines[-2]
    assert lines[-1].startswith("frames late by 500 ns (median), 1.5 ms (p99)")


def test_more_hosts_than_there_is_memory_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = Scenario.from_name("quickstart").with_overrides({"topology.hosts": 400})
    monkeypatch.setattr("penstock.emulation.memory.available_bytes", lambda: 400e6)
    # 400 hosts take 240 MB, and the 399 neighbours of each kernel 208 MB.
    with pytest.raises(ScenarioError, match=r"its 400 hosts need about 44\d MB in real time"):
        check_hosts(scenario, Emulation(hosts="kernel"))
    check_hosts(scenario, Emulation(hosts="penstock"))


@with_namespaces
def test_a_run_can_be_watched(pair: str, here: Path, mark: str) -> None:
    """The same run is seen while it goes on, and its last glance is no more than its end."""
    seen: list[Glance] = []
    endless = {"kind": "long-lived", "label": "endless", "pairs": [[0, 1]]}
    changes = {"duration": "3 s", "drain": 0, "traffic": [endless]}
    scenario = Scenario.load(pair, changes)
    made = emulate(scenario, output=here / "printed", forced=True, look=seen.append)
    assert len(seen) >= 2
    assert [one.host for one in seen[-1].hosts] == [0, 1, 2]
    sent = [one.hosts[0].sent_bytes for one in seen]
    assert sorted(sent) == sent and sent[-1] > sent[0]
    assert 0 < seen[-1].now_ps <= made.summary["sim_end_ps"]


def test_the_live_table_needs_a_terminal_and_leaves_it(pair: str, here: Path) -> None:
    with Watching({"bfc": Scenario.load(pair)}) as shown:
        shown.look("bfc", glance(100, 10_000, ()))
        shown.update("bfc", Progress(10**11, 10**11, 10**12, 0, 0, 1.0))
