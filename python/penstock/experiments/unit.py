"""What stands at an axis that shows an expression: what it measures, with its unit.

What it is not: a check of units in sums and products; of an expression that is no single metric no
unit is told. Invariant: every metric has an entry.
"""

from __future__ import annotations

import ast

from penstock.experiments.checked import short_name, statistic_of_call

_ALONE, _JAIN = "(1: as fast as alone)", "(Jain's index; 1: equal)"
_BYTES, _FLOWS, _RATE, _TIME = "[bytes]", "[flows]", "[Gb/s]", "[µs]"
_PER_MS, _PER_SECOND = "[1/ms]", "[1/s]"

UNITS = {
    "slowdown": _ALONE,
    "slowdown_by_bin": _ALONE,
    "normalized_fct": "(1: as on an idle network)",
    "fct": _TIME,
    "incast_time": _TIME,
    "delay": _TIME,
    "packet_delay": _TIME,
    "long_flow_share": "(share of the link's rate)",
    "left_over_share": "(share of the rate that is left)",
    "fairness": _JAIN,
    "iteration_time": _TIME,
    "bus_bandwidth": _RATE,
    "request_latency": _TIME,
    "request_rate": _PER_SECOND,
    "busy": "(share of time)",
    "queue": _BYTES,
    "buffer": _BYTES,
    "active_flows": _FLOWS,
    "time_below": "(share of time)",
    "core_delay": _TIME,
    "pause_time": "(share of time)",
    "pause_rate": _PER_MS,
    "completion_rate": _PER_SECOND,
    "completion_rate_to_the_last": _PER_SECOND,
    "deadlocked": "(share of runs)",
    "link_pause": _TIME,
    "utilization": "(share of time)",
    "flows_above": "(share of active flows)",
    "misestimated": "(share of packets)",
    "total": "",
    "drop_share": "(share of packets)",
    "wasted_credits": "(share of credits)",
    "unfinished": "(share of flows)",
    "is_unstable": "(1: yes, 0: no)",
    "backlog_growth": "(share of what arrives)",
    "collision_share": "(share of packets)",
    "buffer_peak": _BYTES,
    "queue_at_most": "(share of samples)",
    "fair_share_change": "(share of the fair share)",
    "reaches": _TIME,
    "queue_falls": _TIME,
    "pause_episode": _TIME,
    "pauses": "(count)",
    "pauses_per_ms": _PER_MS,
    "carried": _RATE,
    "rate_swing": _RATE,
    "goodput": _RATE,
    "evenness": _JAIN,
}
"""Metric -> the unit of its numbers in brackets, or of what they are shares."""

COUNTED = {"drops": "[packets]", "pfc_pauses": "[frames]", "queue_pauses": "[frames]"}
"""Count of a run's summary -> its unit; the names of others tell what is counted."""


def axis_title(text: str) -> str:
    """What an expression that is right measures, with its unit: "fct, p99 [µs]".

    An expression that is no single call is told as it is written.
    """
    body = ast.parse(text, mode="eval").body
    if not isinstance(body, ast.Call) or not isinstance(body.func, ast.Name):
        return text
    name = body.func.id
    if name == "total":
        counted = next(str(ast.literal_eval(one.value)) for one in body.keywords)
        return f"{counted.replace('_', ' ')} {COUNTED.get(counted, '')}".strip()
    statistic = statistic_of_call(body)
    # How many values there are has no unit, and a spread is not 1 where nothing waits.
    is_plain = statistic == "count" or (statistic == "deviation" and UNITS.get(name) == _ALONE)
    return f"{short_name(text)} {'' if is_plain else UNITS.get(name, '')}".strip()
