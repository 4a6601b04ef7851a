"""Numbers from runs: every figure of the plots and of the report starts as a frame made here.

What it is: pure functions from the tables of one or several runs to Polars frames and numbers.
What it is not: it draws nothing (see `penstock.plot`) and judges nothing (see
`penstock.experiments`). Invariant: a function never changes a run, and says how it treats flows
that did not finish.

Reading order: `runs` (what the analysis needs of a run, pooling of seeds), `statistic`
(percentile, CDF), `slowdown`, `backlog`, `occupancy`, `link`, `port`, `throughput`, `transient`,
`workload`, `pcn_fluid` (a model, not a measurement), `deadlock` (of networks, not of runs: the
module asks the core).
"""

from penstock.analysis.backlog import Backlog, backlog_series, measure_backlog
from penstock.analysis.link import layer_summary, link_between, link_window
from penstock.analysis.occupancy import (
    active_flows_cdf,
    active_flows_mean,
    buffer_cdf,
    buffer_percentiles,
    share_of_time_below,
)
from penstock.analysis.port import flow_packets, packets_ccdf, pauses_by_link, queue_cdf
from penstock.analysis.runs import (
    MeasuredRun,
    RunInput,
    background_labels,
    group_runs,
    selected_flows,
)
from penstock.analysis.slowdown import (
    BINS,
    slowdown_by_size,
    slowdown_cdf,
    slowdown_summary,
)
from penstock.analysis.statistic import jain_index, percentile, percentiles
from penstock.analysis.throughput import link_series, long_lived, queue_delay
from penstock.analysis.workload import bytes_by_size, share_of_bytes_below

__all__ = [
    "BINS",
    "Backlog",
    "MeasuredRun",
    "RunInput",
    "active_flows_cdf",
    "active_flows_mean",
    "background_labels",
    "backlog_series",
    "buffer_cdf",
    "buffer_percentiles",
    "bytes_by_size",
    "flow_packets",
    "group_runs",
    "jain_index",
    "layer_summary",
    "link_between",
    "link_series",
    "link_window",
    "long_lived",
    "measure_backlog",
    "packets_ccdf",
    "pauses_by_link",
    "percentile",
    "percentiles",
    "queue_cdf",
    "queue_delay",
    "selected_flows",
    "share_of_bytes_below",
    "share_of_time_below",
    "slowdown_by_size",
    "slowdown_cdf",
    "slowdown_summary",
]
