"""The vocabulary of claims about what happens after a moment, and about single flows and links.

As in :mod:`penstock.experiments.vocabulary`: times in microseconds; rates are in Gb/s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from penstock import analysis
from penstock.analysis import transient
from penstock.experiments.vocabulary import Ends, Metric, Runs, Value, ends_of

FOREVER = float("inf")
"""The time [us] of what does not happen within a run, and of the end of a run."""


def reaches(
    runs: Runs,
    *,
    links: Sequence[Ends],
    after: float,
    window: float,
    hold: float = 0.0,
    least: float = 0.0,
    most: float = float("inf"),
) -> Value:
    """Time [us] from `after` until some links together carry `least` to `most` [Gb/s], mean.

    The rate is the mean over a window [us] that begins then, and it stays there for `hold` [us].
    Infinite: not within the run.
    """
    ends = [ends_of(runs[0], link) for link in links]
    wanted = transient.SteadyRate(window * 1e3, hold * 1e3, least * 1e9, most * 1e9)
    times = [transient.time_until(run, ends, wanted, after_ns=after * 1e3) for run in runs]
    return float(np.mean(times)) / 1e3


def queue_falls(runs: Runs, *, link: Ends, after: float, most: float) -> Value:
    """Time [us] from `after` until a link's queue is at `most` [bytes] after its largest sample."""
    times = []
    for run in runs:
        number = analysis.link_between(run, *ends_of(run, link))
        rows = run.series.filter(run.series["link"] == number)
        time, queue = rows["time_ns"].to_numpy() / 1e3, rows["queue_bytes"].to_numpy()
        time, queue = time[time >= after], queue[time >= after]
        peak = int(queue.argmax())
        low = time[peak:][queue[peak:] <= most]
        times.append(float(low[0]) - after if low.size else FOREVER)
    return float(np.mean(times))


def pause_episode(
    runs: Runs, *, links: Sequence[Ends], after: float, until: float = FOREVER
) -> Value:
    """Time [us] from the first pause of any of some links after `after` to the end of the last.

    Pauses that begin at `until` or later do not count; mean over seeds.
    """
    ends = [ends_of(runs[0], link) for link in links]
    spans = [
        transient.pause_episode(run, ends, after_ns=after * 1e3, until_ns=until * 1e3)
        for run in runs
    ]
    return float(np.mean(spans)) / 1e3


def pauses(runs: Runs, *, link: Ends, after: float = 0.0, until: float = FOREVER) -> Value:
    """How often a link was paused between two times [us], mean over seeds."""
    ends = ends_of(runs[0], link)
    counts = [
        transient.pauses(run, ends, after_ns=after * 1e3, until_ns=until * 1e3).height
        for run in runs
    ]
    return float(np.mean(counts))


def pauses_per_ms(runs: Runs, *, link: Ends, after: float = 0.0) -> Value:
    """How often a link was paused in a ms of traffic, from a time [us] on, mean over seeds."""
    durations_us = [float(run.scenario.duration) / 1e6 for run in runs]
    return pauses(runs, link=link, after=after) * 1e3 / (float(np.mean(durations_us)) - after)


def carried(runs: Runs, *, link: Ends, after: float, until: float = FOREVER) -> Value:
    """Rate [Gb/s] of a link between two times [us], all bytes, mean over seeds."""
    rates = []
    for run in runs:
        until_ns = min(until * 1e3, float(run.scenario.duration) / 1_000)
        window = until_ns - after * 1e3
        time, rate = transient.carried_rate(run, [ends_of(run, link)], window_ns=window)
        rates.append(rate[int(np.argmin(np.abs(time - after * 1e3)))])
    return float(np.mean(rates)) / 1e9


def rate_swing(
    runs: Runs, *, links: Sequence[Ends], after: float, window: float, until: float = FOREVER
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


def goodput(runs: Runs, *, source: int) -> Value:
    """Payload [Gb/s] that the endless flows of a host deliver, mean over seeds."""
    found = analysis.long_lived(runs)
    own = found.filter(found["src"] == source)
    return float(own["goodput_bps"].sum()) / 1e9 / len(runs)


def evenness(runs: Runs, *, sources: Sequence[int] | None = None) -> Value:
    """Jain's index over what all listed flows and incasts have delivered, ended or not; mean.

    With `sources` over the flows that these hosts send.
    """
    found = [
        run.flows if sources is None else run.flows.filter(run.flows["src"].is_in(list(sources)))
        for run in runs
    ]
    return float(np.mean([analysis.jain_index(one["delivered_bytes"].to_numpy()) for one in found]))


TRANSIENTS: dict[str, Metric] = {
    function.__name__: function
    for function in (
        reaches,
        queue_falls,
        pause_episode,
        pauses,
        pauses_per_ms,
        carried,
        rate_swing,
        goodput,
        evenness,
    )
}
"""These metrics by the name under which expressions call them."""
