"""The cables of a network that was drawn, as docs/files.md orders them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Cable = tuple[int, int]


def working_cables(network: dict[str, Any]) -> list[Cable]:
    """Those that have not failed, as [one end, other end]; a host comes before its switch."""
    failed = {frozenset(ends) for ends in network.get("failed_links", ())}
    return [ends for ends in _cables(network) if frozenset(ends) not in failed]


def _cables(network: dict[str, Any]) -> Iterator[Cable]:
    match network:
        case {"kind": "leaf-spine", "racks": racks, "hosts_per_rack": each, "spines": spines}:
            hosts = racks * each
            yield from _edge(hosts, [each] * racks)
            yield from _between(range(hosts, hosts + racks), hosts + racks, spines)
        case {"kind": "single-switch", "hosts": hosts}:
            yield from _edge(hosts, [hosts])
        case {"kind": "dumbbell", "left": left, "right": right}:
            yield from _edge(left + right, [left, right])
            yield left + right, left + right + 1
        case {"kind": "chain", "switches": switches, "hosts_per_switch": each}:
            hosts = switches * each
            yield from _edge(hosts, [each] * switches)
            yield from ((one, one + 1) for one in range(hosts, hosts + switches - 1))
        case {"kind": "clos", "pods": pods, "tors_per_pod": tors, "leafs_per_pod": leafs}:
            hosts = pods * tors * network["hosts_per_tor"]
            first_leaf = hosts + pods * tors
            yield from _edge(hosts, [network["hosts_per_tor"]] * (pods * tors))
            for pod in range(pods):
                racks = range(hosts + pod * tors, hosts + (pod + 1) * tors)
                yield from _between(racks, first_leaf + pod * leafs, leafs)
            every_leaf = range(first_leaf, first_leaf + pods * leafs)
            yield from _between(every_leaf, every_leaf.stop, network["spines"])
        case {"kind": "fat-tree", "ports": ports, "oversubscription": oversubscription}:
            half = ports // 2
            tors, each = ports * half, half * oversubscription
            hosts = tors * each
            first_leaf, first_spine = hosts + tors, hosts + 2 * tors
            yield from _edge(hosts, [each] * tors)
            for pod in range(ports):
                racks = range(hosts + pod * half, hosts + (pod + 1) * half)
                yield from _between(racks, first_leaf + pod * half, half)
            for leaf in range(tors):
                place = range(first_leaf + leaf, first_leaf + leaf + 1)
                yield from _between(place, first_spine + leaf % half * half, half)
        case {"kind": "rail", "servers": servers, "gpus": gpus, "spines": spines}:
            hosts, group = servers * gpus, network["servers_per_group"]
            leafs = -(-servers // group) * gpus
            for host in range(hosts):
                yield host, hosts + host // gpus // group * gpus + host % gpus
            yield from _between(range(hosts, hosts + leafs), hosts + leafs, spines)
        case {"kind": "graph", "links": links}:
            yield from ((cable["a"], cable["b"]) for cable in links)


def _edge(hosts: int, racks: list[int]) -> Iterator[Cable]:
    """Hosts to their switches, which have so many each."""
    switches = [hosts + rack for rack, count in enumerate(racks) for _ in range(count)]
    yield from enumerate(switches)


def _between(lower: range, first: int, count: int) -> Iterator[Cable]:
    """Each switch of a tier to `count` of the tier above."""
    yield from ((below, first + above) for below in lower for above in range(count))
