"""Every preset keeps the simulator's invariants under random traffic, and repeats itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import Scenario, run
from penstock.scenario import preset_names

TOPOLOGIES: list[dict[str, Any]] = [
    {"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 4, "spines": 2},
    {"kind": "single-switch", "hosts": 6},
    {"kind": "dumbbell", "left": 4, "right": 4, "core_delay": "20 us"},
]


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A small network under a random mix of background, incast and endless flows."""
    background = {
        "kind": "open-loop",
        "sizes": draw(st.sampled_from(["google", "facebook-hadoop"])),
        "load": draw(st.floats(0.05, 0.2)),
        "load_on": {"kind": "edge"},
    }
    incast = {
        "kind": "incast",
        "degree": draw(st.integers(1, 40)),
        "size": draw(st.integers(1_000, 100_000)),
        "period": "20 us",
    }
    endless = {"kind": "long-lived", "pairs": [[0, 5], [1, 5]]}
    return Scenario(
        seed=draw(st.integers(0, 2**64 - 1)),
        duration="40 us",
        drain="5 ms",
        topology=draw(st.sampled_from(TOPOLOGIES)),
        traffic=[incast, *draw(st.lists(st.sampled_from([background, endless]), max_size=1))],
    )


@pytest.mark.parametrize("preset", preset_names())
@settings(max_examples=10, deadline=None)
@given(scenario=scenarios())
def test_invariants_hold_and_results_repeat(preset: str, scenario: Scenario) -> None:
    chosen = scenario.with_overrides({"scheme": preset})
    checked = run(chosen, check=True)
    assert run(chosen).summary["digest"] == checked.summary["digest"]
    assert checked.summary["unfinished"] == []
