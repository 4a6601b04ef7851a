"""Compares what was measured with what the paper says.

A claim's expression is evaluated over the runs of each seed by themselves, at every point that the
claim goes along. `decision` turns each point's numbers into a verdict, and the worst point is the
claim's. Invariant: the bounds come from the experiment's file and are applied as they stand. A
claim that cannot be judged, because its scheme does not exist yet or nothing was measured, says why
and is not decided. A claim that is for other scales is left out.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from penstock.experiments.bounds import apart_text, bounds_text, range_text, with_unit
from penstock.experiments.claim import Claim
from penstock.experiments.decision import (
    Decision,
    Limits,
    Verdict,
    decide,
    median,
    median_interval,
)
from penstock.experiments.expression import (
    METRICS,
    Evaluator,
    LateFramesError,
    MissingSchemeError,
    NoRunsError,
    Selection,
    measuring,
)
from penstock.experiments.grid import Cell, stands
from penstock.experiments.model import Experiment, Point
from penstock.readable import counted, number_text
from penstock.report.verdict import NOT_STATED, ClaimRow

REPETITIONS_MIN = 2
"""Seeds that must give a number where several were meant to; our choice: one has no spread."""

LATE_FRAMES = "real frames were too late, see the runs' notes; make it again on an idle machine"
"""Why a claim that rests on such runs is not judged."""


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict; all numbers are in the claim's unit."""

    claim: Claim
    verdict: Verdict
    tolerance: str
    """The bounds in words."""
    measured: float | None = None
    """The number, the median over seeds; None when it could not be measured."""
    limits: Limits = field(default_factory=Limits)
    """The bounds."""
    repetitions: list[float] = field(default_factory=list)
    """The same number from each seed alone; empty where nothing is repeated."""
    spread_text: str = ""
    """The spread in words, or why there is none."""
    remark: str = ""
    """Why it is not decided, or at which point the worst value was found."""

    @property
    def measured_text(self) -> str:
        """The measured number with its unit, or why there is none."""
        if self.measured is None:
            return self.remark
        ends = (self.limits.lower, self.limits.upper)
        return apart_text(self.measured, ends, self.claim.unit)

    @property
    def reason(self) -> str:
        """Why the claim fails, one of `Reason` or "not stated"; empty where it does not fail."""
        return (self.claim.reason or NOT_STATED) if self.verdict == "fails" else ""

    def row(self) -> ClaimRow:
        """The judgement as a line of a report."""
        claim = self.claim
        told = [claim.remark, self.remark if self.measured is not None else ""]
        if self.verdict != "holds" and self.measured is not None:
            told.append(claim.because)
        number = claim.reported_range
        return ClaimRow(
            claim=claim.claim,
            reported=claim.reported,
            number=range_text(*number, claim.unit) if number else "",
            measured=self.measured_text,
            value=_finite(self.measured),
            spread=self.spread_text,
            by_seed=[_finite(one) for one in self.repetitions],
            tolerance=self.tolerance,
            margin=" ".join(filter(None, [claim.margin, claim.one_sided])),
            verdict=self.verdict,
            reason=self.reason,
            remark=" ".join(filter(None, told)),
        )


@dataclass(frozen=True)
class _Found:
    """What was measured at a point."""

    at: Selection
    value: float
    repetitions: list[float]
    near: float | None
    decision: Decision


def judge(experiment: Experiment, cells: Sequence[Cell], scale: str) -> list[Judgement]:
    """Judge the claims of an experiment that are for `scale`, in the order of the file."""
    bench = _Bench(experiment, cells, scale)
    judgements = []
    for number, claim in enumerate(experiment.claims):
        if scale in claim.scales:
            with measuring(f"claims[{number}].measure", claim.measure):
                judgements.append(_judge(claim, bench))
    return judgements


def left_out(experiment: Experiment, scale: str) -> list[str]:
    """How many claims are not for `scale`, in words: a line for each choice of other scales."""
    others = [" and ".join(one.scales) for one in experiment.claims if scale not in one.scales]
    return [
        f"{counted(others.count(names), 'claim is', 'claims are')} judged only at scale {names}."
        for names in dict.fromkeys(others)
    ]


def _judge(claim: Claim, bench: _Bench) -> Judgement:
    tolerance = bounds_text(claim)
    found: list[_Found] = []
    obstacles: list[str] = []
    for at in selections(bench.cells, claim.over, claim.where):
        one, in_the_way = bench.measure(claim, at)
        obstacles += in_the_way
        if one is not None:
            found.append(one)
    told = "; ".join(dict.fromkeys(obstacles))
    if not found:
        return Judgement(claim, "not decided", tolerance, remark=told)
    worst = min(found, key=lambda one: one.decision.rank)
    if isinstance(claim.near, str) and worst.near is not None:
        tolerance = bounds_text(claim, number_text(worst.near))
    is_tie = len(found) > 1 and len({(one.value, one.decision.rank) for one in found}) == 1
    place = f"Decided at {_at_text(worst.at, claim.over)}." if claim.over and not is_tie else ""
    return Judgement(
        claim,
        worst.decision.verdict,
        tolerance,
        worst.value,
        claim.limits(worst.near),
        worst.repetitions,
        bench.spread_text(claim, worst.repetitions),
        " ".join(filter(None, [place, _undecided(worst, claim.unit), told])),
    )


def _undecided(found: _Found, unit: str) -> str:
    """Why numbers decide nothing; empty where they do."""
    decision = found.decision
    if decision.verdict != "not decided":
        return ""
    side = "inside" if decision.margin >= 0 else "outside"
    margin, spread = with_unit(abs(decision.margin), unit), with_unit(decision.spread, unit)
    if decision.interval:
        return "A bound lies in the interval of the median."
    return f"The value lies {margin} {side} the nearest bound; the seeds spread over {spread}."


Reading = tuple[float, float | None]
"""A number and, where the claim's `near` is an expression, the value of that."""


class _Bench:
    """Measures claims: over all runs, over those of one seed, and over those of all others."""

    def __init__(self, experiment: Experiment, cells: Sequence[Cell], scale: str) -> None:
        self.cells = cells
        self._is_random = experiment.is_random
        self._scale = scale
        seeds = list(dict.fromkeys(cell.seed for cell in cells))
        axes = list(experiment.axes)
        strict = partial(Evaluator, axes=axes, is_strict=True)
        self._all = strict(cells)
        several = seeds if len(seeds) > 1 else []
        self._single = {s: strict([c for c in cells if c.seed == s]) for s in several}
        self._without = {s: strict([c for c in cells if c.seed != s]) for s in several}

    def measure(self, claim: Claim, at: Selection) -> tuple[_Found | None, list[str]]:
        """What is measured at a point, and what stood in the way."""
        pooled = is_pooled(claim)
        several = self._without if pooled else self._single
        read = {seed: self._read(claim, one, at) for seed, one in several.items()}
        repeated = [one for one in read.values() if not isinstance(one, str)]
        judged = repeated
        if pooled or not several:
            whole = self._read(claim, self._all, at)
            judged = [] if isinstance(whole, str) else [whole]
            read |= {0: whole} if not read else {}
        told = _obstacles(read)
        if not judged or (several and len(repeated) < REPETITIONS_MIN):
            return None, told
        known = [near for _, near in judged if near is not None]
        near = median(known) if known else None
        # Where the bounds follow a measured number, what varies is the distance from it.
        values, shifted = ([_beside(one, near) for one in many] for many in (judged, repeated))
        decision = decide(median(values), shifted, claim.limits(near), is_pooled=pooled)
        numbers = [value for value, _ in repeated]
        return _Found(at, median([value for value, _ in judged]), numbers, near, decision), told

    def spread_text(self, claim: Claim, repetitions: Sequence[float]) -> str:
        """The spread of a claim in words, or why there is none."""
        if not self._is_random:
            return "no spread: nothing is random"
        if not repetitions:
            return "no spread: one seed"
        seeds = f"{len(repetitions)} seeds"
        told = f"{range_text(min(repetitions), max(repetitions), claim.unit)} over {seeds}"
        if is_pooled(claim):
            return f"{told}, each left out once"
        interval = median_interval(repetitions)
        if interval == (min(repetitions), max(repetitions)):
            return f"{told}, so is their median (95 %)"
        if interval:
            return f"{told}; their median {range_text(*interval, claim.unit)} (95 %)"
        return told

    def _read(self, claim: Claim, evaluator: Evaluator, at: Selection) -> Reading | str:
        """What some runs give, or why they give nothing."""
        factor = 100.0 if claim.unit == "%" else 1.0
        try:
            value = evaluator.value(claim.measure, at) * factor
            near = None
            if isinstance(claim.near, str):
                near = evaluator.value(claim.near, at) * factor
        except MissingSchemeError as missing:
            return f"not implemented yet: {missing}"
        except LateFramesError:
            return LATE_FRAMES
        except NoRunsError as none:
            place = f" at {none}" if str(none) else ""
            return f"no run{place} at scale {self._scale}"
        if math.isnan(value) or (near is not None and not math.isfinite(near)):
            return "no number: too few flows, or nothing over nothing"
        return value, near


def _beside(reading: Reading, near: float | None) -> float:
    """A number as if its own `near` were that of all."""
    value, own = reading
    return value if own is None or near is None else value - own + near


def _obstacles(read: Mapping[int, Reading | str]) -> list[str]:
    """What stood in the way, with the seeds unless it was all of them."""
    seeds: dict[str, list[int]] = {}
    for seed, one in read.items():
        if isinstance(one, str):
            seeds.setdefault(one, []).append(seed)
    return [
        words if len(own) == len(read) else f"{words} (seed {', '.join(map(str, own))})"
        for words, own in seeds.items()
    ]


def is_pooled(claim: Claim) -> bool:
    """Whether the runs of all seeds give one number, because the claim or its metric says so."""
    names = {node.id for node in ast.walk(ast.parse(claim.measure)) if isinstance(node, ast.Name)}
    return claim.pooled or any(METRICS[one].is_pooled for one in names & METRICS.keys())


def selections(
    cells: Sequence[Cell], axes: Sequence[str], where: Selection
) -> Iterator[dict[str, str | float]]:
    """All combinations of the points of `axes` that have runs, restricted to `where`."""
    usable = [
        cell
        for cell in cells
        if all(axis in cell.at and stands(cell.at[axis], w) for axis, w in where.items())
    ]
    points = []
    for axis in axes:
        distinct: dict[str, Point] = {}
        for cell in usable:
            if axis in cell.at:
                distinct.setdefault(cell.at[axis].label, cell.at[axis])
        points.append(list(distinct.values()))
    for combination in itertools.product(*points):
        at = {axis: selector(point) for axis, point in zip(axes, combination, strict=True)}
        yield {**where, **at}


def selector(point: Point) -> str | float:
    """What selects a point: its number, or its name when it has none."""
    return point.label if point.value is None else point.value


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _at_text(at: Selection, axes: Sequence[str]) -> str:
    return ", ".join(f"{axis} = {point_text(at[axis])}" for axis in axes)


def point_text(point: str | float) -> str:
    """A point of an axis as reports and figures write it: 4 rather than 4.0."""
    return point if isinstance(point, str) else f"{point:g}"
