"""Whether an expression can be evaluated at all, before there is a run.

The check knows the names of metrics and functions and their parameters, and the axes of an
experiment with their points. It does not know what a run has:
:mod:`penstock.experiments.present` looks for the links and labels in the scenarios.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from penstock.errors import Problem, ScenarioError, nearest, quoted, refuse
from penstock.experiments.drawable import wrong_words
from penstock.experiments.expression import (
    EXPONENT_MAX,
    FUNCTIONS,
    METRICS,
    OPERATORS,
    Evaluator,
)
from penstock.experiments.grid import stands
from penstock.experiments.metric import FORMS, PERCENTILE, Ends, Metric, Parameter
from penstock.experiments.model import Experiment, Point
from penstock.scenario.scheme import scheme_label

Points = Mapping[str, Sequence[Point]]
"""The axes of an experiment by name, each with its points; none beside an experiment."""

RANGES = (("size_min", "size_max", 1), ("least", "most", 0), ("after", "until", 0))
"""Parameters that are two ends of one range, and its lower end where none is written."""

REDUCING = ("max", "min", "mean")
"""Functions that make one number of the values of all bins."""

_PERCENTILE = re.compile(r"p(?:[0-9]{2}|[0-9]{2,8}[1-9])")
"""A percentile as a `statistic`; our choice: no run has a thousand million values. The digits stand
behind "0.", so that p5 and p100 are refused: they would be p50 and p10."""


def checked(text: str, option: str = "--metric", words: Sequence[str] = ()) -> str:
    """An expression over single runs, in its one spelling.

    Parameters
    ----------
    option
        What it is called in messages.
    words
        Names that it may have instead of calls; the caller has put calls in their places.

    Raises
    ------
    ScenarioError
        It cannot be evaluated; the message names the nearest metrics.
    """
    body = _body(text, option)
    calls = list(_Check(text, option, {}, words).every_call(body))
    if not any(name in METRICS for name, _ in calls):
        remedy = "call a metric, e.g. slowdown(size_max=3000)"
        raise refuse(option, "it measures nothing", remedy, text)
    return ast.unparse(body)


def _body(text: str, option: str) -> ast.expr:
    """The syntax of an expression, whatever it calls."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        remedy = "write e.g. slowdown(size_max=3000)"
        raise refuse(option, "this is no expression", remedy, text) from None


@dataclass(frozen=True)
class _Check:
    """The check of one expression: what is wrong in it is refused."""

    text: str
    place: str
    """What it is called in messages: an option, or a field."""
    axes: Points
    words: Sequence[str] = ()
    """Names that are no calls, as messages propose them."""

    def check_where(self, calls: Sequence[ast.Call], where: Mapping[str, str | float]) -> None:
        """Refuses a restriction that every call contradicts with a selector of its own."""
        for axis, wanted in where.items():
            here = [point for point in self.axes.get(axis, ()) if stands(point, wanted)]
            chosen = [one for call in calls for one in call.keywords if one.arg == axis]
            values = [one.value.value for one in chosen if isinstance(one.value, ast.Constant)]
            others = [
                one
                for one in values
                if isinstance(one, str | int | float) and not any(stands(p, one) for p in here)
            ]
            if here and others and len(others) == len(calls):
                message = f"{ast.unparse(chosen[0])} is not the point of `where`, {wanted}"
                raise self._refusal(message, "leave one of the two out")

    def every_call(self, body: ast.expr) -> Iterator[tuple[str, ast.Call]]:
        """Every call in the expression, which is to give one number."""
        yield from self.calls(body)
        if _is_per_bin(body):
            message = "it gives a value per bin"
            raise self._refusal(message, f"write e.g. max({ast.unparse(body)})")

    def calls(self, node: ast.expr) -> Iterator[tuple[str, ast.Call]]:
        """Every call in a part of the expression."""
        match node:
            case ast.Constant(value=int() | float() | str()):
                return
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                yield from self._within(parts)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                self._check_numbers([operand])
                yield from self.calls(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                if isinstance(op, ast.Pow):
                    self._check_exponent(right)
                self._check_numbers([left, right])
                yield from self._within([left, right])
            case ast.Call(func=ast.Name(id=name)):
                if name not in METRICS | FUNCTIONS:
                    raise self._unknown(f"there is no metric {quoted(name)}", name, ())
                self._check_parameters(name, node)
                if name in REDUCING or name == "abs":
                    self._check_numbers(node.args)
                yield name, node
                yield from self._within([*node.args, *(one.value for one in node.keywords)])
            case ast.Name(id=name) if name in self.axes:
                return
            case ast.Name(id=name) if name in METRICS | FUNCTIONS:
                raise self._refusal(f"{name} is a function", f"write {name}()")
            case ast.Name(id=name):
                message = f"{quoted(name)} is not in the language"
                raise self._unknown(message, name, [*self.axes, *self.words])
            case _:
                message = f"{quoted(ast.unparse(node))} is not in the language"
                raise self._refusal(message, "write numbers, + - * / **, and calls of metrics")

    def _within(self, parts: Sequence[ast.expr]) -> Iterator[tuple[str, ast.Call]]:
        for part in parts:
            yield from self.calls(part)

    def _check_numbers(self, parts: Sequence[ast.expr]) -> None:
        """Refuses texts and lists where the language computes."""
        for one in parts:
            match one:
                case ast.Constant(value=str()) | ast.List() | ast.Tuple():
                    raise self._refusal(f"{ast.unparse(one)} is no number", "write numbers")

    def _check_exponent(self, node: ast.expr) -> None:
        """Refuses an exponent that is written in numbers and too large."""
        if any(isinstance(one, ast.Call | ast.Name) for one in ast.walk(node)):
            return
        text = ast.unparse(node)
        try:
            exponent = Evaluator([], []).value(text)
        except (ValueError, TypeError, OverflowError):
            return  # it is not in the language, which is said where it is looked at
        if not abs(exponent) <= EXPONENT_MAX:
            message = f"the exponent {quoted(text)} is too large"
            raise self._refusal(message, f"write one of at most {EXPONENT_MAX}")

    def _check_parameters(self, name: str, node: ast.Call) -> None:
        """Refuses parameters that a function does not have, missing ones, and points of no axis."""
        names = [one.arg for one in node.keywords]
        for written in names:
            if names.count(written) > 1:
                raise self._refusal(f"{written} is there twice", "write it once")
        metric = METRICS.get(name)
        selectors = [one for one in node.keywords if metric and one.arg in self.axes]
        others = [one for one in node.keywords if one not in selectors]
        for one in selectors:
            self._check_point(one)
        if metric is not None:
            for one in others:
                self._check_parameter(metric, one)
            self._check_ranges(metric, others)
        runs = [None] if metric else []
        signature = inspect.signature(metric.measure if metric else FUNCTIONS[name])
        try:
            signature.bind(*runs, *node.args, **{str(one.arg): None for one in others})
        except TypeError as error:
            message = f"{ast.unparse(node)}: {error}"
            raise self._refusal(message, "write what is missing") from None

    def _check_parameter(self, metric: Metric, one: ast.keyword) -> None:
        """Refuses a parameter that a metric does not have, and one of the wrong form."""
        names = metric.parameters
        parameter = names.get(str(one.arg))
        if parameter is None:
            message = f"{metric.name} has no parameter {quoted(str(one.arg))}"
            remedy = nearest(str(one.arg), names) if names else "leave it out"
            raise self._refusal(message, remedy)
        self._check_form(parameter.form, one)
        self._check_word(metric, parameter, one)

    def _check_ranges(self, metric: Metric, written: Sequence[ast.keyword]) -> None:
        """Refuses two ends with nothing between them; what is computed is not known yet."""
        numbers = {str(one.arg): _number(one.value) for one in written}
        for low, high, lowest in RANGES:
            first, last = numbers.get(low, lowest), numbers.get(high)
            if low not in metric.parameters or first is None or last is None:
                continue
            # From one moment to the same one there is no time; a size may be the only one.
            is_time = low == "after"
            if last < first or (is_time and last == first):
                message = f"nothing is between {low}={first:g} and {high}={last:g}"
                more = "more than" if is_time else "at least"
                raise self._refusal(message, f"make {high} {more} {first:g}")

    def _check_form(self, form: str, one: ast.keyword) -> None:
        """Refuses a number for a text and the like; what is computed is not known yet."""
        match one.value:
            case ast.Constant(value=str()):
                is_right = form in ("", FORMS[str])
            case ast.Constant():
                is_right = form in ("", FORMS[int])
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                is_right = form not in (FORMS[str], FORMS[int])
                if form == FORMS[Ends]:
                    is_right = _is_pair(one.value)
                elif form == FORMS[Sequence[Ends]]:
                    is_right = all(map(_is_pair, parts))
            case _:
                return
        if not is_right:
            raise self._refusal(f"{ast.unparse(one)} is not of the right form", f"write {form}")

    def _check_word(self, metric: Metric, parameter: Parameter, one: ast.keyword) -> None:
        """Refuses a word that a parameter does not take; what is computed is not known yet."""
        words = parameter.told.words
        if not words or not isinstance(one.value, ast.Constant):
            return
        written = str(one.value.value)
        if written in words or (PERCENTILE in words and _PERCENTILE.fullmatch(written)):
            return
        if one.arg == "of":
            raise self._refusal(f"a run has no count {quoted(written)}", nearest(written, words))
        what = "no statistic" if one.arg == "statistic" else "not known"
        message = f"{ast.unparse(one)} is {what} of {metric.name}"
        raise self._refusal(message, f"write {', '.join(words)}")

    def _check_point(self, selector: ast.keyword) -> None:
        """Refuses a selector of a point that its axis does not have."""
        axis, value = str(selector.arg), selector.value
        if not isinstance(value, ast.Constant) or not isinstance(value.value, str | int | float):
            return
        points = self.axes[axis]
        if not any(stands(point, value.value) for point in points):
            message = f"the axis {axis} has no point {quoted(str(value.value))}"
            raise self._refusal(message, nearest(str(value.value), [one.label for one in points]))

    def _unknown(self, message: str, name: str, more: Sequence[str]) -> ScenarioError:
        """The refusal of a name that is no metric, no function and none of `more`."""
        near = nearest(name, [*METRICS, *FUNCTIONS, *more])
        return self._refusal(message, f"{near}; `penstock list metrics` lists all")

    def _refusal(self, message: str, remedy: str) -> ScenarioError:
        return refuse(self.place, message, remedy, self.text)


def _is_pair(node: ast.expr) -> bool:
    """Whether a part of an expression may be both ends of a link."""
    return not isinstance(node, ast.Constant) and len(getattr(node, "elts", "ab")) == 2


def _number(node: ast.expr) -> float | None:
    """The number that is written; none where it is computed."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return value if isinstance(value, int | float) else None


def _is_per_bin(node: ast.expr) -> bool:
    """Whether a part of an expression that is right has a value per bin."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in METRICS and METRICS[name].is_per_bin:
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name not in REDUCING and any(map(_is_per_bin, node.args))
        case ast.UnaryOp(operand=operand):
            return _is_per_bin(operand)
        case ast.BinOp(left=left, right=right):
            return _is_per_bin(left) or _is_per_bin(right)
    return False


def check_experiment(experiment: Experiment) -> None:
    """Refuses an experiment of which an expression, the name of an axis or a figure is wrong.

    Raises
    ------
    ScenarioError
        It names the file and each such field.
    """
    axes = _points(experiment)
    problems: list[Problem] = []
    for place, text, where in expressions_of(experiment):
        try:
            check = _Check(text, place, axes)
            calls = list(check.every_call(_body(text, place)))
            check.check_where([call for name, call in calls if name in METRICS], where)
        except ScenarioError as error:
            problems += error.problems
    for place, name in _axes_named(experiment):
        if name and name not in axes:
            remedy = nearest(name, list(axes))
            problems.append(Problem(place, "the experiment has no such axis", remedy, name))
    for place, name, wanted in _restrictions(experiment):
        points = axes.get(name, ())
        if name in axes and not any(stands(point, wanted) for point in points):
            remedy = (
                nearest(str(wanted), [one.label for one in points]) if points else "leave it out"
            )
            problems.append(
                Problem(f"{place}.{name}", "the axis has no such point", remedy, wanted)
            )
    problems += wrong_words(experiment.figures, axes)
    if problems:
        raise ScenarioError(problems).within(str(experiment.file or experiment.id))


def _points(experiment: Experiment) -> Points:
    """The points of each axis, of all sweeps together."""
    found: dict[str, list[Point]] = {name: [] for name in experiment.axes}
    for sweep in experiment.sweeps:
        found["sweep"].append(Point(name=sweep.name))
        found["scheme"] += [Point(name=scheme_label(one)) for one in sweep.schemes]
        for axis in sweep.axes:
            found[axis.name] += axis.all_points
    return found


def _restrictions(experiment: Experiment) -> Iterator[tuple[str, str, str | float]]:
    """Every point to which a claim, a figure or a scale is restricted: its field, its axis and its
    name."""
    restricted = [("claims", n, one.where) for n, one in enumerate(experiment.claims)]
    restricted += [("figures", n, one.where) for n, one in enumerate(experiment.figures)]
    for name, number, where in restricted:
        yield from ((f"{name}[{number}].where", *pair) for pair in where.items())
    for name, scale in experiment.scales.items():
        for axis, wanted in scale.only.items():
            yield from ((f"scales.{name}.only", axis, one) for one in wanted)


def expressions_of(experiment: Experiment) -> Iterator[tuple[str, str, Mapping[str, str | float]]]:
    """Every expression of an experiment: its field, its text, and to what runs it is restricted."""
    for number, claim in enumerate(experiment.claims):
        yield f"claims[{number}].measure", claim.measure, claim.where
        if isinstance(claim.near, str):
            yield f"claims[{number}].near", claim.near, claim.where
    for number, figure in enumerate(experiment.figures):
        for name in ("y", "deviation", "hollow", "reference"):
            if text := getattr(figure, name):
                yield f"figures[{number}].{name}", text, {}
        for name in ("bars", "tips"):
            for bar, text in getattr(figure, name).items():
                yield f"figures[{number}].{name}.{bar}", text, {}


def _axes_named(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """Every name of an axis that is no part of an expression, and its field."""
    for number, claim in enumerate(experiment.claims):
        for place in ("over", "where"):
            yield from ((f"claims[{number}].{place}", name) for name in getattr(claim, place))
    for number, figure in enumerate(experiment.figures):
        yield f"figures[{number}].by", figure.by if figure.kind != "workload" else ""
        yield f"figures[{number}].x", figure.x
        yield from ((f"figures[{number}].where", name) for name in figure.where)
    for name, scale in experiment.scales.items():
        yield from ((f"scales.{name}.only", axis) for axis in scale.only)
