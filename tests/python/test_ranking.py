"""The ranking of a search's trials and what is told of it, on trials that are written by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from penstock.analysis.interval import mean_interval
from penstock.tune.goal import Requirement, read_objective
from penstock.tune.outcome import Outcome, outcome_of, told
from penstock.tune.plan import Plan
from penstock.tune.search import Found
from penstock.tune.trial import NOTHING, State, Trial

PLAN = Plan(
    reference="hand",
    constants={},
    fields=(),
    objective=read_objective("fct()", None),
    requirements=(),
    trials=9,
    seeds=(1, 2, 3),
    seed=1,
)


def _trial(number: int, *by_seed: float, excess: float = 0.0) -> Trial:
    state = State.VIOLATES if excess else State.MEETS
    return Trial(number, (), state, mean_interval(by_seed), by_seed, excess=excess)


def _outcome(*trials: Trial, plan: Plan = PLAN) -> Outcome:
    return outcome_of(plan, Found(list(trials), starts_here=True))


def _numbers(outcome: Outcome) -> list[int]:
    return [one.number for one in outcome.ranking]


@pytest.mark.parametrize(
    ("least", "most", "order"), [("fct()", None, [3, 1, 4, 2, 5]), (None, "fct()", [1, 3, 4, 2, 5])]
)
def test_trials_that_meet_come_first_and_then_those_that_nearly_do(
    least: str | None, most: str | None, order: list[int]
) -> None:
    none = Trial(5, (), State.NO_NUMBER, NOTHING, excess=math.inf)
    plan = replace(PLAN, objective=read_objective(least, most))
    far, near = _trial(2, 3.0, excess=0.5), _trial(4, 9.0, excess=0.1)
    found = _outcome(_trial(1, 5.0), far, _trial(3, 4.0), near, none, plan=plan)
    assert _numbers(found) == order
    assert found.best is found.ranking[0]
    found = _outcome(none, far, near, plan=plan)
    assert _numbers(found) == [4, 2, 5]
    assert (found.best, found.reached, found.is_of_equals) == (None, 0, False)


def test_a_trial_that_cannot_be_told_from_the_best_one_was_as_good() -> None:
    start, like = _trial(1, 10.0, 10.5, 10.1), _trial(3, 4.1, 3.9, 4.2)
    found = _outcome(start, _trial(2, 4.0, 4.0, 4.0, excess=1.0), like, _trial(4, 4.0, 4.0, 4.0))
    assert found.best is not None and found.best.number == 4
    # Seed by seed the third trial is 0.1 and 0.2 more, and 0.1 less; the second does not meet.
    assert found.reached == 3 and not found.is_of_equals
    lines = told(found)
    assert "trial 3 was the first that cannot be told from it, seed by seed" in lines
    assert any("the scenario as it is, seed by seed: -6.2 [" in line for line in lines)
    assert not any("one seed gives no interval" in line for line in lines)
    # The same numbers once more: their difference is 0, and the earlier trial is the best.
    found = _outcome(start, _trial(2, 4.0, 4.0, 4.0), _trial(3, 4.0, 4.0, 4.0))
    assert (found.best and found.best.number, found.reached) == (2, 2)
    assert not any("was the first that cannot" in line for line in told(found))


def test_of_equal_trials_none_is_told_from_another() -> None:
    equal = [_trial(number, 4.0, 4.0, 4.0) for number in (1, 2, 3)]
    found = _outcome(*equal)
    assert found.is_of_equals
    assert any(line.startswith("no trial can be told from it") for line in told(found))
    assert not any("difference to trial" in line for line in told(found))  # the start is the best
    assert not _outcome(equal[0]).is_of_equals  # of one there is nothing to tell


def test_unfinished_flows_of_the_best_trial_and_a_single_seed_are_warned_of() -> None:
    some = replace(_trial(1, 4.0), unfinished=7)
    lines = told(_outcome(some, plan=replace(PLAN, seeds=(1,))))
    assert any(line.startswith("7 flows of the best trial did not finish") for line in lines)
    assert "one seed gives no interval; name several with --seeds" in lines
    assert not any("did not finish" in line for line in told(_outcome(_trial(1, 4.0))))


@pytest.mark.parametrize(
    ("relation", "bound", "value", "excess"),
    [
        ("<=", 2.0, 2.0, 0.0),
        ("<=", 2.0, 3.0, 0.5),
        ("<", 2.0, 2.0, 1e-9),
        (">=", 2.0, 2.0, 0.0),
        (">=", 2.0, 1.0, 0.5),
        (">", 2.0, 2.0, 1e-9),
        ("==", 0.0, 3.0, 3.0),
        ("<=", -2.0, -1.0, 0.5),  # a share of the distance of the bound from 0
        (">=", -2.0, -3.0, 0.5),
    ],
)
def test_an_excess_is_a_share_of_the_bound(
    relation: str, bound: float, value: float, excess: float
) -> None:
    assert Requirement("fct()", relation, bound).excess(value) == excess
    assert Requirement("fct()", relation, bound).excess(math.nan) == math.inf


def test_the_worst_of_several_runs_is_the_farthest_outside_or_the_nearest_inside() -> None:
    most = Requirement("fct()", "<=", 2.0)
    assert most.worst([1.0, 3.0, 5.0]) == 5
    assert most.worst([-9.0, 1.5, 0.0]) == 1.5
