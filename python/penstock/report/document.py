"""Puts figures, tables, scenarios and provenance into one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import polars as pl

from penstock.analysis import (
    MeasuredRun,
    RunInput,
    group_runs,
    leaves_out_incasts,
    measure_backlog,
)
from penstock.analysis.runs import caption_text
from penstock.lossless import loss_notes
from penstock.report.busiest import busy_links
from penstock.report.figure import ReportFigure
from penstock.report.frame import render
from penstock.report.jobs import job_part
from penstock.report.section import STANDARD
from penstock.report.slow import slow_flows
from penstock.report.table import (
    HEADLINE,
    Headline,
    details,
    differences,
    headline,
    provenance,
    unfinished,
)
from penstock.report.traffic import by_traffic, traffic_figure, traffic_table
from penstock.report.verdict import ClaimRow
from penstock.results import SCENARIO_FILE
from penstock.storage.draft import write_whole
from penstock.storage.unfinished import checkpoint_folder, how_to_resume
from penstock.tables import deadlock_notes

SCENARIOS_MAX = 12
"""Scenarios written out in full; our choice: the runs' own directories hold all of them."""

LINE_WIDTH = 1_000
"""Characters of a scenario's line; our choice: twice the longest of a built-in scenario."""

LIST_ROWS_MAX = 20
"""Rows of a scenario's list, such as the flows of a trace; our choice: enough to know the trace."""

ROWS_MAX = 24
"""Rows of the headline table; our choice: a sweep of more points is told by its curves."""


def write(
    runs: RunInput,
    path: str | Path,
    command: str = "",
    title: str = "",
    *,
    lead: str = "",
    claims: Sequence[ClaimRow] = (),
    figures: Sequence[ReportFigure] | None = None,
    notes: Sequence[str] = (),
    results: Headline | None = None,
) -> Path:
    """Write a self-contained HTML report of one or many runs.

    Parameters
    ----------
    path:
        The page, or a directory, in which case it is called `report.html`. Written to a
        neighbouring file first, so that an interrupted write leaves no half page.
    command:
        The exact command that made the runs, shown to be copied.
    lead:
        Paragraph under the title.
    claims:
        Claims of a paper, shown first.
    figures:
        Figures to show; by default the standard ones, as far as there are data.
    notes:
        What the page does not show, and why.
    results:
        The headline table of the runs, where the caller has made it.
    """
    groups = group_runs(runs) if runs else {}  # a page of claims may have none
    target = Path(path)
    if target.is_dir() or not target.suffix:
        target = target / "report.html"
    missing = list(notes)
    is_standard = figures is None
    jobs = job_part(groups) if is_standard else None
    entries = by_traffic(groups) if is_standard else pl.DataFrame()
    shown = list(figures) if figures is not None else _standard_figures(groups, entries, missing)
    own = jobs.figures if jobs else []
    provenance_titles, provenance_rows = provenance(groups)
    results = results or headline(groups)
    tables = [results.seeds, *details(groups)] if 0 < len(groups) <= ROWS_MAX else []
    if is_standard:
        tables = [traffic_table(entries), slow_flows(groups), busy_links(groups), *tables]
    page = render(
        "report.html.j2",
        [figure.as_json() for figure in [*own, *shown]],
        caption_text(groups),
        title=title or " · ".join(sorted({str(m[0].scenario.name) for m in groups.values()})),
        lead=lead,
        subtitle=caption_text(groups),
        command=command,
        stopped=_stopped(groups),
        headline_columns=HEADLINE,
        headline_rows=results.rows if len(groups) <= ROWS_MAX else [],
        incasts_left_out=leaves_out_incasts(groups),
        losses=_losses(groups),
        differences=" and ".join(differences(groups)),
        claims=claims,
        notes=missing + _unstable(groups),
        jobs=jobs,
        details=[table for table in tables if table.rows],
        unfinished=unfinished(groups).rows(named=True),
        scenarios=_scenarios(groups),
        provenance_titles=provenance_titles,
        provenance_rows=provenance_rows,
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, page)
    return target


def _standard_figures(
    groups: dict[str, list[MeasuredRun]], entries: pl.DataFrame, missing: list[str]
) -> list[ReportFigure]:
    """Draw the standard figures; what cannot be drawn is added to `missing` in words."""
    figures = []
    results = [section(groups) for section in STANDARD.values()]
    results.insert(1, traffic_figure(entries))  # behind the slowdowns that it splits
    for result in results:
        if isinstance(result, str):
            missing.append(result)
        else:
            figures.append(result)
    return figures


def _stopped(groups: dict[str, list[MeasuredRun]]) -> list[tuple[str, str]]:
    """What is said of runs that ended early, and the command with which each goes on, if any."""
    found = []
    for name, members in groups.items():
        for run in members:
            found += [
                (f"{name}, seed {run.scenario.seed}: {note}.", "")
                for note in deadlock_notes(run.summary)
            ]
            if not run.summary["cancelled"]:
                continue
            end, duration = run.summary["sim_end_ps"] / 1e9, run.scenario.duration / 1e9
            words = (
                f"{name}, seed {run.scenario.seed}: the run was stopped at {end:.3f} ms of "
                f"simulated time; its traffic lasts {duration:.6g} ms."
            )
            directory: Path | None = getattr(run, "directory", None)
            command = how_to_resume(directory) if directory and checkpoint_folder(directory) else ""
            found.append((words, command))
    return found


def _losses(groups: dict[str, list[MeasuredRun]]) -> list[tuple[str, str]]:
    """What is said of packets that should not have been lost: the first run of each group."""
    found = []
    for name, members in groups.items():
        told = ((run.scenario.seed, loss_notes(run)) for run in members)
        seed, notes = next((one for one in told if one[1]), (0, []))
        found += [(f"{name}, seed {seed}", words) for words in notes]
    return found


def _cut(line: str) -> str:
    left_out = len(line) - LINE_WIDTH
    return line if left_out <= 0 else f"{line[:LINE_WIDTH]} # and {left_out:,} characters"


def _unstable(groups: dict[str, list[MeasuredRun]]) -> list[str]:
    found = {name: measure_backlog(members) for name, members in groups.items()}
    return [
        f"{name}: the steady state, for there is none. {one.words[0].upper()}{one.words[1:]}; what "
        "is shown is of the flows that finished, and depends on the length of the run."
        for name, one in found.items()
        if one and one.is_unstable
    ]


def _scenarios(groups: dict[str, list[MeasuredRun]]) -> list[tuple[str, str]]:
    """Name and complete scenario of each group's first run, of at most `SCENARIOS_MAX` groups."""
    return [
        (f"{name}, seed {members[0].scenario.seed}", _scenario_text(members[0]))
        for name, members in list(groups.items())[:SCENARIOS_MAX]
    ]


def _scenario_text(run: MeasuredRun) -> str:
    """The scenario as TOML: that of the run's directory, which need not be written once more."""
    directory = getattr(run, "directory", None)
    if directory is None:
        return shortened(str(run.scenario.to_toml()))
    return shortened(Path(directory, SCENARIO_FILE).read_text("utf-8"))


def shortened(scenario: str) -> str:
    """A scenario as TOML without most of its long lists, which are as large as a trace."""
    kept: list[str] = []
    for is_listed, found in groupby(scenario.splitlines(), lambda line: line.startswith("  ")):
        lines = list(found)
        left_out = len(lines) - LIST_ROWS_MAX if is_listed else 0
        if left_out > 0:
            more = f"  # and {left_out:,} rows: see {SCENARIO_FILE} of the run"
            lines[LIST_ROWS_MAX:] = [more]
        kept += [_cut(line) for line in lines]
    return "\n".join(kept) + "\n"
