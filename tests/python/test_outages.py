"""Links that fail and recover in the middle of a run, under every preset."""

from __future__ import annotations

import pytest

from penstock import Scenario, run
from penstock.scenario.scheme import preset_names

OUTAGES = [
    {"link": [24, 27], "start": "30 us", "end": "90 us"},
    {"link": [25, 28], "start": "60 us", "end": "150 us"},
    {"link": [24, 27], "start": "170 us"},
]
"""ToRs are 24 to 26, spines 27 and 28: with two links out, racks 0 and 1 meet through rack 2."""


def losing(preset: str) -> Scenario:
    sizes = {"kind": "pareto", "shape": 1.3, "mean": "20 kB"}
    return Scenario.model_validate(
        {
            "topology": {"kind": "leaf-spine", "racks": 3, "hosts_per_rack": 8, "spines": 2},
            "scheme": preset,
            "traffic": [{"kind": "open-loop", "sizes": sizes, "load": 0.4}],
            "faults": {"outages": OUTAGES},
            "duration": "200 us",
            "drain": "500 ms",
        }
    )


def goes_with_outages(preset: str) -> bool:
    """Refused are recovery by switches that tell of drops, hop-by-hop credit that is lost with its
    packets, pauses that are not told again, and replies that must come back over the links of the
    data.
    """
    scheme = Scenario(scheme=preset, traffic=losing("bfc").traffic).scheme
    return (
        scheme.host.recovery.kind != "perfect"
        and scheme.switch.backpressure.kind not in ("credits", "flow-pauses")
        and scheme.routing.kind != "symmetric-ecmp"
    )


@pytest.mark.parametrize("preset", [one for one in preset_names() if goes_with_outages(one)])
def test_every_flow_finishes_while_links_come_and_go(preset: str) -> None:
    done = run(losing(preset), check=True)
    assert done.summary["lost_packets"] > 0
    assert done.summary["flows_finished"] == done.summary["flows_started"]
    assert (done.flows["delivered_bytes"] == done.flows["size_bytes"]).all()
