"""How fast a flow's fair share of a link changes (P. Goyal et al., BFC, NSDI 2022, fig. 3).

The fair share of a link of capacity C with N(t) flows is f(t) = C / N(t). Its relative change over
an interval I is |f(t + I) - f(t)| / f(t) = |N(t) / N(t + I) - 1|. N counts one endless flow and the
finite flows between their start and their end. So the run should have a single bottleneck, and
delays that are short against I.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.analysis.runs import MeasuredRun, lazy_table


def relative_change(run: MeasuredRun, interval_ns: float) -> float:
    """Mean over time of the relative change of the fair share within `interval_ns` [ns].

    Exact: both N(t) and N(t + I) are constant between the times at which a flow starts or ends, now
    or an interval later.
    """
    end = run.scenario.duration / 1e3 - interval_ns
    times, flows = _active(run)
    later = times - interval_ns
    edges = np.unique(np.concatenate([times, later, [0.0, end]]))
    edges = edges[(edges >= 0) & (edges <= end)]
    middle = (edges[:-1] + edges[1:]) / 2
    now = flows[np.searchsorted(times, middle, side="right")]
    then = flows[np.searchsorted(later, middle, side="right")]
    return float(np.average(np.abs(now / then - 1.0), weights=np.diff(edges)))


def _active(run: MeasuredRun) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times [ns] at which flows start or end, and N before the first and after each of them."""
    flows = lazy_table(run, "flows").select("start_ns", "fct_ns", "finished").collect()
    starts = flows["start_ns"].to_numpy()
    done = flows.filter("finished")
    ends = done["start_ns"].to_numpy() + done["fct_ns"].to_numpy()
    times = np.concatenate([starts, ends]).astype(np.float64)
    steps = np.concatenate([np.ones(starts.size), -np.ones(ends.size)])
    order = np.argsort(times, kind="stable")
    return times[order], 1.0 + np.concatenate([[0.0], np.cumsum(steps[order])])
