"""What does not go together is refused, and the message names the field.

First a list of bad scenarios, one for each rule; then random changes of good ones: whatever is
wrong with a scenario, it is refused as a whole, with a path and a remedy for each problem.
"""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock import Scenario, ScenarioError
from penstock.scenario import preset_names
from penstock.scenario.table import with_key

Table = dict[str, Any]

OPEN: Table = {"kind": "open-loop", "sizes": "google", "load": 0.1, "load_on": {"kind": "edge"}}
FAN_IN = OPEN | {"pairs": {"kind": "fan-in", "least": 1, "most": 2}}
INCAST: Table = {"kind": "incast", "degree": 3, "size": "60 kB", "period": "2 ms"}
LISTED: Table = {
    "kind": "listed",
    "flows": [[0, 1, 10, 0], [1, 2, 0, "3 us"]],
    "destination_ports": [1, 2],
    "spread": "1 us",
}
TRAFFICS: tuple[list[Table], ...] = (
    [OPEN],
    [FAN_IN],
    [OPEN | {"pairs": {"kind": "rack-local", "fraction": 0.5}}],
    [OPEN | {"pairs": {"kind": "synchronous", "sources": [0, 1], "receiver": 3}, "load": 0.01}],
    [OPEN | {"pairs": {"kind": "between", "sources": [0], "destinations": [3]}, "load": 0.01}],
    [INCAST | {"receiver": 2, "senders": [0, 1, 3], "replace": False}],
    [LISTED, INCAST],
)
LINKS = [{"a": 0, "b": 4}, {"a": 1, "b": 4}, {"a": 2, "b": 5}, {"a": 3, "b": 5}]
TOPOLOGIES: tuple[Table, ...] = (
    {"kind": "leaf-spine", "racks": 2, "hosts_per_rack": 4, "spines": 2},
    {"kind": "graph", "hosts": 4, "switches": 2, "links": [*LINKS, {"a": 4, "b": 5}]},
)
OUTAGE = {"link": [8, 10], "start": 1_000_000, "end": 10_000_000}
SWITCH, HOST = "scheme.switch", "scheme.host"


def scenario(
    scheme: str, traffic: list[Table], topology: Table = TOPOLOGIES[0], **more: Any
) -> Table:
    """A good scenario as the core gets it."""
    made = Scenario(topology=topology, scheme=scheme, traffic=traffic, **more)
    table: Table = json.loads(made.to_json())
    return table


def refused(table: Table) -> list[str]:
    """The fields that are refused; none when the scenario is accepted."""
    try:
        Scenario(**table)
    except ScenarioError as error:
        assert all(problem.field and problem.remedy for problem in error.problems), error
        return [problem.field for problem in error.problems]
    return []


SRF = {"kind": "srf"}
BFC_TABLE = {
    "kind": "bfc",
    "threshold": {"kind": "hop-rtts", "factor": 1.0},
    "bitmap_interval": 0,
    "counts_last": True,
    "elide_down_up": False,
    "elide": [],
}
CODEL = {"kind": "codel", "target": 10**6, "interval": 10**6, "mtu": 1500, "action": "drop"}
CHAIN = {
    "kind": "chain",
    "switches": 1,
    "hosts_per_switch": 8,
    **{f"{part}_{what}": 10**9 for part in ("edge", "core") for what in ("rate", "delay")},
    "pipeline_delay": 0,
    "failed_links": [],
}

BAD: list[tuple[str, str, Any]] = [
    # Scheme, what is changed to what; the same field is refused unless another is behind "->".
    ("sfq", f"{SWITCH}.scheduling -> {SWITCH}.scheduling.kind", SRF),
    ("dctcp", f"{SWITCH}.scheduling -> {SWITCH}.scheduling.kind", SRF),
    ("bfc", f"{HOST}.nic.queues", 0),
    ("bfc-flow-pauses", f"{HOST}.nic.queues", 0),
    ("bfc", f"{SWITCH}.backpressure.threshold.factor", 0.0),
    ("bfc-flow-pauses", f"{SWITCH}.backpressure.threshold.factor", -1.0),
    ("bfc-credits", f"{SWITCH}.backpressure.pauses.threshold.factor", 0.0),
    (
        "bfc",
        f"{SWITCH}.backpressure.threshold -> {SWITCH}.backpressure.threshold.time",
        {"kind": "time", "time": 0},
    ),
    *(
        (scheme, f"{SWITCH}.backpressure.{table} -> {SWITCH}.backpressure.{table}[1]", rows)
        for scheme, table in (("bfc", "elide"), ("bfc-credits", "pauses.elide"))
        for rows in ([[0, 8, 10], [8, 9, 10]], [[0, 8, 10], [8, 0, 8]], [[0, 8, 10], [0, 8, 99]])
    ),
    ("pfc", f"{SWITCH}.admission.ingress.headroom.factor", 0.0),
    ("pfc", f"{SWITCH}.admission.ingress.alpha", 65.0),
    ("line-rate", f"{SWITCH}.admission.buffer", 0),
    ("tcp", f"{SWITCH}.admission.per_port", 0),
    ("pfabric", f"{SWITCH}.admission.per_port", 1047),
    ("line-rate", f"{SWITCH}.admission.buffer", 1047),
    (
        "pfc",
        f"{SWITCH}.admission.other_buffers -> {SWITCH}.admission.other_buffers[0]",
        [[3, 9000]],
    ),
    ("pfc-static", f"{SWITCH}.backpressure.xoff -> {SWITCH}.backpressure.xon_offset", 1),
    ("capfc", f"{SWITCH}.backpressure.threshold -> {SWITCH}.backpressure.xon_offset", 1),
    ("fafc", f"{SWITCH}.backpressure.pfc.xoff -> {SWITCH}.backpressure.pfc.xon_offset", 1),
    ("fafc-hold", f"{SWITCH}.backpressure.solver_delay", 30_600_000),
    ("bfc", f"{SWITCH}.assignment -> {SWITCH}.assignment.kind", {"kind": "per-flow"}),
    ("bfc", f"{SWITCH}.assignment.queues", 129),
    ("afq", f"{SWITCH}.backpressure -> {SWITCH}.backpressure.kind", BFC_TABLE),
    ("afq", f"{SWITCH}.assignment.bytes_per_round", 32),
    (
        "afq-fair-memory",
        f"{SWITCH}.admission -> {SWITCH}.assignment.horizon",
        {"kind": "infinite"},
    ),
    ("wrr", f"{SWITCH}.scheduling.weights", [1]),
    ("homa", f"{SWITCH}.scheduling -> {SWITCH}.scheduling.kind", SRF),
    ("homa", f"{HOST}.recovery -> {HOST}.recovery.kind", {"kind": "perfect"}),
    ("hpcc", f"{SWITCH}.marking -> {SWITCH}.marking.kind", {"kind": "none"}),
    ("dctcp", f"{SWITCH}.marking -> {SWITCH}.marking.kind", {"kind": "none"}),
    ("qcn", f"{SWITCH}.marking -> {SWITCH}.marking.kind", {"kind": "none"}),
    ("codel", f"{SWITCH}.marking.target", 100_000_001),
    ("bfc-credits", f"{SWITCH}.marking -> {SWITCH}.marking.action", CODEL),
    ("tcp", f"{HOST}.recovery -> {HOST}.recovery.kind", {"kind": "perfect"}),
    ("dctcp", f"{HOST}.controller.increase.size", 0),
    ("tcp", f"{HOST}.recovery.maximum_timeout", 0),
    ("expresspass", f"{HOST}.controller.credit_maximum", 16_385),
    ("pfc", "topology -> topology.switches", CHAIN),
    *(
        (scheme, f"{HOST}.controller.{step}_increase", 0)
        for scheme in ("dcqcn", "dcqcn-mellanox", "qcn", "timely")
        for step in ("additive", "hyper")
    ),
    ("bfc", f"{SWITCH}.backpressure.bitmap_interval", 99_999),
    ("bfc-credits", f"{SWITCH}.backpressure.pauses.bitmap_interval", 99_999),
    ("pfc", "measure.sample_interval", 99_999),
    ("bfc", "fidelity -> scheme.switch.scheduling.kind", "ns3-hpcc"),
    ("hpcc-pfc", "faults.outages -> scheme.host.recovery.kind", [OUTAGE]),
    ("pfc", "faults.outages -> faults.outages[0].link", [OUTAGE | {"link": [0, 8]}]),
    ("pfc", "faults.outages -> faults.outages[0].end", [OUTAGE | {"end": 1_000_000}]),
    ("pfc", "faults.outages", [OUTAGE, OUTAGE | {"start": 10_000_000, "end": None}]),
    ("pfc", "duration -> traffic[0].stop", 1_000_000_000),
    ("pfc", "traffic[0].start", 5_000_000_000),
    ("pfc", "traffic[0].sizes.points", [[1, 0.5]]),
]


@pytest.mark.parametrize(("scheme", "change", "value"), BAD, ids=lambda part: str(part)[:60])
def test_what_does_not_go_together_is_refused(scheme: str, change: str, value: Any) -> None:
    good = scenario(scheme, [OPEN])
    assert not refused(good)
    path, _, field = change.partition(" -> ")
    assert (field or path) in refused(with_key(good, path, value))


FLOWS: list[tuple[Table, str, Any]] = [
    (LISTED, "flows", []),
    (LISTED, "flows -> flows[0][1]", [[4, 4, 1, 0]]),
    (LISTED, "flows -> flows[0][3]", [[4, 5, 1, 5_000_000_000]]),
    (LISTED, "spread", 5_000_000_000),
    (LISTED, "flows -> flows[1][3]", [[4, 5, 1, 0], [4, 5, 1, 5_000_000_000]]),
    (LISTED, "destination_ports", [1]),
    (LISTED, "lasts", [1]),
    (FAN_IN, "pairs.least -> pairs.most", 3),
    (FAN_IN, "pairs.most", 8),
    (INCAST, "receiver", 99),
    (INCAST | {"receiver": 0, "senders": [1, 2, 3]}, "receiver", 1),
    (INCAST, "size", 2),
    (INCAST, "stop", 5_000_000_001),
]


@pytest.mark.parametrize(("entry", "change", "value"), FLOWS, ids=lambda part: str(part)[:40])
def test_traffic_that_cannot_be_is_refused(entry: Table, change: str, value: Any) -> None:
    good = scenario("pfc", [entry])
    path, _, field = (f"traffic[0].{part}" if part != " -> " else part for part in split(change))
    bad = with_key(good, path, value)
    if path.endswith("flows"):
        bad["traffic"][0]["destination_ports"] = []
    assert (field if field != "traffic[0]." else path) in refused(bad)


@pytest.mark.parametrize(
    ("scheme", "fidelity"), [("homa", "exact"), ("expresspass", "exact"), ("dctcp", "ns3-hpcc")]
)
def test_flows_stop_only_where_nobody_has_to_know_their_sizes(scheme: str, fidelity: str) -> None:
    entry = LISTED | {"flows": [[0, 1, 10, 0], [1, 2, 10, 0]]}
    good = scenario(scheme, [entry], fidelity=fidelity)
    assert not refused(good)
    assert "traffic[0].lasts" in refused(with_key(good, "traffic[0].lasts", [0, 1_000_000]))
    assert not refused(with_key(scenario("tcp", [entry]), "traffic[0].lasts", [0, 1_000_000]))


CUBIC: Table = {"label": "listed", "controller": {"kind": "cubic"}}


@pytest.mark.parametrize(
    ("scheme", "others", "field"),
    [
        ("tcp", [CUBIC | {"label": "nobody"}], "[0].label"),
        ("tcp", [CUBIC, CUBIC], "[1].label"),
        ("tcp", [CUBIC | {"controller": {"kind": "cubic", "beta": 2.0}}], "[0].controller.beta"),
        ("homa", [CUBIC | {"controller": {"kind": "line-rate"}}], "[0].controller.kind"),
        ("tcp", [CUBIC | {"controller": {"kind": "homa"}}], "[0].controller.kind"),
    ],
)
def test_other_controllers_are_for_traffic_that_there_is(
    scheme: str, others: list[Table], field: str
) -> None:
    def changed(others: list[Table]) -> Table:
        host = {"other_controllers": others}
        return {"traffic": [LISTED], "scheme": {"preset": scheme, "host": host}}

    Scenario.model_validate(changed([]))
    with pytest.raises(ScenarioError) as caught:
        Scenario.model_validate(changed(others))
    fields = [problem.field for problem in caught.value.problems]
    assert f"scheme.host.other_controllers{field}" in fields


def test_all_flows_of_the_hpcc_simulator_have_one_controller() -> None:
    host = {"other_controllers": [CUBIC | {"controller": {"kind": "line-rate"}}]}
    scheme = {"preset": "dctcp", "host": host}
    Scenario(traffic=[LISTED], scheme=scheme)
    with pytest.raises(ScenarioError, match="all flows of fidelity ns3-hpcc have one controller"):
        Scenario(traffic=[LISTED], scheme=scheme, fidelity="ns3-hpcc")


def test_every_controller_needs_its_marks() -> None:
    marked = {"label": "listed", "controller": {"kind": "dctcp"}}
    host = {"other_controllers": [marked]}
    with pytest.raises(ScenarioError, match="the dctcp controller reacts to ecn"):
        Scenario(traffic=[LISTED], scheme={"preset": "tcp", "host": host})


def split(change: str) -> tuple[str, str, str]:
    return change.partition(" -> ")


def test_a_label_that_is_there_already_is_refused() -> None:
    good = scenario("pfc", [OPEN, OPEN | {"label": "other"}])
    assert "traffic[1].label" in refused(with_key(good, "traffic[1].label", "background"))


NAMED: dict[str, tuple[Table, Table, list[str]]] = {
    "senders": (
        INCAST,
        {"receiver": 1, "senders": [9, 0, 1, 0]},
        ["senders[0]", "senders[3]", "receiver"],
    ),
    "sources": (
        OPEN,
        {"pairs": {"kind": "between", "sources": [1, 9, 1], "destinations": [9, 2]}},
        ["pairs.sources[1]", "pairs.sources[2]", "pairs.destinations[0]"],
    ),
    "alone": (
        OPEN,
        {"pairs": {"kind": "between", "sources": [1], "destinations": [1]}},
        ["pairs.destinations"],
    ),
    "bursts": (
        OPEN,
        {"pairs": {"kind": "synchronous", "sources": [8, 1, 1], "receiver": 1}},
        ["pairs.sources[0]", "pairs.sources[2]", "pairs.receiver"],
    ),
    "groups": (
        FAN_IN,
        {"pairs": {"kind": "fan-in", "least": 99, "most": 98}},
        ["pairs.most", "pairs.most"],
    ),
    "share": (OPEN, {"pairs": {"kind": "rack-local", "fraction": -0.5}}, ["pairs.fraction"]),
    "links": (
        OPEN,
        {"load_on": {"kind": "links", "links": [[0, 8], [0, 9], [0, 8], [0, 1]]}},
        ["load_on.links[1]", "load_on.links[2]", "load_on.links[3]"],
    ),
    "crossing": (OPEN, {"load_counts": "all"}, ["load_counts"]),
    # The scheme has one class.
    "classes": (
        OPEN,
        {"class_above": [20, 10, 10]},
        ["class_above", "class_above[1]", "class_above[2]"],
    ),
    "flows": (
        LISTED,
        {"flows": [[9, 8, 1, 0], [3, 3, 1, 0]]},
        ["flows[0][0]", "flows[0][1]", "flows[1][1]"],
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_every_wrong_entry_of_a_list_is_told(name: str) -> None:
    entry, change, fields = NAMED[name]
    bad = scenario("pfc", [entry])
    bad["traffic"][0] |= change
    assert refused(bad) == [f"traffic[0].{field}" for field in fields]


# -- random changes -------------------------------------------------------------------------


@cache
def good_scenarios() -> list[Table]:
    """One scenario of each preset, over all kinds of traffic and two networks."""
    found = [
        scenario(name, TRAFFICS[number % len(TRAFFICS)], TOPOLOGIES[number % len(TOPOLOGIES)])
        for number, name in enumerate(preset_names())
    ]
    outage = {"outages": [OUTAGE]}
    found.append(scenario("bfc-live", [OPEN], faults=outage, measure={"series": [[0, 8], [8, 10]]}))
    found.append(scenario("dctcp", [OPEN], fidelity="ns3-hpcc"))
    return found


Path = tuple[str | int, ...]


def leaves(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """Every part of a table, itself included."""
    found = [(path, value)] if path else []
    if isinstance(value, dict):
        parts: Any = value.items()
    else:
        parts = list(enumerate(value))[:3] if isinstance(value, list) else []
    for key, part in parts:
        found += leaves(part, (*path, key))
    return found


@cache
def others() -> dict[Path, list[Any]]:
    """What stands at a place in all of the good scenarios, rows of lists being alike."""
    found: dict[Path, list[Any]] = {}
    for table in good_scenarios():
        for path, value in leaves(table):
            seen = found.setdefault(alike(path), [])
            if value not in seen:
                seen.append(value)
    return found


def alike(path: Path) -> Path:
    return tuple(0 if isinstance(key, int) else key for key in path)


NUMBERS = (0, 1, 2, 3, 9, 33, 128, 129, 4_097, 9_001, 10**6, 10**9, 2**32 - 1, 6 * 10**13, 10**18)
SHARES = (-1.0, 0.0, 1e-9, 0.5, 1.0, 1.5, 65.0, 1e6, 2e9)
COUNTS = {"hosts", "switches", "racks", "hosts_per_rack", "spines"}
"""Sizes of the network, which stay: a network of millions of hosts is checked elsewhere."""


@st.composite
def changes(draw: st.DrawFn) -> tuple[int, Path, Any]:
    """The number of a good scenario, a place in it, and what is to stand there instead."""
    number = draw(st.integers(0, len(good_scenarios()) - 1))
    places = [place for place in leaves(good_scenarios()[number]) if place[0][-1] not in COUNTS]
    path, value = draw(st.sampled_from(places))
    choices: list[Any] = [value, *others()[alike(path)]]
    if isinstance(value, bool):
        choices = [not value]
    elif isinstance(value, int):
        choices += [*NUMBERS, max(value - 1, 0), value + 1, value * 1_000]
    elif isinstance(value, float):
        choices += [*SHARES, value / 2, value * 2]
    elif isinstance(value, list):
        choices += [[], value[:1], value + value[:1], value[::-1]]
    return number, path, draw(st.sampled_from(choices))


@settings(
    max_examples=400,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(changes())
def test_changed_scenarios_are_accepted_or_refused(change: tuple[int, Path, Any]) -> None:
    """What Python reads, the core reads: a refusal names a field, never the text as a whole."""
    number, path, value = change
    table = copy.deepcopy(good_scenarios()[number])
    part: Any = table
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = copy.deepcopy(value)
    assert "scenario" not in refused(table)
