"""The tables of a report: headline results, provenance of the runs, flows that did not finish."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from penstock.analysis import (
    MeasuredRun,
    buffer_percentiles,
    jain_index,
    long_lived,
    measure_backlog,
    percentile,
    percentiles,
    queue_delay,
)
from penstock.analysis.interval import Interval, mean_interval
from penstock.analysis.runs import lazy_table
from penstock.analysis.slowdown import flow_slowdowns
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
    has_best: bool = False
    """Whether the least value of the column is the best one, and set in bold."""
    least: float = 0.0
    """No run has a smaller number, but for rounding."""


NUMBERS = [
    Column("Short flows p50", f"slowdown, ≤ {bytes_text(SHORT)}", True, 1.0),
    Column("Short flows p99", f"slowdown, ≤ {bytes_text(SHORT)}", True, 1.0),
    Column("Medium flows p99", "slowdown", True, 1.0),
    Column("Long flows mean", f"slowdown, > {bytes_text(LONG)}", True, 1.0),
    Column("All flows mean", "slowdown", True, 1.0),
    Column("Buffer p99", "of a switch", True),
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


@dataclass(frozen=True)
class Detail:
    """A further table: title, column titles, rows of text."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    words: bool = False
    """Whether the cells of its last column are sentences."""
    note: str = ""
    """What a reader has to know, below it."""


@dataclass(frozen=True)
class Headline:
    """The headline table, and the numbers of each seed behind its means."""

    rows: list[tuple[str, list[tuple[str, bool]]]]
    """Name, then per column the text and whether its mean reads as the best one does."""
    seeds: Detail
    """A row per run of a name with several; no row where nothing is repeated."""


def differences(groups: dict[str, list[MeasuredRun]]) -> list[str]:
    """What differs between runs beside scheme and seed: network, traffic, duration.

    Where anything does, numbers of one run are not better or worse than those of another.
    """
    runs = [members[0] for members in groups.values()]
    kinds = {"network": _network, "traffic": _traffic, "duration": _duration}
    return [word for word, of in kinds.items() if any(of(one) != of(runs[0]) for one in runs)]


def _network(run: MeasuredRun) -> object:
    return getattr(run.scenario, "topology", None)


def _duration(run: MeasuredRun) -> object:
    return run.scenario.duration


def _traffic(run: MeasuredRun) -> object:
    """The traffic, without its end where that is the end of the duration."""
    end = run.scenario.duration
    return [
        one.model_copy(update={"stop": None}) if getattr(one, "stop", None) == end else one
        for one in run.scenario.traffic
    ]


def headline(groups: dict[str, list[MeasuredRun]]) -> Headline:
    """The headline table of runs.

    Of several runs, which differ in their seed only, it has the mean and its 95 % interval. The
    best of a column is known only where the runs differ in nothing but their scheme. All that read
    alike are the best together, or none is, where the whole column reads alike.
    """
    differ = bool(differences(groups))
    each = {name: [_headline_values(run) for run in runs] for name, runs in groups.items()}
    values = {name: _intervals(numbers) for name, numbers in each.items()}
    best = ["" if differ else _best(column, values, at) for at, column in enumerate(NUMBERS)]
    rows = []
    for name in groups:
        cells = []
        for column, one, least in zip(NUMBERS, values[name], best, strict=True):
            text = _writer(column)
            cells.append((interval_text(one, text), bool(one.count) and text(one.mean) == least))
        cells.append((_backlog_text(groups[name]), False))
        rows.append((name, cells))
    seeds = [
        [name, str(run.scenario.seed), *(_writer(c)(n) for c, n in zip(NUMBERS, own, strict=True))]
        for name, runs in groups.items()
        if len(runs) > 1
        for run, own in zip(runs, each[name], strict=True)
    ]
    titles = ["Scheme", "Seed", *(column.title for column in NUMBERS)]
    return Headline(rows, Detail("Each seed", titles, seeds))


def _best(column: Column, values: Mapping[str, Sequence[Interval]], at: int) -> str:
    """How the best mean of a column reads; empty where no other reads otherwise."""
    means = [one[at].mean for one in values.values() if one[at].count]
    texts = {_writer(column)(mean) for mean in means}
    return _writer(column)(min(means)) if column.has_best and len(texts) > 1 else ""


def _writer(column: Column) -> Callable[[float], str]:
    return bytes_text if column.title.startswith("Buffer") else number_text


def _intervals(each: list[list[float]]) -> list[Interval]:
    """Mean and interval of each number of the headline table over runs of different seeds."""
    return [
        mean_interval(
            numbers,
            is_percentile=column.title.split()[-1] in PERCENTILES,
            least=column.least,
        )
        for column, numbers in zip(NUMBERS, zip(*each, strict=True), strict=True)
    ]


def interval_text(one: Interval, text: Callable[[float], str]) -> str:
    """A mean and its interval: "3.2 [3.0 to 3.5]"; the mean alone where there is no interval."""
    if not one.count or one.low != one.low:
        return text(one.mean)
    return f"{text(one.mean)} [{text(one.low)} to {text(one.high)}]"


def _backlog_text(runs: list[MeasuredRun]) -> str:
    found = measure_backlog(runs)
    if found is None:
        return "–"
    sign = "+" if found.growth >= 0 else ""
    grown = f"{sign}{number_text(100 * found.growth, 2)} %"
    return f"unstable, {grown}" if found.is_unstable else grown


def _headline_values(run: MeasuredRun) -> list[float]:
    flows = flow_slowdowns([run])
    every = flows.slowdown if flows.finished.all() else flows.finished_between()
    long = flows.finished_between(LONG)
    short_p50, short_p99 = percentiles(flows.finished_between(most=SHORT), [0.5, 0.99])
    return [
        short_p50,
        short_p99,
        percentile(flows.finished_between(SHORT, LONG), 0.99),
        float(long.mean()) if long.size else float("nan"),
        float(every.mean()) if every.size else float("nan"),
        buffer_percentiles([run], [0.99])[0] if run.buffers.height else float("nan"),
        float(run.summary["drops"]),
        float(run.summary["pfc_pauses"]),
        float(run.summary["queue_pauses"]),
        float(lazy_table(run, "flows").select(_IS_UNFINISHED.sum()).collect().item()),
    ]


PROVENANCE = [
    ("seed", "Seed"),
    ("digest", "Digest of the flow records"),
    ("scenario_hash", "Scenario"),
    ("version", "Version"),
    ("commit", "Commit"),
    ("flows", "Flows finished / started"),
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
        for key in ("version", "commit", "digest", "scenario_hash", "threads")
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


def details(groups: dict[str, list[MeasuredRun]]) -> list[Detail]:
    """Backlogs, queueing and shares of long-lived flows, as far as the runs have them."""
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
    backlog = [
        [name, str(run.scenario.seed), str(run.summary["stability"])]
        for name, members in groups.items()
        for run in members
        if run.summary.get("stability")
    ]
    tables = [
        Detail("Backlog", ["Scheme", "Seed", "Does the network keep up?"], backlog, words=True),
        Detail("Queueing of data packets", ["Scheme", "Traffic", "Mean", "p50", "p99"], queueing),
        Detail("Long-lived flows", ["Scheme", "Flows", "Goodput of a flow", "Fairness"], shares),
    ]
    return [table for table in tables if table.rows]


def unfinished(groups: dict[str, list[MeasuredRun]]) -> pl.DataFrame:
    """Flows that did not finish, as far as the runs name them, with what they wait for."""
    rows = [
        {"run": name if len(members) == 1 else f"{name}, seed {run.scenario.seed}", **flow}
        for name, members in groups.items()
        for run in members
        for flow in run.summary["unfinished"]
    ]
    return pl.DataFrame(rows)
