"""The command that looks for deadlocks without running anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import JsonOption, ScenarioArgument, SetOption, read_scenario

if TYPE_CHECKING:
    from penstock.analysis.deadlock import Dependencies


def deadlock(
    scenario: ScenarioArgument,
    settings: SetOption = None,
    any_route: Annotated[
        bool, typer.Option("--any-route", help="Whatever routes there may be, not the shortest.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Say whether pauses can wait for each other in a cycle, and how to prevent it.

    The answer depends on the network and its shortest-path routes alone, before and after every
    outage. Cycles come with the backpressure to skip so that none is left: packets from one link to
    another through a switch, as a table and as the match table `elide` of BFC.

    Example: penstock deadlock ring
    """
    from penstock.analysis.deadlock import dependencies
    from penstock.cli import output

    one = read_scenario(scenario, settings=settings)
    found = dependencies(one, any_route=any_route, listed=as_json)
    if as_json:
        output.print_json(found.as_json())
        return
    typer.echo(
        f"{len(found.links):,} links between switches, {found.turn_count:,} buffer dependencies"
    )
    if not found.cycles:
        typer.echo("no cycle: no deadlock is possible")
        return
    _print_cycles(found)


def _print_cycles(found: Dependencies) -> None:
    from penstock.cli import output

    for number, cycle in enumerate(found.cycles, 1):
        typer.echo(f"cycle {number} of {len(found.cycles)}: {cycle.nodes} can wait for each other")
        if len(cycle.links) > len(cycle.example):
            typer.echo(f"  {len(cycle.links)} links in all: {', '.join(cycle.links)}")
    typer.echo("no cycle is left when backpressure is skipped for these packets:")
    rows = [(turn.switch, turn.first, turn.then) for turn in found.elided]
    output.print_table(["At", "From", "To"], rows)
    table = ", ".join(str(list(turn.nodes)) for turn in found.elided)
    typer.echo(f"as BFC's match table: scheme.switch.backpressure.elide = [{table}]")
    if found.down_up_suffices:
        typer.echo(
            "all of them come from a higher tier and return to one: BFC's elide_down_up skips them"
        )
