"""Whether an expression can be evaluated at all, before there is a run.

The check knows the names of metrics and functions and their parameters. It does not know what a run
has: a link or a label that is not there is found when the run is measured.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from penstock.errors import nearest, quoted, refuse
from penstock.experiments.expression import FUNCTIONS, METRICS, OPERATORS
from penstock.experiments.flow_metric import choose_flows

_EXTREME = re.compile(r"p[0-9]+|max|min")
"""A `statistic` that is no mean."""


def checked(text: str, option: str = "--metric") -> str:
    """An expression over single runs, in its one spelling.

    Parameters
    ----------
    option
        What it is called in messages.

    Raises
    ------
    ScenarioError
        It cannot be evaluated; the message names the nearest metrics.
    """
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        remedy = "write e.g. slowdown(size_max=3000)"
        raise refuse(option, "this is no expression", remedy, text) from None
    calls = list(_calls(body, text, option))
    if not any(name in METRICS for name, _ in calls):
        remedy = "call a metric, e.g. slowdown(size_max=3000)"
        raise refuse(option, "it measures nothing", remedy, text)
    return ast.unparse(body)


def is_percentile(text: str) -> bool:
    """Whether an expression that is right has a percentile or an extreme of a run in it."""
    calls = (node for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Call))
    return any(_EXTREME.fullmatch(_statistic(call)) for call in calls)


def short_name(text: str) -> str:
    """What an expression that is right measures: "slowdown, p99"; empty where it is no call."""
    body = ast.parse(text, mode="eval").body
    if not isinstance(body, ast.Call) or not isinstance(body.func, ast.Name):
        return ""
    return ", ".join(filter(None, [body.func.id.replace("_", " "), _statistic(body)]))


def _statistic(call: ast.Call) -> str:
    """The `statistic` of a call, written or by default; for `max` and `min` their names."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name not in METRICS:
        return name if name in ("max", "min") else ""
    for one in call.keywords:
        if one.arg == "statistic":
            return str(one.value.value) if isinstance(one.value, ast.Constant) else ""
    default = inspect.signature(METRICS[name]).parameters.get("statistic")
    return str(default.default) if default is not None else ""


def _calls(node: ast.expr, text: str, option: str) -> Iterator[tuple[str, ast.Call]]:
    """Every call in an expression; what is not in the language is refused."""
    match node:
        case ast.Constant(value=int() | float() | str()):
            return
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for element in elements:
                yield from _calls(element, text, option)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield from _calls(operand, text, option)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            yield from _calls(left, text, option)
            yield from _calls(right, text, option)
        case ast.Call(func=ast.Name(id=name)):
            known = METRICS | FUNCTIONS
            if name not in known:
                message = f"there is no metric {quoted(name)}"
                raise refuse(option, message, nearest(name, known), text)
            _check_parameters(known[name], node, name in METRICS, text, option)
            yield name, node
            for argument in [*node.args, *(one.value for one in node.keywords)]:
                yield from _calls(argument, text, option)
        case ast.Name(id=name) if name in METRICS:
            raise refuse(option, f"{name} is a function", f"write {name}()", text)
        case _:
            remedy = "write numbers, + - * / **, and calls of metrics"
            message = f"{quoted(ast.unparse(node))} is not in the language"
            raise refuse(option, message, remedy, text)


def _check_parameters(
    function: Callable[..., Any], node: ast.Call, is_metric: bool, text: str, option: str
) -> None:
    """Refuses parameters that a function does not have, and missing ones."""
    signature = inspect.signature(function)
    parameters = signature.parameters
    names = [one.name for one in parameters.values() if one.kind is one.KEYWORD_ONLY]
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        chosen = inspect.signature(choose_flows).parameters.values()
        names += [one.name for one in chosen if one.kind is one.KEYWORD_ONLY]
    for one in node.keywords if is_metric else []:
        if one.arg not in names:
            remedy = nearest(str(one.arg), names) if names else "leave it out"
            message = f"{function.__name__} has no parameter {quoted(str(one.arg))}"
            raise refuse(option, message, remedy, text)
    runs = [None] if is_metric else []
    try:
        signature.bind(*runs, *node.args, **{str(one.arg): None for one in node.keywords})
    except TypeError as error:
        message = f"{ast.unparse(node)}: {error}"
        raise refuse(option, message, "write what is missing", text) from None
