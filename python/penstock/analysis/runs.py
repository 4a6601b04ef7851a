"""What the analysis needs of a run, and how several runs are put side by side.

What it is: the `MeasuredRun` protocol (`penstock.Run` implements it), the grouping of runs by name
and the choice of flows. What it is not: loading or saving (see `penstock.results`). Invariant:
flows are chosen by the label of the traffic entry that made them, never by their size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import polars as pl

from penstock.analysis.difference import names_by_difference
from penstock.errors import nearest, refuse


class MeasuredRun(Protocol):
    """A finished run: its scenario, its summary and its tables (see docs for the columns)."""

    @property
    def scenario(self) -> Any:
        """The resolved scenario."""

    @property
    def summary(self) -> dict[str, Any]:
        """Totals, names and provenance."""

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow, endless ones included."""

    @property
    def links(self) -> pl.DataFrame:
        """One row per directed link, totals over the run."""

    @property
    def buffers(self) -> pl.DataFrame:
        """One row per sample and switch."""

    @property
    def series(self) -> pl.DataFrame:
        """One row per sample and measured link."""

    @property
    def events(self) -> pl.DataFrame:
        """One row per pause, resume and drop."""

    @property
    def packets(self) -> pl.DataFrame:
        """One row per event of a packet at a traced node."""

    @property
    def dependents(self) -> pl.DataFrame:
        """One row per flow that has waited for others and has started."""

    @property
    def requests(self) -> pl.DataFrame:
        """One row per request that was answered."""

    @property
    def jobs(self) -> pl.DataFrame:
        """One row per iteration of a collective that is over."""

    @property
    def flow_packets(self) -> pl.DataFrame:
        """How many active flows had how many packets at a link, over the samples."""

    @property
    def queue_delays(self) -> pl.DataFrame:
        """Waiting times [ns] of data packets at switches, per group of links."""

    @property
    def active_flows(self) -> pl.DataFrame:
        """Per link, the time [ns] spent with each number of active flows."""


RunInput = MeasuredRun | Sequence[MeasuredRun] | Mapping[str, Any]
"""One run, several runs, or names mapped to a run or to the runs of several seeds."""

Member = TypeVar("Member", bound=MeasuredRun)


def lazy_table(run: MeasuredRun, table: str) -> pl.LazyFrame:
    """A table of a run, of which only that is read which is used, where the run can do so."""
    scan = getattr(run, "scan", None)
    found: pl.LazyFrame = scan(table) if scan else getattr(run, table).lazy()
    return found


def group_runs(runs: RunInput) -> dict[str, list[MeasuredRun]]:
    """Put runs under the name they are shown by.

    A mapping keeps its names; its values may be one run or a sequence of runs that differ in
    their seed only, which are pooled. Otherwise a run goes by the name of its scheme, and
    repetitions are pooled. Where runs of a scheme differ in more than the seed, names say in what.

    Raises
    ------
    ScenarioError
        There is none, something else is among them, or they differ in more than a name can say.
    """
    if isinstance(runs, Mapping):
        grouped = {
            name: list(value) if isinstance(value, Sequence) else [value]
            for name, value in runs.items()
        }
        _check_runs([one for members in grouped.values() for one in members or [members]])
        return grouped
    listed = list(runs) if isinstance(runs, Sequence) and not isinstance(runs, str) else [runs]
    _check_runs(listed)
    by_scheme: dict[str, list[MeasuredRun]] = {}
    for run in listed:
        by_scheme.setdefault(str(run.scenario.scheme.name), []).append(run)
    grouped = {}
    for scheme, members in by_scheme.items():
        alike = repetitions(members) if len(members) > 1 else [members]
        names = [scheme]
        if len(alike) > 1:
            names = names_by_difference(scheme, [one[0].scenario for one in alike])
        grouped |= zip(names, alike, strict=True)
    return grouped


def _check_runs(runs: Sequence[object]) -> None:
    """Refuse what is no finished run: a scenario, the name of a directory, nothing at all."""
    for one in runs or [[]]:
        if isinstance(one, str | Path):
            message = "tables and figures are of runs, not of directories"
            raise refuse("runs", message, f"write Run.load({str(one)!r})", str(one))
        if not hasattr(one, "scenario"):
            message = "tables and figures are of finished runs"
            remedy = "write a Run, a list of runs or names mapped to runs, and at least one run"
            raise refuse("runs", message, remedy, repr(one))


def repetitions(runs: Iterable[Member]) -> list[list[Member]]:
    """Runs that differ in their seed only, together; in the order of the first of each."""
    alike: dict[str, list[Member]] = {}
    for run in runs:
        one = run.scenario.model_copy(update={"seed": 0}).content_hash()
        alike.setdefault(one, []).append(run)
    return list(alike.values())


def background_labels(run: MeasuredRun) -> list[str]:
    """Labels of the traffic entries that are not incasts.

    Slowdown is reported for these unless labels are named: the BFC paper shows incast flows apart
    (App. A.12), and they would hide the other flows of their size.
    """
    labels = [str(entry.label) for entry in run.scenario.traffic if entry.kind != "incast"]
    return labels or [str(label) for label in run.summary["labels"]]


def leaves_out_incasts(groups: Mapping[str, Sequence[MeasuredRun]]) -> bool:
    """Whether :func:`background_labels` leaves out a traffic entry of one of the runs."""
    return any(
        str(entry.label) not in background_labels(run)
        for members in groups.values()
        for run in members
        for entry in run.scenario.traffic
    )


def check_labels(groups: Mapping[str, Sequence[MeasuredRun]], labels: Sequence[str] | None) -> None:
    """Refuse labels of traffic that no run has: what is shown of them would be empty."""
    if isinstance(labels, str):
        raise refuse("labels", "labels are a list", f'write ["{labels}"]', labels)
    runs = [run for members in groups.values() for run in members]
    known = {str(label) for run in runs for label in run.summary["labels"]}
    for one in labels or ():
        if one not in known:
            raise refuse("labels", "no run has such a label", nearest(one, known), one)


def label_number(run: MeasuredRun, label: str) -> int:
    """The number of a traffic entry in the tables of a run.

    Raises
    ------
    ScenarioError
        The run has no such label.
    """
    labels = run.summary["labels"]
    if label not in labels:
        raise refuse("label", "the run has no such label", nearest(label, labels), label)
    return int(labels.index(label))


def selected_flows(
    runs: Sequence[MeasuredRun],
    *,
    labels: Sequence[str] | None = None,
    size_min: int = 0,
    size_max: int | None = None,
    finished: bool = True,
    columns: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Flows of several runs, pooled.

    Parameters
    ----------
    labels:
        Traffic labels to keep; by default all but incasts (`background_labels`).
    size_min, size_max:
        Flow sizes to keep [bytes], both ends included.
    finished:
        Whether only finished flows are kept. Flows that did not finish have no completion time;
        whoever leaves them out reports their number.
    columns:
        Columns to keep, in this order; all by default. A few are copied much faster.
    """
    frames = []
    for run in runs:
        wanted = background_labels(run) if labels is None else list(labels)
        numbers = [i for i, name in enumerate(run.summary["labels"]) if name in wanted]
        keep = pl.col("label").is_in(numbers) & (pl.col("size_bytes") >= max(size_min, 1))
        if size_max is not None:
            keep &= pl.col("size_bytes") <= size_max
        if finished:
            keep &= pl.col("finished")
        found = lazy_table(run, "flows").filter(keep)
        frames.append(found if columns is None else found.select(*columns))
    return pl.concat(pl.collect_all(frames), how="vertical_relaxed")


def caption_text(groups: dict[str, list[MeasuredRun]]) -> str:
    """Caption of a figure: "bfc-demo · 6 runs · seed 1"."""
    runs = [run for members in groups.values() for run in members]
    names = sorted({str(run.scenario.name) for run in runs})
    seeds = sorted({int(run.scenario.seed) for run in runs})
    listed = ", ".join(str(seed) for seed in seeds[:5]) + (" …" if len(seeds) > 5 else "")
    return " · ".join(
        [
            ", ".join(names[:2]) + (" …" if len(names) > 2 else ""),
            f"{len(runs)} run{'s' if len(runs) > 1 else ''}",
            f"seed{'s' if len(seeds) > 1 else ''} {listed}",
        ]
    )


def part_of(whole: Any, *names: str) -> Any:
    """A part of a part; none where there is none, as in a run of somebody else."""
    for name in names:
        whole = getattr(whole, name, None)
    return whole
