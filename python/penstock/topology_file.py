"""Networks in the text file that the HPCC family of simulators uses.

First line ``nodes switches links``, second line the numbers of the switches, then a line for each
cable: ``a b rate delay [error rate]``, such as ``0 128 100Gbps 0.001ms 0``. Nodes that are no
switches are hosts. Penstock numbers hosts first: both kinds keep their order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.lines import Line, read_lines
from penstock.units import RATE, TIME, Quantity

HEADER = "write the number of nodes, of switches and of links"
CABLE = "write a b rate delay and, if you like, an error rate of 0"


def read_topology(path: Path) -> dict[str, Any]:
    """The ``hosts``, ``switches`` and ``links`` of a graph, as a scenario would write them.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names the line and the remedy.
    """
    lines = read_lines(path)
    header = lines[0].text.split()
    if len(header) != 3:
        raise lines[0].refuse(f"has {len(header)} of 3 numbers", HEADER)
    nodes, switches, links = (lines[0].whole(word, "a count") for word in header)
    if len(lines) - 2 != links:
        raise lines[0].refuse(
            f"announces {links} links, but {max(len(lines) - 2, 0)} follow",
            "the file is truncated, or its first line is wrong",
        )
    numbers = _number_nodes(lines[1], nodes, switches)
    return {
        "hosts": nodes - switches,
        "switches": switches,
        "links": [_cable(line, numbers) for line in lines[2:]],
    }


def _number_nodes(line: Line, nodes: int, switches: int) -> dict[int, int]:
    """Our number of each node of the file."""
    listed = [line.whole(word, "a switch") for word in line.text.split()]
    if len(set(listed)) != switches or max(listed, default=0) >= nodes:
        raise line.refuse(
            f"does not list {switches} different switches below {nodes}",
            "write the number of each switch once",
        )
    hosts = [node for node in range(nodes) if node not in set(listed)]
    return {node: number for number, node in enumerate(hosts + sorted(listed))}


def _cable(line: Line, numbers: dict[int, int]) -> dict[str, Any]:
    words = line.text.split()
    if len(words) not in (4, 5):
        raise line.refuse(f"has {len(words)} words", CABLE)
    ends = [line.whole(word, "a node") for word in words[:2]]
    for node in ends:
        if node not in numbers:
            raise line.refuse(f"names node {node}", f"nodes are 0 to {len(numbers) - 1}")
    if len(words) == 5 and float(words[4] if _is_number(words[4]) else "nan") != 0:
        raise line.refuse(f"has an error rate of {words[4]}", "links lose nothing here: write 0")
    return {
        "a": numbers[ends[0]],
        "b": numbers[ends[1]],
        "rate": _quantity(line, RATE, words[2]),
        "delay": _quantity(line, TIME, words[3]),
    }


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _quantity(line: Line, quantity: Quantity, text: str) -> int:
    try:
        return quantity.parse(text)
    except ValueError:
        raise line.refuse(
            f'has "{text}" for a {quantity.name}', f'write e.g. "{quantity.example}"'
        ) from None
