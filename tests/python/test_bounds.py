"""Python and the core refuse the same values: Python first, with the field and its bound."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from penstock import Scenario, ScenarioError, _core
from penstock.scenario.table import with_key

OPEN: dict[str, Any] = {"kind": "open-loop", "sizes": "google", "load": 0.2}
INCAST: dict[str, Any] = {"kind": "incast", "degree": 4, "period": "2 ms", "senders": [1, 2, 3]}
SYNCHRONOUS: dict[str, Any] = OPEN | {
    "pairs": {"kind": "synchronous", "sources": [1, 2], "receiver": 127},
    "load_on": {"kind": "links", "links": [[1, 128]]},
}
ADMISSION, ASSIGNMENT = "scheme.switch.admission", "scheme.switch.assignment"
BACKPRESSURE = "scheme.switch.backpressure"
CONTROLLER, RECOVERY = "scheme.host.controller", "scheme.host.recovery"


@dataclass(frozen=True)
class Bound:
    """A field, a value that is just allowed, and one that is just not; in base units."""

    field: str
    good: Any
    bad: Any
    scheme: str = "bfc"
    traffic: tuple[dict[str, Any], ...] = (OPEN,)
    topology: str = "leaf-spine"

    def __str__(self) -> str:
        return f"{self.scheme}: {self.field} = {str(self.bad)[:20]}"


BOUNDS = [
    Bound("fidelity", "exact", "ns3-hpcc"),
    Bound("duration", 1, 0),
    Bound("drain", 59_000_000_000_000, 60_000_000_000_000),
    Bound("wire.payload", 9_000, 9_001),
    Bound("wire.payload", 1, 0),
    Bound("wire.header", 9_000, 9_001),
    Bound("wire.header", 1, 0),
    Bound("wire.acknowledgement", 9_000, 9_001),
    Bound("wire.control_frame", 9_000, 9_001),
    Bound("wire.telemetry", 9_000, 9_001),
    Bound("wire.timestamp", 9_000, 9_001),
    Bound("faults.control_loss", 0.999, 1.0),
    Bound("topology.racks", 2, 0),
    Bound("topology.host_rate", 100_000_000_000, 0),
    Bound("topology.spine_delay", 10**12, 10**12 + 1),
    Bound("topology.pipeline_delay", 10**12, 10**12 + 1),
    Bound("topology.racks", 4_088, 4_089),
    Bound("topology.hosts_per_rack", 131_072, 131_073),
    Bound("topology.hosts", 2, 1, topology="single-switch"),
    Bound("topology.failed_links", [[128, 136]], [[128, 129]]),
    Bound("topology.pods", 4, 0, topology="clos"),
    Bound("topology.spines", 8, 0, topology="clos"),
    Bound("topology.leaf_rate", 80_000_000_000, 0, topology="clos"),
    Bound("topology.leaf_delay", 10**12, 10**12 + 1, topology="clos"),
    Bound("traffic[0].pairs.least", 1, 0, traffic=(OPEN | {"pairs": {"kind": "fan-in"}},)),
    Bound("traffic[0].pairs.most", 127, 128, traffic=(OPEN | {"pairs": {"kind": "fan-in"}},)),
    Bound("traffic[0].pairs.receiver", 127, 128, traffic=(SYNCHRONOUS,)),
    Bound("traffic[0].pairs.receiver", 127, 2, traffic=(SYNCHRONOUS,)),
    Bound("traffic[0].pairs.sources", [1, 2], [1, 1], traffic=(SYNCHRONOUS,)),
    Bound(f"{ADMISSION}.ingress.alpha", 64.0, 64.1, scheme="pfc"),
    Bound(f"{ADMISSION}.ingress.alpha", 0.01, 0.0, scheme="pfc"),
    Bound(f"{ASSIGNMENT}.queues", 128, 129),
    Bound(f"{ASSIGNMENT}.queues", 2, 1),
    Bound(f"{ASSIGNMENT}.queues", 4_096, 4_097, scheme="sfq"),
    Bound(f"{ASSIGNMENT}.classes", 8, 9),
    Bound(f"{ASSIGNMENT}.classes", 8, 9, scheme="sfq"),
    Bound(f"{ASSIGNMENT}.table_factor", 10_000, 10_001),
    Bound(f"{ASSIGNMENT}.table_factor", 1, 0),
    Bound(f"{ASSIGNMENT}.sticky_hop_rtts", 1e6, 1.1e6),
    Bound(f"{ASSIGNMENT}.grace_hop_rtts", 1e6, 1.1e6),
    Bound(f"{ASSIGNMENT}.sampling", 1.0, 1.01),
    Bound(f"{ASSIGNMENT}.sampling", 0.01, 0.0),
    Bound("scheme.switch.scheduling.quantum", 2**20, 2**20 + 1),
    Bound("scheme.switch.scheduling.quantum", 1, 0),
    Bound("scheme.switch.marking.pmax", 1.0, 1.1, scheme="dctcp"),
    Bound("scheme.switch.marking.kmin", 400_000, 400_001, scheme="dctcp"),
    Bound(f"{CONTROLLER}.gain", 1.0, 1.1, scheme="dctcp"),
    Bound(f"{CONTROLLER}.initial_window_packets", 1, 0, scheme="dctcp"),
    Bound(f"{CONTROLLER}.increase.size", 1, 0, scheme="dctcp"),
    Bound(f"{CONTROLLER}.minimum_rate", 1, 0, scheme="dctcp"),
    Bound(f"{CONTROLLER}.target_utilization", 1.0, 1.1, scheme="hpcc"),
    Bound(f"{CONTROLLER}.additive_increase.size", 1, 0, scheme="hpcc"),
    Bound(f"{CONTROLLER}.maximum_stage", 2**32 - 1, 2**32, scheme="hpcc"),
    Bound(f"{CONTROLLER}.target_factor", 1.01, 1.0, scheme="bfc-cc"),
    Bound(f"{CONTROLLER}.gain", 1.0, 1.1, scheme="dcqcn-mellanox"),
    Bound(f"{CONTROLLER}.alpha_interval", 1, 0, scheme="dcqcn-mellanox"),
    Bound(f"{CONTROLLER}.decrease_interval", 1, 0, scheme="dcqcn-mellanox"),
    Bound(f"{CONTROLLER}.increase_interval", 1, 0, scheme="dcqcn-mellanox"),
    Bound(f"{CONTROLLER}.minimum_rate", 1, 0, scheme="dcqcn-mellanox"),
    Bound(f"{CONTROLLER}.gain", 1.0, 1.1, scheme="dcqcn"),
    Bound(f"{CONTROLLER}.alpha_interval", 1, 0, scheme="dcqcn"),
    Bound(f"{CONTROLLER}.increase_interval", 1, 0, scheme="dcqcn"),
    Bound(f"{CONTROLLER}.minimum_rate", 1, 0, scheme="dcqcn"),
    Bound(f"{CONTROLLER}.decrease_gain", 1.0, 1.1, scheme="qcn"),
    Bound(f"{CONTROLLER}.minimum_decrease_factor", 0.01, 0.0, scheme="qcn"),
    Bound(f"{CONTROLLER}.increase_interval", 1, 0, scheme="qcn"),
    Bound(f"{CONTROLLER}.minimum_rate", 1, 0, scheme="qcn"),
    Bound("scheme.switch.marking.set_point", 10**9, 10**9 + 1, scheme="qcn"),
    Bound("scheme.switch.marking.sample_base", 1, 0, scheme="qcn"),
    Bound("scheme.switch.marking.weight", 1e6, 1.1e6, scheme="qcn"),
    Bound("scheme.switch.marking.jitter", 0.99, 1.0, scheme="qcn"),
    Bound(f"{BACKPRESSURE}.threshold", 1, 0, scheme="fafc"),
    Bound(f"{BACKPRESSURE}.queue_smoothing", 1.0, 1.1, scheme="fafc"),
    Bound(f"{BACKPRESSURE}.rate_smoothing", 0.1, 0.0, scheme="fafc"),
    Bound(f"{BACKPRESSURE}.rate_decrease", 0.1, 0.0, scheme="fafc"),
    Bound(f"{BACKPRESSURE}.congested_hops", 1e6, 1.1e6, scheme="fafc"),
    Bound(f"{BACKPRESSURE}.pfc.xoff", 3_073, 3_072, scheme="fafc"),
    Bound(f"{BACKPRESSURE}.packet", 1_048, 1_047, scheme="bfc-credits"),
    Bound(f"{BACKPRESSURE}.queue_reserve", 1_048, 1_047, scheme="bfc-credits"),
    Bound(f"{BACKPRESSURE}.batch", 100_000, 2**20 + 1, scheme="bfc-credits"),
    Bound("scheme.host.nic.queues", 32, 33, scheme="bfc-credits"),
    Bound(f"{ASSIGNMENT}.incast_queue", False, True, scheme="bfc-shared-classes"),
    Bound(f"{ASSIGNMENT}.full_port", "closest-remaining", "closest"),
    Bound("scheme.switch.marking.kind", "none", "predicted", scheme="pfc"),
    Bound(f"{BACKPRESSURE}.threshold", 3_073, 3_072, scheme="capfc"),
    Bound(f"{BACKPRESSURE}.pfc.xoff", 3_073, 3_072, scheme="capfc"),
    Bound(f"{BACKPRESSURE}.threshold", 3_073, 3_072, scheme="p-pfc"),
    Bound(f"{BACKPRESSURE}.horizon", 1, 0, scheme="p-pfc"),
    Bound(f"{CONTROLLER}.ewma_weight", 1.0, 1.1, scheme="timely"),
    Bound(f"{CONTROLLER}.decrease_factor", 0.1, 0.0, scheme="timely"),
    Bound(f"{CONTROLLER}.low_rtt", 500_000_000, 500_000_001, scheme="timely"),
    Bound(f"{CONTROLLER}.minimum_rtt", 1, 0, scheme="timely"),
    Bound(f"{CONTROLLER}.minimum_weight", 0.5, 0.0, scheme="pcn"),
    Bound(f"{CONTROLLER}.maximum_weight", 1.0, 1.1, scheme="pcn"),
    Bound(f"{CONTROLLER}.maximum_weight", 1 / 128, 1 / 129, scheme="pcn"),
    Bound(f"{CONTROLLER}.notification_interval", 1, 0, scheme="pcn"),
    Bound(f"{CONTROLLER}.marked_share", 0.0, 1.0, scheme="pcn"),
    Bound(f"{CONTROLLER}.minimum_rate", 1, 0, scheme="pcn"),
    Bound(f"{CONTROLLER}.bdp_factor", 0.01, 0.0, scheme="window"),
    Bound(f"{CONTROLLER}.initial_window_packets", 1, 0, scheme="tcp"),
    Bound(f"{CONTROLLER}.additive_increase", 0.1, 0.0, scheme="swift"),
    Bound(f"{CONTROLLER}.beta", 0.1, 0.0, scheme="swift"),
    Bound(f"{CONTROLLER}.maximum_decrease", 0.9, 1.0, scheme="swift"),
    Bound(f"{CONTROLLER}.base_target", 1, 0, scheme="swift"),
    Bound(f"{CONTROLLER}.minimum_flow_window", 99.9, 100.0, scheme="swift"),
    Bound(f"{CONTROLLER}.minimum_window", 1.0, 1.1, scheme="swift"),
    Bound(f"{CONTROLLER}.maximum_window", 1.0, 0.9, scheme="swift"),
    Bound(f"{CONTROLLER}.initial_window_packets", 1, 0, scheme="swift"),
    Bound(f"{CONTROLLER}.reset_after", 1, 0, scheme="swift"),
    Bound(f"{ASSIGNMENT}.queues", 3, 2, scheme="afq"),
    Bound(f"{ASSIGNMENT}.bytes_per_round", 2**20, 2**20 + 1, scheme="afq"),
    Bound(f"{ASSIGNMENT}.bytes_per_round", 33, 32, scheme="afq"),
    Bound(f"{ASSIGNMENT}.bytes_per_round", 33, 0, scheme="afq"),
    Bound(f"{ASSIGNMENT}.rows", 16, 17, scheme="afq"),
    Bound(f"{ASSIGNMENT}.columns", 1, 0, scheme="afq"),
    Bound(f"{ASSIGNMENT}.columns", 2**20, 2**20 + 1, scheme="afq"),
    Bound(f"{ASSIGNMENT}.round", "occupancy", "scheduler", scheme="afq-drr"),
    Bound(f"{ASSIGNMENT}.round", "scheduler", "occupancy", scheme="afq"),
    Bound(f"{ASSIGNMENT}.round", "scheduler", "occupancy", scheme="afq-groups"),
    Bound(f"{ASSIGNMENT}.queues", 33, 32, scheme="afq-groups"),
    Bound("scheme.switch.scheduling.quantum", 2**20, 2**20 + 1, scheme="afq-drr"),
    Bound("scheme.switch.scheduling.period", 1, 0, scheme="afq-groups"),
    Bound(f"{CONTROLLER}.gain", 1.0, 1.1, scheme="afq"),
    Bound(f"{CONTROLLER}.mark_gain", 0.01, 0.0, scheme="afq"),
    Bound(f"{CONTROLLER}.in_flight_factor", 0.1, 0.0, scheme="afq"),
    Bound(f"{CONTROLLER}.bytes_per_round", 2**20, 2**20 + 1, scheme="afq"),
    Bound(f"{RECOVERY}.duplicate_threshold", 1, 0, scheme="tcp"),
    Bound(f"{RECOVERY}.initial_timeout", 10**11, 10**11 + 1, scheme="tcp"),
    Bound(f"{RECOVERY}.minimum_timeout", 10**11, 10**11 + 1, scheme="tcp"),
    Bound(f"{RECOVERY}.bdp_factor", 0.01, 0.0, scheme="irn"),
    Bound(f"{RECOVERY}.timeout_low", 1, 0, scheme="irn"),
    Bound(f"{RECOVERY}.timeout_high", 100_000_000, 99_999_999, scheme="irn"),
    Bound("scheme.host.recovery.timeout", 1, 0),
    Bound("scheme.host.nic.queues", 128, 129),
    Bound("scheme.host.nic.queues", 2, 1),
    Bound("traffic[0].label", "x", ""),
    Bound("traffic[0].class", 0, 1),
    Bound("traffic[0].arrivals.sigma", 4.0, 4.1,
          traffic=(OPEN | {"arrivals": {"kind": "lognormal"}},)),
    Bound("traffic[0].load_counts", "crossing", "all",
          traffic=(OPEN | {"load_on": {"kind": "edge"}},)),
    Bound("traffic[0].pairs.fraction", 0.5, 1.1,
          traffic=(OPEN | {"pairs": {"kind": "rack-local", "fraction": 0.1}},)),
    Bound("traffic[0].sizes.shape", 1.1, 1.0, traffic=(OPEN | {"sizes": {"kind": "pareto"}},)),
    Bound("traffic[0].sizes.points", [[0, 0.0], [10, 1 - 1e-10]], [[0, 0.0], [10, 1 - 1e-8]],
          traffic=(OPEN | {"sizes": {"kind": "cdf", "name": "x", "convention": "step",
                                     "points": [[10, 1.0]]}},)),
    Bound("traffic[0].sizes.points", [[0, 0.5], [10, 1.0]], [[0, 1.0], [10, 1.0]],
          traffic=(OPEN | {"sizes": {"kind": "cdf", "name": "x", "convention": "step",
                                     "points": [[10, 1.0]]}},)),
    Bound("traffic[0].size", 4, 3, traffic=(INCAST,)),
    Bound("traffic[0].senders", [1, 2], [1, 1], traffic=(INCAST,)),
    Bound("traffic[0].senders", [1, 2], [1], traffic=(INCAST,)),
    Bound("traffic[0].degree", 2, 3, traffic=(INCAST | {"replace": False},)),
]  # fmt: skip


def scenario(bound: Bound, value: Any) -> Scenario:
    """A scenario with the field set to a value."""
    base = {
        "scheme": bound.scheme,
        "traffic": list(bound.traffic),
        "topology": {"kind": bound.topology},
    }
    if bound.topology == "single-switch":
        base["traffic"] = [one | {"load_on": {"kind": "edge"}} for one in bound.traffic]
    return Scenario.model_validate(with_key(base, bound.field, value))


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_python_refuses_what_the_core_refuses(bound: Bound) -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario(bound, bound.bad)
    table = bound.field.rpartition(".")[0]
    assert any(
        problem.field.startswith(table) and problem.remedy for problem in refused.value.problems
    )
    good = json.loads(scenario(bound, bound.good).to_json())
    with pytest.raises(_core.ScenarioError) as told:
        _core.validate(json.dumps(with_key(good, bound.field, bound.bad)))
    [(path, _, remedy), *_] = told.value.args[0]
    is_parsed = path == "scenario"
    assert remedy and (is_parsed or path.startswith(table)), told.value


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_the_core_accepts_what_python_accepts(bound: Bound) -> None:
    accepted = scenario(bound, bound.good).to_json()
    if bound.field.startswith("topology.") and isinstance(bound.good, int) and bound.good > 1000:
        assert _core.normalize(accepted)
    else:
        _core.validate(accepted)
