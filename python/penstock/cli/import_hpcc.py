"""The command that runs files of the ns-3 HPCC simulator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from penstock.cli import completion, output
from penstock.cli.directory import default_name, out_directory
from penstock.cli.options import (
    CheckOption,
    ForceOption,
    JsonOption,
    OutOption,
    SetOption,
    ThreadsOption,
    read_settings,
)
from penstock.errors import refuse
from penstock.named import absolute

if TYPE_CHECKING:
    from penstock.hpcc.case import Case
    from penstock.hpcc.compare import Comparison


def import_hpcc(
    config: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CONFIG]",
            help="The simulator's config.txt; its paths begin at its own folder.",
            show_default=False,
        ),
    ] = None,
    topology: Annotated[
        Path | None, typer.Option("--topology", help="A topology file, in place of CONFIG.")
    ] = None,
    flows: Annotated[
        Path | None, typer.Option("--flows", help="A flow file, plain or .gz, with --topology.")
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option(
            "--scheme",
            help="A preset or a TOML file, with --topology; default: hpcc.",
            autocompletion=completion.schemes,
        ),
    ] = None,
    fidelity: Annotated[
        Literal["ns3-hpcc", "exact"],
        typer.Option("--fidelity", help="That simulator's arithmetic, or the exact one."),
    ] = "ns3-hpcc",
    out: OutOption = None,
    force: ForceOption = False,
    settings: SetOption = None,
    threads: ThreadsOption = None,
    check: CheckOption = False,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", metavar="FCT", help="Its fct.txt, to compare with ours."),
    ] = None,
    compare_pfc: Annotated[
        Path | None,
        typer.Option("--compare-pfc", metavar="PFC", help="Its pfc.txt, with --compare."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run the files of the ns-3 HPCC simulator; write its fct.txt and pfc.txt.

    Example: penstock import-hpcc mix/config.txt --out runs/imported --compare mix/fct.txt
    """
    from penstock.cli.runs import end_if_interrupted, present, simulate
    from penstock.hpcc import output as files

    if compare_pfc is not None and compare is None:
        raise refuse("--compare-pfc", "it compares nothing alone", "add --compare FCT")
    chosen = {"--topology": topology, "--flows": flows, "--scheme": scheme}
    case = _case(config, chosen, fidelity, read_settings(settings))
    reference = files.read_fct(compare) if compare else None
    reference_pfc = files.read_pfc(compare_pfc) if compare_pfc else None
    name = case.scenario.scheme.name
    target = out_directory(out, default_name(case.scenario, name, bool(settings)))
    runs = simulate(
        {name: case.scenario}, {name: target}, force=force, threads=threads, check=check
    )
    end_if_interrupted(runs, [name])
    fct, pfc = files.write_results(case, runs[name], target)
    more: dict[str, Any] = {
        "fct": str(target / files.FCT_FILE),
        "pfc": str(target / files.PFC_FILE),
        "left_out": case.left_out,
    }
    found = None
    if reference is not None:
        from penstock.hpcc.compare import COMPARISON_FILE, draw
        from penstock.hpcc.compare import compare as compare_tables

        found = compare_tables(fct, reference, pfc, reference_pfc)
        draw(found, target / COMPARISON_FILE, f"{case.scenario.name}: slowdown by flow size")
        more["comparison"] = found.to_json()
    present(runs, target, f"{case.scenario.name}: {name}", as_json, more)
    if not as_json:
        _print_more(case, more, found, runs[name].summary["cpu_seconds"])


def _case(
    config: Path | None,
    chosen: dict[str, Any],
    fidelity: str,
    overrides: dict[str, Any],
) -> Case:
    """The case that the arguments name: a config, or a topology and flows."""
    from penstock.hpcc.case import case_of_config, case_of_files

    if config is not None:
        for option, value in chosen.items():
            if value is not None:
                remedy = "leave out the option, or CONFIG"
                raise refuse(option, f"{config} says that already", remedy, str(value))
        return case_of_config(config, fidelity, overrides)
    topology, flows = chosen["--topology"], chosen["--flows"]
    if topology is None or flows is None:
        raise refuse("CONFIG", "it is missing", "name a config.txt, or --topology and --flows")
    named = absolute(chosen["--scheme"] or "hpcc")
    return case_of_files(topology, flows, named, fidelity, overrides)


def _print_more(
    case: Case, more: dict[str, Any], found: Comparison | None, cpu_seconds: float
) -> None:
    typer.echo(f"fct:     {more['fct']}\npfc:     {more['pfc']}")
    if case.left_out:
        typer.echo(f"{case.left_out:,} flows start after SIMULATOR_STOP_TIME and are left out")
    if found is None:
        return
    from penstock.hpcc.compare import table_rows

    titles, rows = table_rows(found)
    output.print_table(titles, rows, right=1)
    reference = "not given" if found.pauses_reference is None else f"{found.pauses_reference:,}"
    typer.echo(
        "flows that match in addresses, ports and size: "
        f"{found.flows:,}, of {found.flows_ours:,} here and {found.flows_reference:,} there"
    )
    typer.echo(
        f"{found.equal:,} of {found.flows:,} flows took the same time to the nanosecond; "
        f"pauses {found.pauses:,}, reference {reference}; {cpu_seconds:.1f} CPU seconds"
    )
