"""What a search wants: an objective to be least or largest, and requirements that must hold.

Both are written in the experiments' language (:mod:`penstock.experiments.expression`). A count of
the summary may be written by its name alone: ``drops`` is ``total(of='drops')``. An expression is
measured in each run alone; a requirement must hold in the run of every seed.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.errors import refuse
from penstock.experiments.checked import checked
from penstock.experiments.expression import METRICS
from penstock.experiments.measured import is_percentile
from penstock.sweep.work import FACTS

COUNTS = tuple(name for name in FACTS if name not in ("digest", "sim_end_ps"))
"""Counts of a run's summary that expressions call by their names."""

RELATIONS: dict[type[ast.cmpop], tuple[str, Callable[[float, float], bool]]] = {
    ast.Eq: ("==", operator.eq),
    ast.LtE: ("<=", operator.le),
    ast.GtE: (">=", operator.ge),
    ast.Lt: ("<", operator.lt),
    ast.Gt: (">", operator.gt),
}
"""What a requirement may say of an expression and a number."""

LEAST_EXCESS = 1e-9
"""Distance from its bound of a value that is the bound itself and should not be (our choice: above
0, and below every distance that is measured)."""


@dataclass(frozen=True)
class Objective:
    """What is to be as small, or as large, as possible."""

    expression: str
    is_minimized: bool

    @property
    def is_percentile(self) -> bool:
        """Whether it has a percentile or an extreme of a run in it."""
        return is_percentile(self.expression)

    @property
    def is_of_finished(self) -> bool:
        """Whether it knows only the flows or requests that finished."""
        names = {
            one.id
            for one in ast.walk(ast.parse(self.expression, mode="eval"))
            if isinstance(one, ast.Name)
        }
        return any(METRICS[one].is_of_finished for one in names & METRICS.keys())

    def __str__(self) -> str:
        return f"{'least' if self.is_minimized else 'largest'} {self.expression}"


@dataclass(frozen=True)
class Requirement:
    """What must hold in every run of a point."""

    expression: str
    relation: str
    """One of the words of :data:`RELATIONS`."""
    bound: float

    def excess(self, value: float) -> float:
        """How far a value is from what is required, over the bound where that is not 0.

        0 where the value does as required; infinite where there is no value.
        """
        if math.isnan(value):
            return math.inf
        holds = next(one for word, one in RELATIONS.values() if word == self.relation)
        if holds(value, self.bound):
            return 0.0
        return max(abs(value - self.bound) / (abs(self.bound) or 1.0), LEAST_EXCESS)

    def worst(self, values: Sequence[float]) -> float:
        """Of the values of several runs the one that is the farthest from what is required.

        Where all do as required, the one that is the nearest to the bound.
        """
        return max(values, key=lambda one: (self.excess(one), -abs(one - self.bound)))

    def __str__(self) -> str:
        return f"{self.expression} {self.relation} {self.bound:g}"


def read_objective(minimize: str | None, maximize: str | None) -> Objective:
    """The objective of a command line.

    Raises
    ------
    ScenarioError
        There is none, there are two, or it cannot be evaluated.
    """
    if minimize is None and maximize is None:
        remedy = "write e.g. --minimize 'slowdown(size_max=3000)'"
        raise refuse("--minimize", "there is nothing to search for", remedy)
    if minimize is not None and maximize is not None:
        remedy = "make one of them a requirement: --require 'EXPRESSION <= NUMBER'"
        raise refuse("--maximize", "there are two objectives", remedy, maximize)
    option = "--minimize" if minimize is not None else "--maximize"
    text = minimize if minimize is not None else maximize
    return Objective(_checked(str(text), option), minimize is not None)


def read_requirements(texts: Sequence[str]) -> tuple[Requirement, ...]:
    """The requirements of a command line, each once.

    Raises
    ------
    ScenarioError
        One compares nothing with a number, or cannot be evaluated.
    """
    return tuple(dict.fromkeys(_requirement(text) for text in texts))


def _requirement(text: str) -> Requirement:
    remedy = "write EXPRESSION == NUMBER, or one of <= >= < >, e.g. 'drops == 0'"
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise refuse("--require", "this is no comparison", remedy, text) from None
    if not isinstance(body, ast.Compare):
        raise refuse("--require", "this compares nothing", remedy, text)
    if len(body.ops) > 1:
        raise refuse("--require", "these are several comparisons", "write one at a time", text)
    if type(body.ops[0]) not in RELATIONS:
        raise refuse("--require", "it cannot be required so", remedy, text)
    try:
        bound = ast.literal_eval(body.comparators[0])
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        bound = None
    if isinstance(bound, bool) or not isinstance(bound, int | float) or not math.isfinite(bound):
        shown = ast.unparse(body.comparators[0])
        raise refuse("--require", f"{shown} is no number to compare with", remedy, text)
    expression = _checked(ast.unparse(body.left), "--require")
    return Requirement(expression, RELATIONS[type(body.ops[0])][0], float(bound))


class _Counts(ast.NodeTransformer):
    """Writes a count that is called by its name as a metric."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in COUNTS:
            return node
        total = ast.Name("total", ast.Load())
        return ast.Call(total, [], [ast.keyword("of", ast.Constant(node.id))])


def _checked(text: str, option: str) -> str:
    """An expression in its one spelling, counts as metrics."""
    try:
        written = ast.unparse(_Counts().visit(ast.parse(text.strip(), mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        written = text  # that it is no expression is what the check says
    return checked(written, option, COUNTS)
