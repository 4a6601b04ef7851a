"""Which figure shows what a claim says, so that a reader gets from one to the other.

The link is by the metrics in the claim's expression: a curve or bars show the metrics in their own
expressions, other kinds of figures those of `SHOWN_BY`. Of several figures with the metric, the one
of the same flows, links and points is meant. Invariant: a claim that no figure shows has no link.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from penstock.experiments.claim import Claim
from penstock.experiments.model import FigureSpec

SLOWDOWNS = {"slowdown", "slowdown_by_bin", "normalized_fct"}

OF_SLOWDOWNS = ("slowdown", "slowdown-cdf")
"""Kinds of figures that show all flows but incasts, unless they have a label."""

SHOWN_BY: dict[str, Collection[str]] = {
    **dict.fromkeys(OF_SLOWDOWNS, SLOWDOWNS),
    "buffer": {"buffer", "buffer_peak"},
    "active-flows": {"active_flows", "time_below"},
    "flow-packets": {"flows_above"},
    "queue": {"queue", "queue_at_most"},
    "link-pauses": {"link_pause", "pause_time"},
    "pause-time": {"pause_time", "pause_rate"},
    "paused-queues": {"pause_time", "pause_rate"},
    "utilization": {"utilization", "busy"},
    "throughput": {"busy", "queue", "carried", "reaches", "queue_falls", "goodput", "fairness"},
    "timeline": {"carried", "reaches", "queue_falls", "pause_episode", "pauses_per_ms", "evenness"},
    "backlog": {"is_unstable", "backlog_growth", "unfinished"},
    "workload": {"byte_share"},
}
"""Kind of figure -> metrics that a reader finds in it."""

SEEN_IN = {"fct": "normalized_fct", "pauses": "pauses_per_ms"}
"""Metric -> another that is the same up to a factor."""

INCAST = ("label", repr("incast"))
"""The choice of the flows of incasts, as experiments label them."""

OF_FLOWS = ("size_min", "size_max", "label")
"""Choices of flows: a curve that makes one shows no claim about other flows."""


def figure_of_claim(claim: Claim, figures: Collection[FigureSpec]) -> str:
    """Name of the figure that shows most of the metrics of a claim; empty where none shows any.

    A figure of other points shows nothing of it. Of several, the one that makes most of the same
    choices and fewest others of flows, then the one with the most metrics in expressions of its
    own, then the first.
    """
    wanted, choices = _calls(claim.measure), _choices(claim.measure) | _points(claim.where)
    best, rank = "", (0, 0, 0)
    for figure in (one for one in figures if _is_of_points(one, choices)):
        own = set().union(*map(_calls, _expressions(figure)))
        shown = len(wanted & own.union(SHOWN_BY.get(figure.kind, ())))
        made, axes = _choices_of(figure), _axes(figure)
        same = sum(one in made or one[0] in axes for one in choices)
        same -= len({one for one in _choices(figure.y) - choices if one[0] in OF_FLOWS})
        found = (shown, same, len(wanted & own))
        if shown and found > rank:
            best, rank = figure.name, found
    return best


def _expressions(figure: FigureSpec) -> list[str]:
    return [figure.y, figure.hollow, *figure.bars.values(), *figure.tips.values()]


def _choices_of(figure: FigureSpec) -> set[tuple[str, str]]:
    """What a figure shows of the runs and their flows: where a claim has the same, it is meant."""
    label = {("label", repr(figure.label))} if figure.label else set()
    return _points(figure.where).union(label, *map(_choices, _expressions(figure)))


def _points(where: Mapping[str, str | float]) -> set[tuple[str, str]]:
    return {(name, _written(value)) for name, value in where.items()}


def _is_of_points(figure: FigureSpec, choices: set[tuple[str, str]]) -> bool:
    """Whether a figure has a claim's points, where both name some of an axis, and its incasts."""
    if figure.kind in OF_SLOWDOWNS and not figure.label and INCAST in choices:
        return False
    named = {name for name, _ in choices}
    return not any(name in named for name, _ in _points(figure.where) - choices)


def _axes(figure: FigureSpec) -> set[str]:
    """The axes along which a figure has every point: not those of which it has only one."""
    return {figure.by, figure.x} - {""} - figure.where.keys()


def _choices(text: str) -> set[tuple[str, str]]:
    """The parameters of the calls of an expression, by name and written value."""
    tree = ast.parse(text or "0", mode="eval")
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    given = (one for call in calls for one in call.keywords if one.arg)
    return {(str(one.arg), _text(one.value)) for one in given}


def _text(node: ast.expr) -> str:
    return _written(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def _written(value: object) -> str:
    """A value of a choice, so that 100 and 100.0 are one."""
    return repr(float(value)) if isinstance(value, int | float) else repr(value)


def _calls(text: str) -> set[str]:
    """The functions that an expression calls."""
    tree = ast.parse(text or "0", mode="eval")
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {_called(one) for one in calls} - {"max", "min", "mean", "abs"}


def _called(call: ast.Call) -> str:
    """What a call measures: the number of drops is seen in their share."""
    of_drops = "of='drops'" in map(ast.unparse, call.keywords)
    name = "drop_share" if of_drops else ast.unparse(call.func)
    return SEEN_IN.get(name, name)
