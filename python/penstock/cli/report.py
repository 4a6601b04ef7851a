"""The command that writes a report of runs on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock import interruption
from penstock.cli import output
from penstock.cli.directory import new_page
from penstock.cli.options import ForcePageOption, JsonOption
from penstock.cli.typed import command_line
from penstock.errors import refuse
from penstock.storage.record import REPORT_FILE, SUMMARY_FILE, no_run, runs_in

if TYPE_CHECKING:
    from penstock.results import Run


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Run directories, or those of `compare`, which hold several."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="The page; default: report.html in the first RUN.")
    ] = None,
    force: ForcePageOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a self-contained HTML report of runs that are on disk.

    Example: penstock report runs/demo --out comparison.html
    """
    from penstock.report import write

    found = [directory for path in runs for directory in run_directories(path)]
    target = new_page(out or runs[0] / REPORT_FILE, force)
    page = write(load_runs(found), target, command=command_line())
    interruption.written(page)
    if as_json:
        output.print_json({"report": str(page), "runs": [str(path) for path in found]})
    else:
        typer.echo(f"report: {page}")


def run_directories(path: Path) -> list[Path]:
    """The run directories at a path: itself, or those in it (of a comparison)."""
    if (path / SUMMARY_FILE).is_file():
        return [path]
    inside = runs_in(path)
    if not inside:
        remedy = "name a directory that `penstock run` or `penstock compare` wrote"
        raise refuse("RUN", *no_run(path, remedy), str(path))
    return inside


def load_runs(directories: list[Path]) -> dict[str, list[Run]]:
    """The runs by the name of their scheme; by a directory where other runs have that name, too.

    Runs that differ in their seed only are repetitions and have one name.
    """
    from penstock.analysis.runs import repetitions
    from penstock.results import Run

    groups = repetitions(Run.load(path) for path in dict.fromkeys(directories))
    names = [runs[0].scenario.scheme.name for runs in groups]
    if len(set(names)) < len(names):
        names = [str(runs[0].directory) for runs in groups]
    return dict(zip(names, groups, strict=True))
