"""The vocabulary of claims about queues: collisions, how full switches get, fair shares.

As in :mod:`penstock.experiments.vocabulary`: times in microseconds, sizes in bytes, shares in
[0, 1].
"""

from __future__ import annotations

import numpy as np
import polars as pl

from penstock import analysis
from penstock.analysis.fair_share import relative_change
from penstock.experiments.vocabulary import Ends, Metric, Runs, Value, ends_of


def collision_share(runs: Runs) -> Value:
    """Share of the queued packets that joined a queue behind a packet of another flow."""
    links = pl.concat(run.links for run in runs)
    return float(links["collisions"].to_numpy().sum() / links["assignments"].to_numpy().sum())


def buffer_peak(runs: Runs) -> Value:
    """The most that a switch has stored [bytes], mean over seeds."""
    return float(np.mean([max(run.summary["buffer_peak_bytes"]) for run in runs]))


def queue_at_most(runs: Runs, *, link: Ends, most: float) -> Value:
    """Share of the samples at which at most `most` bytes are queued for a link, mean over seeds."""
    shares = []
    for run in runs:
        number = analysis.link_between(run, *ends_of(run, link))
        rows = run.series.filter(run.series["link"] == number)
        shares.append(float((rows["queue_bytes"] <= most).to_numpy().mean()))
    return float(np.mean(shares))


def fair_share_change(runs: Runs, *, span: float) -> Value:
    """Mean relative change of a flow's fair share within `span` [us] (BFC fig. 3), over seeds."""
    least = min(run.scenario.duration for run in runs) / 1e6
    if not 0 < span < least:
        raise ValueError(
            f"span={span:g} is not within the duration; write above 0, below {least:g}"
        )
    return float(np.mean([relative_change(run, span * 1e3) for run in runs]))


QUEUEING: dict[str, Metric] = {
    function.__name__: function
    for function in (collision_share, buffer_peak, queue_at_most, fair_share_change)
}
"""These metrics by the name under which expressions call them."""
