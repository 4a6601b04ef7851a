"""Random traffic in which flows wait for others."""

from __future__ import annotations

from random import Random
from typing import get_args

from penstock.scenario.declared.traffic import CollectiveTraffic
from swarm.network import Network, Table

OPERATIONS = get_args(CollectiveTraffic.model_fields["operation"].annotation)
"""Every collective."""
EVENTS = ("natural", "received", "acknowledged", "started")
"""Every event for which a flow can wait."""


def waits(entry: Table) -> bool:
    """Whether some flow of an entry waits for others."""
    return entry["kind"] in ("collective", "rpc", "on-off") or bool(entry.get("after"))


def draw_collective(rng: Random, network: Network, duration: int, settles: bool) -> Table:
    """All hosts, or as many of them as a power of two."""
    operation = rng.choice(OPERATIONS)
    ranks = list(range(network.hosts))
    if operation.startswith("halving") or rng.random() < 0.5:
        ranks = rng.sample(ranks, 1 << rng.randint(1, network.hosts.bit_length() - 1))
    return {
        "kind": "collective",
        "operation": operation,
        "ranks": ranks,
        "bytes": rng.choice([len(ranks), 10_000, 100_000]),
        "chunks": rng.choice([1, 1, 3]) if operation == "tree-all-reduce" else 1,
        "peers": rng.randint(1, len(ranks) - 1) if operation == "all-to-all" else 1,
        "iterations": rng.randint(1, 3),
        "gap": rng.choice([0, duration // 20]),
        "start": rng.choice([0, 0, duration // 10]),
    }


def draw_requests(rng: Random, network: Network, duration: int, settles: bool) -> Table:
    """Clients that ask some servers, or hosts that send bursts."""
    pause = {"kind": "exponential", "mean": duration // rng.randint(5, 30)}
    sizes = {"kind": "exponential", "mean": rng.choice(["500 B", "20 kB"])}
    if rng.random() < 0.5:
        return {"kind": "on-off", "sizes": sizes, "gaps": pause}
    fan_out = rng.randint(1, min(3, network.hosts - 1))
    fixed = {"kind": "fixed", "time": rng.choice([0, duration // 20])}
    return {
        "kind": "rpc",
        "outstanding": rng.randint(1, 3),
        "fan_out": fan_out,
        "request": {"kind": "fixed", "size": rng.choice([1, 300, 5000])},
        "response": {"kind": "fixed", "size": 50_000} if fixed["time"] == 0 else sizes,
        "think": rng.choice([pause, fixed]),
    }


def draw_waiting(rng: Random, network: Network, duration: int, settles: bool) -> Table:
    """Flows of a list, each of which may wait for some before it."""
    rows = range(rng.randint(2, 20))
    flows = [[*rng.sample(range(network.hosts), 2), rng.choice([1, 1000, 30_000]), 0] for _ in rows]
    awaited = {row: rng.sample(range(row), rng.randint(0, min(row, 3))) for row in rows}
    after = [
        [row, other, rng.choice(EVENTS)] for row, others in awaited.items() for other in others
    ]
    entry: Table = {"kind": "listed", "flows": flows, "after": after}
    if after and rng.random() < 0.5:
        entry["lag"] = [rng.choice([0, duration // 30]) for _ in after]
        entry["delay"] = [rng.choice([0, duration // 30]) for _ in rows]
        entry["needed"] = [rng.randint(0, len(awaited[row])) for row in rows]
    return entry
