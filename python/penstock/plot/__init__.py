"""Figures of runs, drawn with Matplotlib: functions from runs to axes.

What it is: `plot.slowdown(runs, percentile=99, ax=None) -> Axes` and similar functions. `runs` is
one run, several, or names mapped to the runs of several seeds. What it is not: it computes nothing
(the numbers come from `penstock.analysis`) and shows nothing on a screen. Invariant: no pyplot,
no rcParams; a scheme has one colour and marker in all figures (`penstock.look.LOOKS`).
"""

from penstock.plot.backlog import backlog
from penstock.plot.bars import bars
from penstock.plot.curve import curves
from penstock.plot.distribution import (
    active_flows,
    buffer,
    slowdown_distribution,
    workload_bytes,
)
from penstock.plot.link import pause_time, paused_queues, throughput, utilization
from penstock.plot.port import flow_packets, link_pauses, queue
from penstock.plot.slowdown import slowdown, slowdown_panels
from penstock.plot.timeline import timeline

OF_TABLES = ("bars", "curves", "workload_bytes")
"""The figures that show no runs."""

__all__ = [
    "active_flows",
    "backlog",
    "bars",
    "buffer",
    "curves",
    "flow_packets",
    "link_pauses",
    "pause_time",
    "paused_queues",
    "queue",
    "slowdown",
    "slowdown_distribution",
    "slowdown_panels",
    "throughput",
    "timeline",
    "utilization",
    "workload_bytes",
]
