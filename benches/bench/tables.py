"""The tables of times: what is run beside what."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

from scenarios import (
    FABRICS,
    NO_POLICY,
    NOTHING_MEASURED,
    OPENING_US,
    PACKET,
    Scheme,
    bursts,
    collective,
    demo,
    facebook,
    fixed_sizes,
    host_pair,
    saturated,
)
from table import Table
from timing import Bench, Report, Times, ratio

SCHEMES = {
    "line-rate": "FIFO + line rate",
    "dctcp": "DCTCP",
    "hpcc": "HPCC",
    "bfc": "BFC",
    "homa": "Homa",
    "expresspass": "ExpressPass",
}
DEMO_SCHEMES = {
    "bfc": "BFC",
    "pfc": "PFC",
    "dctcp": "DCTCP",
    "hpcc": "HPCC",
    "sfq": "SFQ",
    "ideal-fq": "Ideal-FQ",
}
"""The schemes of `make demo`."""
BESIDE_BARE: dict[str, Scheme] = {
    "no policy": NO_POLICY,
    **{title: scheme for scheme, title in DEMO_SCHEMES.items()},
}
"""By title: what runs beside the bare loop on the demo's traffic."""
THREADED = ("bfc", "dctcp", "hpcc")
MANY, FEW = 100_000, 100
"""Open flows at a host pair."""
DUE = 10_000
"""Flows that start at one picosecond."""


def beside_bare(report: Report) -> tuple[Times, Times]:
    """The first run and the bare loop."""
    assert report.bare is not None
    return report.runs[0], report.bare


def fabrics(bench: Bench) -> Table:
    """Six schemes on three sizes of fabric, beside the bare loop."""
    headings = ("hosts", "scheme", "scheme ns", "bare loop ns", "ratio", "peak MB", "hops")
    table = Table("fabrics", headings, text_columns=2)
    for fabric in FABRICS:
        for scheme, title in SCHEMES.items():
            duration = bench.pick(fabric.duration, fabric.smoke_duration)
            report = bench.beside([facebook(scheme, fabric, duration)], bare=True)
            one, bare = beside_bare(report)
            table.add(
                f"{fabric.hosts:,}",
                title,
                f"{one.ns_per_hop:.0f}",
                f"{bare.ns_per_hop:.0f}",
                f"{one.per_hop_of(bare):.2f}",
                f"{(report.peak_bytes or 0) / 1e6:.0f}",
                f"{one.packet_hops:,}",
            )
    return table


OPERATIONS = {"ring-all-reduce": "ring all-reduce", "all-to-all": "all-to-all"}


def collectives(bench: Bench) -> Table:
    """Flows that wait for others, beside open-loop flows on the same fabric."""
    table = Table("collectives", ("operation", "scheme", "ns", "beside Facebook's", "hops"), 2)
    duration = bench.pick("1 ms", "50 us")
    for operation, title in OPERATIONS.items():
        for scheme in THREADED:
            other = facebook(scheme, FABRICS[0], duration)
            one, trace = bench.beside([collective(scheme, operation, duration), other]).runs
            table.add(
                title,
                DEMO_SCHEMES[scheme],
                f"{one.ns_per_hop:.0f}",
                f"{one.per_hop_of(trace):.2f}",
                f"{one.packet_hops:,}",
            )
    return table


def _with_measurement(table: Table, title: str, report: Report) -> None:
    """Adds a row: a run without measurement, the same run with it, and the bare loop."""
    (plain, measured), bare = report.runs, beside_bare(report)[1]
    table.add(
        title,
        f"{plain.ns_per_hop:.0f}",
        f"{bare.ns_per_hop:.0f}",
        f"{plain.per_hop_of(bare):.2f}",
        f"{ratio(measured.all_seconds, plain.all_seconds):.2f}",
        f"{plain.pauses:,}",
        f"{plain.packet_hops / plain.flows:.0f}",
    )


def demo_traffic(bench: Bench) -> Table:
    """The demo's schemes on the demo's traffic, one without a policy, and PFC under saturation."""
    headings = (
        "scheme",
        "scheme ns",
        "bare loop ns",
        "ratio",
        "measured / not measured",
        "pauses",
        "hops per flow",
    )
    table = Table("demo", headings)
    duration = bench.pick("1 ms", "20 us")
    for title, scheme in BESIDE_BARE.items():
        runs = [demo(scheme, duration, measured) for measured in (NOTHING_MEASURED, {})]
        _with_measurement(table, title, bench.beside(runs, bare=True))
    runs = [saturated(bench.pick("500 us", "20 us"), keys) for keys in (NOTHING_MEASURED, {})]
    _with_measurement(table, "PFC, saturated", bench.beside(runs, bare=True))
    return table


def open_flows(bench: Bench) -> Table:
    """Many open flows at a host pair, beside few; opening them is taken off."""
    headings = ("scheme", f"{FEW} flows ns", f"{MANY:,} flows ns", "ratio", "hops")
    table = Table("open-flows", headings)
    duration = bench.pick(50_000, 200)
    for scheme in ("bfc", "pfc", "dctcp", "hpcc"):
        flows = bench.pick(MANY, 1_000)
        cases = [(FEW, duration), (flows, duration), (flows, OPENING_US)]
        few, many, opening = bench.beside([host_pair(scheme, *case) for case in cases]).runs
        hops = many.packet_hops - opening.packet_hops
        seconds = [all - first for all, first in zip(many.seconds, opening.seconds, strict=True)]
        open_flows = replace(many, packet_hops=hops, seconds=tuple(seconds))
        table.add(
            DEMO_SCHEMES[scheme],
            f"{few.ns_per_hop:.0f}",
            f"{open_flows.ns_per_hop:.0f}",
            f"{open_flows.per_hop_of(few):.2f}",
            f"{hops:,}",
        )
    return table


def many_due(bench: Bench) -> Table:
    """Flows of one packet that start at one picosecond, beside the same flows spread evenly."""
    headings = ("hosts", "scheme", "spread ns", "at once ns", "ratio", "flows")
    table = Table("bursts", headings, text_columns=2)
    small, _, large = FABRICS
    for fabric in (small,) if bench.is_smoke else (small, large):
        for scheme in ("bfc", "dctcp"):
            due, count = bench.pick(DUE, 500), bench.pick(10, 1)
            both = [bursts(scheme, fabric, due, count, spread) for spread in (True, False)]
            spread, at_once = bench.beside(both).runs
            table.add(
                f"{fabric.hosts:,}",
                DEMO_SCHEMES[scheme],
                f"{spread.ns_per_hop:.0f}",
                f"{at_once.ns_per_hop:.0f}",
                f"{at_once.per_hop_of(spread):.2f}",
                f"{at_once.flows:,}",
            )
    return table


def per_flow(bench: Bench) -> Table:
    """Flows of one packet, beside flows of a thousand: what a flow costs beyond its packets."""
    headings = (
        "scheme",
        "hop of a long flow ns",
        "flow of one packet ns",
        "its hops",
        "flow alone ns",
        "in hops",
    )
    table = Table("flows", headings)
    for scheme in ("bfc", "pfc", "dctcp", "hpcc"):
        short = fixed_sizes(scheme, PACKET, bench.pick("1 ms", "5 us"))
        long = fixed_sizes(scheme, 1_000 * PACKET, bench.pick("2 ms", "20 us"))
        one, thousand = bench.beside([short, long]).runs
        hops = one.packet_hops / one.flows
        flow_ns = median(one.seconds) * 1e9 / one.flows
        alone = (one.per_hop_of(thousand) - 1) * hops
        table.add(
            DEMO_SCHEMES[scheme],
            f"{thousand.ns_per_hop:.0f}",
            f"{flow_ns:.0f}",
            f"{hops:.1f}",
            f"{alone * thousand.ns_per_hop:.0f}",
            f"{alone:.1f}",
        )
    return table


def threads(bench: Bench) -> Table:
    """One run on 1, 2 and 4 threads, and how far from each other the cores were."""
    ratios = ("1 / 2 threads", "1 / 4 threads", "2 / 4 threads")
    headings = ("hosts", "scheme", "1 thread ns", *ratios, "handover ns")
    table = Table("threads", headings, text_columns=2)
    for fabric in FABRICS[:1] if bench.is_smoke else FABRICS:
        for scheme in THREADED:
            duration = bench.pick(fabric.duration, fabric.smoke_duration)
            case = [facebook(scheme, fabric, duration)] * 3
            one, two, four = bench.beside(case, threads=(1, 2, 4)).runs
            table.add(
                f"{fabric.hosts:,}",
                DEMO_SCHEMES[scheme],
                f"{one.ns_per_hop:.0f}",
                f"{ratio(one.seconds, two.seconds):.2f}",
                f"{ratio(one.seconds, four.seconds):.2f}",
                f"{ratio(two.seconds, four.seconds):.2f}",
                " ".join(f"{handover:.0f}" for handover in two.handover_ns),
            )
    return table
