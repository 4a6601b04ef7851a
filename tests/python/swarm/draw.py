"""Draws random scenarios: a case for each number, the same for the same seed.

Presets and kinds of topology take turns, so that each occurs however few cases there are; all else
is chance. What a preset goes with (:func:`accepts`) is asked of the validator and not written down
here again.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from penstock import Scenario, ScenarioError
from penstock.scenario import preset_names
from penstock.units import TIME
from swarm.dependent import waits
from swarm.network import KINDS, Network, Table, draw_network
from swarm.parameters import draw_parameters
from swarm.traffic import draw_traffic, share_connections

ATTEMPTS = 20
"""Scenarios drawn for a case before it is given up (our choice: a quarter of them is refused, so
that no case of thousands is given up by chance)."""
BYTES = 40_000_000
"""What the hosts of a scenario can send before it ends [B] (our choice: 40,000 packets take some
hundredths of a second)."""
LONGEST = TIME.parse("10 ms")
"""The longest scenario [ps] (our choice: hosts with 1 Gb/s would take ten times as long to send
:data:`BYTES`, and timers of 100 us cost as much as packets)."""
SETTLES = "2 s"
"""Drain of a scenario whose flows must all finish (our choice: hundreds of times the longest
traffic; a run ends with its last flow)."""

OTHER = 0.3
"""Share of the scenarios whose flows need not finish that get parameters by chance (our choice)."""

FEATURES: dict[str, Table] = {
    "ns3-hpcc": {"fidelity": "ns3-hpcc"},
    "ecmp": {"scheme.routing": {"kind": "ecmp"}},
    "spray": {"scheme.routing": {"kind": "spray"}},
    "symmetric-ecmp": {"scheme.routing": {"kind": "symmetric-ecmp"}},
    "control loss": {"faults": {"control_loss": 0.1}},
    "corruption": {"faults": {"corruption": [{"probability": 0.1}]}},
    "outages": {"faults": {"outages": [{"link": [4, 6], "start": "1 us"}]}},
    "connections": {
        "traffic": [{"kind": "open-loop", "sizes": "google", "load": 0.1, "connections": 1}]
    },
}
"""What not every preset goes with: overrides of :data:`PLAIN`."""

PLAIN: Table = {
    "topology": {"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 2, "spines": 2},
    "traffic": [{"kind": "listed", "flows": [[0, 3, 1000, 0]]}],
}
"""A network with two paths and a flow."""


@dataclass(frozen=True)
class Case:
    """A scenario that was drawn and is not refused."""

    scenario: Scenario
    settles: bool
    """Whether all its flows must finish: nothing fails, and there is time for all of them."""
    refused: int
    """Scenarios that were drawn for it before and were refused."""


def draw(seed: int, number: int) -> Case:
    """Case `number` (>= 0) of `seed`.

    Raises
    ------
    ScenarioError
        The last of :data:`ATTEMPTS` scenarios was refused like those before it.
    """
    rng = Random(f"{seed}/{number}")
    preset, kind = turn(number)
    settles = rng.random() < (0.25 if kind == "graph" else 0.5)  # Rings should deadlock at times.
    for attempt in range(ATTEMPTS):
        table = _draw_table(rng, preset, kind, settles)
        try:
            scenario = Scenario.model_validate(table | {"name": f"swarm {seed}/{number}"})
        except ScenarioError:
            if attempt == ATTEMPTS - 1:
                raise
            continue
        return Case(scenario, settles, attempt)
    raise AssertionError("unreachable: the last attempt returns or raises")


def turn(number: int) -> tuple[str, str]:
    """Whose turn it is in case `number`: the preset and the kind of topology."""
    presets = preset_names()
    turns, place = divmod(number, len(presets))
    return presets[place], KINDS[(place + turns) % len(KINDS)]


@cache
def accepts(preset: str) -> frozenset[str]:
    """The :data:`FEATURES` that `preset` goes with, each alone."""
    plain = Scenario.model_validate(PLAIN | {"scheme": preset})
    found = set()
    for feature, overrides in FEATURES.items():
        try:
            plain.with_overrides({"scheme": {"preset": preset}} | overrides)
        except ScenarioError:
            continue
        found.add(feature)
    return frozenset(found)


def _draw_table(rng: Random, preset: str, kind: str, settles: bool) -> Table:
    """A scenario, which may be refused."""
    network = draw_network(rng, kind)
    scheme = Scenario.model_validate(PLAIN | {"scheme": preset}).scheme
    classes = getattr(scheme.switch.assignment, "classes", 1)
    to_send = BYTES * 8 * TIME.parse("1 s") // (network.fastest * network.hosts)
    whole = min(to_send, LONGEST)
    duration = int(whole * rng.uniform(0.1, 0.6))
    table: Table = {
        "seed": rng.randrange(2**64),
        "duration": duration,
        "drain": SETTLES if settles else whole - duration,
        "topology": network.table,
        "scheme": {"preset": preset},
        "traffic": draw_traffic(rng, network, classes, duration, settles),
        "measure": _measure(rng, network),
    }
    if "connections" in accepts(preset):
        share_connections(rng, table["traffic"])
    can_be_ns3 = "ns3-hpcc" in accepts(preset) and not any(map(waits, table["traffic"]))
    if can_be_ns3 and rng.random() < 0.7:
        table["fidelity"] = "ns3-hpcc"
    elif routing := _routing(rng, preset):
        table["scheme"]["routing"] = routing
    if not settles:
        is_other = rng.random() < OTHER
        table["scheme"] |= _other(rng, preset) if is_other else _tight(rng, scheme.model_dump())
        kind = table["scheme"].get("routing", {"kind": scheme.routing.kind})["kind"]
        can_fail = "fidelity" not in table and kind != "symmetric-ecmp"
        table["faults"] = _faults(rng, preset, network, duration, can_fail)
    if rng.random() < 0.15:
        table["wire"] = {"payload": rng.choice([200, 500, 1460, 4096])}
    return table


def _routing(rng: Random, preset: str) -> Table | None:
    """Sometimes another routing than the preset's."""
    kind = rng.choice(["ecmp", "ecmp", "spray", "spray", "symmetric-ecmp"])
    if kind not in accepts(preset):
        return None
    return {"kind": kind} | (
        {"order": rng.choice(["random", "round-robin"])} if kind == "spray" else {}
    )


def _faults(rng: Random, preset: str, network: Network, duration: int, can_fail: bool) -> Table:
    """Sometimes lost pauses, corrupted frames, and links that fail where `can_fail`."""
    faults: Table = {}
    if "control loss" in accepts(preset) and rng.random() < 0.3:
        faults["control_loss"] = rng.choice([0.001, 0.05, 0.3])
    if "corruption" in accepts(preset) and rng.random() < 0.2:
        faults["corruption"] = [{"probability": rng.choice([1e-4, 0.01, 0.2])}]
    if can_fail and "outages" in accepts(preset) and rng.random() < 0.7:
        cables = network.expendable(rng, 3)
        faults["outages"] = [_outage(rng, cable, duration) for cable in cables]
    return faults


def _outage(rng: Random, cable: tuple[int, int], duration: int) -> Table:
    """A failure of `cable` while there is traffic; it may last."""
    start = rng.randint(1, duration)
    end = None if rng.random() < 0.3 else start + rng.randint(1, duration)
    return {"link": cable, "start": start, "end": end}


def _other(rng: Random, preset: str) -> Table:
    """Other parameters, with which the preset is not refused on a plain network."""
    plain = Scenario.model_validate(PLAIN | {"scheme": preset})
    for _ in range(ATTEMPTS):
        overrides = draw_parameters(rng, plain.scheme)
        with suppress(ScenarioError):
            plain.with_overrides({"scheme": {"preset": preset} | overrides})
            return overrides
    return {}


def _tight(rng: Random, scheme: Table) -> Table:
    """Sometimes few queues, which flows share, small buffers, which drop, and low thresholds of
    pauses, which meet in rings.
    """
    switch: Table = {}
    admission, backpressure = scheme["switch"]["admission"], scheme["switch"]["backpressure"]
    if scheme["switch"]["assignment"]["kind"] in ("dynamic", "stochastic") and rng.random() < 0.3:
        switch["assignment"] = {"queues": rng.randint(2, 8)}
    if rng.random() < 0.4:
        size = rng.choice(["30 kB", "100 kB", "1 MB"])
        if admission["kind"] == "shared":
            switch["admission"] = {"buffer": size}
        elif admission["kind"] == "static":
            switch["admission"] = {"per_port": size}
    if rng.random() < 0.8:
        xoff = {"xoff": rng.choice(["5 kB", "20 kB", "100 kB"])}
        if backpressure["kind"] == "pfc":
            switch["backpressure"] = xoff
        elif "pfc" in backpressure:
            switch["backpressure"] = {"pfc": xoff}
        elif backpressure["kind"] == "bfc" and rng.random() < 0.3:
            switch["backpressure"] = {"elide_down_up": True}
    return {"switch": switch} if switch else {}


def _measure(rng: Random, network: Network) -> Table:
    series = [
        cable if rng.random() < 0.5 else (cable[1], cable[0])
        for cable in rng.sample(network.cables, rng.randint(0, 2))
    ]
    measure: dict[str, Any] = {
        "sample_interval": rng.choice([0, TIME.parse("1 us"), TIME.parse("10 us")]),
        "active_flows": rng.random() < 0.3,
        "queue_delays": rng.random() < 0.3,
        "events": rng.random() < 0.5,
        "series": series,
    }
    if rng.random() < 0.25:
        nodes = rng.sample(network.switches, rng.randint(0, len(network.switches)))
        measure["trace"] = {"nodes": nodes}
    return measure
