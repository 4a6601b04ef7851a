"""The HPCC simulator's flow file: a count, then ``src dst pg [dport] size start_s``.

Format: ``ReadFlowInput`` in its ``scratch/third.cc``. Older forks have no port. Words below the
flows are not read.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.dependency import FLOWS_MAX, SIZE, SIZE_MAX, checked_flows
from penstock.hpcc.quantity import seconds_ns
from penstock.lines import Line, announced
from penstock.topology_file import NODE_MAX
from penstock.units import TIME

PORT_MAX = 2**16 - 1
"""Largest UDP port."""

SECOND_NS = TIME.units["s"] // TIME.units["ns"]


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
    for _ in checked_flows(lines[0], places, in_order=True):
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
        line.whole(words[-2], SIZE, SIZE_MAX, least=1),
        line.read(seconds_ns, words[-1]),
    )
