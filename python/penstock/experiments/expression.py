"""Expressions of claims and figures: numbers, `+ - * / **`, and calls of metrics.

    max(slowdown_by_bin(scheme='bfc') / slowdown_by_bin(scheme='ideal-fq'))

A keyword that is the name of an axis selects the runs (`scheme='bfc'`, `threshold=2`); the other
keywords are parameters of the metric. Where a figure or a claim goes along an axis, the bare name
of the axis is the number of the current point. Everything else is refused: an expression is data
and cannot call other functions.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from penstock.analysis import MeasuredRun, share_of_bytes_below
from penstock.emulation.lateness import is_too_late
from penstock.errors import ScenarioError, refuse

# Each of these modules declares metrics.
from penstock.experiments import flow_metric, job_metric, queueing, run_metric, transient  # noqa: F401
from penstock.experiments.closed_form import CLOSED_FORMS
from penstock.experiments.grid import Cell, stands
from penstock.experiments.metric import METRICS as METRICS
from penstock.workload import find_workload

Selection = Mapping[str, str | float]


class MissingSchemeError(Exception):
    """The runs an expression asks for are of a scheme that does not exist yet."""


class NoRunsError(Exception):
    """No run of this scale stands at the points an expression asks for."""


class NothingMeasuredError(Exception):
    """The runs of a figure have nothing of what it shows."""


class LateFramesError(Exception):
    """Real frames of a run that an expression asks for were too late."""


def _byte_share(workload: str, size: float) -> float:
    """Share of all bytes of a built-in workload in flows of at most `size` [bytes]."""
    found = find_workload(workload)
    return share_of_bytes_below(found.points, found.convention, size)


def _reduction(of_known: Callable[[Any], Any]) -> Callable[..., float]:
    """A function that makes one number of several, and of the values of all bins.

    A bin without a value is left out. A number that could not be measured is not: of it and others
    nobody knows which is the largest.
    """

    def reduce(*values: Any) -> float:
        lacks = any(np.ndim(one) == 0 and np.isnan(one) for one in values)
        every = np.hstack(values)
        known = every[~np.isnan(every)]
        return float(of_known(known)) if known.size and not lacks else float("nan")

    return reduce


FUNCTIONS: dict[str, Callable[..., Any]] = CLOSED_FORMS | {
    "max": _reduction(np.max),
    "min": _reduction(np.min),
    "mean": _reduction(np.mean),
    "abs": np.abs,
    "byte_share": _byte_share,
}
"""What expressions may call besides metrics."""


def _divide(one: Any, other: Any) -> Any:
    """A ratio to nothing, e.g. to the pauses of a scheme without any, is infinite or no number."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(one, other)


EXPONENT_MAX = 64
"""Largest exponent that is written in numbers (our choice: 2**64 is beyond all that is counted)."""


def _power(one: Any, other: Any) -> Any:
    """A power of floating-point numbers: whole ones might have more digits than there is memory."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return np.power(np.asarray(one, float), np.asarray(other, float))[()]


OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divide,
    ast.Pow: _power,
}


def select(cells: Sequence[Cell], wanted: Selection) -> list[Cell]:
    """Cells that stand at all the wanted points."""
    return [
        cell
        for cell in cells
        if all(axis in cell.at and stands(cell.at[axis], value) for axis, value in wanted.items())
    ]


def runs_at(cells: Sequence[Cell], wanted: Selection) -> list[MeasuredRun]:
    """Runs at the wanted points.

    Raises
    ------
    MissingSchemeError, NoRunsError
        They cannot be had.
    """
    chosen = select(cells, wanted)
    missing = sorted({cell.missing for cell in chosen if cell.missing})
    if missing:
        raise MissingSchemeError(", ".join(missing))
    runs = [cell.run for cell in chosen if cell.run is not None]
    if not runs:
        raise NoRunsError(", ".join(f"{axis} = {value}" for axis, value in wanted.items()))
    return runs


@contextmanager
def measuring(place: str, value: str | None = None) -> Iterator[None]:
    """Refuses the field `place` where its `value` says what runs do not have.

    Raises
    ------
    ScenarioError
        Instead of whatever a metric or a figure fails with: what is looked for is the user's word.
    """
    try:
        yield
    except (MissingSchemeError, NoRunsError, NothingMeasuredError, LateFramesError):
        raise
    except ScenarioError as error:
        first = error.problems[0]
        raise refuse(place, f"it cannot be measured here: {first}", "", value) from error
    except Exception as error:
        reason = f"it cannot be measured here: {type(error).__name__}: {error}"
        remedy = "name what every run has, or leave the others out by `where`"
        raise refuse(place, reason, remedy, value) from error


class Evaluator:
    """Evaluates expressions over the runs of an experiment.

    With `is_strict` a run whose frames were too late is an error (:class:`LateFramesError`).
    """

    def __init__(
        self, cells: Sequence[Cell], axes: Sequence[str], *, is_strict: bool = False
    ) -> None:
        self._cells = cells
        self._axes = set(axes)
        self._is_strict = is_strict

    def value(self, text: str, fixed: Selection | None = None) -> float:
        """A single number; `fixed` holds the current point of axes that are gone along."""
        result = self._node(ast.parse(text, mode="eval").body, fixed or {}, text)
        if np.ndim(result) != 0:
            raise ValueError(f"{text!r} gives a value per bin; reduce it with max, min or mean")
        return float(result)

    def _node(self, node: ast.expr, fixed: Selection, text: str) -> Any:
        match node:
            case ast.Constant(value=int() | float() | str() as value):
                return value
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return [self._node(element, fixed, text) for element in elements]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._node(operand, fixed, text)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                sides = self._node(left, fixed, text), self._node(right, fixed, text)
                return OPERATORS[type(op)](*sides)
            case ast.Name(id=name) if name in fixed:
                return fixed[name]
            case ast.Call(func=ast.Name(id=name)) if name in METRICS or name in FUNCTIONS:
                return self._call(node, name, fixed, text)
        raise ValueError(f"{text!r}: {ast.unparse(node)!r} is not in the vocabulary")

    def _call(self, node: ast.Call, name: str, fixed: Selection, text: str) -> Any:
        plain = [self._node(argument, fixed, text) for argument in node.args]
        named = {str(k.arg): self._node(k.value, fixed, text) for k in node.keywords}
        if name in FUNCTIONS:
            return FUNCTIONS[name](*plain, **named)
        wanted = {**fixed, **{key: value for key, value in named.items() if key in self._axes}}
        parameters = {key: value for key, value in named.items() if key not in self._axes}
        runs = runs_at(self._cells, wanted)
        if self._is_strict and any(is_too_late(run.summary) for run in runs):
            raise LateFramesError
        return METRICS[name](runs, *plain, **parameters)
