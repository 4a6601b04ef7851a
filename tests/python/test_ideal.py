"""No flow is faster than its ideal: whatever the scheme, the network and the other flows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from penstock import Scenario, ScenarioError
from penstock.runner import run
from penstock.scenario import preset_names

Table = dict[str, Any]
Links = list[tuple[str, str]]
HOSTS = 6
RATES = ("10 Gb/s", "25 Gb/s", "40 Gb/s", "100 Gb/s", "400 Gb/s")
DELAYS = ("0 ns", "100 ns", "1 us", "1300 ns", "5 us")
SPRAYING = ("tcp", "homa-ecmp", "afq-tcp")
"""Presets without spraying whose recovery tolerates it."""


@dataclass(frozen=True)
class Case:
    """Flows between six hosts, in two racks."""

    scheme: str
    flows: list[tuple[int, int, int, int]]
    host_links: list[tuple[str, str]] = field(default_factory=lambda: [("25 Gb/s", "1 us")] * HOSTS)
    core_links: list[tuple[str, str]] = field(
        default_factory=lambda: [("100 Gb/s", "1 us")] * HOSTS
    )
    spray: str | None = None
    wire: Table = field(default_factory=dict)
    pipeline: str = "0 ns"
    seed: int = 1

    def scenario(self) -> Scenario:
        """Racks 6 and 7, joined by the three switches 8 to 10."""
        ends = [(host, 6 + host // 3) for host in range(HOSTS)]
        ends += [(6 + number // 3, 8 + number % 3) for number in range(HOSTS)]
        links = zip(ends, self.host_links + self.core_links, strict=True)
        table: Table = {
            "topology": {
                "kind": "graph",
                "hosts": HOSTS,
                "switches": 5,
                "links": [
                    {"a": a, "b": b, "rate": rate, "delay": delay}
                    for (a, b), (rate, delay) in links
                ],
                "pipeline_delay": self.pipeline,
            },
            "scheme": self.scheme,
            "traffic": [{"kind": "listed", "flows": self.flows}],
            "duration": "30 us",
            "drain": "100 ms",
            "seed": self.seed,
        }
        if self.wire:
            table["wire"] = self.wire
        if self.spray:
            table["scheme"] = {
                "preset": self.scheme,
                "routing": {"kind": "spray", "order": self.spray},
            }
        return Scenario(**table)


def gains(scenario: Scenario) -> Any:
    """By how much each flow that finished was faster than its ideal [ps], a whole number."""
    flows = run(scenario).flows
    fct, ideal = (flows[name].to_numpy() * 1_000 for name in ("fct_ns", "ideal_fct_ns"))
    assert np.isfinite(fct).any()
    return (np.rint(ideal) - np.rint(fct))[np.isfinite(fct)]


def test_a_message_that_is_acknowledged_once_waits_for_no_other_acknowledgement() -> None:
    # 49 B arrive 15.68 ns behind a full packet, whose acknowledgement would take 19.2 ns.
    assert gains(Case("homa-ecmp", [(0, 1, 3_001, 0)]).scenario()).tolist() == [0]


def test_a_sprayed_packet_that_overtakes_gains_nothing_on_the_ideal() -> None:
    alike = [("100 Gb/s", "1 us")] * HOSTS
    flows = [(0, 3, 1_001, number * 100_000) for number in range(100)]
    found = gains(Case("homa", flows, host_links=alike, core_links=alike).scenario())
    assert max(found) == 0  # some of them overtake


def test_together_paths_may_be_faster_than_each() -> None:
    slow = [("10 Gb/s", "1 us")] * HOSTS
    for scheme, spray in (("homa", None), ("tcp", "round-robin")):
        case = Case(scheme, [(0, 3, 100_000, 0)], core_links=slow, spray=spray)
        assert gains(case.scenario()).max() <= 0


LINKS = st.lists(
    st.tuples(st.sampled_from(RATES), st.sampled_from(DELAYS)), min_size=HOSTS, max_size=HOSTS
)
SIZES = st.one_of(
    st.integers(1, 200), st.integers(900, 2_100), st.integers(1, 60_000), st.just(1_000)
)
FLOWS = st.lists(
    st.tuples(
        st.integers(0, HOSTS - 1), st.integers(1, HOSTS - 1), SIZES, st.integers(0, 20_000_000)
    ).map(lambda drawn: (drawn[0], (drawn[0] + drawn[1]) % HOSTS, drawn[2], drawn[3])),
    min_size=1,
    max_size=12,
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    scheme = draw(st.sampled_from([*preset_names(), *SPRAYING * 3, "homa", "expresspass"]))
    orders = ["random", "round-robin", None] if scheme in SPRAYING else [None]
    wires = [{}, {"payload": 200, "acknowledgement": 200}, {"acknowledgement": 40}]
    return Case(
        scheme,
        draw(FLOWS),
        draw(LINKS),
        draw(LINKS),
        draw(st.sampled_from(orders)),
        draw(st.sampled_from(wires)),
        draw(st.sampled_from(["0 ns", "300 ns"])),
        draw(st.integers(1, 1_000)),
    )


@settings(
    max_examples=250,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(cases())
def test_no_flow_is_faster_than_its_ideal(case: Case) -> None:
    try:
        scenario = case.scenario()
        found = gains(scenario)
    except ScenarioError:
        assume(False)  # frames, links without delay or slow ports that the scheme does not go with
    assert found.max() <= 0


@pytest.mark.parametrize("scheme", preset_names())
def test_a_flow_of_one_packet_is_not_faster_than_its_ideal(scheme: str) -> None:
    assert gains(Case(scheme, [(0, 4, 1, 0)]).scenario()).max() <= 0
