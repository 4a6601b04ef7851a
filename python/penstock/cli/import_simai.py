"""The command that makes a scenario of a training workload of SimAI."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from penstock import interruption
from penstock.cli import completion, output
from penstock.cli.directory import out_directory
from penstock.cli.options import JsonOption
from penstock.errors import refuse
from penstock.named import absolute, is_path
from penstock.storage.draft import write_whole
from penstock.units import TIME

if TYPE_CHECKING:
    from penstock.simai.case import Case

SCENARIOS = Path("scenarios")
"""Where the files go that were not sent elsewhere: `penstock run NAME` finds them there."""


def import_simai(
    workload: Annotated[
        Path,
        typer.Argument(
            metavar="WORKLOAD", help="SimAI's text, plain or .gz: a line for each layer."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Directory for the two files; default: scenarios/."),
    ] = None,
    iterations: Annotated[
        int, typer.Option("--iterations", min=1, help="Training iterations, one after the other.")
    ] = 1,
    layers: Annotated[
        int | None, typer.Option("--layers", min=1, help="Only so many lines, the first ones.")
    ] = None,
    topology: Annotated[
        Literal["rail", "single-switch"], typer.Option("--topology", help="The network.")
    ] = "rail",
    gpus_per_server: Annotated[
        int | None,
        typer.Option("--gpus-per-server", min=1, help="Ranks of a server, and rails; default: 8."),
    ] = None,
    scheme: Annotated[
        str,
        typer.Option(
            "--scheme",
            help="A preset of `list schemes`, or its TOML file.",
            autocompletion=completion.schemes,
        ),
    ] = "dcqcn",
    peers: Annotated[
        int,
        typer.Option(
            "--peers", min=1, help="To how many others a rank of an all-to-all sends at a time."
        ),
    ] = 4,
    force: Annotated[bool, typer.Option("--force", help="Replace files of the same name.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a scenario of a training workload of SimAI: which GPU sends when, to whom, how much.

    The scenario and its trace are two files; `penstock run NAME` runs them (docs/simai.md).

    Example: penstock import-simai gpt.txt --iterations 2
    """
    from penstock.cli.display import display, teller
    from penstock.simai.case import Choice, case_of

    choice = Choice(topology, gpus_per_server, absolute(scheme), iterations, layers, peers)
    case = case_of(workload, choice)
    # Below runs/ nobody would look for a scenario.
    directory = out_directory(out or SCENARIOS, case.name)
    files = {ending: directory / f"{case.name}.{ending}" for ending in ("csv", "toml")}
    for file in files.values():
        if file.exists() and not force:
            remedy = "name another directory, or add --force to replace it"
            raise refuse("--out", "there is a file of this name", remedy, str(file))
    with display(()) as shown:
        tell = teller(shown)
        trace = case.trace(lambda made: tell(made / case.flows, f"{made:,} messages"))
    directory.mkdir(parents=True, exist_ok=True)
    # The scenario last: where it is, its trace is whole.
    write_whole(files["csv"], trace)
    write_whole(files["toml"], case.scenario())
    interruption.written(*files.values())
    if as_json:
        output.print_json(_facts(case) | {ending: str(file) for ending, file in files.items()})
    else:
        _print(case, files)


def _facts(case: Case) -> dict[str, Any]:
    """What is to be known of the scenario, for programs."""
    return {
        "name": case.name,
        "ranks": case.workload.ranks,
        "layers": len(case.workload.layers),
        "iterations": case.choice.iterations,
        "messages": case.flows,
        "computation_before_ns": case.span.before_ns,
        "computation_after_ns": case.span.after_ns,
        "least_ns": case.span.total_ns,
    }


def _print(case: Case, files: dict[str, Path]) -> None:
    from penstock.scenario import scenario_names

    times = (case.span.total_ns, case.span.before_ns, case.span.after_ns)
    total, before, after = (TIME.format(TIME.units["ns"] * time) for time in times)
    typer.echo(f"{case.table['description']}: {case.flows:,} messages")
    typer.echo(
        f"{total} at least; in it, ranks compute {before} before the first message and {after} "
        "after the last one"
    )
    typer.echo(f"trace:    {files['csv']}\nscenario: {files['toml']}")
    is_name = files["toml"].parent == SCENARIOS and not is_path(case.name)
    means_file = is_name and case.name not in scenario_names()
    name = case.name if means_file else str(files["toml"])
    typer.echo(f"next:     {shlex.join(['penstock', 'run', name])}")
