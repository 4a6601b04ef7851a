"""Numbers from runs: every figure of the plots and of the report starts as a frame made here.

What it is: pure functions from the tables of one or several runs to Polars frames and numbers.
What it is not: it draws nothing (see `penstock.plot`) and judges nothing (see
`penstock.experiments`). Invariant: a function never changes a run, and says how it treats flows
that did not finish.

Reading order: `runs` (what the analysis needs of a run, pooling of seeds), `difference` (names
for runs of one scheme), `statistic` (percentile, CDF), `slowdown`, `backlog`, `occupancy`, `link`,
`port`, `throughput`, `transient`, `workload`, `pcn_fluid` (a model, not a measurement), `deadlock`
(of networks, not of runs: the module asks the core). Why flows and jobs are slow: `path`, `pause`,
`cause`, `reason` (single flows), `job` and `request` (flows that wait for others), `bound`.
"""

from penstock.analysis.backlog import Backlog, backlog_series, measure_backlog
from penstock.analysis.bound import Bound, bus_bound
from penstock.analysis.cause import CAUSES, time_lost
from penstock.analysis.job import PARTS, CriticalPath, Job, job_labels
from penstock.analysis.link import (
    busiest_links,
    layer_summary,
    link_between,
    link_shares,
    link_window,
)
from penstock.analysis.occupancy import (
    active_flows_cdf,
    active_flows_mean,
    buffer_cdf,
    buffer_percentiles,
    share_of_time_below,
)
from penstock.analysis.port import flow_packets, packets_ccdf, pauses_by_link, queue_cdf
from penstock.analysis.reason import reasons
from penstock.analysis.request import request_labels, request_latencies, slow_requests
from penstock.analysis.runs import (
    MeasuredRun,
    RunInput,
    background_labels,
    group_runs,
    leaves_out_incasts,
    selected_flows,
)
from penstock.analysis.slowdown import (
    BINS,
    slowdown_by_label,
    slowdown_by_size,
    slowdown_cdf,
    slowdown_summary,
)
from penstock.analysis.statistic import jain_index, percentile, percentiles
from penstock.analysis.throughput import link_series, long_lived, queue_delay
from penstock.analysis.workload import bytes_by_size, share_of_bytes_below

__all__ = [
    "BINS",
    "CAUSES",
    "PARTS",
    "Backlog",
    "Bound",
    "CriticalPath",
    "Job",
    "MeasuredRun",
    "RunInput",
    "active_flows_cdf",
    "active_flows_mean",
    "background_labels",
    "backlog_series",
    "buffer_cdf",
    "buffer_percentiles",
    "bus_bound",
    "busiest_links",
    "bytes_by_size",
    "flow_packets",
    "group_runs",
    "jain_index",
    "job_labels",
    "layer_summary",
    "leaves_out_incasts",
    "link_between",
    "link_series",
    "link_shares",
    "link_window",
    "long_lived",
    "measure_backlog",
    "packets_ccdf",
    "pauses_by_link",
    "percentile",
    "percentiles",
    "queue_cdf",
    "queue_delay",
    "reasons",
    "request_labels",
    "request_latencies",
    "selected_flows",
    "share_of_bytes_below",
    "share_of_time_below",
    "slow_requests",
    "slowdown_by_label",
    "slowdown_by_size",
    "slowdown_cdf",
    "slowdown_summary",
    "time_lost",
]
