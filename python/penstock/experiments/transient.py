"""The metrics of what happens after a moment, and of single flows and links."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
import polars as pl

from penstock import analysis
from penstock.analysis import MeasuredRun, transient
from penstock.analysis.runs import lazy_table
from penstock.experiments.metric import Ends, Meaning, Runs, Value, metric
from penstock.experiments.vocabulary import (
    After,
    LargestQueue,
    Link,
    Links,
    Until,
    Window,
    ends_of,
    mean,
)

FOREVER = math.inf
"""The time [us] of what does not happen within a run, and of the end of a run."""


@metric("[µs]", needs="series")
def reaches(
    runs: Runs,
    *,
    links: Links,
    after: After,
    window: Window,
    hold: Annotated[float, Meaning("how long the rate stays there [us]")] = 0.0,
    least: Annotated[float, Meaning("the lowest rate [Gb/s]")] = 0.0,
    most: Annotated[float, Meaning("the highest rate [Gb/s]")] = math.inf,
) -> Value:
    """Time [us] from `after` until some links together carry `least` to `most` [Gb/s], mean.

    The rate is the mean over a window [us] that begins then, and it stays there for `hold` [us].
    Infinite: not within the run.
    """
    ends = [ends_of(runs[0], link) for link in links]
    wanted = transient.SteadyRate(window * 1e3, hold * 1e3, least * 1e9, most * 1e9)
    times = [transient.time_until(run, ends, wanted, after_ns=after * 1e3) for run in runs]
    return float(np.mean(times)) / 1e3


@metric("[µs]", needs="series")
def queue_falls(runs: Runs, *, link: Link, after: After, most: LargestQueue) -> Value:
    """Time [us] from `after` until a link's queue is at `most` [bytes] after its largest sample."""
    times = []
    for run in runs:
        number = analysis.link_between(run, *ends_of(run, link))
        rows = run.series.filter(run.series["link"] == number)
        time, queue = rows["time_ns"].to_numpy() / 1e3, rows["queue_bytes"].to_numpy()
        time, queue = time[time >= after], queue[time >= after]
        if not queue.size:
            raise ValueError(f"queue_falls: the run has no sample after {after:g} us")
        peak = int(queue.argmax())
        low = time[peak:][queue[peak:] <= most]
        times.append(float(low[0]) - after if low.size else FOREVER)
    return float(np.mean(times))


@metric("[µs]", needs="events")
def pause_episode(runs: Runs, *, links: Links, after: After, until: Until = FOREVER) -> Value:
    """Time [us] from the first pause of any of some links after `after` to the end of the last.

    Pauses that begin at `until` or later do not count; mean over seeds.
    """
    ends = [ends_of(runs[0], link) for link in links]
    spans = [
        transient.pause_episode(run, ends, after_ns=after * 1e3, until_ns=until * 1e3)
        for run in runs
    ]
    return float(np.mean(spans)) / 1e3


@metric("(count)", needs="events")
def pauses(runs: Runs, *, link: Link, after: After = 0.0, until: Until = FOREVER) -> Value:
    """How often a link was paused between two times [us], mean over seeds.

    Each queue, class or flow that is paused counts.
    """
    ends = ends_of(runs[0], link)
    counts = [
        transient.pauses(run, ends, after_ns=after * 1e3, until_ns=until * 1e3).height
        for run in runs
    ]
    return float(np.mean(counts))


@metric("[1/ms]", needs="events")
def pauses_per_ms(runs: Runs, *, link: Link, after: After = 0.0) -> Value:
    """How often a link was paused in a ms of traffic, from a time [us] on, mean over seeds.

    Pauses behind the duration do not count.
    """
    duration_us = float(runs[0].scenario.duration) / 1e6
    if after >= duration_us:
        raise ValueError(f"pauses_per_ms: the traffic ends at {duration_us:g} us, before `after`")
    found = pauses(runs, link=link, after=after, until=duration_us)
    return found * 1e3 / (duration_us - after)


@metric("[Gb/s]", needs="series")
def carried(runs: Runs, *, link: Link, after: After, until: Until = FOREVER) -> Value:
    """Rate [Gb/s] of a link between two times [us], all bytes, mean over seeds.

    Until the end of the traffic at most; between the samples that are nearest to the two times.
    """
    return float(np.mean([_carried(run, link, after, until) for run in runs])) / 1e9


def _carried(run: MeasuredRun, link: Ends, after: float, until: float) -> float:
    """The rate [bit/s] of a link between two times [us]."""
    until_ns = min(until * 1e3, float(run.scenario.duration) / 1_000)
    window = until_ns - after * 1e3
    time, rate = transient.carried_rate(run, [ends_of(run, link)], window_ns=max(window, 0))
    interval = float(time[1] - time[0]) if time.size > 1 else 0.0
    if window < interval or not time.size:
        raise ValueError(
            f"carried: no two samples lie between {after:g} us and {until_ns / 1e3:g} us"
        )
    return float(rate[int(np.argmin(np.abs(time - after * 1e3)))])


@metric("[Gb/s]", needs="series")
def rate_swing(
    runs: Runs, *, links: Links, after: After, window: Window, until: Until = FOREVER
) -> Value:
    """Largest less smallest rate [Gb/s] of some links together between two times [us], mean.

    A rate is the mean over a window [us] that lies between these times; windows overlap.
    """
    ends = [ends_of(runs[0], link) for link in links]
    swings = []
    for run in runs:
        time, rate = transient.carried_rate(run, ends, window_ns=window * 1e3)
        chosen = rate[(time >= after * 1e3) & (time + window * 1e3 <= until * 1e3)]
        if not chosen.size:
            raise ValueError(f"rate_swing: no window of {window} us lies behind {after} us")
        swings.append(float(chosen.max() - chosen.min()))
    return float(np.mean(swings)) / 1e9


@metric("[Gb/s]")
def goodput(runs: Runs, *, source: Annotated[int, Meaning("the number of a host")]) -> Value:
    """Payload [Gb/s] that the endless flows of a host deliver, mean over seeds."""
    found = analysis.long_lived(runs)
    own = found.filter(found["src"] == source)
    return float(own["goodput_bps"].sum()) / 1e9 / len(runs)


@metric("(Jain's index; 1: equal)", most=1.0)
def evenness(
    runs: Runs,
    *,
    sources: Annotated[
        Sequence[int], Meaning("only flows that these hosts send, by their numbers: [0, 1]")
    ]
    | None = None,
) -> Value:
    """Jain's index over the payload that each flow has delivered, ended or not; mean over seeds.

    Over all flows of the run, endless ones included, at its end; with `sources` over those that
    these hosts send.
    """
    chosen = pl.lit(True) if sources is None else pl.col("src").is_in(list(sources))
    found = [lazy_table(run, "flows").filter(chosen).select("delivered_bytes") for run in runs]
    every = (one.to_series().to_numpy() for one in pl.collect_all(found))
    return mean(analysis.jain_index(one) for one in every)
