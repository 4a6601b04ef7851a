"""Random traffic of every kind for a network that was drawn."""

from __future__ import annotations

from random import Random

from penstock.units import TIME
from penstock.workload import WORKLOADS
from swarm.dependent import draw_collective, draw_requests, draw_waiting
from swarm.network import Network, Table

SHORT = ("google", "google-2008", "facebook-hadoop", "facebook-web-server")
"""Built-in distributions for flows that must all finish (our choice: means of a few kB)."""


def draw_traffic(
    rng: Random, network: Network, classes: int, duration: int, settles: bool
) -> list[Table]:
    """One to three entries; where the flows must all finish none is endless or very long."""
    entries: list[Table] = []
    kinds = [_open_loop, _open_loop, _incast, _listed, _around]
    kinds += [draw_collective, draw_requests, draw_waiting]
    if not settles:
        kinds += [_long_lived]
    chosen = rng.choices(kinds, k=rng.randint(1, 3))
    if network.table["kind"] == "graph" and rng.random() < 0.75:
        chosen[0] = _around
    for index, kind in enumerate(chosen):
        entry = kind(rng, network, duration, settles)
        entry |= {"label": f"{entry['kind']} {index}", "class": rng.randrange(classes)}
        entries.append(entry)
    return entries


def share_connections(rng: Random, entries: list[Table]) -> None:
    """Lets the flows of half of the open loops share a few connections."""
    for entry in entries:
        if entry["kind"] == "open-loop" and rng.random() < 0.5:
            entry["connections"] = rng.randint(1, 4)


def _pair(rng: Random, network: Network) -> list[int]:
    return rng.sample(range(network.hosts), 2)


def _some_hosts(rng: Random, network: Network) -> list[int]:
    return rng.sample(range(network.hosts), rng.randint(1, network.hosts - 1))


def _open_loop(rng: Random, network: Network, duration: int, settles: bool) -> Table:
    core = bool(network.core)
    load_on = rng.choice(["core", "edge", "links"] if core else ["edge", "links"])
    entry: Table = {
        "kind": "open-loop",
        "sizes": _sizes(rng, settles),
        "arrivals": _arrivals(rng),
        "pairs": _pairs(rng, network),
        "load": rng.uniform(0.02, 0.2 if settles else 0.6),
        "load_on": {"kind": load_on},
    }
    if load_on == "links":
        entry["load_on"]["links"] = rng.sample(network.cables, rng.randint(1, 2))
    if load_on == "core" and rng.random() < 0.3:
        entry["load_counts"] = "all"
    if rng.random() < 0.3:
        entry["start"] = rng.randrange(duration // 2)
        entry["stop"] = rng.randint(entry["start"] + 1, duration)
    return entry


def _sizes(rng: Random, settles: bool) -> object:
    names = SHORT if settles else [workload.name for workload in WORKLOADS]
    return rng.choice(
        [
            rng.choice(names),
            rng.choice(names),
            {"kind": "fixed", "size": rng.choice([500, 999, 1000, 1001, 20_000])},
            {"kind": "exponential", "mean": rng.choice(["500 B", "20 kB"])},
            {"kind": "pareto", "shape": rng.uniform(1.5, 2.5), "mean": "10 kB"},
        ]
    )


def _arrivals(rng: Random) -> Table:
    kind = rng.choice(["poisson", "lognormal", "deterministic"])
    return {"kind": kind} | ({"sigma": rng.uniform(0.5, 2.5)} if kind == "lognormal" else {})


def _pairs(rng: Random, network: Network) -> Table:
    match rng.choice(
        ["uniform", "uniform", "rack-local", "permutation", "between", "fan-in", "synchronous"]
    ):
        case "rack-local":
            racks = network.rack_sizes()
            mixed = 0.0 if min(racks) == 1 else rng.random()
            return {"kind": "rack-local", "fraction": mixed if len(racks) > 1 else 1.0}
        case "between":
            sources, destinations = _some_hosts(rng, network), _some_hosts(rng, network)
            return {"kind": "between", "sources": sources, "destinations": destinations}
        case "fan-in":
            most = rng.randint(1, network.hosts - 1)
            return {"kind": "fan-in", "least": rng.randint(1, most), "most": most}
        case "synchronous":
            receiver, *sources = rng.sample(range(network.hosts), rng.randint(2, network.hosts))
            return {"kind": "synchronous", "sources": sources, "receiver": receiver}
        case kind:
            return {"kind": kind}


def _incast(rng: Random, network: Network, duration: int, settles: bool) -> Table:
    """A receiver's link is loaded by half at most, so that other traffic has room."""
    degree, period = rng.randint(1, 40), duration // rng.randint(1, 4)
    half = network.slowest * period // (16 * TIME.parse("1 s"))
    size = rng.randint(degree, max(half, degree))
    entry: Table = {"kind": "incast", "degree": degree, "size": size, "period": period}
    if rng.random() < 0.5:
        receiver, *senders = rng.sample(range(network.hosts), rng.randint(2, network.hosts))
        entry |= {"receiver": receiver, "senders": senders}
        if rng.random() < 0.5:
            entry |= {"replace": False, "degree": min(degree, len(senders))}
    return entry


def _listed(rng: Random, network: Network, duration: int, settles: bool) -> Table:
    sizes = [1, 1000, 50_000, 200_000] if settles else [0, 1, 1000, 50_000, 5_000_000]
    flows = [
        [*_pair(rng, network), rng.choice(sizes), rng.randrange(duration * 9 // 10)]
        for _ in range(rng.randint(1, 20))
    ]
    entry: Table = {"kind": "listed", "flows": flows, "spread": _spread(rng, duration)}
    if rng.random() < 0.3:
        entry["destination_ports"] = [rng.randrange(2**16) for _ in flows]
    return entry


def _around(rng: Random, network: Network, duration: int, settles: bool) -> Table:
    """Every host sends to the one a third of the way round: what deadlocks rings."""
    hosts = network.hosts
    step = -(-hosts // 3) if hosts > 2 else 1
    size = 100_000 if settles else 20_000_000
    flows = [[host, (host + step) % hosts, size, 0] for host in range(hosts)]
    return {"kind": "listed", "flows": flows, "spread": _spread(rng, duration)}


def _long_lived(rng: Random, network: Network, duration: int, settles: bool) -> Table:
    pairs = [_pair(rng, network) for _ in range(rng.randint(1, 4))]
    start = rng.choice([0, duration // 3])
    return {"kind": "long-lived", "pairs": pairs, "start": start, "spread": _spread(rng, duration)}


def _spread(rng: Random, duration: int) -> int:
    return rng.choice([0, 0, duration // 10])
