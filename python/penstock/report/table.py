"""The tables of a report: headline results, provenance of the runs, flows that did not finish."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from penstock.analysis import (
    MeasuredRun,
    buffer_percentiles,
    jain_index,
    long_lived,
    measure_backlog,
    queue_delay,
    slowdown_summary,
)
from penstock.analysis.interval import Interval, mean_interval
from penstock.readable import bytes_text, number_text, rate_text, time_text

SHORT = 3_000
"""A short flow has at most this many bytes (BFC sec. 6.3)."""
LONG = 3_000_000
"""A long flow has more than this many bytes (BFC sec. 6.3)."""


@dataclass(frozen=True)
class Column:
    """A column of the headline table."""

    title: str
    unit: str = ""
    best: str = ""
    """"low" or "high": the best value of the column is set in bold; "" when none is best."""


NUMBERS = [
    Column("Short flows p50", f"slowdown, ≤ {bytes_text(SHORT)}", "low"),
    Column("Short flows p99", f"slowdown, ≤ {bytes_text(SHORT)}", "low"),
    Column("Medium flows p99", "slowdown", "low"),
    Column("Long flows mean", f"slowdown, > {bytes_text(LONG)}", "low"),
    Column("All flows mean", "slowdown", "low"),
    Column("Buffer p99", "of a switch", "low"),
    Column("Drops", "packets"),
    Column("PFC pauses", "frames"),
    Column("Queue pauses", "frames"),
    Column("Unfinished", "flows"),
]
"""Columns of numbers of the headline table."""

PERCENTILES = ("p50", "p99")
"""How the title of a column ends that is a percentile of its run."""

HEADLINE = [*NUMBERS, Column("Backlog", "growth, of what arrives")]
"""All columns of the headline table."""

_IS_UNFINISHED = ~pl.col("finished") & (pl.col("size_bytes") > 0)
"""Flows with an end that they did not reach; endless flows have size 0."""


def headline(groups: dict[str, list[MeasuredRun]]) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Rows of the headline table: name, then per column the text and whether it is the best.

    Of several runs, which differ in their seed only, it has the mean and its 95 % interval.
    """
    values = {name: _intervals(runs) for name, runs in groups.items()}
    rows = []
    for name in groups:
        cells = []
        for index, column in enumerate(NUMBERS):
            one = values[name][index]
            field = [v[index].mean for v in values.values() if v[index].count]
            best = bool(column.best) and len(field) > 1 and bool(one.mean == min(field))
            text = bytes_text if column.title.startswith("Buffer") else number_text
            cells.append((interval_text(one, text), best))
        cells.append((_backlog_text(groups[name]), False))
        rows.append((name, cells))
    return rows


def _intervals(runs: list[MeasuredRun]) -> list[Interval]:
    """Mean and interval of each number of the headline table over runs of different seeds."""
    each = [_headline_values([run]) for run in runs]
    return [
        mean_interval(numbers, is_percentile=column.title.split()[-1] in PERCENTILES)
        for column, numbers in zip(NUMBERS, zip(*each, strict=True), strict=True)
    ]


def interval_text(one: Interval, text: Callable[[float], str]) -> str:
    """A mean and its interval: "3.2 [3.0, 3.5]"; the mean alone where there is no interval."""
    if not one.count or one.low != one.low:
        return text(one.mean)
    return f"{text(one.mean)} [{text(one.low)}, {text(one.high)}]"


def _backlog_text(runs: list[MeasuredRun]) -> str:
    found = measure_backlog(runs)
    if found is None:
        return "–"
    grown = f"{100 * found.growth:+.2g} %"
    return f"unstable, {grown}" if found.is_unstable else grown


def _headline_values(runs: list[MeasuredRun]) -> list[float]:
    short = slowdown_summary(runs, size_max=SHORT)
    medium = slowdown_summary(runs, size_min=SHORT + 1, size_max=LONG)
    long = slowdown_summary(runs, size_min=LONG + 1)
    every = slowdown_summary(runs)
    sampled = any(run.buffers.height for run in runs)
    return [
        short["p50"],
        short["p99"],
        medium["p99"],
        long["mean"],
        every["mean"],
        buffer_percentiles(runs, [0.99])[0] if sampled else float("nan"),
        _total(runs, "drops"),
        _total(runs, "pfc_pauses"),
        _total(runs, "queue_pauses"),
        float(sum(run.flows.filter(_IS_UNFINISHED).height for run in runs)),
    ]


def _total(runs: list[MeasuredRun], key: str) -> float:
    return float(sum(run.summary[key] for run in runs))


PROVENANCE = [
    ("seed", "Seed"),
    ("digest", "Digest of the flow records"),
    ("scenario_hash", "Scenario"),
    ("version", "Version"),
    ("commit", "Commit"),
    ("flows", "Flows finished / started"),
    ("stability", "Backlog"),
    ("packet_hops", "Packet-hops"),
    ("ns_per_packet_hop", "ns per packet-hop"),
    ("wall_seconds", "Wall time [s]"),
    ("cpu_seconds", "CPU time [s]"),
    ("threads", "Threads"),
    ("peak_memory_bytes", "Peak memory"),
]
"""Rows of the provenance table: key of the run's summary and title."""


def provenance(groups: dict[str, list[MeasuredRun]]) -> tuple[list[str], list[list[str]]]:
    """Titles and rows of the provenance table, one row per run; columns nobody has are left out."""
    runs = [(name, run) for name, members in groups.items() for run in members]
    facts = [_facts(run) for _, run in runs]
    keys = [(key, title) for key, title in PROVENANCE if any(fact.get(key) for fact in facts)]
    rows = [
        [name, *(fact.get(key, "–") for key, _ in keys)]
        for (name, _), fact in zip(runs, facts, strict=True)
    ]
    return ["Run", *(title for _, title in keys)], rows


def _facts(run: MeasuredRun) -> dict[str, str]:
    summary = run.summary
    facts = {
        key: str(summary[key])
        for key in ("version", "commit", "digest", "scenario_hash", "stability", "threads")
        if summary.get(key)
    }
    for key in ("digest", "scenario_hash", "commit"):
        facts[key] = facts[key][:12] if key in facts else ""
    facts["seed"] = str(run.scenario.seed)
    facts["flows"] = f"{summary['flows_finished']:,} / {summary['flows_started']:,}"
    facts["packet_hops"] = f"{summary['packet_hops']:,}"
    for key in ("ns_per_packet_hop", "wall_seconds", "cpu_seconds"):
        if summary.get(key) is not None:
            facts[key] = number_text(float(summary[key]))
    if summary.get("peak_memory_bytes"):
        facts["peak_memory_bytes"] = bytes_text(float(summary["peak_memory_bytes"]))
    return facts


@dataclass(frozen=True)
class Detail:
    """A further table: title, column titles, rows of text."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def details(groups: dict[str, list[MeasuredRun]]) -> list[Detail]:
    """Queueing of packets and shares of long-lived flows, as far as the runs have them."""
    delay = queue_delay(groups)
    queueing = [
        [row["name"], row["label"], *(time_text(row[key]) for key in ("mean", "p50", "p99"))]
        for row in delay.iter_rows(named=True)
    ]
    flows = long_lived(groups)
    shares = []
    for (name,), rows in flows.group_by("name", maintain_order=True):
        goodput = rows["goodput_bps"].to_numpy()
        fairness = [jain_index(one["goodput_bps"].to_numpy()) for _, one in rows.group_by("seed")]
        count = rows.group_by("seed").len()["len"][0]
        mean = rate_text(float(goodput.mean()))
        shares.append([str(name), str(count), mean, number_text(sum(fairness) / len(fairness))])
    tables = [
        Detail("Queueing of data packets", ["Scheme", "Traffic", "Mean", "p50", "p99"], queueing),
        Detail("Long-lived flows", ["Scheme", "Flows", "Goodput of a flow", "Fairness"], shares),
    ]
    return [table for table in tables if table.rows]


def unfinished(groups: dict[str, list[MeasuredRun]]) -> pl.DataFrame:
    """Flows that did not finish, as far as the runs name them, with what they wait for."""
    rows = [
        {"run": name, **flow}
        for name, members in groups.items()
        for run in members
        for flow in run.summary["unfinished"]
    ]
    return pl.DataFrame(rows)
