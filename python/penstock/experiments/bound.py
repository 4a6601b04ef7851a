"""The least and the most that an expression can be in a run, whatever the run.

Intervals of means end there: of shares of drops, of counts and of times none is below 0, and no
link is busy for more than all of the time, whatever Student's interval of three seeds says.
"""

from __future__ import annotations

import ast
import math

from penstock.experiments.expression import METRICS
from penstock.experiments.measured import statistic_of_call


def least(text: str) -> float:
    """No run gives a smaller number, but for rounding; -inf where the expression does not tell.

    Parameters
    ----------
    text
        An expression that is right (:func:`penstock.experiments.checked.checked`).
    """
    return _least(ast.parse(text, mode="eval").body)


def most(text: str) -> float:
    """No run gives a larger number; inf where the expression is no share.

    Parameters
    ----------
    text
        An expression that is right (:func:`penstock.experiments.checked.checked`).
    """
    match ast.parse(text, mode="eval").body:
        case ast.Call(func=ast.Name(id=name)) if name in METRICS:
            return METRICS[name].most
    return math.inf


def _least(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Call(func=ast.Name(id=name)) if name in METRICS:
            return _of_metric(name, node)
        case ast.Call(func=ast.Name(id="max" | "min" | "mean" as name), args=[_, *_] as parts):
            ends = map(_least, parts)
            return max(ends) if name == "max" else min(ends)
        case ast.BinOp(left=left, op=op, right=right):
            one, other = _least(left), _least(right)
            if isinstance(op, ast.Add):
                return one + other
            if one >= 0 and other >= 0:
                return {ast.Mult: one * other, ast.Div: 0.0}.get(type(op), -math.inf)
    return -math.inf


def _of_metric(name: str, call: ast.Call) -> float:
    """The least of a metric. A deviation of slowdowns may be 0, and so may their count."""
    is_value = statistic_of_call(call) not in ("deviation", "count")
    least = METRICS[name].least
    return least if is_value else min(least, 0.0)
