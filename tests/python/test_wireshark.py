"""The dissector shows the fields of every kind of frame as docs/wire.md has them."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRAMES = ROOT / "crates" / "penstock-wire" / "tests" / "frames" / "frames.txt"
DISSECTOR = ROOT / "tools" / "wireshark" / "penstock.lua"
PAGE = ROOT / "docs" / "wire.md"

pytestmark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed (apt-get install tshark)"
)

Row = dict[str, str]

# What crates/penstock-wire/tests/frames/samples.rs writes into every packet from host to host.
COMMON = {
    "penstock.version": "1",
    "penstock.class": "1",
    "penstock.label": "0x0305",
    "penstock.tag": "7",
    "penstock.flow": "0xc0ffee01",
    "penstock.source": "9",
    "penstock.destination": "4",
    "penstock.remaining": "2008",
    "penstock.offset": "64000",
    "penstock.sent_at": "125000000",
}

EXPECTED: dict[str, Row] = {
    "data": {**COMMON, "penstock.payload": "8", "penstock.wire_bytes": "56"},
    "data-padded": {**COMMON, "penstock.wire_bytes": "96", "penstock.zeros": "00" * 8},
    "data-telemetry": {
        **COMMON,
        "penstock.flags.opens_pair": "1",
        "penstock.flags.marked": "0",
        "penstock.hops": "1",
        "penstock.hop.time": "127000000",
        "penstock.hop.sent": "1000001",
        "penstock.hop.queued": "30000",
        "penstock.hop.rate": "100000000000",
        "penstock.zeros": "00" * 8,
    },
    "acknowledgement": {
        **COMMON,
        "penstock.flags": "0x01",
        "penstock.hops": "2",
        "penstock.hop.queued": "30000,60000",
        "penstock.content": "0",
    },
    "drop-notice": {**COMMON, "penstock.payload": "1000", "penstock.content": "0"},
    "encapsulated": {
        **COMMON,
        "penstock.flags.encapsulates": "1",
        "penstock.content": "42",
        "ip.src": "10.0.0.10",
        "ip.dst": "10.0.0.5",
        "ip.dsfield.ecn": "2",
        "tcp.srcport": "43210",
        "tcp.dstport": "80",
    },
    "pause-class": {"penstock.class": "1", "penstock.nanoseconds": "0"},
    "pause-class-for": {"penstock.class": "1", "penstock.nanoseconds": "5000"},
    "resume-class": {"penstock.class": "1", "penstock.nanoseconds": ""},
    "pause-queue": {"penstock.label": "0x0305", "penstock.wire_bytes": "64"},
    "resume-queue": {"penstock.label": "0x0305"},
    "pause-flow": {"penstock.flow": "0xc0ffee01", "penstock.label": ""},
    "resume-flow": {"penstock.flow": "0xc0ffee01"},
    "queue-bitmap": {
        "penstock.epoch": "3",
        "penstock.queues": f"{1 << 127 | 1 << 64 | 0x25:032x}",
    },
    "pause-time": {"penstock.nanoseconds": "1500"},
    "hop-credit": {"penstock.account": "5", "penstock.granted": "1048576"},
    "priority-pause": {"penstock.kind": "", "macc.opcode": "0x0101"},
}

# Kinds of samples that are not called after their kind.
OTHER_NAMES = {
    "data-telemetry": "Data",
    "data-padded": "Data",
    "encapsulated": "Data",
    "pause-class-for": "PauseClass",
}


def samples() -> dict[str, bytes]:
    lines = (line.split() for line in FRAMES.read_text().splitlines())
    return {name: bytes.fromhex(digits) for name, digits in lines}


def capture(frames: list[bytes], path: Path) -> Path:
    """A capture file of Ethernet frames (libpcap's format, link type 1), one a second."""
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
    records = (
        struct.pack("<IIII", second, 0, len(frame), len(frame)) + frame
        for second, frame in enumerate(frames)
    )
    path.write_bytes(header + b"".join(records))
    return path


def dissected(frames: list[bytes], fields: list[str], path: Path) -> list[Row]:
    """The fields of each frame as tshark shows them, empty where a frame has no such field."""
    command = ["tshark", "-r", str(capture(frames, path)), "-X", f"lua_script:{DISSECTOR}"]
    command += ["-T", "fields", "-E", "separator=|", "-E", "occurrence=a"]
    for field in fields:
        command += ["-e", field]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stderr
    assert "Lua: Error" not in run.stderr and "lua:" not in run.stderr.lower(), run.stderr
    rows = [line.split("|") for line in run.stdout.splitlines()]
    return [dict(zip(fields, row, strict=True)) for row in rows]


def numbers() -> Row:
    """The number of each kind, from the page."""
    found = re.findall(r"^\| `0x([0-9a-f]{2})` \| `(\w+)` \|", PAGE.read_text(), re.MULTILINE)
    return {kind: f"0x{number}" for number, kind in found}


def test_every_sample_shows_its_kind_and_its_fields(tmp_path: Path) -> None:
    frames = samples()
    named = {field for expected in EXPECTED.values() for field in expected}
    fields = sorted(named | {"penstock.kind", "_ws.expert.message"})
    rows = dissected(list(frames.values()), fields, tmp_path / "frames.pcap")
    assert len(rows) == len(frames)
    kinds = numbers()
    for name, row in zip(frames, rows, strict=True):
        expected = EXPECTED.get(name, COMMON)
        assert {field: row[field] for field in expected} == expected, name
        kind = OTHER_NAMES.get(name, "".join(part.capitalize() for part in name.split("-")))
        if name != "priority-pause":
            assert row["penstock.kind"] == kinds[kind], name
            assert "docs/wire.md" not in row["_ws.expert.message"], name


def test_frames_that_are_cut_off_are_marked_and_break_nothing(tmp_path: Path) -> None:
    whole = samples()
    cut = [
        whole[name][:length]
        for name, headers in [("data-telemetry", 100), ("pause-queue", 36), ("encapsulated", 134)]
        for length in range(15, headers)
    ]
    rows = dissected(cut, ["_ws.expert.message", "eth.type"], tmp_path / "cut.pcap")
    assert len(rows) == len(cut)
    for row, frame in zip(rows, cut, strict=True):
        assert "docs/wire.md" in row["_ws.expert.message"], len(frame)
