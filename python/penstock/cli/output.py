"""What commands print: tables on standard output, words about interrupted runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from penstock import interruption
from penstock.results import Run
from penstock.runner import run_many
from penstock.scenario import Scenario
from penstock.tables import FILES

if TYPE_CHECKING:
    from penstock.report import ClaimRow

UNSTARTED_NAMED = 8
"""How many of the runs that were not made are named (our choice: a line)."""

PLAIN_WIDTH = 160
"""Columns of a table that is not shown on a terminal (our choice: a wide log)."""


def simulate(
    scenarios: Mapping[str, Scenario],
    directories: Mapping[str, Path],
    *,
    force: bool,
    jobs: int | None = None,
    check: bool = False,
) -> dict[str, Run]:
    """Runs scenarios with a display and saves each as it ends, also when interrupted."""
    from penstock.cli.display import display

    with display(scenarios) as shown:
        runs = run_many(
            scenarios,
            out=directories,
            force=force,
            oversize=force,
            jobs=jobs,
            check=check,
            on_estimate=shown.estimate,
            progress=shown.update,
            on_finished=shown.finish,
        )
    interruption.keep("the runs are kept: " + ", ".join(map(str, directories.values())))
    return runs


def print_json(value: Any) -> None:
    """Prints a value as JSON; numbers that are none become null."""
    typer.echo(json.dumps(_finite(value), indent=2, ensure_ascii=False))


def print_table(
    titles: Sequence[str], rows: Iterable[Sequence[str | Text]], *, right: int = 99
) -> None:
    """Prints a table; columns from number `right` on are aligned to the right."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for number, name in enumerate(titles):
        table.add_column(name, justify="right" if number >= right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    console().print(table)


def console() -> Console:
    """Standard output, wide enough for a table where it is no terminal."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else PLAIN_WIDTH)


def headline_table(runs: Mapping[str, Run]) -> None:
    """Prints slowdowns by size, drops, pauses, buffer and time: a row per run."""
    from penstock.readable import bytes_text
    from penstock.report.table import HEADLINE, LONG, SHORT, headline

    columns = [one.title.replace(" flows", "").replace(" ", "\n") for one in HEADLINE]
    titles = ["Run", *columns, "Time"]
    rows: list[list[str | Text]] = []
    for name, cells in headline({name: [run] for name, run in runs.items()}):
        shown = [Text(text, style="bold" if best else "") for text, best in cells]
        rows.append([name, *shown, f"{runs[name].summary['wall_seconds']:.3g} s"])
    print_table(titles, rows, right=1)
    short, long = bytes_text(SHORT), bytes_text(LONG)
    typer.echo(f"slowdown of short (up to {short}), medium, long (above {long}) and all flows")


def notes(runs: Mapping[str, Run]) -> list[str]:
    """Words below the table: what did not happen, what did not finish, what is empty."""
    words = []
    for name, run in runs.items():
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


def interrupted(runs: Iterable[Run], unstarted: Sequence[str]) -> typer.Exit:
    """Says what interrupted runs have left in their files; to be raised, exit code 1."""
    typer.echo("interrupted; what had finished is kept:", err=True)
    for run in runs:
        frames = {"flows": run.flows, "buffers": run.buffers}
        shown = ", ".join(f"{FILES[name]} {one.height:,} rows" for name, one in frames.items())
        state = "stopped at" if run.is_cancelled else "complete,"
        place = run.directory or "not saved beside an earlier, whole run"
        typer.echo(
            f"  {place}: {state} {run.summary['sim_end_ps'] / 1e9:.3f} ms simulated, "
            f"{run.summary['flows_finished']:,} of {run.summary['flows_started']:,} flows "
            f"finished; {shown}",
            err=True,
        )
    if unstarted:
        typer.echo(f"  not made: {listed(unstarted)}", err=True)
    return typer.Exit(1)


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - UNSTARTED_NAMED
    return ", ".join(names[:UNSTARTED_NAMED]) + (f" and {more} more" if more > 0 else "")


def claim_row(row: ClaimRow) -> list[str | Text]:
    """A judged claim of a paper: claim, reported, measured, tolerance, whether it holds."""
    verdict = {True: Text("yes"), False: Text("no", style="bold"), None: Text("not judged")}
    return [row.claim, row.reported, row.measured, row.tolerance, verdict[row.holds]]


def _finite(value: Any) -> Any:
    match value:
        case dict():
            return {key: _finite(one) for key, one in value.items()}
        case list() | tuple():
            return [_finite(one) for one in value]
        case float() if value != value or value in (float("inf"), float("-inf")):
            return None
        case _:
            return value
