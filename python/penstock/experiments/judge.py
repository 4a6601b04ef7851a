"""Compares what was measured with what the paper says.

Invariant: the bounds come from the experiment's file and are applied as they stand. A claim cannot
be judged when its scheme does not exist yet, or when the scale cannot show it. Such a claim says
why, and neither holds nor fails.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.experiments.expression import Evaluator, MissingSchemeError, NoRunsError, Selection
from penstock.experiments.grid import Cell, stands
from penstock.experiments.model import Claim, Experiment, Point
from penstock.readable import number_text
from penstock.report import ClaimRow


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict."""

    claim: Claim
    tolerance: str
    """The bounds in words."""
    measured: float | None
    """The number, in the claim's unit; None when it could not be measured."""
    holds: bool | None
    """None when it could not be judged."""
    remark: str = ""
    """Why it could not be judged, or at which point the worst value was found."""

    @property
    def measured_text(self) -> str:
        """The measured number with its unit, or why there is none."""
        if self.measured is None:
            return self.remark
        return _with_unit(self.measured, self.claim.unit)

    def row(self) -> ClaimRow:
        """The judgement as a line of a report."""
        remarks = [self.claim.remark, self.remark if self.measured is not None else ""]
        return ClaimRow(
            claim=self.claim.claim,
            reported=self.claim.reported,
            measured=self.measured_text,
            tolerance=self.tolerance,
            holds=self.holds,
            remark=" ".join(remark for remark in remarks if remark),
        )


def judge(experiment: Experiment, cells: Sequence[Cell], scale: str) -> list[Judgement]:
    """Judge all claims of an experiment, in the order of the file."""
    evaluator = Evaluator(cells, list(experiment.axes))
    return [_judge(claim, evaluator, cells, scale) for claim in experiment.claims]


def _judge(claim: Claim, evaluator: Evaluator, cells: Sequence[Cell], scale: str) -> Judgement:
    tolerance = bounds_text(claim)
    if scale not in claim.scales:
        return Judgement(claim, tolerance, None, None, f"not judged at scale {scale}")
    worst: tuple[float, float, bool, Selection] | None = None
    obstacles: list[str] = []
    for at in selections(cells, claim.over, claim.where):
        try:
            value = evaluator.value(claim.measure, at)
        except MissingSchemeError as missing:
            obstacles.append(f"not implemented yet: {missing}")
            continue
        except NoRunsError as none:
            obstacles.append(f"no run at {none} at scale {scale}")
            continue
        if math.isnan(value):
            obstacles.append("too few flows to measure it")
            continue
        margin, holds = _margin(claim, value, evaluator, at)
        if worst is None or margin < worst[0]:
            worst = (margin, value, holds, at)
    told = "; ".join(dict.fromkeys(obstacles))
    if worst is None:
        return Judgement(claim, tolerance, None, None, told)
    _, value, holds, place = worst
    note = f"Worst at {_at_text(place, claim.over)}." if claim.over else ""
    if isinstance(claim.near, str):
        near = evaluator.value(claim.near, place) * (100 if claim.unit == "%" else 1)
        tolerance = bounds_text(claim, number_text(near))
    shown = value * 100 if claim.unit == "%" else value
    return Judgement(claim, tolerance, shown, holds, " ".join(filter(None, [note, told])))


def _at_text(at: Selection, axes: Sequence[str]) -> str:
    return ", ".join(f"{axis} = {_plain(at[axis])}" for axis in axes)


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


def _margin(claim: Claim, value: float, evaluator: Evaluator, at: Selection) -> tuple[float, bool]:
    """How far inside its bounds a value lies (negative outside), and whether the claim holds."""
    margins = []
    strict = []
    for bound, sign, is_strict in (
        (claim.at_least, 1, False),
        (claim.above, 1, True),
        (claim.at_most, -1, False),
        (claim.below, -1, True),
    ):
        if bound is not None:
            scaled = bound / 100 if claim.unit == "%" else bound
            margins.append((value - scaled) * sign)
            strict.append(is_strict)
    if claim.near is not None and claim.within is not None:
        near = evaluator.value(claim.near, at) if isinstance(claim.near, str) else claim.near
        if claim.unit == "%" and not isinstance(claim.near, str):
            near /= 100
        within = claim.within * abs(near) if claim.relative else claim.within
        if claim.unit == "%" and not claim.relative:
            within /= 100
        margins.append(within - abs(value - near))
        strict.append(False)
    holds = all(m > 0 if s else m >= 0 for m, s in zip(margins, strict, strict=True))
    return min(margins), holds


def bounds_text(claim: Claim, near: str = "") -> str:
    """The bounds of a claim in words: "36–40 %", "≥ 2", "0.2 ± 0.03".

    `near` is the value of `claim.near`, where that is an expression and its value is known.
    """
    unit = claim.unit
    if claim.near is not None and claim.within is not None:
        if not near:
            near = claim.near if isinstance(claim.near, str) else number_text(claim.near)
        within = f"{claim.within * 100:g} %" if claim.relative else _with_unit(claim.within, unit)
        return f"{near} ± {within}"
    if claim.at_least is not None and claim.at_most is not None:
        return f"{number_text(claim.at_least)}–{_with_unit(claim.at_most, unit)}"
    for bound, sign in (
        (claim.at_least, "≥"),
        (claim.above, ">"),
        (claim.at_most, "≤"),
        (claim.below, "<"),
    ):
        if bound is not None:
            return f"{sign} {_with_unit(bound, unit)}"
    return ""


def _with_unit(value: float, unit: str) -> str:
    return f"{number_text(value)} {unit}".strip()


def _plain(point: str | float) -> str:
    return point if isinstance(point, str) else f"{point:g}"
