"""What a config means here: a scheme, the packets' sizes, and the profile of each port's ECN.

The constants that no key sets are those of the simulator's sources: the buffer's reserve,
headroom and thresholds (``switch-mmu.cc``), TIMELY's parameters (``rdma-hw.cc``), the sizes of
headers (``qbb-header.cc``, ``int-header.cc``; 14 Ethernet + 20 IPv4 + 8 UDP + 6).
"""

from __future__ import annotations

from typing import Any

from penstock.errors import PATH_WIDTH, printable
from penstock.hpcc.config import DCQCN, DCTCP, HPCC, TIMELY, Config
from penstock.topology_file import TopologyFile

HEADER = 48
"""Headers of a data packet without telemetry or timestamp [B]."""
NO_TIMEOUT = "60 s"
"""That simulator never retransmits by a timer: longer than any run."""
MODE_NAMES = {DCQCN: "dcqcn", HPCC: "hpcc", TIMELY: "timely", DCTCP: "dctcp"}
"""What a scheme is called in results, by CC_MODE."""
THOUSAND = 1000
"""Unit of K [B]."""


def scheme_of(config: Config, topology: TopologyFile) -> dict[str, Any]:
    """The scheme of a config, as a scenario would write it."""
    return {
        "name": MODE_NAMES[config.mode],
        "title": f"CC_MODE {config.mode} of {printable(config.path.name, PATH_WIDTH)}",
        "cite": "ns-3 HPCC simulator (alibaba-edu/High-Precision-Congestion-Control)",
        "switch": {
            "admission": {
                "kind": "shared",
                "buffer": config.buffer * 2**20,
                "ingress": {
                    "alpha": 0.125,
                    "reserve": 4096,
                    "headroom": {"kind": "bdp", "factor": 3.0},
                },
            },
            "assignment": {"kind": "class", "classes": 1},
            "scheduling": {"kind": "fifo"},
            "marking": _marking(config, topology),
            "backpressure": {"kind": "pfc", "xon_offset": 3072},
        },
        "host": {
            "controller": _controller(config),
            "recovery": {"kind": "go-back-n", "timeout": NO_TIMEOUT, "nack_interval": "500 us"},
            "nic": {"queues": 0, "scheduling": "round-robin"},
        },
    }


def wire_of(config: Config) -> dict[str, int]:
    """What the packets of a config weigh [B]."""
    return {
        "payload": config.payload,
        "header": HEADER,
        "acknowledgement": 60,
        "telemetry": 42,
        "timestamp": 8,
        "control_frame": 43,
    }


def _controller(config: Config) -> dict[str, Any]:
    builders = {DCQCN: _dcqcn, HPCC: _hpcc, TIMELY: _timely, DCTCP: _dctcp}
    shared = {"minimum_rate": config.minimum_rate, "window": _window(config)}
    return shared | builders[config.mode](config)


def _dcqcn(config: Config) -> dict[str, Any]:
    return {
        "kind": "dcqcn-mellanox",
        "gain": config.gain,
        "alpha_interval": config.alpha_interval,
        "decrease_interval": config.decrease_interval,
        "increase_interval": config.increase_interval,
        "fast_recovery_rounds": config.fast_recovery_rounds,
        "additive_increase": config.additive_increase,
        "hyper_increase": config.hyper_increase,
        "clamps_target": config.clamps_target,
    }


def _hpcc(config: Config) -> dict[str, Any]:
    return {
        "kind": "hpcc",
        "target_utilization": config.target_utilization,
        "maximum_stage": config.maximum_stage,
        "additive_increase": {"kind": "rate", "rate": config.additive_increase},
        "react": "per-ack" if config.reacts_per_ack else "per-rtt",
    }


def _timely(config: Config) -> dict[str, Any]:
    return {
        "kind": "timely",
        "ewma_weight": 0.875,
        "decrease_factor": 0.8,
        "additive_increase": config.additive_increase,
        "hyper_increase": config.hyper_increase,
        "hyper_after": 5,
        "hyper_below_low": True,
        "low_rtt": "50 us",
        "high_rtt": "500 us",
        "minimum_rtt": "20 us",
        "update": {"kind": "round-trip"},
        "band": {"kind": "gradient"},
    }


def _dctcp(config: Config) -> dict[str, Any]:
    return {
        "kind": "dctcp",
        "gain": config.gain,
        "start": "line-rate",
        "increase": {"kind": "rate", "rate": config.dctcp_increase},
    }


def _window(config: Config) -> str:
    if not config.has_window:
        return "none"
    return "scaled" if config.scales_window else "bdp"


def _marking(config: Config, topology: TopologyFile) -> dict[str, Any]:
    first, *others = _profiles(config, topology)
    if config.mode == HPCC:
        return {"kind": "telemetry", "multiplier": config.telemetry_multiplier}
    if config.mode == TIMELY:
        return {"kind": "none"}
    every_port = {key: value for key, value in first.items() if key != "rate"}
    return {"kind": "ecn", "at": "dequeue", **every_port, "per_rate": others}


def _profiles(config: Config, topology: TopologyFile) -> list[dict[str, Any]]:
    """The ECN profile of each rate that a switch port has, the slowest first.

    Every cable ends at a switch, so every rate of the file is one of a switch port. That simulator
    asks for all of them whatever CC_MODE is.
    """
    found = []
    for rate in sorted({cable.rate for cable in topology.cables}):
        for key, values in (
            ("KMIN_MAP", config.kmin),
            ("KMAX_MAP", config.kmax),
            ("PMAX_MAP", config.pmax),
        ):
            if rate not in values:
                raise config.refuse(
                    key,
                    f"has no entry for {rate} b/s, a link speed of {config.topology}",
                    "give each link speed its entry, and raise the count before them",
                )
        found.append(
            {
                "rate": rate,
                "kmin": THOUSAND * config.kmin[rate],
                "kmax": THOUSAND * config.kmax[rate],
                "pmax": config.pmax[rate],
            }
        )
    return found
