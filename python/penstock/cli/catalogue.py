"""The commands `list` and `show`: what there is, and what it means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from penstock import interruption
from penstock.cli import completion, output
from penstock.cli.options import JsonOption, SchemeOption, SetOption, read_scenario
from penstock.errors import ScenarioError, nearest, refuse
from penstock.named import Folder, own_files
from penstock.storage.new_file import check_file

if TYPE_CHECKING:
    from penstock.cli.description import Description
    from penstock.scenario import Scenario

Kind = Literal["schemes", "workloads", "topologies", "scenarios", "experiments", "metrics"]
"""What can be listed."""

ENDINGS = {
    "--graph": ("picture", ".svg", ".png", ".pdf"),
    "--save-trace": ("trace", ".csv", ".csv.gz"),
}
"""What `show` writes, and how the names of these files end."""


def list_(
    kind: Annotated[Kind, typer.Argument(help="What to list.")], as_json: JsonOption = False
) -> None:
    """List schemes, workloads, topologies, scenarios, experiments or metrics.

    Files in ./schemes, ./scenarios and ./experiments of the working directory are listed, too.

    Example: penstock list schemes
    """
    rows = titles_of(kind)
    if as_json:
        output.print_json([{"name": name, "title": title} for name, title in rows.items()])
    else:
        output.print_table(["Name", "What it is"], rows.items())


def show(
    name: Annotated[
        str,
        typer.Argument(
            help="A name of `list`, or the TOML file of a kind.", autocompletion=completion.anything
        ),
    ],
    beside: Annotated[
        str | None,
        typer.Option(
            help="Another one of its kind: show the fields in which the two differ.",
            autocompletion=completion.anything,
        ),
    ] = None,
    graph: Annotated[
        Path | None,
        typer.Option(help="Draw which flow of the scenario waits for which: .svg, .png or .pdf."),
    ] = None,
    save_trace: Annotated[
        Path | None,
        typer.Option(help="Write the scenario's dependent flows as a trace: .csv or .csv.gz."),
    ] = None,
    scheme: SchemeOption = None,
    settings: SetOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files of the same name.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a scheme, workload, topology, scenario, experiment or metric: units, defaults, sources.

    Of a scenario, what a run takes is estimated; --scheme and --set change it as for `run`. Where
    flows wait for others, the first flows are shown, too. --beside puts two schemes or scenarios
    side by side.

    Example: penstock show clos-8192 --scheme afq --set load=0.8

    Example: penstock show bfc --beside bfc-srf
    """
    read = partial(read_scenario, scheme=scheme, settings=settings)
    shown = _described("NAME", name, read)
    if (scheme or settings) and shown.scenario is None:
        option = "--scheme" if scheme else "--set"
        message = f"it is no scenario, and only a scenario has fields that {option} sets"
        raise refuse("NAME", message, f"name a scenario, or leave out {option}", name)
    if beside is not None:
        from penstock.cli.difference import difference

        shown = difference(name, shown, beside, _described("--beside", beside, read))
    flows = _dependent(shown.scenario, graph, save_trace, force)
    if as_json:
        output.print_json(shown.as_json() | ({"flows": flows} if flows else {}))
    else:
        shown.print()
        if flows:
            output.print_table(["Flow", "Hosts", "Size", "Waits for"], flows)


def _described(field: str, name: str, read: Callable[[str], Scenario]) -> Description:
    """What `name` is, which somebody gave as `field`."""
    from penstock.cli.description import describe

    shown = describe(name, read)
    if shown is None:
        if Path(name).is_dir():
            raise refuse(field, "this is a directory", "name a TOML file in it", name)
        known = [one for kind in get_args(Kind) for one in titles_of(kind)]
        raise refuse(field, "there is nothing of this name", nearest(name, known), name)
    return shown


def _dependent(
    scenario: Scenario | None, graph: Path | None, trace: Path | None, force: bool
) -> list[list[str]]:
    """The first flows of a scenario that wait for others; none where no flow does.

    Draws them as `graph`, and writes all of them as `trace`, where these are given.
    """
    if scenario is None:
        if graph or trace:
            option = "--graph" if graph else "--save-trace"
            raise refuse(option, "only a scenario has flows", "name a scenario")
        return []
    asked = {"--graph": graph, "--save-trace": trace}
    for option, file in asked.items():
        if file is None:
            continue
        kind, *endings = ENDINGS[option]
        if not file.name.endswith(tuple(endings)):
            message, remedy = f"it has no ending of a {kind}", f"end it with {', '.join(endings)}"
            raise refuse(option, message, remedy, file.name)
        check_file(file, force, option)
    entries = scenario.resolve().traffic
    if not (graph or trace or any(one.kind == "collective" or _waits(one) for one in entries)):
        return []
    from penstock.dependency import FLOWS_MAX
    from penstock.dependency_graph import DependencyGraph

    if trace:
        DependencyGraph(scenario, FLOWS_MAX + 1).save_trace(trace)
    found = DependencyGraph(scenario)
    if graph:
        found.save_picture(graph)
    interruption.written(*(file for file in asked.values() if file is not None))
    return found.rows()


def _waits(entry: object) -> bool:
    """Whether flows of a resolved entry, if it lists them, wait for others."""
    from penstock.scenario.declared.traffic import ListedTraffic

    return isinstance(entry, ListedTraffic) and bool(entry.after)


def titles_of(kind: Kind) -> dict[str, str]:
    """Everything of a kind: name to what it is."""
    from penstock.cli import description
    from penstock.experiments import catalogue
    from penstock.scenario import Scenario, load_preset, preset_names, scenario_names
    from penstock.scenario.scheme import built_in_preset
    from penstock.scenario.topology import TOPOLOGIES
    from penstock.workload import WORKLOADS, find_workload

    match kind:
        case "schemes":
            found = {name: str(built_in_preset(name)["title"]) for name in preset_names()}
            return found | _own("schemes", found, lambda path: load_preset(path).get("title", ""))
        case "workloads":
            means = {one.name: find_workload(one.name).mean() for one in WORKLOADS}
            return {one.name: f"{one.title}; mean {means[one.name]:,.0f} B" for one in WORKLOADS}
        case "topologies":
            return {description.kind_of(one): description.first_line(one) for one in TOPOLOGIES}
        case "scenarios":
            found = {name: Scenario.from_name(name).description for name in scenario_names()}
            return found | _own("scenarios", found, lambda path: Scenario.load(path).description)
        case "experiments":
            found = _experiments()
            return found | _own("experiments", found, lambda path: catalogue.load(path).title)
        case "metrics":
            from penstock.experiments.expression import METRICS

            return {name: METRICS[name].meaning for name in sorted(METRICS)}


def _own(
    folder: Folder, built_in: Mapping[str, str], title: Callable[[str], str]
) -> dict[str, str]:
    """A user's files in a folder: name to what it is; by the path where the name is built in.

    A file that cannot be read is listed with the reason.
    """
    found = {}
    for name, path in own_files(folder).items():
        try:
            words = title(str(path.absolute()))
        except (ScenarioError, ValueError) as error:
            words = f"cannot be used: {error}".partition("\n")[0]
        if name not in built_in:
            found[name] = f"{words} ({path})"
        elif words != built_in[name]:
            found[f"./{path}"] = f"{words} ({path})"
    return found


def _experiments() -> dict[str, str]:
    """Every figure and table that can be run again; some are part of another's experiment."""
    from penstock.experiments import catalogue

    every = catalogue.every()
    titles = {name: one.title for name, one in every.items()}
    for name, one in every.items():
        titles |= dict.fromkeys(one.covers, f"in {name}: {one.title}")
    return {name: titles[name] for name in sorted(titles, key=catalogue.paper_order)}
