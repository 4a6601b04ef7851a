"""Runs as commands make and show them: progress, results, messages about interrupted runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from penstock import interruption
from penstock.cli import output
from penstock.cli.display import display
from penstock.cli.typed import command_line
from penstock.errors import SchemeError, StorageError
from penstock.look import BLACK, looks
from penstock.presented import application_lines
from penstock.readable import bytes_text, counted, number_text
from penstock.results import Run
from penstock.scenario import Scenario
from penstock.several import run_many
from penstock.storage.checkpoint import Resumable
from penstock.storage.record import REPORT_FILE
from penstock.storage.unfinished import checkpoint_folder, how_to_resume
from penstock.tables import FILES

if TYPE_CHECKING:
    from penstock.report.table import Headline


def simulate(
    scenarios: Mapping[str, Scenario],
    directories: Mapping[str, Path],
    *,
    force: bool,
    jobs: int | None = None,
    threads: int | None = None,
    check: bool = False,
    once: bool = False,
    checkpoint_seconds: float | None = None,
    resumed: Mapping[str, Resumable] | None = None,
) -> dict[str, Run]:
    """Runs scenarios with a display and saves each as it ends, also when interrupted.

    A run in which a user's class failed is named and left out, unless it is the only one.

    Raises
    ------
    SchemeError
        A user's class failed, and there is no other run.
    """
    failed: dict[str, SchemeError] = {}
    with display(scenarios) as shown:
        runs = run_many(
            scenarios,
            out=directories,
            force=force,
            oversize=force,
            jobs=jobs,
            threads=threads,
            check=check,
            once=once,
            checkpoint_seconds=checkpoint_seconds,
            resumed=resumed,
            on_estimate=shown.estimate,
            progress=shown.update,
            on_finished=shown.finish,
            on_failed=failed.__setitem__,
        )
    for name, error in failed.items():
        if not runs:
            raise error
        typer.echo(f"failed: {name}: {error}", err=True)
    kept = [str(place) for name, place in directories.items() if name not in failed]
    interruption.keep("the runs are kept: " + ", ".join(kept))
    return runs


def run_with_frames(
    scenarios: Mapping[str, Scenario],
    directories: Mapping[str, Path],
    *,
    force: bool,
    capture: bool = False,
    watch: bool = False,
) -> dict[str, Run]:
    """Runs scenarios with real frames and a display, one after the other; saves each as it ends.

    With `watch` the display has a live table, for which standard error must be a terminal.
    """
    from penstock.cli.watching import Watching
    from penstock.emulation.several import emulate_many

    with Watching(scenarios) if watch else display(scenarios) as shown:
        return emulate_many(
            scenarios,
            out=directories,
            capture=capture,
            force=force,
            progress=shown.update,
            look=shown.look if isinstance(shown, Watching) else None,
            on_finished=shown.finish,
        )


def present(
    runs: dict[str, Run],
    target: Path,
    title: str,
    as_json: bool,
    more: Mapping[str, Any] | None = None,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Writes the report and prints the table, or everything and `more` as JSON.

    Parameters
    ----------
    groups
        Names that are shown, and the names of their runs, which differ in their seed only; by
        default each run is shown by its own.
    """
    named = groups or {name: [name] for name in runs}
    pooled = {name: [runs[one] for one in keys if one in runs] for name, keys in named.items()}
    pooled = {name: members for name, members in pooled.items() if members}
    page, results = write_report(pooled, target, title)
    interruption.written(target)
    if as_json:
        summaries: dict[str, Any] = {name: run.summary for name, run in runs.items()}
        places = {"directory": str(target), "report": str(page)}
        output.print_json(places | {"runs": summaries} | dict(more or {}))
        return
    headline_table(pooled, results)
    lines = notes(runs)
    for line in lines[:NOTES_MAX]:
        typer.echo(line)
    if len(lines) > NOTES_MAX:
        more_lines = counted(len(lines) - NOTES_MAX, "more note is", "more notes are")
        typer.echo(f"{more_lines} in summary.json of the runs")
    typer.echo(f"results: {target}\nreport:  {page}")


def write_report(
    runs: Mapping[str, list[Run]], target: Path, title: str = ""
) -> tuple[Path, Headline]:
    """Writes the report of runs that a command made; its path, and its headline table.

    Raises
    ------
    StorageError
        The disk does not take the page; says where the runs are.
    """
    from penstock.report import write
    from penstock.report.table import headline

    results = headline({name: [*members] for name, members in runs.items()})
    place = target / REPORT_FILE
    try:
        page = write(runs, place, command=command_line(), title=title, results=results)
    except StorageError as error:
        kept = (run.directory for members in runs.values() for run in members)
        directories = ", ".join(map(str, kept))
        raise StorageError(f"{error}; the runs are kept: {directories}") from None
    return page, results


LEAST_FIRST = (
    "Time",
    "Queue pauses",
    "Backlog",
    "PFC pauses",
    "Drops",
    "Unfinished",
    "Short flows p50",
    "Medium flows p99",
    "Long flows mean",
    "Buffer p99",
)
"""Columns that a narrow terminal does without, the least telling first (our choice: what remains
longest is the tail of short flows and the mean of all; of the counts, unfinished flows, which are
in no slowdown; notes tell of growing backlogs besides)."""

NOTES_MAX = 16
"""Notes that are printed below the table (our choice: with it they fit a screen of 40 lines)."""

LEGEND = {"Buffer p99": "buffer of a switch", "Backlog": "growth of the backlog, of what arrives"}
"""What columns of the table mean, besides slowdowns."""


def headline_table(runs: Mapping[str, list[Run]], results: Headline) -> None:
    """Prints slowdowns by size, drops, pauses, buffer and time: a row per name."""
    from penstock.report.table import HEADLINE, LONG, SHORT

    whole = {_broken(title): title for title in (*(one.title for one in HEADLINE), "Time")}
    styles = looks(list(runs))
    rows: list[list[str | Text]] = []
    for name, cells in results.rows:
        shown = [Text(text, style="bold" if best else "") for text, best in cells]
        colour = styles[name].colour
        title = Text(name, style="" if colour == BLACK else colour)
        seconds = sum(run.summary["wall_seconds"] for run in runs[name])
        rows.append([title, *shown, f"{number_text(seconds)} s"])
    least = [_broken(title) for title in LEAST_FIRST]
    left_out = output.print_fitting(["Run", *whole], rows, least_first=least)
    short, long = bytes_text(SHORT), bytes_text(LONG)
    typer.echo(f"slowdown of short (up to {short}), medium, long (above {long}) and all flows")
    legend = [words for title, words in LEGEND.items() if _broken(title) not in left_out]
    if legend:
        typer.echo("; ".join(legend))
    if any(len(members) > 1 for members in runs.values()):
        typer.echo("means over seeds, in brackets their 95 % intervals")
    if left_out:
        names = ", ".join(whole[title] for title in left_out)
        typer.echo(f"left out for lack of width, and in the report: {names}")


def _broken(title: str) -> str:
    """The title of a column in lines."""
    return title.replace(" flows", "").replace(" ", "\n")


def notes(runs: Mapping[str, Run]) -> list[str]:
    """Words below the table: jobs and requests, what did not happen, did not finish, is empty."""
    words = []
    for name, run in runs.items():
        words += [f"{name}: {line}" for line in application_lines(run)]
        words += [f"{name}: {note}" for note in run.summary["notes"]]
        for flow in run.summary["unfinished"][:3]:
            words.append(
                f"{name}: flow {flow['flow']} ({flow['src']} to {flow['dst']}) is unfinished, "
                f"{flow['delivered_bytes']:,} of {flow['size_bytes']:,} B delivered; "
                f"it waits for {flow['waits_for']}"
            )
    return words


def end_if_interrupted(runs: Mapping[str, Run], wanted: Iterable[str]) -> None:
    """Says what interrupted runs have left in their files, and ends with exit code 1."""
    unstarted = [name for name in wanted if name not in runs]
    if interruption.happened() or any(run.is_cancelled for run in runs.values()):
        raise interrupted(runs.values(), unstarted)


def end_if_failed(runs: Mapping[str, Run], wanted: Iterable[str]) -> None:
    """Ends with exit code 1 when not all runs were made."""
    if any(name not in runs for name in wanted):
        raise typer.Exit(1)


def interrupted(runs: Iterable[Run], unstarted: Sequence[str]) -> typer.Exit:
    """Says what interrupted runs have left in their files; to be raised, exit code 1."""
    runs = list(runs)
    kept = "what had finished is kept:" if runs else interruption.kept()
    typer.echo(f"interrupted; {kept}", err=True)
    for run in runs:
        tables = ("flows", "buffers")
        shown = ", ".join(f"{FILES[name]} {run.rows(name):,} rows" for name in tables)
        state = "stopped at" if run.is_cancelled else "complete,"
        place = run.directory or "not saved beside an earlier, whole run"
        typer.echo(
            f"  {place}: {state} {run.summary['sim_end_ps'] / 1e9:.3f} ms simulated, "
            f"{run.summary['flows_finished']:,} of {run.summary['flows_started']:,} flows "
            f"finished; {shown}",
            err=True,
        )
        if run.directory and checkpoint_folder(run.directory):
            typer.echo(f"  go on with: {how_to_resume(run.directory)}", err=True)
    if unstarted:
        typer.echo(f"  not made: {output.listed(unstarted)}", err=True)
    return typer.Exit(1)
