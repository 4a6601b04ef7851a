"""Runs made of random numbers, for the tests of analysis, plots, reports and experiments.

They have the tables of a real run (see `penstock._core`) with plausible values, so that what is
drawn from them looks like a figure; no number in them means anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl

from penstock import Scenario
from penstock.scenario.declared.routing import EcmpRouting
from penstock.tables import COLUMNS

LAYERS = ["host-ToR", "ToR-spine", "spine-ToR", "ToR-host"]
HOSTS, RACKS, SPINES = 16, 2, 2


@dataclass
class SyntheticScenario:
    """The part of a scenario that analysis and report read."""

    name: str
    seed: int
    scheme: Any
    duration: int = 2_000_000_000
    traffic: list[Any] = field(
        default_factory=lambda: [
            SimpleNamespace(kind="open-loop", label="background"),
            SimpleNamespace(kind="incast", label="incast"),
        ]
    )

    file: str | None = None
    fidelity: str = "exact"

    def model_copy(self, update: dict[str, Any]) -> Scenario:
        """A scenario of the network, for the paths of flows and to tell repetitions."""
        topology = {"racks": RACKS, "hosts_per_rack": HOSTS // RACKS, "spines": SPINES}
        traffic = [{"kind": "long-lived", "pairs": [[0, 1]]}]
        return Scenario(**{"topology": topology, "traffic": traffic} | update)

    def to_toml(self) -> str:
        return (
            f'name = "{self.name}"\nseed = {self.seed}\n\n[scheme]\nname = "{self.scheme.name}"\n'
        )


@dataclass
class SyntheticRun:
    """A run whose tables are given."""

    scenario: SyntheticScenario
    summary: dict[str, Any]
    flows: pl.DataFrame
    links: pl.DataFrame
    buffers: pl.DataFrame
    series: pl.DataFrame
    active_flows: pl.DataFrame
    flow_packets: pl.DataFrame
    queue_delays: pl.DataFrame
    events: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=COLUMNS["events"]))
    packets: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=COLUMNS["packets"]))
    dependents: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema=COLUMNS["dependents"])
    )
    requests: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=COLUMNS["requests"]))
    jobs: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=COLUMNS["jobs"]))


def synthetic_run(
    scheme: str = "bfc", *, seed: int = 1, badness: float = 1.0, flows: int = 20_000
) -> SyntheticRun:
    """A run of `scheme` whose slowdowns, queues and pauses grow with `badness`."""
    draw = np.random.default_rng([seed, len(scheme)])
    links = _links(draw, badness, pauses_queues=scheme.startswith("bfc"))
    duration = 2_000_000.0
    table = _flows(draw, flows, badness, duration)
    return SyntheticRun(
        scenario=SyntheticScenario(
            "synthetic", seed, SimpleNamespace(name=scheme, routing=EcmpRouting(kind="ecmp"))
        ),
        summary=_summary(scheme, seed, table),
        flows=table,
        links=links,
        buffers=_buffers(draw, badness, duration),
        series=_series(draw, badness, duration),
        active_flows=_active_flows(draw, badness, links),
        flow_packets=_flow_packets(links),
        queue_delays=pl.DataFrame(),
    )


def _flows(draw: np.random.Generator, count: int, badness: float, duration: float) -> pl.DataFrame:
    size = np.clip(draw.lognormal(6.5, 2.3, count), 1, 2e7).astype(np.int64)
    ideal = 4_000 + size * 0.08
    queueing = draw.lognormal(0, 1.2, count) * badness * (300 + size**0.75)
    finished = draw.random(count) > 0.001
    fct = np.where(finished, ideal + queueing, np.nan)
    return pl.DataFrame(
        {
            "flow": np.arange(count, dtype=np.uint64),
            "src": draw.integers(0, 8, count).astype(np.uint32),
            "dst": draw.integers(8, 16, count).astype(np.uint32),
            "size_bytes": size.astype(np.uint64),
            "start_ns": np.sort(draw.uniform(0, duration, count)),
            "fct_ns": fct,
            "ideal_fct_ns": ideal,
            "slowdown": fct / ideal,
            "label": (draw.random(count) < 0.1).astype(np.uint32),
            "class": np.zeros(count, dtype=np.uint32),
            "finished": finished,
            "delivered_bytes": size.astype(np.uint64),
            "retransmitted_packets": np.zeros(count, dtype=np.uint32),
        },
        nan_to_null=True,
    )


def _links(draw: np.random.Generator, badness: float, *, pauses_queues: bool) -> pl.DataFrame:
    ends = []
    for host in range(HOSTS):
        tor = HOSTS + host // (HOSTS // RACKS)
        ends += [(host, tor, 0), (tor, host, 3)]
    for rack in range(RACKS):
        for spine in range(SPINES):
            up, down = HOSTS + rack, HOSTS + RACKS + spine
            ends += [(up, down, 1), (down, up, 2)]
    layer = np.array([end[2] for end in ends])
    count = len(ends)
    busy = np.clip(
        np.where((layer == 1) | (layer == 2), 0.6, 0.3) * draw.normal(1, 0.05, count), 0, 1
    )
    assignments = draw.integers(1_000, 2_000, count)
    return pl.DataFrame(
        {
            "link": np.arange(count, dtype=np.uint32),
            "from": np.array([end[0] for end in ends], dtype=np.uint32),
            "to": np.array([end[1] for end in ends], dtype=np.uint32),
            "layer": layer.astype(np.uint32),
            "rate_bps": np.full(count, 100_000_000_000, dtype=np.uint64),
            "delay_ns": np.full(count, 1_000.0),
            "tx_bytes": (busy * 2.5e7).astype(np.uint64),
            "duration_tx_bytes": (busy * 2.4e7).astype(np.uint64),
            "busy_ns": busy * 2e6,
            "port_pause_ns": np.maximum(badness - 2, 0) * draw.uniform(0, 1e4, count),
            "queue_pause_ns": draw.uniform(0, 1e6, count) * pauses_queues,
            "drops": np.zeros(count, dtype=np.uint64),
            "queue_bytes_max": draw.integers(1_000, 200_000, count).astype(np.uint64),
            "assignments": assignments.astype(np.uint64),
            "collisions": (assignments * 0.01 * badness).astype(np.uint64),
        }
    )


def _buffers(draw: np.random.Generator, badness: float, duration: float) -> pl.DataFrame:
    samples, switches = 500, RACKS + SPINES
    return pl.DataFrame(
        {
            "time_ns": np.repeat(np.linspace(0, duration, samples), switches),
            "node": np.tile(np.arange(HOSTS, HOSTS + switches), samples).astype(np.uint32),
            "buffer_bytes": (draw.lognormal(11, 1.0, samples * switches) * badness).astype(
                np.uint64
            ),
        }
    )


def _series(draw: np.random.Generator, badness: float, duration: float) -> pl.DataFrame:
    samples = 800
    step = draw.uniform(0.4, 1.0, samples) * 12.5 * duration / samples
    return pl.DataFrame(
        {
            "time_ns": np.linspace(0, duration, samples),
            "link": np.full(samples, 2 * HOSTS, dtype=np.uint32),
            "queue_bytes": (draw.lognormal(9, 1, samples) * badness).astype(np.uint64),
            "active_queues": draw.integers(0, 8, samples).astype(np.uint32),
            "active_flows": draw.integers(0, 12, samples).astype(np.uint32),
            "paused_queues": draw.integers(0, 4, samples).astype(np.uint32),
            "tx_bytes": np.cumsum(step).astype(np.uint64),
            "data_bytes": np.cumsum(step / 1.05).astype(np.uint64),
            "allowed_bps": np.zeros(len(step), dtype=np.uint64),
        }
    )


def _flow_packets(links: pl.DataFrame) -> pl.DataFrame:
    """At every link, ten flow samples with one packet and one with six."""
    count = links.height
    return pl.DataFrame(
        {
            "link": np.repeat(np.arange(count), 2).astype(np.uint32),
            "packets": np.tile([1, 6], count).astype(np.uint32),
            "flows": np.tile([10, 1], count).astype(np.uint64),
        }
    )


def _active_flows(draw: np.random.Generator, badness: float, links: pl.DataFrame) -> pl.DataFrame:
    numbers = np.arange(0, int(20 + 30 * badness))
    load = 0.5 + 0.1 * min(badness, 4)
    weight = (1 - load) * load**numbers
    count = links.height
    return pl.DataFrame(
        {
            "link": np.repeat(np.arange(count), numbers.size).astype(np.uint32),
            "flows": np.tile(numbers, count).astype(np.uint32),
            "time_ns": np.tile(weight, count) * draw.uniform(1e6, 2e6, count * numbers.size),
        }
    )


def _backlog(flows: pl.DataFrame) -> dict[str, list[float]]:
    """Flows and bytes that have started and not ended at 31 times, as the core takes them."""
    start, size = flows["start_ns"].to_numpy(), flows["size_bytes"].to_numpy()
    end = np.where(flows["finished"], start + flows["fct_ns"].to_numpy(), np.inf)
    times = np.linspace(0, 2_000_000.0, 31)
    return {
        "time_ns": times.tolist(),
        "flows": [int(((start <= t) & (end > t)).sum()) for t in times],
        "bytes": [int(size[(start <= t) & (end > t)].sum()) for t in times],
        "arrived_flows": [int((start <= t).sum()) for t in times],
        "arrived_bytes": [int(size[start <= t].sum()) for t in times],
    }


def _summary(scheme: str, seed: int, flows: pl.DataFrame) -> dict[str, Any]:
    started, finished = flows.height, int(flows["finished"].sum())
    return {
        "digest": f"{seed:016x}",
        "events": 10_000_000,
        "packet_hops": 8_000_000,
        "sim_end_ps": 2_400_000_000,
        "flows_started": started,
        "flows_finished": finished,
        "drops": 0,
        "lost_packets": 0,
        "retransmitted_packets": 0,
        "delivered_bytes": int(flows["size_bytes"].sum()),
        "labels": ["background", "incast"],
        "layers": LAYERS,
        "event_names": [],
        "buffer_peak_bytes": [1_000_000] * 4,
        "headroom_peak_bytes": [0] * 4,
        "node_names": [f"H{i}" for i in range(HOSTS)] + ["T0", "T1", "S0", "S1"],
        "cancelled": False,
        "cpu_seconds": 0.25,
        "ingress_peak_fraction_of_xoff": 0.31,
        "pfc_pauses": 0,
        "queue_pauses": 1_234 if scheme.startswith("bfc") else 0,
        "credits_sent": 5_000 if scheme.startswith("expresspass") else 0,
        "credits_dropped": 700 if scheme.startswith("expresspass") else 0,
        "credits_wasted": 300 if scheme.startswith("expresspass") else 0,
        "base_rtt_ps": 8_355_000,
        "bdp_bytes": 104_000,
        "unfinished": [
            {
                "flow": 7,
                "src": 1,
                "dst": 9,
                "size_bytes": 5_000_000,
                "delivered_bytes": 1_000_000,
                "waits_for": "its queue at T0 is paused by S1",
            }
        ],
        "deadlock": None,
        "long_lived": [
            {"flow": 3, "src": 0, "dst": 9, "start_ns": 0.0, "delivered_bytes": 10_000_000}
        ],
        "queue_delay_ns": {
            "background": {"count": 1_000, "p50": 120.0, "p99": 2_400.0, "mean": 310.0}
        },
        "backlog": _backlog(flows),
        "wall_seconds": 1.25,
        "version": "0.1.0",
    }
