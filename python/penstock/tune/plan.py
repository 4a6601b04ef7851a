"""The plan of a search: everything that a search depends on, and the check before anything runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock import estimate as estimates
from penstock.errors import Problem, ScenarioError
from penstock.experiments.present import check_present
from penstock.sweep.axis import Value
from penstock.sweep.grid import Point, point_at
from penstock.tune.field import Field
from penstock.tune.goal import Objective, Requirement
from penstock.tune.sampler import Sampler

AHEAD = 4
"""Trials under way at a time unless the command says otherwise (our choice: with three seeds they
are twelve cells, and ten to forty trials still learn from those before them)."""

REFUSED_MAX = 200
"""Points that may be refused in a row (our choice: a second of checks; when fewer than one in two
hundred points can be run, the ranges say what is not meant)."""


@dataclass(frozen=True)
class Plan:
    """Everything that a search depends on."""

    reference: str
    """The scenario as the user named it."""
    constants: Mapping[str, Any]
    """Fields that are set to one value."""
    fields: tuple[Field, ...]
    objective: Objective
    requirements: tuple[Requirement, ...]
    trials: int
    """The budget, > 0."""
    seeds: tuple[int, ...]
    """Each trial is run with all of them."""
    seed: int
    """Of the search."""
    ahead: int = AHEAD
    """Trials under way at a time, > 0."""
    oversize: bool = False
    """Whether a run may need more memory than there seems to be."""

    @property
    def expressions(self) -> tuple[str, ...]:
        """What is measured in each run, each once; the objective first."""
        every = [self.objective.expression, *(one.expression for one in self.requirements)]
        return tuple(dict.fromkeys(every))

    def sampler(self) -> Sampler:
        """What proposes its points, from the first."""
        return Sampler(self.fields, is_minimized=self.objective.is_minimized, seed=self.seed)

    def point(self, values: tuple[Value, ...]) -> Point:
        """The point with these values of the fields, checked with the first seed.

        Raises
        ------
        ScenarioError
            The core refuses it, or it is too large for this machine.
        """
        pairs = zip(self.fields, values, strict=True)
        settings = {**self.constants, **{one.key: value.written for one, value in pairs}}
        return point_at(self.reference, settings, values, self.seeds[0])


def check_plan(plan: Plan) -> Point:
    """The first point that can be run, as the search will propose it; nothing is run.

    Raises
    ------
    ScenarioError
        Every point of the first :data:`REFUSED_MAX` is refused: the problems of the first. Or what
        is measured names a label or a link that the first point does not have.
    """
    sampler = plan.sampler()
    first: ScenarioError | None = None
    for _ in range(REFUSED_MAX):
        proposal = sampler.ask()
        try:
            point = plan.point(proposal.values)
        except ScenarioError as error:
            first = first or located(plan, proposal.values, error)
            sampler.tell(proposal, None, math.inf)
            continue
        if not plan.oversize:
            estimates.check(point.estimate)
        goal = "--minimize" if plan.objective.is_minimized else "--maximize"
        required = [("--require", one.expression) for one in plan.requirements]
        named = [(goal, plan.objective.expression), *required]
        check_present(named, [point.scenario(plan.seeds[0])])
        return point
    assert first is not None, "no point was accepted, so the first was refused"
    words = f"none of the first {REFUSED_MAX} points can be run"
    summary = Problem("--field", words, "take other ranges; the first point says:")
    raise ScenarioError([summary, *first.problems])


def located(plan: Plan, values: Sequence[Value], error: ScenarioError) -> ScenarioError:
    """The refusal of a point, with its values."""
    pairs = zip(plan.fields, values, strict=True)
    there = ", ".join(f"{one.key} = {value.label}" for one, value in pairs)
    return ScenarioError(
        replace(one, message=f"at {there}: {one.message}") for one in error.problems
    )
