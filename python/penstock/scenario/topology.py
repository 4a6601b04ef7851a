"""The network: nodes, links, rates and delays.

One model per ``kind``. Nodes are numbered hosts first, then switches; a cable is two directed
links. The defaults are the BFC paper's fabric (sec. 6.2.1): 128 hosts, 8 top-of-rack switches of
16 hosts, 8 spines, every link 100 Gb/s and 1 us, so 2:1 oversubscribed with a base round-trip time
of about 8 us. Paths and queues are the Rust core's business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, model_validator

from penstock.errors import Problem
from penstock.scenario.base import OUR_CHOICE, Count, Many, Node, Part, field, resolve_path
from penstock.topology_file import CABLES_MAX, HOSTS_MAX, SWITCHES_MAX, read_topology
from penstock.units import TIME, Rate, Time, refusal

FABRIC = "BFC 6.2.1"
SMALL = f"{OUR_CHOICE}: the links of BFC 6.2.1"
LINKS_MAX = 2**22
"""Most cables of a network; our choice: the core's bound, four for each host of the largest."""
DELAY_MAX = TIME.parse("1 s")
"""Longest delay of a link or switch [ps]; our choice: light goes round the Earth in 0.13 s."""
PODS = "PCN 7.4"
PIPELINE = f"{OUR_CHOICE}: BFC 6.2.1 counts only links in its 8 us round trip"


class _Network(Part, ABC):
    pipeline_delay: Time = field(
        "time from a packet's last bit in to being ready for its egress queue, at every switch",
        0,
        source=PIPELINE,
        le=DELAY_MAX,
    )
    failed_links: Many[tuple[Node, Node]] = field(
        "links that have failed from the start, as [node, node]",
        (),
        source=f"{OUR_CHOICE}: nothing fails unless a scenario says so",
    )

    @abstractmethod
    def host_count(self) -> int:
        """Hosts in the network, > 0."""

    @abstractmethod
    def switch_count(self) -> int:
        """Switches in the network, > 0."""

    @abstractmethod
    def cable_count(self) -> int:
        """Cables in the network, > 0."""

    @abstractmethod
    def all_cables(self) -> Iterator[tuple[int, int]]:
        """The two ends of each cable, whether it has failed or not."""

    def cables(self) -> Iterator[tuple[int, int]]:
        """The two ends of each cable that works, in the order that numbers the links."""
        if not self.failed_links:
            return self.all_cables()
        failed = {frozenset(ends) for ends in self.failed_links}
        return (ends for ends in self.all_cables() if frozenset(ends) not in failed)

    def node_names(self) -> list[str]:
        """A name per node: ``H3`` for hosts, ``S1`` for switches."""
        hosts = [f"H{host}" for host in range(self.host_count())]
        return hosts + [f"S{switch}" for switch in range(self.switch_count())]

    def has_core(self) -> bool:
        """Whether some link joins two switches."""
        hosts = self.host_count()
        return any(a >= hosts and b >= hosts for a, b in self.cables())

    def problems(self) -> Iterator[Problem]:
        """What is wrong with the network as a whole."""
        for name, count, most in (
            ("hosts", self.host_count(), HOSTS_MAX),
            ("switches", self.switch_count(), SWITCHES_MAX),
            ("links", self.cable_count(), LINKS_MAX),
        ):
            if count > most:
                remedy = f"lower its counts until there are at most {most:,}"
                yield Problem("topology", f"the network has {count:,} {name}", remedy)
        if self.host_count() < 2:
            yield Problem("topology", "the network has one host", "raise its counts to 2 hosts")
        if self.failed_links and self.cable_count() <= LINKS_MAX:
            yield from self._unknown_failures()

    def _unknown_failures(self) -> Iterator[Problem]:
        """Failed links that are none; what they cut off is for the core to say."""
        failed = {frozenset(ends) for ends in self.failed_links}
        sound = {ends for ends in map(frozenset, self.all_cables()) if ends in failed}
        for index, (a, b) in enumerate(self.failed_links):
            if frozenset((a, b)) not in sound:
                yield Problem(
                    f"topology.failed_links[{index}]",
                    "no link that has not failed already joins these nodes",
                    "write the two ends of one",
                    f"{a}-{b}",
                )
            sound.discard(frozenset((a, b)))


class LeafSpine(_Network):
    """Two tiers: hosts under top-of-rack switches, each joined to every spine."""

    kind: Literal["leaf-spine"] = "leaf-spine"
    racks: Count = field("top-of-rack switches", 8, source=FABRIC, ge=1)
    hosts_per_rack: Count = field("hosts under each", 16, source=FABRIC, ge=1)
    spines: Count = field("spine switches", 8, source=FABRIC, ge=1)
    host_rate: Rate = field("rate of host links", "100 Gb/s", source=FABRIC)
    spine_rate: Rate = field("rate of links to spines", "100 Gb/s", source=FABRIC)
    host_delay: Time = field("propagation delay of host links", "1 us", source=FABRIC, le=DELAY_MAX)
    spine_delay: Time = field(
        "propagation delay of links to spines", "1 us", source=FABRIC, le=DELAY_MAX
    )

    def host_count(self) -> int:
        return self.racks * self.hosts_per_rack

    def switch_count(self) -> int:
        return self.racks + self.spines

    def cable_count(self) -> int:
        return self.host_count() + self.racks * self.spines

    def all_cables(self) -> Iterator[tuple[int, int]]:
        hosts = self.host_count()
        for host in range(hosts):
            yield host, hosts + host // self.hosts_per_rack
        for rack in range(self.racks):
            for spine in range(self.spines):
                yield hosts + rack, hosts + self.racks + spine

    def node_names(self) -> list[str]:
        return [
            *(f"H{host}" for host in range(self.host_count())),
            *(f"T{rack}" for rack in range(self.racks)),
            *(f"S{spine}" for spine in range(self.spines)),
        ]


class SingleSwitch(_Network):
    """Hosts around one switch."""

    kind: Literal["single-switch"] = "single-switch"
    hosts: Count = field("hosts", 16, source=f"{OUR_CHOICE}: one rack of BFC 6.2.1", ge=2)
    rate: Rate = field("rate of every link", "100 Gb/s", source=SMALL)
    delay: Time = field("propagation delay of every link", "1 us", source=SMALL, le=DELAY_MAX)

    def host_count(self) -> int:
        return self.hosts

    def switch_count(self) -> int:
        return 1

    def cable_count(self) -> int:
        return self.hosts

    def all_cables(self) -> Iterator[tuple[int, int]]:
        yield from ((host, self.hosts) for host in range(self.hosts))


class Dumbbell(_Network):
    """Left hosts, a switch, one core link, a switch, right hosts."""

    kind: Literal["dumbbell"] = "dumbbell"
    left: Count = field("hosts on the left", 16, source=f"{OUR_CHOICE}: a rack a side", ge=1)
    right: Count = field("hosts on the right", 16, source=f"{OUR_CHOICE}: a rack a side", ge=1)
    edge_rate: Rate = field("rate of host links", "100 Gb/s", source=SMALL)
    edge_delay: Time = field("propagation delay of host links", "1 us", source=SMALL, le=DELAY_MAX)
    core_rate: Rate = field("rate of the core link", "100 Gb/s", source=SMALL)
    core_delay: Time = field(
        "propagation delay of the core link", "1 us", source=SMALL, le=DELAY_MAX
    )

    def host_count(self) -> int:
        return self.left + self.right

    def switch_count(self) -> int:
        return 2

    def cable_count(self) -> int:
        return self.host_count() + 1

    def all_cables(self) -> Iterator[tuple[int, int]]:
        hosts = self.host_count()
        for host in range(hosts):
            yield host, hosts if host < self.left else hosts + 1
        yield hosts, hosts + 1


class Chain(_Network):
    """Switches in a row with hosts on each: the parking lot."""

    kind: Literal["chain"] = "chain"
    switches: Count = field("switches in the row", 3, source=f"{OUR_CHOICE}: two core hops", ge=2)
    hosts_per_switch: Count = field(
        "hosts on each switch", 2, source=f"{OUR_CHOICE}: a sender and a receiver", ge=1
    )
    edge_rate: Rate = field("rate of host links", "100 Gb/s", source=SMALL)
    edge_delay: Time = field("propagation delay of host links", "1 us", source=SMALL, le=DELAY_MAX)
    core_rate: Rate = field("rate of links between switches", "100 Gb/s", source=SMALL)
    core_delay: Time = field(
        "propagation delay between switches", "1 us", source=SMALL, le=DELAY_MAX
    )

    def host_count(self) -> int:
        return self.switches * self.hosts_per_switch

    def switch_count(self) -> int:
        return self.switches

    def cable_count(self) -> int:
        return self.host_count() + self.switches - 1

    def all_cables(self) -> Iterator[tuple[int, int]]:
        hosts = self.host_count()
        yield from ((host, hosts + host // self.hosts_per_switch) for host in range(hosts))
        yield from ((hosts + one, hosts + one + 1) for one in range(self.switches - 1))


class Clos(_Network):
    """Three tiers: pods of top-of-rack switches and leafs, every leaf joined to every spine."""

    kind: Literal["clos"] = "clos"
    pods: Count = field("pods", 8, source=PODS, ge=1)
    tors_per_pod: Count = field("top-of-rack switches in a pod", 4, source=PODS, ge=1)
    leafs_per_pod: Count = field("leaf switches in a pod", 2, source=PODS, ge=1)
    hosts_per_tor: Count = field("hosts under each top-of-rack switch", 16, source=PODS, ge=1)
    spines: Count = field("spine switches", 8, source=PODS, ge=1)
    host_rate: Rate = field("rate of host links", "10 Gb/s", source=PODS)
    leaf_rate: Rate = field(
        "rate of links from top-of-rack switches to leafs",
        "80 Gb/s",
        source=f"{PODS}: 1:1 at the ToR takes 160 Gb/s to two leafs, two cables of 40 Gb/s each",
    )
    spine_rate: Rate = field("rate of links from leafs to spines", "40 Gb/s", source=PODS)
    host_delay: Time = field("propagation delay of host links", "5 us", source=PODS, le=DELAY_MAX)
    leaf_delay: Time = field(
        "propagation delay between top-of-rack switch and leaf",
        "5 us",
        source=PODS,
        le=DELAY_MAX,
    )
    spine_delay: Time = field(
        "propagation delay between leaf and spine", "5 us", source=PODS, le=DELAY_MAX
    )

    def _tors(self) -> int:
        return self.pods * self.tors_per_pod

    def _leafs(self) -> int:
        return self.pods * self.leafs_per_pod

    def host_count(self) -> int:
        return self._tors() * self.hosts_per_tor

    def switch_count(self) -> int:
        return self._tors() + self._leafs() + self.spines

    def cable_count(self) -> int:
        to_leafs, to_spines = self._tors() * self.leafs_per_pod, self._leafs() * self.spines
        return self.host_count() + to_leafs + to_spines

    def all_cables(self) -> Iterator[tuple[int, int]]:
        hosts = self.host_count()
        first_leaf = hosts + self._tors()
        first_spine = first_leaf + self._leafs()
        for host in range(hosts):
            yield host, hosts + host // self.hosts_per_tor
        for tor in range(self._tors()):
            first = first_leaf + tor // self.tors_per_pod * self.leafs_per_pod
            yield from ((hosts + tor, leaf) for leaf in range(first, first + self.leafs_per_pod))
        for leaf in range(first_leaf, first_spine):
            yield from ((leaf, first_spine + spine) for spine in range(self.spines))

    def node_names(self) -> list[str]:
        return [
            *(f"H{host}" for host in range(self.host_count())),
            *(f"T{tor}" for tor in range(self._tors())),
            *(f"L{leaf}" for leaf in range(self._leafs())),
            *(f"S{spine}" for spine in range(self.spines)),
        ]


class Cable(Part):
    """A cable between two nodes of a graph: two directed links."""

    a: Node = field("one end")
    b: Node = field("the other end")
    rate: Rate = field("rate in each direction", "100 Gb/s", source=SMALL)
    delay: Time = field("propagation delay", "1 us", source=SMALL, le=DELAY_MAX)


class Graph(_Network):
    """Any network, cable by cable; or ``file``, the HPCC family's topology file, in their place."""

    kind: Literal["graph"] = "graph"
    hosts: Count = field("hosts, numbered from 0", ge=2)
    switches: Count = field("switches, numbered after the hosts", ge=1)
    links: Many[Cable] = field("the cables", min_length=1, max_length=CABLES_MAX)

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, written: Any, info: ValidationInfo) -> Any:
        """The nodes and cables of ``file``, where that is written instead of them."""
        if not isinstance(written, dict) or not isinstance(written.get("file"), str):
            return written
        both = {"hosts", "switches", "links"} & written.keys()
        if both:
            raise refusal(f"file and {min(both)} are both written", "keep one of them")
        rest = {key: value for key, value in written.items() if key != "file"}
        return rest | read_topology(resolve_path(written["file"], info)).graph()

    def host_count(self) -> int:
        return self.hosts

    def switch_count(self) -> int:
        return self.switches

    def cable_count(self) -> int:
        return len(self.links)

    def all_cables(self) -> Iterator[tuple[int, int]]:
        yield from ((cable.a, cable.b) for cable in self.links)

    def problems(self) -> Iterator[Problem]:
        too_large = list(super().problems())
        if too_large:
            yield from too_large
            return
        nodes = self.hosts + self.switches
        seen: dict[frozenset[int], int] = {}
        for index, (a, b) in enumerate(self.all_cables()):
            path = f"topology.links[{index}]"
            for end, node in (("a", a), ("b", b)):
                if node >= nodes:
                    yield Problem(
                        f"{path}.{end}", "no such node", f"nodes are 0 to {nodes - 1}", node
                    )
            if a == b:
                yield Problem(path, "a cable from a node to itself", "join two nodes", f"{a}-{b}")
            elif frozenset((a, b)) in seen:
                first = seen[frozenset((a, b))]
                yield Problem(
                    path,
                    f"the same two nodes as topology.links[{first}]",
                    "keep one cable and raise its rate",
                    f"{a}-{b}",
                )
            seen.setdefault(frozenset((a, b)), index)
        yield from self._unattached(nodes)

    def _unattached(self, nodes: int) -> Iterator[Problem]:
        """Hosts without exactly one cable to a switch, and nodes out of reach of host 0."""
        neighbours: dict[int, set[int]] = {node: set() for node in range(nodes)}
        for a, b in self.all_cables():
            neighbours.setdefault(a, set()).add(b)
            neighbours.setdefault(b, set()).add(a)
        for host in range(self.hosts):
            ends = neighbours[host]
            if len(ends) != 1 or min(ends) < self.hosts:
                yield Problem(
                    "topology.links",
                    f"host {host} has cables to {sorted(ends) or 'nothing'}",
                    "a host has exactly one cable, to a switch",
                )
        reached, frontier = {0}, [0]
        while frontier:
            fresh = neighbours[frontier.pop()] - reached
            reached |= fresh
            frontier.extend(fresh)
        lost = sorted(set(range(nodes)) - reached)
        if lost:
            yield Problem(
                "topology.links",
                f"the network is disconnected: no path from node 0 to {lost[:8]}",
                "add a cable to each, or lower topology.hosts or topology.switches",
            )


Topology = Annotated[
    LeafSpine | SingleSwitch | Dumbbell | Chain | Clos | Graph, Field(discriminator="kind")
]
"""One of the kinds above."""

TOPOLOGIES: tuple[type[_Network], ...] = (
    LeafSpine,
    SingleSwitch,
    Dumbbell,
    Chain,
    Clos,
    Graph,
)
"""Every kind, in the order of ``penstock list topologies``."""
