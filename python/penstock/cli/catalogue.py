"""The commands `list` and `show`: what there is, and what it means."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from penstock.cli import description, output
from penstock.cli.options import JsonOption
from penstock.errors import nearest, refuse
from penstock.experiments import catalogue
from penstock.scenario import Scenario, load_preset, preset_names, scenario_names
from penstock.scenario.topology import TOPOLOGIES
from penstock.workload import WORKLOADS, find_workload

Kind = Literal["schemes", "workloads", "topologies", "scenarios", "experiments"]
"""What can be listed."""


def list_(
    kind: Annotated[Kind, typer.Argument(help="What to list.")], as_json: JsonOption = False
) -> None:
    """List schemes, workloads, topologies, scenarios or experiments.

    Example: penstock list schemes
    """
    rows = titles_of(kind)
    if as_json:
        output.print_json([{"name": name, "title": title} for name, title in rows.items()])
    else:
        output.print_table(["Name", "What it is"], rows.items())


def show(
    name: Annotated[str, typer.Argument(help="A name of `list`, or a scenario's TOML file.")],
    as_json: JsonOption = False,
) -> None:
    """Show a scheme, workload, topology, scenario or experiment with units, defaults and sources.

    Example: penstock show bfc
    """
    shown = description.describe(name)
    if shown is None:
        known = [one for kind in description.KINDS for one in titles_of(kind)]
        raise refuse("NAME", "there is nothing of this name", nearest(name, known), name)
    if as_json:
        output.print_json(shown.as_json())
    else:
        shown.print()


def titles_of(kind: Kind) -> dict[str, str]:
    """Everything of a kind: name to what it is."""
    match kind:
        case "schemes":
            return {name: load_preset(name)["title"] for name in preset_names()}
        case "workloads":
            means = {one.name: find_workload(one.name).mean() for one in WORKLOADS}
            return {one.name: f"{one.title}; mean {means[one.name]:,.0f} B" for one in WORKLOADS}
        case "topologies":
            return {description.kind_of(one): description.first_line(one) for one in TOPOLOGIES}
        case "scenarios":
            return {name: Scenario.from_name(name).description for name in scenario_names()}
        case "experiments":
            return _experiments()


def _experiments() -> dict[str, str]:
    """Every figure and table that can be run again; some are part of another's experiment."""
    titles = {name: catalogue.load(name).title for name in catalogue.identifiers()}
    parts = {other: f"in {name}: {titles[name]}" for other, name in catalogue.covered().items()}
    every = titles | parts
    return {name: every[name] for name in sorted(every, key=catalogue.paper_order)}
