"""The command that writes a page on which a run is watched, and its part of `penstock run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock import interruption
from penstock.cli import output
from penstock.cli.directory import new_page
from penstock.cli.options import ForcePageOption, JsonOption
from penstock.readable import bytes_text, time_text
from penstock.storage.record import WATCH_FILE

if TYPE_CHECKING:
    from penstock.results import Run
    from penstock.scenario import Scenario


def watch(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="The page; default: watch.html in RUN.")
    ] = None,
    force: ForcePageOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write one HTML page on which a run can be watched.

    The page shows what the run recorded. `penstock run --watch` records all of it.

    Example: penstock watch runs/try --out try.html
    """
    from penstock.results import Run

    found = Run.load(run)
    page = write_page(found, new_page(out or run / WATCH_FILE, force, WATCH_FILE))
    interruption.written(page)
    if as_json:
        output.print_json({"watch": str(page), "run": str(run)})
    else:
        typer.echo(f"watch: {page} ({bytes_text(page.stat().st_size)})")


def write_page(run: Run, path: Path) -> Path:
    """Writes the page and says on standard error that it is being written."""
    typer.echo("writing the page to watch…", err=True)
    return run.watch(path)


def recorded(scenario: Scenario) -> Scenario:
    """The scenario with all that the page shows, and a line on standard error that says so."""
    from penstock.watch import for_watching

    chosen = for_watching(scenario)
    interval = time_text(int(chosen.measure.sample_interval) / 1_000)
    traced = "packets traced" if chosen.measure.trace else "packets not traced: the run is large"
    typer.echo(f"watch: events recorded, every link sampled each {interval}, {traced}", err=True)
    return chosen
