"""Which figure shows what a claim says, so that a reader gets from one to the other.

The link is by the metrics in the claim's expression: a curve or bars show the metrics in their own
expressions, other kinds of figures those of `SHOWN_BY`. Invariant: a claim that no figure shows has
no link.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from penstock.experiments.claim import Claim
from penstock.experiments.model import FigureSpec

SLOWDOWNS = {"slowdown", "slowdown_by_bin", "fct", "normalized_fct"}

SHOWN_BY: dict[str, Collection[str]] = {
    "slowdown": SLOWDOWNS,
    "slowdown-cdf": SLOWDOWNS,
    "buffer": {"buffer", "buffer_peak"},
    "active-flows": {"active_flows", "time_below"},
    "flow-packets": {"flows_above"},
    "queue": {"queue", "queue_at_most"},
    "link-pauses": {"link_pause", "pause_time"},
    "pause-time": {"pause_time", "pause_rate"},
    "paused-queues": {"pause_time", "pause_rate"},
    "utilization": {"utilization", "busy"},
    "throughput": {"busy", "queue", "carried", "reaches", "queue_falls", "goodput", "fairness"},
    "timeline": {"carried", "reaches", "queue_falls", "pause_episode", "pauses", "evenness"},
    "backlog": {"is_unstable", "backlog_growth", "unfinished"},
    "workload": {"byte_share"},
}
"""Kind of figure -> metrics that a reader finds in it."""


def figure_of_claim(claim: Claim, figures: Collection[FigureSpec]) -> str:
    """Name of the figure that shows most of the metrics of a claim, the first of several.

    Empty where none shows any.
    """
    wanted = _calls(claim.measure)
    best, shown = "", 0
    for figure in figures:
        count = len(wanted & _metrics(figure))
        if count > shown:
            best, shown = figure.name, count
    return best


def _metrics(figure: FigureSpec) -> set[str]:
    texts = [figure.y, *figure.bars.values(), *figure.tips.values()]
    return set(SHOWN_BY.get(figure.kind, ())).union(*(_calls(text) for text in texts))


def _calls(text: str) -> set[str]:
    """The functions that an expression calls."""
    tree = ast.parse(text or "0", mode="eval")
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {one.id for one in calls if isinstance(one, ast.Name)} - {"max", "min", "mean", "abs"}
