"""Where the nodes of a network are drawn.

What it is: positions in units of the smallest distance between hosts. Networks with tiers have
rows: hosts below their switch, spines on top. Any other network is laid out by its distances. What
it is not: a drawing; the page scales, moves and draws. Invariant: the same network has the same
positions on every machine, to the rounding of 1/100.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from penstock.scenario.topology import Chain, Clos, Dumbbell, LeafSpine, SingleSwitch, Topology

Points = NDArray[np.float64]
Cable = tuple[int, int]

ROW_HOSTS = 8
"""Most hosts of a switch in one row (our choice: two rows of a rack of BFC's fabric)."""
TIER = 5.0
"""Distance between two tiers of switches (our choice)."""
STEPS = 200
"""Steps of the layout by distances (our choice: 60 switches move by less than 1 % after these)."""
HOP = 6.0
"""Distance of neighbouring switches in the layout by distances (our choice: fans of hosts fit)."""


def positions(topology: Topology, cables: Sequence[Cable]) -> Points:
    """Positions of all nodes, [node, 2]: x to the right, y downwards.

    Parameters
    ----------
    cables
        The two nodes of each cable that works. Nodes behind those of the topology are NICs of a
        run in real time: each is between its host and its switch, and is drawn there.
    """
    nodes = topology.host_count() + topology.switch_count()
    beside: dict[int, list[int]] = {}
    for a, b in cables:
        for one, other in ((a, b), (b, a)):
            if one >= nodes:
                beside.setdefault(one, []).append(other)
    plain = [ends for ends in cables if max(ends) < nodes]
    plain += [(min(ends), max(ends)) for ends in beside.values()]
    found = _of_topology(topology, plain)
    nics = [found[beside[nic]].mean(axis=0) for nic in sorted(beside)]
    placed = np.vstack([found, *nics]) if nics else found
    return np.asarray(np.round(placed - placed.min(axis=0), 2) + 0.0)


def _of_topology(topology: Topology, cables: Sequence[Cable]) -> Points:
    """Positions of hosts and switches."""
    hosts, nodes = topology.host_count(), topology.host_count() + topology.switch_count()
    switch_of = np.zeros(hosts, dtype=np.int64)
    for a, b in cables:
        if min(a, b) < hosts:
            switch_of[min(a, b)] = max(a, b)
    match topology:
        case LeafSpine(racks=racks, spines=spines):
            found = _tiers(switch_of, nodes, [racks, spines])
        case Clos():
            tors = topology.pods * topology.tors_per_pod
            leafs = topology.pods * topology.leafs_per_pod
            found = _tiers(switch_of, nodes, [tors, leafs, topology.spines])
        case SingleSwitch():
            found = _star(hosts)
        case Dumbbell():
            found = _dumbbell(switch_of, nodes)
        case Chain(switches=switches):
            found = _tiers(switch_of, nodes, [switches])
        case _:
            found = _by_distances(switch_of, nodes, cables)
    return found


def _tiers(switch_of: NDArray[np.int64], nodes: int, tiers: Sequence[int]) -> Points:
    """Rows: hosts below their switches, then tier above tier. Lower tiers come first in number."""
    hosts = switch_of.size
    found = np.zeros((nodes, 2))
    left, first = 0.0, hosts
    for switch in range(hosts, hosts + tiers[0]):
        below = np.flatnonzero(switch_of == switch)
        columns = min(below.size, ROW_HOSTS)
        rows = -(-below.size // ROW_HOSTS)
        # Lower rows are set off, so that no host hides the cables of the hosts below it.
        shift = 1.0 / max(rows, 1)
        for place, host in enumerate(below):
            row, column = divmod(place, ROW_HOSTS)
            found[host] = left + column + row * shift, TIER * 0.8 + row * 1.6
        width = max(columns - 1 + (rows - 1) * shift, 1.5)
        found[switch] = left + width / 2, 0.0
        left += width + 2.0
    width = left - 2.0
    for level, count in enumerate(tiers[1:], start=1):
        first += tiers[level - 1]
        for place in range(count):
            found[first + place] = width * (place + 0.5) / count, -TIER * level
    return found


def _star(hosts: int) -> Points:
    """Hosts around their switch, on an ellipse that is wider than high."""
    angle = 2 * math.pi * (np.arange(hosts) + 0.5) / hosts - math.pi / 2
    radius = max(4.0, hosts / 4)
    ring = np.column_stack([1.5 * radius * np.cos(angle), radius * np.sin(angle)])
    return np.vstack([ring, np.zeros((1, 2))])


def _dumbbell(switch_of: NDArray[np.int64], nodes: int) -> Points:
    """Hosts in a column on each side, and the two switches between them."""
    hosts = switch_of.size
    found = np.zeros((nodes, 2))
    for side, switch in ((-1.0, hosts), (1.0, hosts + 1)):
        members = np.flatnonzero(switch_of == switch)
        for place, host in enumerate(members):
            found[host] = side * 8.0, 2.0 * (place - (members.size - 1) / 2)
        found[switch] = side * 3.0, 0.0
    return found


def _by_distances(switch_of: NDArray[np.int64], nodes: int, cables: Sequence[Cable]) -> Points:
    """Switches as far apart as their paths are long, hosts in a fan on the outside of theirs.

    Stress majorization (E. Gansner, Y. Koren, S. North, "Graph Drawing by Stress Majorization",
    2004), with weights of distance to the power of -2, from a start on a circle.
    """
    hosts = switch_of.size
    switches = nodes - hosts
    core = [(a - hosts, b - hosts) for a, b in cables if min(a, b) >= hosts]
    place = _stress(_distances(switches, core)) * HOP
    found = np.zeros((nodes, 2))
    found[hosts:] = place
    middle = place.mean(axis=0)
    for switch in range(switches):
        below = np.flatnonzero(switch_of == switch + hosts)
        away = place[switch] - middle
        direction = math.atan2(away[1], away[0]) if np.hypot(*away) > 1e-6 else math.pi / 2
        alone = switches == 1
        spread = 2 * math.pi if alone else min(math.pi, 0.7 * max(below.size, 1))
        radius = max(3.0, below.size / max(spread, 1.0) * 1.2)
        for number, host in enumerate(below):
            share = (number + 0.5) / below.size - 0.5
            angle = direction + spread * share
            found[host] = place[switch] + radius * np.array([math.cos(angle), math.sin(angle)])
    return found


def _distances(count: int, cables: Sequence[Cable]) -> Points:
    """Cables on the shortest path between any two switches, [switch, switch]."""
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for a, b in cables:
        neighbours[a].append(b)
        neighbours[b].append(a)
    found = np.full((count, count), float(count))
    for start in range(count):
        found[start, start], border, hops = 0.0, [start], 0
        seen = {start}
        while border:
            hops += 1
            border = sorted({one for switch in border for one in neighbours[switch]} - seen)
            seen.update(border)
            found[start, border] = hops
    return found


def _stress(distance: Points) -> Points:
    """Positions whose distances are as near as possible to `distance`."""
    count = distance.shape[0]
    angle = 2 * math.pi * np.arange(count) / max(count, 1) - math.pi / 2
    place = np.column_stack([np.cos(angle), np.sin(angle)]) * max(count / (2 * math.pi), 0.0)
    if count < 2:
        return np.zeros((count, 2))
    weight = 1.0 / np.maximum(distance, 1.0) ** 2
    np.fill_diagonal(weight, 0.0)
    for _ in range(STEPS):
        offset = place[:, None, :] - place[None, :, :]
        length = np.sqrt((offset**2).sum(axis=2))
        pull = weight * distance / np.maximum(length, 1e-9)
        towards = (weight[:, :, None] * place[None, :, :] + pull[:, :, None] * offset).sum(axis=1)
        place = towards / weight.sum(axis=1)[:, None]
    return np.asarray(place - place.mean(axis=0))
