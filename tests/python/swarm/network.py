"""Random small networks of every kind."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from pydantic import TypeAdapter

from penstock.cli.description import kind_of
from penstock.scenario.topology import TOPOLOGIES, Topology
from penstock.units import RATE
from swarm.cable import working_cables

Table = dict[str, Any]
Cable = tuple[int, int]

KINDS = tuple(kind_of(network) for network in TOPOLOGIES)
"""Every kind of topology."""
RATES = ("1 Gb/s", "10 Gb/s", "25 Gb/s", "40 Gb/s", "100 Gb/s", "200 Gb/s")
"""Our choice: those of the papers and beyond, but so slow that fidelity ns3-hpcc cuts no packet's
time to 0 ns."""
DELAYS = ("0 ns", "100 ns", "300 ns", "1 us", "5 us")
"""Our choice: none, and from a rack to PCN's fabric."""
FAILURE = 0.25
"""How often links have failed from the start (our choice: often enough for every kind)."""

_READ: TypeAdapter[Topology] = TypeAdapter(Topology)


class Network:
    """A network that was drawn: its table, and what traffic and faults need of it."""

    def __init__(self, table: Table) -> None:
        model = _READ.validate_python(table)
        self.table = table
        self.hosts: int = model.host_count()
        self.cables: list[Cable] = working_cables(table)
        """Those that work, as [one end, other end]; a host comes before its switch."""
        self.core: list[Cable] = [cable for cable in self.cables if min(cable) >= self.hosts]
        self.switches = range(self.hosts, self.hosts + model.switch_count())
        rates = [cable["rate"] for cable in table.get("links", [])]
        links = {name: rate for name, rate in table.items() if name != "inner_rate"}
        rates += [rate for name, rate in links.items() if name.endswith("rate")]
        self.slowest, self.fastest = min(map(RATE.parse, rates)), max(map(RATE.parse, rates))
        """Rates of links [b/s]."""

    def rack_sizes(self) -> list[int]:
        """How many hosts the switches with hosts have."""
        return list(Counter(b for a, b in self.cables if a < self.hosts).values())

    def expendable(self, rng: Random, most: int) -> list[Cable]:
        """Up to `most` cables between switches without which all nodes are still connected."""
        chosen: list[Cable] = []
        for cable in rng.sample(self.core, min(most, len(self.core))):
            left = [one for one in self.cables if one not in (*chosen, cable)]
            if self._is_connected(left):
                chosen.append(cable)
        return chosen

    def _is_connected(self, cables: list[Cable]) -> bool:
        group = list(range(self.switches.stop))
        for a, b in cables:
            group = [group[a] if one == group[b] else one for one in group]
        return len(set(group)) == 1


def draw_network(rng: Random, kind: str) -> Network:
    """A network of `kind` with 2 to 16 hosts; sometimes with links that have failed."""
    table: Table = {"kind": kind}
    match kind:
        case "leaf-spine":
            table |= {"racks": rng.randint(1, 4), "spines": rng.randint(1, 3)}
            table |= {"hosts_per_rack": rng.randint(2, 4)} | _links(rng, "host", "spine")
        case "single-switch":
            table |= {"hosts": rng.randint(2, 8)}
            table |= {"rate": rng.choice(RATES), "delay": rng.choice(DELAYS)}
        case "dumbbell":
            table |= {"left": rng.randint(1, 5), "right": rng.randint(1, 5)}
            table |= _links(rng, "edge", "core")
        case "chain":
            table |= {"switches": rng.randint(2, 5), "hosts_per_switch": rng.randint(1, 3)}
            table |= _links(rng, "edge", "core")
        case "clos":
            table |= {"pods": rng.randint(1, 3), "spines": rng.randint(1, 2)}
            table |= {"tors_per_pod": rng.randint(1, 2), "leafs_per_pod": rng.randint(1, 2)}
            table |= {"hosts_per_tor": rng.randint(2, 3)} | _links(rng, "host", "leaf", "spine")
        case "fat-tree":
            table |= {"ports": rng.choice([2, 4]), "oversubscription": rng.randint(1, 2)}
            table |= {"rate": rng.choice(RATES), "delay": rng.choice(DELAYS)}
        case "rail":
            table |= {"servers": rng.randint(2, 5), "gpus": rng.randint(1, 3)}
            group = rng.randint(1, 3)
            # With no more spines than hosts of a leaf, no uplink is slower than a host's link.
            most = min(group, table["servers"])
            table |= {"servers_per_group": group, "spines": rng.randint(1, most)}
            table |= {"rate": rng.choice(RATES), "delay": rng.choice(DELAYS)}
            table |= {"inner_rate": rng.choice(["0 b/s", "200 Gb/s"])}
        case "graph":
            table |= _graph(rng)
    if rng.random() < 0.3:
        table["pipeline_delay"] = "300 ns"
    if rng.random() < FAILURE:
        table["failed_links"] = Network(table).expendable(rng, 2)
    return Network(table)


def _links(rng: Random, *tiers: str) -> Table:
    """A rate and a delay for the links of each tier."""
    rates = {f"{tier}_rate": rng.choice(RATES) for tier in tiers}
    return rates | {f"{tier}_delay": rng.choice(DELAYS) for tier in tiers}


def _graph(rng: Random) -> Table:
    """A ring of switches, in one case of four with chords; its links are alike or all different."""
    switches, each = rng.randint(3, 7), rng.randint(1, 3)
    hosts = switches * each
    ends = [(host, hosts + host // each) for host in range(hosts)]
    ends += [(hosts + one, hosts + (one + 1) % switches) for one in range(switches)]
    if rng.random() < 0.25:
        ring = {frozenset(cable) for cable in ends}
        chords = [(hosts + a, hosts + b) for b in range(switches) for a in range(b)]
        chords = [cable for cable in chords if frozenset(cable) not in ring]
        ends += rng.sample(chords, min(len(chords), rng.randint(1, 3)))
    alike = {"rate": rng.choice(RATES), "delay": rng.choice(DELAYS)} if rng.random() < 0.7 else None
    links = [
        {"a": a, "b": b} | (alike or {"rate": rng.choice(RATES), "delay": rng.choice(DELAYS)})
        for a, b in ends
    ]
    return {"hosts": hosts, "switches": switches, "links": links}
