"""The tables of memory: networks of several sizes, and runs of several lengths."""

from __future__ import annotations

from scenarios import FABRICS, built_in, facebook, small_flows
from table import Table
from timing import Bench


def memory(bench: Bench) -> Table:
    """The most resident memory of a run with its network."""
    table = Table("memory", ("hosts", "traffic", "scheme", "peak MB", "B per host"), text_columns=3)
    small, _, large = FABRICS
    fabric = small if bench.is_smoke else large
    duration = bench.pick(fabric.duration, fabric.smoke_duration)
    rows = [
        (fabric.hosts, "60 % of Facebook's sizes", "BFC", facebook("bfc", fabric, duration)),
    ]
    if not bench.is_smoke:
        hosts, name = 65_536, "clos-65536"
        idle = {"duration": "1 ns", "drain": "1 ns"}
        rows += [
            (hosts, "none", "DCTCP", built_in(name, {"scheme": "dctcp", **idle})),
            (hosts, "none", "BFC", built_in(name, {"scheme": "bfc", **idle})),
            (hosts, "60 %, 20 us", "BFC", built_in(name, {"scheme": "bfc", "duration": "20 us"})),
        ]
    for hosts, traffic, scheme, scenario in rows:
        peak = bench.once(scenario).peak_bytes or 0
        table.add(f"{hosts:,}", traffic, scheme, f"{peak / 1e6:.0f}", f"{peak / hosts:,.0f}")
    return table


def lengths(bench: Bench) -> Table:
    """Runs of several lengths, whose rows leave them while they go on."""
    table = Table("lengths", ("traffic lasts", "flows that finished", "peak MB"))
    for duration in ("1 ms",) if bench.is_smoke else ("10 ms", "40 ms", "160 ms"):
        report = bench.once(small_flows(duration))
        table.add(duration, f"{report.runs[0].flows:,}", f"{(report.peak_bytes or 0) / 1e6:.0f}")
    return table
