"""Good scenarios that have, between them, everything that a scenario can have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from penstock import Scenario
from penstock.scenario import preset_names

Table = dict[str, Any]

PAIR = [{"kind": "long-lived", "pairs": [[0, 1]]}]
OPEN: dict[str, Any] = {"kind": "open-loop", "sizes": "google", "load": 0.2}
LINKS = [{"a": 0, "b": 2}, {"a": 1, "b": 2, "rate": "40 Gb/s", "delay": "3 us"}]

FAST = {"rate": "400 Gb/s", "kmin": "400 kB", "kmax": "1600 kB", "pmax": 0.2}

TOPOLOGIES: list[dict[str, Any]] = [
    {"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 2, "spines": 2, "spine_rate": "40 Gb/s"},
    {"kind": "single-switch", "hosts": 4, "pipeline_delay": "500 ns"},
    {"kind": "dumbbell", "left": 2, "right": 2, "core_delay": "200 us"},
    {"kind": "chain", "switches": 3, "hosts_per_switch": 2},
    {"kind": "graph", "hosts": 2, "switches": 1, "links": LINKS},
    {
        "kind": "clos",
        "pods": 2,
        "tors_per_pod": 2,
        "leafs_per_pod": 2,
        "hosts_per_tor": 2,
        "spines": 3,
    },
    {"kind": "fat-tree", "ports": 4, "oversubscription": 2, "delay": "500 ns"},
    {
        "kind": "rail",
        "servers": 3,
        "gpus": 4,
        "servers_per_group": 2,
        "spines": 2,
        "inner_rate": 0,
        "inner_delay": "2 us",
    },
    {"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 2, "spines": 2, "failed_links": [[5, 6]]},
]

TRAFFICS: list[dict[str, Any]] = [
    OPEN,
    OPEN | {"sizes": {"kind": "fixed", "size": "10 kB"}, "arrivals": {"kind": "poisson"}},
    OPEN | {"sizes": {"kind": "exponential", "mean": "10 kB"}, "load_on": {"kind": "edge"}},
    OPEN | {"sizes": {"kind": "pareto"}, "arrivals": {"kind": "deterministic"}},
    OPEN | {"pairs": {"kind": "rack-local", "fraction": 0.5}, "load_counts": "all"},
    OPEN | {"pairs": {"kind": "permutation"}, "load_on": {"kind": "edge"}},
    OPEN
    | {
        "pairs": {"kind": "between", "sources": [0, 1], "destinations": [20]},
        "load_on": {"kind": "links", "links": [[129, 20]]},
    },
    OPEN | {"pairs": {"kind": "fan-in", "least": 2, "most": 3}},
    OPEN
    | {
        "pairs": {"kind": "matrix", "rows": [[0, 20, 1.5], [128, 20, 3]]},
        "load_on": {"kind": "links", "links": [[129, 20]]},
    },
    OPEN
    | {
        "pairs": {"kind": "synchronous", "sources": [1, 2], "receiver": 20},
        "load_on": {"kind": "links", "links": [[129, 20]]},
    },
    {"kind": "incast", "degree": 8, "receiver": 5, "senders": [1, 2], "period": "2 ms"},
    {"kind": "listed", "flows": [[0, 1, 10, 0], [1, 2, 0, "3 us"]], "destination_ports": [1, 2]},
    {"kind": "long-lived", "pairs": [[0, 1]]},
    {
        "kind": "listed",
        "flows": [[0, 1, 10, 0], [1, 2, 99, 0]],
        "after": [[1, 0, "received"]],
        "lag": ["1 ns"],
        "delay": [0, "2 us"],
        "needed": [0, 1],
        "places": [[0, 0, 0], [0, 1, 1]],
        "steps": ["there", "back"],
    },
    {
        "kind": "collective",
        "operation": "tree-all-reduce",
        "bytes": "1 MB",
        "ranks": [0, 1, 2],
        "chunks": 4,
    },
    {"kind": "collective", "operation": "all-to-all", "bytes": "1 MB", "peers": 2},
    {"kind": "rpc", "request": {"kind": "fixed", "size": 9}, "response": "google", "fan_out": 2},
    {"kind": "on-off", "sizes": "google", "gaps": {"kind": "exponential", "mean": "9 us"}},
]

CLASSED: dict[str, Any] = OPEN | {"class_above": ["10 kB", "100 kB", "1 MB"]}

FOUR_CLASSES: dict[str, Any] = {
    "switch": {
        "assignment": {"kind": "class", "classes": 4},
        "scheduling": {"kind": "strict"},
        "backpressure": {"kind": "pfc", "xoff": "250 kB"},
    }
}

SCHEMES: list[dict[str, Any]] = [
    {"switch": {"admission": {"kind": "static", "per_port": "512 kB"}}},
    FOUR_CLASSES,
    {"switch": {"backpressure": {"threshold": {"kind": "time", "time": "2 us"}}}},
    {
        "switch": {
            "assignment": {"full_port": "closest-remaining", "classes": 2, "classes_share": True},
            "backpressure": {"kind": "credits", "pauses": {"elide_down_up": True}},
        }
    },
    {"switch": {"backpressure": {"bitmap_interval": "10 us", "elide_down_up": True}}},
    {"switch": {"backpressure": {"kind": "flow-pauses"}}},
    {"switch": {"backpressure": {"kind": "pfc", "xoff": "1 MB", "pause": {"kind": "timed"}}}},
    {"switch": {"backpressure": {"elide": [[136, 128, 137]]}}, "host": {"base_rtt": "own"}},
    {"switch": {"admission": {"other_buffers": [[128, "64 MiB"]]}}},
    {"switch": {"marking": {"kind": "ecn", "at": "enqueue", "pmax": 0.2, "per_rate": [FAST]}}},
    {
        "host": {
            "controller": {
                "kind": "timely",
                "update": {"kind": "segment"},
                "band": {"kind": "patched"},
                "window": "bdp",
            }
        }
    },
    {"host": {"controller": {"kind": "swift", "base_target": "20 us"}}},
    {
        "switch": {"marking": {"kind": "ecn"}},
        "host": {"controller": {"kind": "dctcp", "increase": {"kind": "rate", "rate": "1 Gb/s"}}},
    },
    {
        "switch": {
            "assignment": {"kind": "ingress"},
            "marking": {"kind": "predicted", "threshold": "150 kB"},
            "backpressure": {"kind": "fafc", "pfc": {"xoff": "1 MB"}},
        }
    },
    {
        "switch": {
            "assignment": {"kind": "rounds", "bids": "audited"},
            "scheduling": {"kind": "rotating-strict"},
            "marking": {"kind": "rounds", "rounds": 4},
            "backpressure": {"kind": "none"},
        },
        "host": {"controller": {"kind": "packet-pair", "bytes_per_round": "4 kB"}},
    },
    {
        "switch": {
            "assignment": {"kind": "class"},
            "scheduling": {"kind": "credit-shaping", "queue": 8, "frame": "1048 B"},
            "backpressure": {"kind": "none"},
        },
        "host": {
            "controller": {"kind": "expresspass", "feedback": {"kind": "paper"}},
            "nic": {"queues": 0},
        },
        "routing": {"kind": "symmetric-ecmp"},
    },
    {"host": {"controller": {"kind": "new-reno"}, "recovery": {"kind": "selective-repeat"}}},
    {
        "switch": {
            "assignment": {"kind": "priority", "levels": 8},
            "scheduling": {"kind": "strict"},
            "backpressure": {"kind": "none"},
        },
        "host": {
            "controller": {"kind": "homa", "overcommitment": 4, "cutoffs": ["1 kB", "5 kB"]},
            "recovery": {"kind": "resend", "timeout": "1 ms"},
        },
        "routing": {"kind": "spray", "order": "round-robin"},
    },
]

FAULTS: Table = {
    "control_loss": 0.01,
    "outages": [
        {"link": [137, 128], "start": "2 us", "end": "3 us"},
        {"link": [128, 136], "start": "1 us"},
    ],
    "corruption": [{"probability": 1e-6}, {"link": [0, 128], "probability": 0.25}],
}

MEASURE: Table = {
    "sample_interval": 0,
    "active_flows": True,
    "queue_delays": True,
    "series": [[0, 128]],
    "events": True,
    "trace": {"nodes": [128]},
}


@cache
def every() -> tuple[Table, ...]:
    """As the core gets them: all presets, and all that they do not have."""
    return tuple(json.loads(one.to_json()) for one in _every())


def _every() -> Iterator[Scenario]:
    yield Scenario(faults=FAULTS, measure=MEASURE, traffic=PAIR)
    yield from (Scenario(scheme=preset, traffic=PAIR) for preset in preset_names())
    yield from (Scenario(topology=topology, traffic=PAIR) for topology in TOPOLOGIES)
    yield from (Scenario(traffic=[traffic]) for traffic in TRAFFICS)
    yield Scenario(scheme={"preset": "bfc", **FOUR_CLASSES}, traffic=[CLASSED])
    yield from (Scenario(scheme={"preset": "bfc", **one}, traffic=PAIR) for one in SCHEMES)
