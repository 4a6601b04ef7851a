"""Lists of flows in the files that users already have.

Three formats, told apart by their first line:

* CSV with a header: source, destination, size in bytes, start in s, ms, us, ns or ps;
* the HPCC simulator's flow file: a count, then ``src dst pg [dport] size start_s``, and words
  below the flows, which are not read;
* htsim's connection matrix (``.cm``): ``Nodes``, ``Connections``, then ``1->2 start 0 size 9``.

Files may be gzipped. A bad line is refused with its number: truncated files, starts that go back
in time, texts where a number belongs, a flow from a host to itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from penstock.hpcc.quantity import time_ns
from penstock.lines import Line, announced, read_lines
from penstock.topology_file import NODE_MAX
from penstock.units import TIME, refusal

Flow = tuple[int, int, int, int]
"""Source host, destination host, size [B], start [ps]."""

PORT_MAX = 2**16 - 1
"""Largest UDP port."""

FLOWS_MAX = 2**19
"""Most flows of a list; our choice: what is kept of one takes a kilobyte until the core has it."""

SECOND_NS = TIME.units["s"] // TIME.units["ns"]


@dataclass(frozen=True)
class FlowTrace:
    """The flows of a file."""

    flows: list[Flow]
    """In the order of the file."""
    destination_ports: list[int] = field(default_factory=list)
    """UDP port of each flow at its destination; empty when the format has none."""


@dataclass(frozen=True, slots=True)
class HpccFlow:
    """A line of the HPCC simulator's flow file, its node numbers as the file has them."""

    line: Line
    source: int
    destination: int
    priority_group: int
    destination_port: int
    """0 in the files of older forks, which have none."""
    size: int
    """Payload [B]."""
    start_ns: int
    """As that simulator reads it (:mod:`penstock.hpcc.quantity`)."""


_COLUMNS = {
    "source": ("src", "source", "source_host"),
    "destination": ("dst", "dest", "destination", "destination_host"),
    "size": ("size_bytes", "size", "bytes"),
}
_STARTS = {f"start_{unit}": unit for unit in ("s", "ms", "us", "ns", "ps")}


def read_trace(path: Path) -> FlowTrace:
    """The flows of a file; those of the HPCC simulator begin at a whole second, taken off here.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names the line and the remedy.
    """
    lines = read_lines(path)
    if re.fullmatch("[0-9]+", lines[0].text):
        found = read_hpcc_flows(lines)
        base = base_second(found) * SECOND_NS
        listed = [
            (flow.source, flow.destination, flow.size, 1000 * (flow.start_ns - base))
            for flow in found
        ]
        return FlowTrace(listed, [flow.destination_port for flow in found])
    if lines[0].text.startswith("Nodes"):
        return FlowTrace(list(_checked(_connection_matrix(lines))))
    return FlowTrace(list(_checked(_csv(lines))))


def base_second(flows: list[HpccFlow]) -> int:
    """The whole second at or before the first flow's start [s]."""
    return flows[0].start_ns // SECOND_NS


def read_hpcc_flows(lines: list[Line]) -> list[HpccFlow]:
    """The flows of the HPCC simulator's flow file, in its order.

    Format: ``ReadFlowInput`` in its ``scratch/third.cc``.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names the line and the remedy.
    """
    count = lines[0].whole(lines[0].text, "the number of flows", FLOWS_MAX)
    rows = announced(lines[1:], count, lines[0], "flows")
    flows = [_hpcc_flow(line) for line in rows]
    places = ((f.line, (f.source, f.destination, f.size, f.start_ns)) for f in flows)
    for _ in _checked(places):
        pass
    return flows


def _hpcc_flow(line: Line) -> HpccFlow:
    words = line.text.split()
    if len(words) not in (5, 6):
        raise line.refuse(f"has {len(words)} columns", "write src dst pg dport size start_s")
    port = line.whole(words[3], "the port", PORT_MAX) if len(words) == 6 else 0
    return HpccFlow(
        line,
        line.whole(words[0], "the source", NODE_MAX),
        line.whole(words[1], "the destination", NODE_MAX),
        line.whole(words[2], "the priority group"),
        port,
        line.whole(words[-2], "the size"),
        line.read(time_ns, words[-1]),
    )


def _csv(lines: list[Line]) -> Iterator[tuple[Line, Flow]]:
    header = [name.strip().lower() for name in lines[0].text.split(",")]
    places = {}
    for column, names in _COLUMNS.items():
        found = [place for place, name in enumerate(header) if name in names]
        if len(found) != 1:
            raise lines[0].refuse(
                f"has no {column} column", "begin with a header such as src,dst,size_bytes,start_ns"
            )
        places[column] = found[0]
    starts = [(place, _STARTS[name]) for place, name in enumerate(header) if name in _STARTS]
    if len(starts) != 1:
        raise lines[0].refuse("has no start column", f"name it one of {', '.join(_STARTS)}")
    start, unit = starts[0]
    for line in lines[1:]:
        words = line.text.split(",")
        if len(words) != len(header):
            raise line.refuse(
                f"has {len(words)} of {len(header)} columns", "the file is truncated here; mend it"
            )
        yield (
            line,
            (
                line.whole(words[places["source"]], "the source", NODE_MAX),
                line.whole(words[places["destination"]], "the destination", NODE_MAX),
                line.whole(words[places["size"]], "the size"),
                line.time(words[start], unit),
            ),
        )


def _connection_matrix(lines: list[Line]) -> Iterator[tuple[Line, Flow]]:
    """htsim's connection matrix; starts are in picoseconds (csg-htsim, connection_matrix.cpp)."""
    announced, found = None, 0
    for line in lines:
        words = line.text.split()
        if words[0] == "Connections" and len(words) == 2:
            announced = line.whole(words[1], "the number of connections")
        if "->" not in words[0]:
            continue
        found += 1
        ends = words[0].split("->")
        values = dict(zip(words[1::2], words[2::2], strict=False))
        if "start" not in values or "size" not in values:
            raise line.refuse(
                "has no start or no size", "triggers are not supported; give each flow both"
            )
        yield (
            line,
            (
                line.whole(ends[0], "the source", NODE_MAX),
                line.whole(ends[1], "the destination", NODE_MAX),
                line.whole(values["size"], "the size"),
                line.time(values["start"], "ps"),
            ),
        )
    if announced != found:
        raise lines[0].refuse(
            f"announces {announced} connections, but {found} follow", "the file is truncated"
        )


def _checked(flows: Iterator[tuple[Line, Flow]]) -> Iterator[Flow]:
    before, count = 0, 0
    for count, (line, flow) in enumerate(flows, start=1):
        source, destination, size, start = flow
        if source == destination:
            raise line.refuse(f"is a flow from host {source} to itself", "name two hosts")
        if size == 0:
            raise line.refuse("is a flow without bytes", "write a size of at least 1")
        if start < before:
            raise line.refuse("starts before the line above it", "sort the file by start")
        if count > FLOWS_MAX:
            raise line.refuse("is one flow too many", f"write at most {FLOWS_MAX:,} in a file")
        before = start
        yield flow
    if not count:
        raise refusal("the trace has no flows", "add some, or leave the traffic out")
