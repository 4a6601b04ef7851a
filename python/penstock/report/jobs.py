"""The part of a report about jobs and requests: how long they took, who was late, and why.

What it is: sentences, tables and figures out of `penstock.analysis.job` and `.request`. What it is
not: an average over seeds where a single iteration is drawn; that is of the first run of each name.
Invariant: runs without collectives and requests cost nothing here, and have no such part.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from penstock.analysis import request
from penstock.analysis.bound import Bound, bus_bound
from penstock.analysis.job import PARTS, CriticalPath, Job, job_labels
from penstock.analysis.reason import is_as_alone, reasons
from penstock.analysis.runs import MeasuredRun
from penstock.look import BLUE, GREEN, OCHRE, ORANGE, PURPLE, SKY, SLATE, VERMILION, Look
from penstock.readable import number_text, rate_text, time_text
from penstock.report.chart import Axis, Chart, View
from penstock.report.figure import ReportFigure
from penstock.report.gantt import gantt
from penstock.report.table import Detail

PART_LOOKS = dict(
    zip(
        PARTS.values(),
        (
            Look(SLATE, "o"),
            Look(OCHRE, "s"),
            Look(SKY, "^"),
            Look(VERMILION, "D"),
            Look(PURPLE, "v"),
            Look(ORANGE, "P"),
            Look(BLUE, "X"),
        ),
        strict=True,
    )
)
"""Looks of the parts of an iteration's time: quiet where nothing is lost, warm where it is."""
PATH_LOOKS = {"critical path": Look(VERMILION, "D"), "other messages": Look(GREEN, "o")}
"""Looks of the messages of a Gantt chart."""

RANKS_NAMED = 3
"""Ranks that a cell names; of more it has the number (our choice: the width of a column)."""
JOBS_MAX = 6
"""Jobs that are told in sentences and drawn (our choice: two screens of Gantt charts of three
schemes). The table has all."""

Asked = tuple[str, str, list[MeasuredRun]]
"""Requests: the name of the runs, the label of a traffic entry, the runs."""


@dataclass(frozen=True)
class JobPart:
    """What a report says of jobs and requests."""

    sentences: list[tuple[str, str]]
    """Names of jobs, and what is said of them."""
    tables: list[Detail]
    figures: list[ReportFigure]
    note: str
    """Which jobs are told and drawn, where these are not all."""


@dataclass(frozen=True)
class OneJob:
    """A collective under one name, in all runs of the name."""

    name: str
    """Of the runs: a scheme."""
    label: str
    jobs: list[Job]
    """One per run in which an iteration is over."""
    shown: str
    """The name beside others of the report."""

    @property
    def first(self) -> Job:
        """In the first run: the one that is drawn."""
        return self.jobs[0]

    @cached_property
    def path(self) -> CriticalPath:
        """The critical path of the slowest iteration of the first run."""
        return self.first.critical_path(self.first.slowest())

    @cached_property
    def iterations(self) -> pl.DataFrame:
        """All iterations that are over, of all runs."""
        return pl.concat(job.iterations for job in self.jobs)

    @cached_property
    def stragglers(self) -> pl.DataFrame:
        """Who was last in each iteration, of all runs."""
        return pl.concat(job.stragglers() for job in self.jobs)

    @cached_property
    def bound(self) -> Bound | None:
        """The bus bandwidth that the network allows."""
        return bus_bound(self.first.run, self.label)


def job_part(groups: dict[str, list[MeasuredRun]]) -> JobPart | None:
    """What a report says of jobs and requests; none where there are none."""
    jobs = _jobs(groups)
    asked = [
        (name, label, members)
        for name, members in groups.items()
        for label in request.request_labels(members[0])
    ]
    if not jobs and not asked:
        return None
    tables = [*([_iterations(jobs)] if jobs else []), *([_requests(asked)] if asked else [])]
    told, note = _told(jobs)
    figures = [*_times(told), *_lost(told, asked), *([gantt_figure(told)] if told else [])]
    return JobPart([_straggler(one) for one in told], tables, figures, note)


def _told(jobs: list[OneJob]) -> tuple[list[OneJob], str]:
    """The jobs that took longest under some name, at most `JOBS_MAX`, and a note that says so."""
    took: dict[str, float] = {}
    for one in jobs:
        took[one.label] = max(took.get(one.label, 0.0), _most(one.iterations["time_ns"]))
    if len(took) <= JOBS_MAX:
        return jobs, ""
    kept = sorted(took, key=lambda label: -took[label])[:JOBS_MAX]
    note = (
        f"{JOBS_MAX} of {len(took):,} jobs are told and drawn: those whose slowest iteration took "
        "longest. The table has all."
    )
    return [one for one in jobs if one.label in kept], note


def _jobs(groups: dict[str, list[MeasuredRun]]) -> list[OneJob]:
    labels = {name: job_labels(members[0]) for name, members in groups.items()}
    is_single = len({label for own in labels.values() for label in own}) == 1
    return [
        OneJob(
            name,
            label,
            [Job(run, label) for run in groups[name] if label in job_labels(run)],
            name if is_single else f"{name} · {label}",
        )
        for name, own in labels.items()
        for label in own
    ]


def _straggler(one: OneJob) -> tuple[str, str]:
    """Who was late in the slowest iteration, and what the critical path lost most time to."""
    path, job = one.path, one.first
    last = job.stragglers().row(by_predicate=pl.col("iteration") == path.iteration, named=True)
    times, took = one.iterations["time_ns"], time_text(path.time_ns)
    begin = f"Iteration {path.iteration}, the slowest of {times.len()}, took {took}."
    if times.len() == 1:
        begin = f"The iteration took {took}."
    elif time_text(_least(times)) == took:
        begin = f"All {times.len()} iterations took {took}; this is iteration {path.iteration}."
    waited = job.flows.row(by_predicate=pl.col("flow") == last["flow"], named=True)
    words = [
        begin,
        f"{_last_to_end(last)} waited for flow {last['flow']} (H{waited['src']}→H{waited['dst']}, "
        f"step {waited['step']}).",
    ]
    worst = path.worst
    if is_as_alone(worst["lost_ns"], worst["ideal_ns"]):
        words.append("Each message that decided the time was as fast as alone.")
    else:
        lost = time_text(float(path.steps["lost_ns"].sum()))
        words.append(
            f"The {path.steps.height:,} messages that decided the time lost {lost} in all, most "
            f"of a single one in step {worst['step']}: flow {worst['flow']} "
            f"(H{worst['src']}→H{worst['dst']}){_why(job, worst)}."
        )
    if path.late_ns > 0 and path.released_by is not None:
        words.append(
            f"Its path began {time_text(path.late_ns)} late, for it waited for flow "
            f"{path.released_by} of the iteration before."
        )
    return one.shown, " ".join(words)


def _last_to_end(last: dict[str, Any]) -> str:
    """Which rank ended last, or which ranks did at one time; the beginning of a sentence."""
    late, one = time_text(last["late_ns"]), f"{last['rank']} (H{last['host']})"
    count = len(last["ranks"])
    if count == 1:
        return f"Rank {one} ended last, {late} after the median rank; it"
    if count == last["of"]:
        return f"All {count:,} ranks ended at the same time; rank {one}, the first by number,"
    return (
        f"{count:,} of {last['of']:,} ranks ended last, at the same time and {late} after the "
        f"median rank; rank {one}, the first of them by number,"
    )


def _most_often_last(stragglers: pl.DataFrame) -> str:
    """Which ranks ended last in most iterations, and in how many: "rank 3, 2 of 2"."""
    times = Counter(rank for ranks in stragglers["ranks"].to_list() for rank in ranks)
    most = max(times.values())
    ranks = sorted(rank for rank, count in times.items() if count == most)
    if len(ranks) == 1:
        return f"rank {ranks[0]}, {most} of {stragglers.height}"
    named = f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"
    if len(ranks) == stragglers["of"].max():
        named = "all ranks"
    elif len(ranks) > RANKS_NAMED:
        named = f"{len(ranks):,} ranks"
    return f"{named}, each {most} of {stragglers.height}"


def _why(job: Job, step: dict[str, Any]) -> str:
    row = job.run.flows.filter((pl.col("flow") == step["flow"]) & pl.col("finished"))
    return f", {reasons(job.run, row)[0]}" if row.height else ""


def _iterations(jobs: list[OneJob]) -> Detail:
    rows = []
    for one in jobs:
        times, bus = one.iterations["time_ns"], _mean(one.iterations["bus_bandwidth_bps"])
        fastest, slowest = time_text(_least(times)), time_text(_most(times))
        rows.append(
            [
                one.shown,
                str(times.len()),
                time_text(_mean(times)),
                fastest if fastest == slowest else f"{fastest} to {slowest}",
                time_text(_mean(one.stragglers["spread_ns"])),
                _most_often_last(one.stragglers),
                rate_text(bus),
                rate_text(one.bound.bandwidth_bps) if one.bound else "–",
                f"{100 * bus / one.bound.bandwidth_bps:.3g} %" if one.bound else "–",
            ]
        )
    titles = ["Job", "Iterations", "Mean time", "Fastest to slowest", "From first to last rank"]
    titles += ["Most often last", "Bus bandwidth", "Upper bound", "Share of the bound"]
    formulas = dict.fromkeys(one.bound.formula for one in jobs if one.bound)
    note = (
        "From first to last rank: how long after the first rank the last one ended, mean over "
        "iterations. Most often last: the rank that ended last in most iterations, and in how "
        "many; ranks that ended at the same time count all."
    )
    if formulas:
        note += f" The upper bound of the bus bandwidth on this topology: {'; '.join(formulas)}."
    return Detail("Iterations", titles, rows, note=note)


def _mean(values: pl.Series) -> float:
    return float(values.to_numpy().mean())


def _least(values: pl.Series) -> float:
    return float(values.to_numpy().min())


def _most(values: pl.Series) -> float:
    return float(values.to_numpy().max())


def _requests(asked: list[Asked]) -> Detail:
    rows = []
    for name, label, members in asked:
        facts = [run.summary["applications"]["requests"][label] for run in members]
        rate = sum(one["rate_per_s"] for one in facts) / len(facts)
        latencies = [request.request_latencies(run, label) for run in members]
        shown = (time_text(sum(each) / len(each)) for each in zip(*latencies, strict=True))
        count = sum(int(one["latency_ns"]["count"]) for one in facts)
        rows.append([name, label, f"{count:,}", f"{number_text(rate)} /s", *shown])
    titles = ["Scheme", "Traffic", "Requests", "Rate", "p50", "p99", "p99.9"]
    note = (
        "The loop is closed: a client asks again when it has its answer, so a slow network gets "
        "fewer requests. Read the latencies beside the rate."
    )
    return Detail("Requests", titles, rows, note=note)


def _times(jobs: list[OneJob]) -> list[ReportFigure]:
    """Iteration times and bus bandwidths, a bar per scheme and job."""
    if not jobs:
        return []
    rows = []
    for one in jobs:
        row: dict[str, Any] = {"name": one.name, "job": one.label}
        for column, values, unit in (
            ("time_us", one.iterations["time_ns"], 1e3),
            ("bus_gbps", one.iterations["bus_bandwidth_bps"], 1e9),
        ):
            row[column] = _mean(values) / unit
            row |= {f"{column}_low": _least(values) / unit, f"{column}_high": _most(values) / unit}
        row["bound_gbps"] = one.bound.bandwidth_bps / 1e9 if one.bound else None
        rows.append(row)
    table = pl.DataFrame(rows)
    time = _bars(table, "time_us", Axis("Time of an iteration [µs]", zero=True))
    time = replace(time, title="How long does an iteration take?")
    words = "Mean over the iterations that are over, of all seeds."
    figures = [ReportFigure("job-time", words, time)]
    collectives = table.filter(pl.col("bound_gbps").is_not_null())
    if collectives.height:
        bus = _bars(collectives, "bus_gbps", Axis("Bus bandwidth [Gb/s]", zero=True))
        bus = replace(
            bus,
            title="How much of the network does a job use?",
            tip="bound_gbps",
            tip_words="bound of the topology",
        )
        words = "Bus bandwidth as NCCL's tests define it. The formula of the bound stands above."
        figures.append(ReportFigure("job-bandwidth", words, bus))
    return figures


def _bars(table: pl.DataFrame, column: str, y: Axis) -> Chart:
    """Bars of a mean with whiskers over the iterations, a group per job."""
    band = (f"{column}_low", f"{column}_high")
    more = ["bound_gbps"] if column == "bus_gbps" else []
    return Chart(
        title=y.title,
        table=table.select("name", "job", column, *band, *more),
        x=Axis("", scale="named", names=table["job"].unique(maintain_order=True).to_list()),
        y=y,
        along="job",
        views=[View(y.title, column, band)],
        form="bars",
        band_words="from the smallest to the largest of the iterations",
    )


def _lost(jobs: list[OneJob], asked: list[Asked]) -> list[ReportFigure]:
    """Where the time of the slowest iteration, and of slow requests, goes: stacked bars."""
    iteration, slow = "slowest iteration", "mean of the slowest 1 % of requests"
    bars = [
        (one.name, f"{one.label}: {iteration} [µs]", one.path.time_by_part(one.first.run))
        for one in jobs
    ]
    bars += [
        (name, f"{label}: {slow} [µs]", request.time_by_part(members[0], label))
        for name, label, members in asked
    ]
    rows = [
        {"scheme": name, "of": of, "part": PARTS[part], "time_us": time / 1e3}
        for name, of, parts in bars
        for part, time in parts.items()
    ]
    table = pl.DataFrame(rows).filter((pl.col("time_us") > 0).any().over("part"))
    chart = Chart(
        title="Where does the time go?",
        table=table,
        x=Axis("", scale="named", names=list(dict.fromkeys(name for name, *_ in bars))),
        y=Axis("Time [µs]", zero=True),
        along="scheme",
        views=[View("Time", "time_us")],
        form="stack",
        line="part",
        panels=["of"],
        panel_axes={of: Axis(of, zero=True) for _, of, _ in bars},
        looks={part: PART_LOOKS[part] for part in table["part"].unique(maintain_order=True)},
    )
    of_jobs = "Of jobs, the slowest iteration along its critical path. " if jobs else ""
    words = (
        f"{of_jobs}Two causes at once count once: first the time in which a port of the path was "
        "paused for the flow; then lost packets, all the rest of a flow that sent packets again; "
        "then what the run does not tell; then queues."
    )
    return [ReportFigure("time-lost", words, chart, wide=True)]


def gantt_figure(jobs: list[OneJob]) -> ReportFigure:
    """Ranks and steps of the slowest iteration of each scheme."""
    drawn = gantt([(one.shown, one.first, one.path) for one in jobs])
    words = "The slowest iteration of each scheme: when each rank's messages were under way."
    if len(drawn.shown) < drawn.ranks:
        words += (
            f" {len(drawn.shown)} of {drawn.ranks:,} ranks: those of the critical path of each "
            "scheme, and where there is room those that ended last and first."
        )
    if drawn.left_out:
        words += (
            f" {drawn.left_out:,} more ranks of critical paths have no room; they lost less time "
            "there."
        )
    if drawn.is_merged:
        words += " Messages that follow each other are drawn as one bar."
    chart = Chart(
        title="Which rank holds up the others?",
        table=drawn.table,
        x=Axis("Time since the iteration began [µs]", zero=True),
        y=Axis("", scale="named", names=[f"rank {rank}" for rank in drawn.shown[::-1]]),
        along="begin_us",
        views=[View("Messages", "rank")],
        form="spans",
        line="path",
        panels=["name"],
        until="end_us",
        said="message",
        looks=PATH_LOOKS,
    )
    return ReportFigure("gantt", words, chart, wide=True)
