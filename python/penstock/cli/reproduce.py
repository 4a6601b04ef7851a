"""The command that holds a paper's figure or table against a run of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from penstock import experiments
from penstock.cli import output
from penstock.cli.display import display
from penstock.cli.options import JobsOption, JsonOption, OutOption, out_directory
from penstock.errors import nearest, refuse
from penstock.results import Run
from penstock.runner import run_many


def reproduce(
    experiment: Annotated[str, typer.Argument(metavar="ID", help="Of `list experiments`.")],
    scale: Annotated[
        Literal["quick", "paper"], typer.Option("--scale", help="How much is simulated.")
    ] = "quick",
    out: OutOption = None,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a paper's figure or table and hold it against what the paper reports.

    Example: penstock reproduce bfc/fig10 --scale quick
    """
    known = experiments.identifiers()
    if experiment not in known:
        raise refuse("ID", "there is no such experiment", nearest(experiment, known), experiment)
    target = out_directory(out, f"{experiment}-{scale}")
    made: list[str] = []
    with display(()) as shown:

        def count(finished: int, every: int, name: str) -> None:
            made.append(name)
            shown.count(finished, every, name)

        runner = partial(run_many, progress=shown.update)
        try:
            done = experiments.reproduce(experiment, scale, target, jobs, count, runner=runner)
        except KeyboardInterrupt:
            raise output.interrupted(_saved(target, made), ["claims, figures, report"]) from None
    if as_json:
        typer.echo(done.to_json())
    else:
        titles = ["Claim", "Reported", "Measured", "Tolerance", "Holds"]
        output.print_table(titles, (output.claim_row(one.row()) for one in done.judgements))
        typer.echo(f"report: {done.report}")
    unmade = [cell.name for cell in done.cells if cell.run is None and not cell.missing]
    if unmade:
        unstarted = [name for name in unmade if name not in made]
        raise output.interrupted(_saved(target, made), unstarted)


def _saved(target: Path, names: list[str]) -> list[Run]:
    """The runs of these names, from their directories."""
    return [Run.load(target / "runs" / name) for name in names]
