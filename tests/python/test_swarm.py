"""Random scenarios of everything: nothing panics, no invariant breaks, every run repeats itself.

The small form of `python tests/python/swarm/run.py`, with a seed of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from swarm import trial
from swarm.dependent import EVENTS, OPERATIONS
from swarm.draw import Case, draw, turn
from swarm.network import KINDS
from swarm.run import REFUSED_MOST, command, report
from swarm.trial import Verdict, Watched, judge

from penstock import Run, ScenarioError, SimulationError
from penstock.errors import Problem
from penstock.scenario import preset_names

SEED = 5
PRESETS = preset_names()
TURNS = 2
"""Cases of each preset (our choice: about 10 s of processor time in all)."""
CASES = range(TURNS * len(PRESETS))


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    process = Watched()
    yield process
    process.close()


@pytest.mark.parametrize("place", range(len(PRESETS)), ids=PRESETS)
def test_a_preset_keeps_the_invariants_and_repeats_itself(place: int, watched: Watched) -> None:
    for number in CASES[place :: len(PRESETS)]:
        verdict = watched.judge(SEED, number)
        assert not verdict.failure, f"{verdict.words}\nalone: {command(SEED, number)}"
        assert verdict.traits["preset"] == PRESETS[place]


def test_everything_occurs() -> None:
    cases = [draw(SEED, number) for number in CASES]
    scenarios = [case.scenario for case in cases]
    assert set(Counter(one.scheme.name for one in scenarios).values()) == {TURNS}
    assert {one.topology.kind for one in scenarios} == set(KINDS)
    assert {one.fidelity for one in scenarios} == {"exact", "ns3-hpcc"}
    assert {one.scheme.routing.kind for one in scenarios} == {"ecmp", "spray", "symmetric-ecmp"}
    traffic = [entry for one in scenarios for entry in one.traffic]
    kinds = ["open-loop", "incast", "listed", "long-lived", "collective", "rpc", "on-off"]
    assert {entry.kind for entry in traffic} == set(kinds)
    assert {entry.operation for entry in traffic if entry.kind == "collective"} == set(OPERATIONS)
    waiting = {event for one in traffic if one.kind == "listed" for *_, event in one.after}
    assert waiting == set(EVENTS)
    open_loops = [entry for entry in traffic if entry.kind == "open-loop"]
    assert len({entry.pairs.kind for entry in open_loops}) == 6
    assert len({entry.arrivals.kind for entry in open_loops}) == 3
    assert {entry.sizes.kind for entry in open_loops} == {"cdf", "fixed", "exponential", "pareto"}
    assert any(one.faults.control_loss for one in scenarios)
    assert any(one.faults.corruption for one in scenarios)
    assert any(one.faults.outages for one in scenarios)
    assert any(one.topology.failed_links for one in scenarios)
    assert {case.settles for case in cases} == {True, False}
    refused = sum(case.refused for case in cases)
    assert refused <= REFUSED_MOST * (refused + len(cases))


def test_some_ring_deadlocks() -> None:
    rings = (number for number in CASES if turn(number)[1] == "graph")
    assert any("deadlocks" in judge(SEED, number).met for number in rings)


def test_what_hangs_is_killed_and_what_dies_is_reported() -> None:
    process = Watched(limit_seconds=0.0)
    try:
        assert process.judge(SEED, 0).failure == "hang"
        process.limit_seconds = trial.LIMIT_SECONDS
        assert process.judge(SEED, 0).failure == ""
        assert process._process is not None
        process._process.kill()
        process._process.join()
        assert process.judge(SEED, 0).failure == "crash"
    finally:
        process.close()


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the two runs of the next case raise or return, in place of running it."""
    found: list[Any] = []

    def fake(*_: Any, **__: Any) -> Run:
        outcome = found.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return Run(draw(SEED, 0).scenario, outcome, {})

    monkeypatch.setattr(trial, "run", fake)
    return found


GOOD: dict[str, Any] = dict.fromkeys(trial.SAME, 0)
GOOD |= {"unfinished": [], "deadlock": None, "threads": 2}


class PanicException(BaseException):
    """Named and derived like that of pyo3."""


def test_what_goes_wrong_is_told_apart(
    outcomes: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = draw(SEED, 0)
    monkeypatch.setattr(trial, "draw", lambda *_: Case(case.scenario, settles=True, refused=3))
    expectations: dict[str, list[Any]] = {
        "": [GOOD, GOOD],
        "different": [GOOD, GOOD | {"digest": 1}],
        "unfinished": [GOOD | {"unfinished": [7]}] * 2,
        "invariant": [SimulationError("bytes are lost")],
        "panic": [PanicException("index out of bounds")],
        "error": [ValueError("no such column")],
        "refused": [ScenarioError([Problem("load", "it is too high", "lower it")])],
    }
    for expected, found in expectations.items():
        outcomes[:] = found
        verdict = judge(SEED, 0)
        assert (verdict.failure, verdict.refused) == (expected, 3)


def test_the_report_counts() -> None:
    shown = report([Verdict(0, "hang", refused=1), Verdict(1, met=frozenset({"deadlocks"}))])
    assert "refused    1 of 3 scenarios drawn (33.3%)" in shown
    assert "deadlocks 1" in shown
    assert "failures   1: hang 1" in shown
