"""The metrics of queues: collisions, how full switches get, fair shares."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import polars as pl

from penstock.analysis.fair_share import relative_change
from penstock.analysis.port import queue_samples
from penstock.experiments.metric import Meaning, Runs, Value, metric
from penstock.experiments.vocabulary import LargestQueue, Link, ends_of


@metric("(share of packets)", most=1.0)
def collision_share(runs: Runs) -> Value:
    """Share of the queued packets that joined a queue behind a packet of another flow."""
    links = pl.concat(run.links for run in runs)
    return float(links["collisions"].to_numpy().sum() / links["assignments"].to_numpy().sum())


@metric("[bytes]")
def buffer_peak(runs: Runs) -> Value:
    """The most that a switch has stored [bytes], mean over seeds."""
    return float(np.mean([max(run.summary["buffer_peak_bytes"]) for run in runs]))


@metric("(share of samples)", most=1.0, needs="series")
def queue_at_most(runs: Runs, *, link: Link, most: LargestQueue) -> Value:
    """Share of the samples at which at most `most` bytes are queued for a link, mean over seeds.

    The samples of the traffic's time.
    """
    samples = [queue_samples(run, ends_of(run, link)) for run in runs]
    return float(np.mean([(one <= most).mean() for one in samples]))


@metric("(share of the fair share)")
def fair_share_change(
    runs: Runs, *, span: Annotated[float, Meaning("a span of time [us]")]
) -> Value:
    """Mean relative change of a flow's fair share within `span` [us] (BFC fig. 3), over seeds."""
    least = min(run.scenario.duration for run in runs) / 1e6
    if not 0 < span < least:
        raise ValueError(
            f"span={span:g} is not within the duration; write above 0, below {least:g}"
        )
    return float(np.mean([relative_change(run, span * 1e3) for run in runs]))
