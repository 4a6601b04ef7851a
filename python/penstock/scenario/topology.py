"""The network: how many nodes and cables a topology has, and the names of its nodes.

Nodes are numbered hosts first, then switches; a cable is two directed links. Kinds and fields are
those of the core (:mod:`penstock.scenario.declared.topology`), as are cables, paths and queues.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, model_validator

from penstock.errors import Problem, problem_of
from penstock.scenario.base import Part, path_beside, resolve_path
from penstock.scenario.declared import topology as declared
from penstock.topology_file import FileCable, read_topology
from penstock.units import refusal


class _Network(Part, ABC):
    """What can be asked of a topology of any kind."""

    @abstractmethod
    def host_count(self) -> int:
        """Hosts in the network."""

    @abstractmethod
    def switch_count(self) -> int:
        """Switches in the network."""

    @abstractmethod
    def cable_count(self) -> int:
        """Cables in the network, whether they have failed or not."""

    def node_names(self) -> list[str]:
        """A name per node: ``H3`` for hosts, ``S1`` for switches."""
        hosts = [f"H{host}" for host in range(self.host_count())]
        return hosts + [f"S{switch}" for switch in range(self.switch_count())]


class LeafSpine(declared.LeafSpineTopology, _Network):
    def host_count(self) -> int:
        return self.racks * self.hosts_per_rack

    def switch_count(self) -> int:
        return self.racks + self.spines

    def cable_count(self) -> int:
        return self.host_count() + self.racks * self.spines

    def node_names(self) -> list[str]:
        return [
            *(f"H{host}" for host in range(self.host_count())),
            *(f"T{rack}" for rack in range(self.racks)),
            *(f"S{spine}" for spine in range(self.spines)),
        ]


class SingleSwitch(declared.SingleSwitchTopology, _Network):
    def host_count(self) -> int:
        return self.hosts

    def switch_count(self) -> int:
        return 1

    def cable_count(self) -> int:
        return self.hosts


class Dumbbell(declared.DumbbellTopology, _Network):
    def host_count(self) -> int:
        return self.left + self.right

    def switch_count(self) -> int:
        return 2

    def cable_count(self) -> int:
        return self.host_count() + 1


class Chain(declared.ChainTopology, _Network):
    def host_count(self) -> int:
        return self.switches * self.hosts_per_switch

    def switch_count(self) -> int:
        return self.switches

    def cable_count(self) -> int:
        return self.host_count() + self.switches - 1


class Clos(declared.ClosTopology, _Network):
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

    def node_names(self) -> list[str]:
        return [
            *(f"H{host}" for host in range(self.host_count())),
            *(f"T{tor}" for tor in range(self._tors())),
            *(f"L{leaf}" for leaf in range(self._leafs())),
            *(f"S{spine}" for spine in range(self.spines)),
        ]


class FatTree(declared.FatTreeTopology, _Network):
    def _tors(self) -> int:
        return self.ports * (self.ports // 2)

    def host_count(self) -> int:
        return self._tors() * (self.ports // 2) * self.oversubscription

    def switch_count(self) -> int:
        return 2 * self._tors() + (self.ports // 2) ** 2

    def cable_count(self) -> int:
        return self.host_count() + 2 * self._tors() * (self.ports // 2)

    def node_names(self) -> list[str]:
        return [
            *(f"H{host}" for host in range(self.host_count())),
            *(f"T{tor}" for tor in range(self._tors())),
            *(f"L{leaf}" for leaf in range(self._tors())),
            *(f"S{spine}" for spine in range((self.ports // 2) ** 2)),
        ]


class Rail(declared.RailTopology, _Network):
    def _leafs(self) -> int:
        return -(-self.servers // self.servers_per_group) * self.gpus

    def host_count(self) -> int:
        return self.servers * self.gpus

    def switch_count(self) -> int:
        return self._leafs() + self.spines

    def cable_count(self) -> int:
        return self.host_count() + self._leafs() * self.spines

    def node_names(self) -> list[str]:
        return [
            *(f"H{host}" for host in range(self.host_count())),
            *(f"L{leaf}" for leaf in range(self._leafs())),
            *(f"S{spine}" for spine in range(self.spines)),
        ]


class Graph(declared.GraphTopology, _Network):
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


Topology = Annotated[
    LeafSpine | SingleSwitch | Dumbbell | Chain | Clos | FatTree | Rail | Graph,
    Field(discriminator="kind"),
]
"""One of the kinds above."""

TOPOLOGIES: tuple[type[_Network], ...] = (
    LeafSpine,
    SingleSwitch,
    Dumbbell,
    Chain,
    Clos,
    FatTree,
    Rail,
    Graph,
)
"""Every kind, in the order of ``penstock list topologies``."""

_CABLE = re.compile(r"topology\.links\[(?P<cable>\d+)\](\.(?P<part>rate|delay))?")
_OTHER_CABLE = re.compile(r"topology\.links\[(\d+)\]")


def of_topology_file(
    problems: Iterable[Problem], table: Mapping[str, Any], directory: Path
) -> Iterator[Problem]:
    """Problems of cables, told of the lines of the file that a graph has in place of them.

    Parameters
    ----------
    table
        The scenario as it is written.
    directory
        That its paths are relative to.
    """
    topology = table.get("topology")
    file = topology.get("file") if isinstance(topology, Mapping) else None
    if not isinstance(file, str):
        yield from problems
        return
    read = cache(lambda: read_topology(path_beside(file, directory, "")).cables)
    yield from of_cables(problems, read, "topology.file")


def of_cables(
    problems: Iterable[Problem], read: Callable[[], Sequence[FileCable]], field: str
) -> Iterator[Problem]:
    """Problems of cables, told of the lines of their file and of the `field` that names the file.

    Parameters
    ----------
    read
        The cables of the file; asked only where a problem is of one of them.
    """
    for problem in problems:
        found = _CABLE.fullmatch(problem.field)
        if not found:
            yield problem
            continue
        cables = read()
        line = cables[int(found["cable"])].line
        a, b, rate, delay, *_ = line.text.split()
        word = {"rate": rate, "delay": delay}.get(found["part"], f"{a} {b}")
        remedy = problem.remedy
        if other := _OTHER_CABLE.search(remedy):
            remedy = remedy.replace(other[0], f"line {cables[int(other[1])].line.number}")
        yield problem_of(line.refuse("is wrong", remedy, word), field)
