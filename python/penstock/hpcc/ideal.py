"""The ``standalone_fct`` that the simulator writes beside each flow.

It is the base RTT of the pair, plus the time of the flow with its headers (telemetry left out) at
the slowest rate of the path (``qp_finish``, ``CalculateRoute`` and the loop "get BDP and delay" of
``third.cc``). Every step is in whole nanoseconds and bytes, cut. Invariant: one breadth-first
search per destination, however many flows.

Among paths of equally many cables that simulator takes one by the order of its pointers. Here the
neighbour with the highest number comes first, as in the reference runs. The choice matters only
where such paths differ in rate or delay.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from penstock.hpcc.scheme import HEADER
from penstock.topology_file import FileCable, TopologyFile

NS = 10**9
"""Nanoseconds in a second."""


@dataclass(frozen=True)
class _Path:
    """The way from a node to the destination."""

    delay_ns: int
    """Sum of the propagation delays."""
    store_ns: int
    """Sum of the transmission times of a full payload, each cut to whole nanoseconds."""
    rate: int
    """The slowest [bit/s]."""


class IdealTimes:
    """Ideal completion times in a network, for packets of `payload` bytes."""

    def __init__(self, topology: TopologyFile, payload: int) -> None:
        self._payload = payload
        self._switches = topology.switches
        self._cables: dict[int, list[tuple[int, FileCable]]] = {}
        for cable in topology.cables:
            self._cables.setdefault(cable.a, []).append((cable.b, cable))
            self._cables.setdefault(cable.b, []).append((cable.a, cable))
        for cables in self._cables.values():
            cables.sort(key=lambda end: -end[0])
        self._paths: dict[int, dict[int, _Path]] = {}

    def ideal_ns(self, source: int, destination: int, size: int) -> int:
        """Ideal completion time of a flow of `size` bytes, > 0, between two hosts [ns]."""
        if destination not in self._paths:
            self._paths[destination] = self._search(destination)
        path = self._paths[destination][source]
        base_rtt = 2 * path.delay_ns + path.store_ns
        packets = (size - 1) // self._payload + 1
        return base_rtt + (size + packets * HEADER) * 8 * NS // path.rate

    def _search(self, destination: int) -> dict[int, _Path]:
        """The way from every node to a host; hosts are not on the way to others."""
        found = {destination: _Path(0, 0, 2**64 - 1)}
        waiting = deque([destination])
        while waiting:
            node = waiting.popleft()
            path = found[node]
            for neighbour, cable in self._cables.get(node, []):
                if neighbour in found:
                    continue
                found[neighbour] = _Path(
                    path.delay_ns + cable.delay_ns,
                    path.store_ns + self._payload * 8 * NS // cable.rate,
                    min(path.rate, cable.rate),
                )
                if neighbour in self._switches:
                    waiting.append(neighbour)
        return found
