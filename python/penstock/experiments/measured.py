"""What an expression that is right measures, in words: its name, its statistic, its unit.

What it is not: a check of units in sums and products; of an expression that is no single call no
unit is told. Expressions are right (:func:`penstock.experiments.checked.checked`).
"""

from __future__ import annotations

import ast
import re

from penstock.experiments.expression import METRICS
from penstock.experiments.run_metric import TOTALS

_EXTREME = re.compile(r"p[0-9]+|max|min")
"""A `statistic` that is no mean."""


def is_percentile(text: str) -> bool:
    """Whether an expression has a percentile or an extreme of a run in it."""
    calls = (node for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Call))
    return any(_EXTREME.fullmatch(statistic_of_call(call)) for call in calls)


def short_name(text: str) -> str:
    """What an expression measures: "slowdown, p99"; empty where it is no call."""
    body = ast.parse(text, mode="eval").body
    if not isinstance(body, ast.Call) or not isinstance(body.func, ast.Name):
        return ""
    return ", ".join(filter(None, [body.func.id.replace("_", " "), statistic_of_call(body)]))


def axis_title(text: str) -> str:
    """What stands at an axis that shows an expression, with its unit: "fct, p99 [µs]".

    An expression that is no single call is told as it is written.
    """
    body = ast.parse(text, mode="eval").body
    if not isinstance(body, ast.Call) or not isinstance(body.func, ast.Name):
        return text
    name = body.func.id
    if name == "total":
        counted = next(str(ast.literal_eval(one.value)) for one in body.keywords)
        return f"{counted.replace('_', ' ')} {TOTALS[counted]}".strip()
    unit = METRICS[name].unit if name in METRICS else ""
    statistic = statistic_of_call(body)
    # How many values there are has no unit, and a spread is not 1 where nothing waits.
    is_plain = statistic == "count" or (statistic == "deviation" and unit.startswith("("))
    return f"{short_name(text)} {'' if is_plain else unit}".strip()


def statistic_of_call(call: ast.Call) -> str:
    """The `statistic` of a call, written or by default; for `max` and `min` their names."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name not in METRICS:
        return name if name in ("max", "min") else ""
    for one in call.keywords:
        if one.arg == "statistic":
            return str(one.value.value) if isinstance(one.value, ast.Constant) else ""
    default = METRICS[name].parameters.get("statistic")
    return str(default.value) if default is not None else ""
