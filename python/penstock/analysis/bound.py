"""The bandwidth that a network lets a collective have.

What it is: an upper bound of the bus bandwidth, from the rates of the links around groups of ranks.
What it is not: the time of an algorithm; a bound has no latency and no header. Invariant: no
algorithm for the operation is faster.

The bus bandwidth is the factor of the operation (2 (n - 1)/n for all-reduce, (n - 1)/n for the
others) times S / time, see NVIDIA's nccl-tests, doc/PERFORMANCE.md. A group of k of the n ranks has
links of the rate C each way to the rest. What must cross them bounds the time:

- all-reduce: S, because the rest needs the sum of the group's buffers. All ranks together send
  2 (n - 1) S at least (P. Patarasuk and X. Yuan, JPDC 69(2), 2009), so that the bus bandwidth is at
  most the mean rate of their links. A single rank may send less than the mean, as a leaf of a tree;
- one rank and the others, k = 1: the factor times S, so that the bus bandwidth is C at most;
- all-gather and reduce-scatter: max(k, n - k)/n S, in one of the two directions;
- all-to-all: k (n - k)/n S.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from penstock.analysis.path import accelerators_of_server
from penstock.analysis.runs import MeasuredRun, label_number


@dataclass(frozen=True)
class Bound:
    """The most bus bandwidth that a network allows."""

    bandwidth_bps: float
    formula: str
    """What it is made of, in words."""


@dataclass(frozen=True)
class Cut:
    """A group of ranks, and the rate at which it reaches the others."""

    name: str
    ranks: int
    rate_bps: float
    is_own_link: bool = False
    """Whether it is around one rank, and not around a switch or a server."""


def _is_all_reduce(operation: str) -> bool:
    return operation.endswith("all-reduce")


def bus_bound(run: MeasuredRun, label: str) -> Bound | None:
    """The bound of a collective; none for jobs that are no collectives."""
    entry = run.scenario.traffic[label_number(run, label)]
    if entry.kind != "collective":
        return None
    links = run.links.select("from", "to", "rate_bps").rows()
    hosts = set(range(run.scenario.topology.host_count()))
    ranks = [int(rank) for rank in entry.ranks] or sorted(hosts)
    cuts, operation = list(_cuts(run, ranks, links, hosts)), str(entry.operation)
    bounds = [_bound(cut, len(ranks), operation) for cut in cuts if 0 < cut.ranks < len(ranks)]
    if _is_all_reduce(operation):
        mean = sum(cut.rate_bps for cut in cuts if cut.is_own_link) / len(ranks)
        bounds.insert(0, Bound(mean, "the mean rate of the ranks' own links"))
    return min(bounds, key=lambda one: one.bandwidth_bps, default=None)


def _cuts(
    run: MeasuredRun, ranks: list[int], links: list[tuple[int, int, int]], hosts: set[int]
) -> Iterable[Cut]:
    """Each rank by itself, the ranks of each server with links of its own, those of each switch."""
    nic = {source: (target, rate) for source, target, rate in links if source in hosts}
    out: dict[int, float] = defaultdict(float)
    for source, target, rate in links:
        if source not in hosts and target not in hosts:
            out[source] += rate
    names, per_server = run.summary["node_names"], accelerators_of_server(run)
    inner = float(run.scenario.topology.inner_rate) if per_server else 0.0
    servers: dict[int, list[int]] = defaultdict(list)
    switches: dict[int, list[int]] = defaultdict(list)
    for rank in ranks:
        own_rate = nic[rank][1] + inner
        yield Cut(f"{names[rank]}'s own link", 1, own_rate, is_own_link=True)
        if per_server:
            servers[rank // per_server].append(rank)
        else:
            switches[nic[rank][0]].append(rank)
    for server, own in servers.items():
        nics = sum(nic[rank][1] for rank in range(server * per_server, (server + 1) * per_server))
        yield Cut(f"the NICs of server {server}", len(own), nics)
    for switch, own in switches.items():
        yield Cut(f"the links from {names[switch]} to other switches", len(own), out[switch])


def _bound(cut: Cut, n: int, operation: str) -> Bound:
    """What a cut allows an operation of n ranks."""
    k, rate = cut.ranks, cut.rate_bps
    factor = (n - 1) / n * (2 if _is_all_reduce(operation) else 1)
    if k == 1 and not _is_all_reduce(operation):
        return Bound(rate, f"the rate of {cut.name}")
    if _is_all_reduce(operation):
        crosses, words = 1.0, f"2 (n − 1)/n · C, C the rate of {cut.name}, n = {n}"
    elif operation == "all-to-all":
        crosses = k * (n - k) / n
        words = f"(n − 1)/(k (n − k)) · C, C the rate of {cut.name}, n = {n}, k = {k}"
    else:
        crosses = max(k, n - k) / n
        words = f"(n − 1)/max(k, n − k) · C, C the rate of {cut.name}, n = {n}, k = {k}"
    return Bound(factor * rate / crosses, words)
