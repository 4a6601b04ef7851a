"""The networks and the traffic of the benchmark, as the JSON text that the core reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock import Scenario

NOTHING_MEASURED: Mapping[str, Any] = {
    "measure.sample_interval": 0,
    "measure.active_flows": False,
}
PACKET = 1_000
"""Payload of a packet [B]."""
US = 1_000_000
"""A microsecond [ps]."""

Scheme = str | Mapping[str, Any]
"""The name of a scheme, or its fields."""
NO_POLICY: Scheme = {
    "preset": "ideal-fq",
    "name": "no-policy",
    "switch": {"assignment": {"kind": "class"}, "scheduling": {"kind": "fifo"}},
}
"""A window as large as the path, and one FIFO at a port: no limit, mark or pause. What it takes
beyond the bare loop is the price of flows and hosts, without which there is no scheme."""


@dataclass(frozen=True)
class Fabric:
    """A leaf-spine fabric and how long its traffic lasts."""

    racks: int
    hosts_per_rack: int
    spines: int
    duration: str
    smoke_duration: str

    @property
    def hosts(self) -> int:
        return self.racks * self.hosts_per_rack

    @property
    def keys(self) -> dict[str, int]:
        """The keys of a scenario that choose this fabric."""
        return {
            "topology.racks": self.racks,
            "topology.hosts_per_rack": self.hosts_per_rack,
            "topology.spines": self.spines,
        }


# BFC's fabric (sec. 6.2.1), then the same kind of fabric, larger; durations give about ten million
# packet-hops each.
FABRICS = (
    Fabric(8, 16, 8, "2 ms", "200 us"),
    Fabric(32, 32, 16, "250 us", "20 us"),
    Fabric(256, 32, 16, "50 us", "5 us"),
)


def facebook(scheme: str, fabric: Fabric, duration: str) -> str:
    """The reference trace's workload (Facebook Hadoop, 60 % core load) on a fabric."""
    keys = {"scheme": scheme, "duration": duration}
    return _json("bfc-facebook-60", keys | fabric.keys | NOTHING_MEASURED)


def built_in(name: str, keys: Mapping[str, Any]) -> str:
    """A built-in scenario with some keys set, and nothing sampled."""
    return _json(name, {**keys, **NOTHING_MEASURED})


def small_flows(duration: str) -> str:
    """Flows of half a packet between eight hosts: 100,000 in a millisecond."""
    flows = {
        "kind": "open-loop",
        "load": 0.5,
        "load_on": {"kind": "edge"},
        "sizes": {"kind": "fixed", "size": PACKET // 2},
    }
    return _json("quickstart", {"duration": duration, "traffic": [flows]} | NOTHING_MEASURED)


def collective(scheme: str, operation: str, duration: str) -> str:
    """A collective of 8 MB among the 128 hosts of BFC's fabric, as long as the duration."""
    job = {"kind": "collective", "operation": operation, "bytes": "8 MB", "peers": 1}
    keys = {"scheme": scheme, "duration": duration, "drain": "1 ns", "traffic": [job]}
    return _json("bfc-facebook-60", keys | NOTHING_MEASURED)


def _json(name: str, keys: Mapping[str, Any]) -> str:
    """A built-in scenario with some keys set."""
    return Scenario.from_name(name, keys).to_json()


def demo(scheme: Scheme, duration: str, measured: Mapping[str, Any]) -> str:
    """The demo: Google's sizes at 55 % and 5 % of incasts."""
    keys = {"scheme": scheme, "duration": duration, "drain": "1 ms"}
    return _json("bfc-demo", {**keys, **measured})


def saturated(duration: str, measured: Mapping[str, Any]) -> str:
    """PFC with 85 % of Google's sizes and 20 MB from 100 hosts to one every 250 us: pauses spread
    from switch to switch."""
    keys = {
        "scheme": "pfc",
        "duration": duration,
        "drain": "100 us",
        "traffic.background.load": 0.85,
        "traffic.incast.period": "250 us",
    }
    return _json("bfc-demo", {**keys, **measured})


def fixed_sizes(scheme: str, size: int, duration: str) -> str:
    """Flows of one size [B] at 30 % load on BFC's fabric."""
    keys = {
        "scheme": scheme,
        "duration": duration,
        "traffic.background.sizes": {"kind": "fixed", "size": size},
        "load": 0.3,
    }
    return _json("bfc-facebook-60", keys | NOTHING_MEASURED)


def _listed(scheme: str, fabric: Fabric, duration_us: int, rows: Sequence[Sequence[int]]) -> str:
    """Flows (source, destination, size [B] or 0 for endless, start [ps]) on a fabric.

    The models see the first row; all rows go into the text as they are, because so many take the
    models a minute.
    """
    first = {"kind": "listed", "label": "listed", "flows": [rows[0]]}
    keys = {"scheme": scheme, "duration": f"{duration_us} us", "traffic": [first]}
    scenario = json.loads(_json("bfc-facebook-60", keys | fabric.keys | NOTHING_MEASURED))
    scenario["traffic"][0]["flows"] = rows
    return json.dumps(scenario)


OPENING_US = 100
"""How long the flows of :func:`host_pair` take to open."""


def host_pair(scheme: str, flows: int, duration_us: int) -> str:
    """So many flows without end from one host to another in its rack."""
    pair = Fabric(2, 2, 1, "", "")
    gap = OPENING_US * US // flows
    return _listed(scheme, pair, duration_us, [(0, 1, 0, flow * gap) for flow in range(flows)])


BURST_GAP_US = 20
"""From one burst to the next: longer than the network needs for a burst."""


def bursts(scheme: str, fabric: Fabric, flows: int, count: int, is_spread: bool) -> str:
    """Bursts of so many flows of one packet each: all at one picosecond, or evenly spread over the
    time to the next burst. Hosts take turns as sources; each burst has other pairs."""
    hosts, gap = fabric.hosts, BURST_GAP_US * US
    rows = []
    for burst in range(count):
        for flow in range(flows):
            source = flow % hosts
            # The destination is in another rack, and all hosts receive alike.
            away = fabric.hosts_per_rack * (1 + (burst + flow // hosts) % (fabric.racks - 1))
            later = flow * gap // flows if is_spread else 0
            rows.append((source, (source + away) % hosts, PACKET, burst * gap + later))
    return _listed(scheme, fabric, count * BURST_GAP_US, rows)
