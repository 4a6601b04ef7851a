"""Bounds that follow from other fields: the value beyond one is refused, the one at it is accepted.

Bounds that a field declares by itself are in ``test_declared.py``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from penstock import Scenario, ScenarioError
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

    def __str__(self) -> str:
        return f"{self.scheme}: {self.field} = {str(self.bad)[:20]}"


BOUNDS = [
    Bound("fidelity", "exact", "ns3-hpcc"),
    Bound("drain", 59_000_000_000_000, 60_000_000_000_000),
    Bound("topology.racks", 8, 4_089),
    Bound("topology.hosts_per_rack", 16, 131_073),
    Bound("topology.failed_links", [[128, 136]], [[128, 129]]),
    Bound("traffic[0].pairs.most", 127, 128, traffic=(OPEN | {"pairs": {"kind": "fan-in"}},)),
    Bound("traffic[0].pairs.receiver", 127, 128, traffic=(SYNCHRONOUS,)),
    Bound("traffic[0].pairs.receiver", 127, 2, traffic=(SYNCHRONOUS,)),
    Bound("traffic[0].pairs.sources", [1, 2], [1, 1], traffic=(SYNCHRONOUS,)),
    Bound(f"{ASSIGNMENT}.queues", 128, 129),
    Bound("scheme.switch.marking.kmin", 400_000, 400_001, scheme="dctcp"),
    Bound(f"{CONTROLLER}.maximum_stage", 2**32 - 1, 2**32, scheme="hpcc"),
    Bound(f"{BACKPRESSURE}.pfc.xoff", 3_073, 3_072, scheme="fafc"),
    Bound(f"{BACKPRESSURE}.packet", 1_048, 1_047, scheme="bfc-credits"),
    Bound(f"{BACKPRESSURE}.queue_reserve", 1_048, 1_047, scheme="bfc-credits"),
    Bound("scheme.host.nic.queues", 32, 33, scheme="bfc-credits"),
    Bound(f"{ASSIGNMENT}.incast_queue", False, True, scheme="bfc-shared-classes"),
    Bound(f"{ASSIGNMENT}.full_port", "closest-remaining", "closest"),
    Bound("scheme.switch.marking.kind", "none", "predicted", scheme="pfc"),
    Bound(f"{BACKPRESSURE}.threshold", 3_073, 3_072, scheme="capfc"),
    Bound(f"{BACKPRESSURE}.pfc.xoff", 3_073, 3_072, scheme="capfc"),
    Bound(f"{BACKPRESSURE}.threshold", 3_073, 3_072, scheme="p-pfc"),
    Bound(f"{CONTROLLER}.low_rtt", 500_000_000, 500_000_001, scheme="timely"),
    Bound(f"{CONTROLLER}.maximum_weight", 1 / 128, 1 / 129, scheme="pcn"),
    Bound(f"{CONTROLLER}.minimum_flow_window", 99.9, 100.0, scheme="swift"),
    Bound(f"{ASSIGNMENT}.bytes_per_round", 47, 46, scheme="afq"),
    Bound(f"{ASSIGNMENT}.round", "occupancy", "scheduler", scheme="afq-drr"),
    Bound(f"{ASSIGNMENT}.round", "scheduler", "occupancy", scheme="afq"),
    Bound(f"{ASSIGNMENT}.round", "scheduler", "occupancy", scheme="afq-groups"),
    Bound(f"{ASSIGNMENT}.queues", 33, 32, scheme="afq-groups"),
    Bound(f"{RECOVERY}.initial_timeout", 10**11, 10**11 + 1, scheme="tcp"),
    Bound(f"{RECOVERY}.minimum_timeout", 10**11, 10**11 + 1, scheme="tcp"),
    Bound(f"{RECOVERY}.timeout_high", 100_000_000, 99_999_999, scheme="irn"),
    Bound(f"{BACKPRESSURE}.pause", {"kind": "timed", "refresh": 5_000_000},
          {"kind": "timed", "refresh": 5_000_001}, scheme="pfc"),
    Bound(f"{BACKPRESSURE}.pause", {"kind": "timed", "lifetime": 7_000_000},
          {"kind": "timed", "lifetime": 7_000_001}, scheme="pfc"),
    Bound(f"{BACKPRESSURE}.pfc.pause", {"kind": "lasting"}, {"kind": "timed"}, scheme="capfc"),
    Bound(f"{BACKPRESSURE}.pfc.pause", {"kind": "lasting"}, {"kind": "timed"}, scheme="p-pfc"),
    Bound("scheme.host.nic.queues", 2, 1),
    Bound("traffic[0].label", "x", ""),
    Bound("traffic[0].class", 0, 1),
    Bound("traffic[0].class_above", [], [10_000]),
    Bound("traffic[0].load_counts", "crossing", "all",
          traffic=(OPEN | {"load_on": {"kind": "edge"}},)),
    Bound("traffic[0].sizes.points", [[0, 0.0], [10, 1 - 1e-10]], [[0, 0.0], [10, 1 - 1e-8]],
          traffic=(OPEN | {"sizes": {"kind": "cdf", "name": "x", "convention": "step",
                                     "points": [[10, 1.0]]}},)),
    Bound("traffic[0].sizes.points", [[0, 0.5], [10, 1.0]], [[0, 1.0], [10, 1.0]],
          traffic=(OPEN | {"sizes": {"kind": "cdf", "name": "x", "convention": "step",
                                     "points": [[10, 1.0]]}},)),
    Bound("traffic[0].connections", 0, 1),
    Bound("traffic[0].size", 4, 3, traffic=(INCAST,)),
    Bound("traffic[0].senders", [1, 2], [1, 1], traffic=(INCAST,)),
    Bound("traffic[0].senders", [1, 2], [1], traffic=(INCAST,)),
    Bound("traffic[0].degree", 2, 3, traffic=(INCAST | {"replace": False},)),
]  # fmt: skip


def scenario(bound: Bound, value: Any) -> Scenario:
    """A scenario with the field set to a value."""
    base = {"scheme": bound.scheme, "traffic": list(bound.traffic)}
    return Scenario.model_validate(with_key(base, bound.field, value))


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_a_value_beyond_its_bound_is_refused(bound: Bound) -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario(bound, bound.bad)
    table = bound.field.rpartition(".")[0]
    assert any(
        problem.field.startswith(table) and problem.remedy for problem in refused.value.problems
    )


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_a_value_at_its_bound_is_accepted(bound: Bound) -> None:
    assert json.loads(scenario(bound, bound.good).to_json())
