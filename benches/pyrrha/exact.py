"""A run in exact arithmetic beside the other simulator's: how long flows take, and how often they
are paused.

Slowdowns divide by the ideal times of the ns-3 HPCC simulator (48 B of headers), on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.hpcc.case import PS
from penstock.hpcc.compare import INCAST_PORT
from penstock.hpcc.ideal import IdealTimes
from penstock.results import Run
from penstock.runner import run
from penstock.topology_file import read_topology
from pyrrha.case import flows_of, scenario_of
from pyrrha.outcome import completion_times, times_of
from pyrrha.reference import Reference

SHORT = 3_000
"""A short flow has at most so many bytes, as in that simulator's tables."""
PAYLOAD = 1_000


@dataclass(frozen=True)
class Figures:
    """What a run shows."""

    mean_us: float
    """Mean completion time [us]."""
    largest_us: float
    short: tuple[float, float, float]
    """Slowdown of short background flows: median, 95th and 99th percentile; nan without any."""
    incast: tuple[float, float, float]
    """The same of incast flows."""


def theirs(reference: Reference) -> Figures:
    """The other simulator's."""
    return _figures(reference, completion_times(reference.lines()))


def ours(reference: Reference, scheduling: str | None = None) -> Figures:
    """Ours in exact arithmetic; with another scheduler where one is named."""
    scenario = scenario_of(reference, "exact")
    if scheduling is not None:
        scenario = scenario.with_overrides({"scheme.switch.scheduling": {"kind": scheduling}})
    finished = run(scenario, progress=None)
    assert isinstance(finished, Run)
    return _figures(reference, times_of(finished))


def _figures(reference: Reference, times: dict[int, int]) -> Figures:
    ideal = IdealTimes(read_topology(reference.topology), PAYLOAD)
    short, incast = [], []
    for number, flow in enumerate(flows_of(reference)):
        slowdown = times[number] / ideal.ideal_ns(flow.source, flow.destination, flow.size)
        if flow.destination_port == INCAST_PORT:
            incast.append(slowdown)
        elif flow.size <= SHORT:
            short.append(slowdown)
    whole = list(times.values())
    mean = sum(whole) / len(whole)
    return Figures(mean / PS, max(whole) / PS, _percentiles(short), _percentiles(incast))


def _percentiles(values: list[float]) -> tuple[float, float, float]:
    ordered = sorted(values) or [float("nan")]
    median, high, highest = (ordered[int(share * len(ordered))] for share in (0.5, 0.95, 0.99))
    return median, high, highest
