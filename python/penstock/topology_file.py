"""Networks in the text file that the HPCC family of simulators uses.

The file has a header, the numbers of the switches, then a line for each cable: ``a b rate delay
[error rate]``, such as ``0 128 100Gbps 0.001ms 0``. A rate without a unit is in bit/s, a delay in
seconds. All other nodes are hosts. Penstock numbers hosts first; both kinds keep their order. Words
below the last cable are not read.

The headers of the family, told apart by their length:

| words | meaning | simulator |
|---|---|---|
| 3 | nodes, switches, links | alibaba-edu/High-Precision-Congestion-Control, most forks |
| 4 | nodes, switches, ToRs, links | inet-tub/ns3-datacenter, ``examples/PowerTCP`` |
| 6 | nodes, switches, ToRs, links, two rates | inet-tub/ns3-datacenter, ``examples/Reverie`` |
| 6 | nodes, GPUs per server, NVSwitches, switches, links, GPU's name | aliyun/SimAI |

The number of ToRs, the rates and the GPUs add nothing to the cables. NVSwitches are listed
before the other switches and are switches here. A host with several cables, as SimAI's have, is
refused later, with the whole network in view.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from penstock.hpcc.quantity import rate_bps, time_ns
from penstock.lines import Line, announced, read_lines
from penstock.units import RATE, TIME

HOSTS_MAX, SWITCHES_MAX = 2**20, 2**12
"""The largest network; our choice: the core's bounds, far above the 8,192 hosts it is made for."""

NODE_MAX = HOSTS_MAX + SWITCHES_MAX - 1
"""Largest number of a node."""

CABLES_MAX = 2**16
"""Most cables that are listed one by one; our choice: a fat tree of 16,000 hosts has 48,000. A
cable takes two kilobytes until the core has it."""

BARE_RATE_MIN = 10**6
"""Smallest rate that is written without a unit [bit/s]; our choice: nobody builds a slower link,
and who writes 100 means Gb/s."""

BARE_DELAY_MAX = 10**6
"""Longest delay that is written without a unit, in seconds [ns]; our choice: light goes 200 km."""

CABLE = "write a b rate delay and, if you like, an error rate of 0"


@dataclass(frozen=True, slots=True)
class FileCable:
    """A cable, between nodes as the file numbers them."""

    line: Line
    a: int
    b: int
    rate: int
    """In each direction [bit/s]."""
    delay: int
    """Propagation delay as written [ps]."""
    delay_ns: int
    """The same as ns-3 reads it (:mod:`penstock.hpcc.quantity`)."""


@dataclass(frozen=True)
class TopologyFile:
    """A network, its nodes numbered as in the file."""

    nodes: int
    switches: frozenset[int]
    cables: tuple[FileCable, ...]

    def numbers(self) -> dict[int, int]:
        """Penstock's number of each node: hosts first, both kinds in the order of the file."""
        ordered = sorted(range(self.nodes), key=lambda node: (node in self.switches, node))
        return {node: number for number, node in enumerate(ordered)}

    def graph(self, *, as_ns3: bool = False) -> dict[str, Any]:
        """The ``hosts``, ``switches`` and ``links`` of a graph, as a scenario would write them.

        Parameters
        ----------
        as_ns3
            Delays as ns-3 reads them, in whole nanoseconds.
        """
        numbers = self.numbers()
        links = [
            {
                "a": numbers[cable.a],
                "b": numbers[cable.b],
                "rate": cable.rate,
                "delay": TIME.units["ns"] * cable.delay_ns if as_ns3 else cable.delay,
            }
            for cable in self.cables
        ]
        hosts = self.nodes - len(self.switches)
        return {"hosts": hosts, "switches": len(self.switches), "links": links}


@dataclass(frozen=True)
class _Header:
    nodes: int
    switches: int
    """NVSwitches included."""
    links: int


def read_topology(path: Path) -> TopologyFile:
    """The network of a file.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names the line and the remedy.
    """
    lines = read_lines(path)
    header = _header(lines[0])
    switches, rest = _switches(lines, header)
    cables = announced(rest, header.links, lines[0], "links")
    known = range(header.nodes)
    return TopologyFile(header.nodes, switches, tuple(_cable(line, known) for line in cables))


def _header(line: Line) -> _Header:
    """The counts that a header says; see the table above."""
    words = line.text.split()
    match len(words):
        case 3:
            nodes, switches, links = words
            special = "0"
        case 4:
            nodes, switches, _, links = words
            special = "0"
        case 6 if words[5][0].isdigit():
            nodes, switches, _, links, _, _ = words
            special = "0"
        case 6:
            nodes, _, special, switches, links, _ = words
        case count:
            raise line.refuse(
                f"has {count} words, which no header of the family has",
                "write the number of nodes, of switches and of links",
            )
    return _Header(
        line.whole(nodes, "the nodes", NODE_MAX + 1),
        line.whole(switches, "the switches", SWITCHES_MAX)
        + line.whole(special, "the NVSwitches", SWITCHES_MAX),
        line.whole(links, "the links", CABLES_MAX),
    )


def _switches(lines: list[Line], header: _Header) -> tuple[frozenset[int], list[Line]]:
    """The numbers of the switches, which may fill several lines, and the lines behind them."""
    listed: list[int] = []
    behind = 1
    while len(listed) < header.switches and behind < len(lines):
        line = lines[behind]
        listed += [line.whole(word, "a switch", NODE_MAX) for word in line.text.split()]
        behind += 1
    right = len(listed) == len(set(listed)) == header.switches
    if not right or max(listed, default=0) >= header.nodes:
        raise lines[min(behind, len(lines)) - 1].refuse(
            f"does not end a list of {header.switches} different switches below {header.nodes}",
            "write the number of each switch once",
        )
    return frozenset(listed), lines[behind:]


def _cable(line: Line, known: range) -> FileCable:
    words = line.text.split()
    if len(words) not in (4, 5):
        raise line.refuse(f"has {len(words)} words", CABLE)
    a, b = (line.whole(word, "a node", NODE_MAX) for word in words[:2])
    for node in (a, b):
        if node not in known:
            raise line.refuse(f"names node {node}", f"nodes are 0 to {len(known) - 1}")
    if len(words) == 5 and line.decimal(words[4], "the error rate") != 0:
        remedy = "write 0, and how probable a loss is in faults.corruption of the scenario"
        raise line.refuse("is no error rate of 0", remedy, words[4])
    rate, delay_ns = line.read(rate_bps, words[2]), line.read(time_ns, words[3])
    has_unit = words[3][-1:].isalpha()
    exact = line.read(TIME.parse, words[3]) if has_unit else line.time(words[3], "s", "the delay")
    if not words[2][-1].isalpha() and rate < BARE_RATE_MIN:
        raise _without_unit(line, words[2], RATE.format(rate), "100Gbps")
    if not has_unit and delay_ns > BARE_DELAY_MAX:
        raise _without_unit(line, words[3], TIME.format(exact), "1us")
    return FileCable(line, a, b, rate, exact, delay_ns)


def _without_unit(line: Line, word: str, meant: str, example: str) -> PydanticCustomError:
    """A number that means what nobody builds, because its unit was left out."""
    remedy = f"write a number with its unit, such as {example}"
    return line.refuse(f"has no unit and so means {meant}", remedy, word)
