"""The command `emulate`: a scenario in real time, with real frames."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.directory import compared, default_name, new_page, out_directory
from penstock.cli.options import (
    ForceOption,
    JsonOption,
    OutOption,
    ScenarioArgument,
    SchemesIfAnyOption,
    SeedOption,
    SetOption,
    read_scenario,
    read_schemes,
    split_names,
)
from penstock.errors import refuse
from penstock.storage.name import file_names
from penstock.storage.record import REPORT_FILE

if TYPE_CHECKING:
    from penstock.scenario import Scenario


def emulate(
    scenario: ScenarioArgument,
    scheme: SchemesIfAnyOption = None,
    hosts: Annotated[
        str | None,
        typer.Option(
            "--hosts",
            metavar="kernel|penstock|HOST,HOST...",
            help="Linux's TCP in network namespaces; Penstock's own hosts; or the hosts that have "
            "Linux's TCP while the others are Penstock's own.",
        ),
    ] = None,
    scale_time: Annotated[
        int | None,
        typer.Option(
            "--scale-time",
            help="Seconds of the machine for a second of the scenario: with 1000, 100 Gb/s and "
            "1 us of the scenario take the machine 100 Mb/s and 1 ms.",
        ),
    ] = None,
    send: Annotated[
        list[str] | None,
        typer.Option(
            "--send",
            metavar="LABEL=HOW",
            help="How kernels send the traffic with a label: a TCP of Linux (cubic, bbr, reno) or "
            "UDP at a rate of the scenario (udp:RATE).",
        ),
    ] = None,
    program: Annotated[
        list[str] | None,
        typer.Option(
            "--program",
            metavar="HOST=COMMAND",
            help="Start a program on a host; the run waits for its end. H0 has the address "
            "10.0.0.1, H1 has 10.0.0.2: 'H1=curl -s http://10.0.0.1/'. With HOST:=COMMAND the "
            "program is a server, and is ended with the run.",
        ),
    ] = None,
    capture: Annotated[
        bool,
        typer.Option(
            "--capture",
            help="Keep all frames between hosts and network for Wireshark, beside the run, with "
            ".pcapng behind its name.",
        ),
    ] = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Show a live table: what hosts send and receive, what switches hold, drops, "
            "pauses and lateness. It needs a terminal.",
        ),
    ] = False,
    out: OutOption = None,
    force: ForceOption = False,
    seed: SeedOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario in real time: its switches between real hosts, with real frames.

    Every host is a network namespace of its own; no root is needed, and nothing stays behind.
    The table `emulation` of a scenario says the same as the options; an option comes first.
    Several schemes run one after the other and give one table and one report. What programs print
    is in the directory beside the run, with -programs behind its name.

    Example: penstock emulate quickstart --scheme bfc,pfc --scale-time 10000 --out runs/frames
    """
    from penstock.cli.output import listed
    from penstock.cli.runs import end_if_interrupted, present, run_with_frames
    from penstock.storage.comparison import compared_in

    if scheme is None:
        one = read_scenario(scenario, settings=settings, seed=seed)
        chosen = {one.scheme.name: one}
    else:
        chosen = read_schemes(scenario, scheme, settings=settings, seed=seed, trace=None)
    base = next(iter(chosen.values()))
    if watch and not sys.stderr.isatty():
        remedy = "run the command in a terminal, or leave the option out"
        raise refuse("--watch", "standard error is no terminal", remedy)
    asked = _asked(base, hosts, scale_time, send or [], program or [])
    chosen = {name: one.with_overrides(asked) for name, one in chosen.items()}
    what = f"{compared(list(chosen)) if len(chosen) > 1 else next(iter(chosen))}-frames"
    target = out_directory(out, default_name(base, what, bool(settings)))
    new_page(target / REPORT_FILE, force)
    several = len(chosen) > 1
    places = {
        name: target / place if several else target for name, place in file_names(chosen).items()
    }
    below = [one.name for one in places.values()]
    with compared_in(target, below, force=force) if several else nullcontext():
        runs = run_with_frames(chosen, places, force=force, capture=capture, watch=watch)
        end_if_interrupted(runs, chosen)
    present(runs, target, f"{base.name} in real time: {listed(list(chosen))}", as_json)


def _asked(
    scenario: Scenario,
    hosts: str | None,
    scale_time: int | None,
    send: list[str],
    program: list[str],
) -> dict[str, Any]:
    """The fields of the scenario that the options set."""
    asked: dict[str, Any] = {"emulation.senders": _senders(send)}
    if hosts is not None:
        is_kind = hosts in ("kernel", "penstock")
        names = [] if is_kind else split_names(hosts, "--hosts")
        asked["emulation.hosts"] = hosts if is_kind else "penstock"
        asked["emulation.other_hosts"] = [_host(name, scenario, "--hosts") for name in names]
    if scale_time is not None:
        asked["emulation.scale_time"] = scale_time
    written = scenario.emulation.programs if scenario.emulation else ()
    programs = [one.model_dump() for one in written] + [_program(one, scenario) for one in program]
    return asked | {"emulation.programs": programs}


def _host(name: str, scenario: Scenario, option: str) -> int:
    """The number of a host, from its name."""
    names = scenario.topology.node_names()[: scenario.topology.host_count()]
    if name not in names:
        remedy = f"write a host of {names[0]} to {names[-1]}"
        raise refuse(option, "there is no such host", remedy, name)
    return names.index(name)


def _program(text: str, scenario: Scenario) -> dict[str, Any]:
    """A program, from the command line."""
    name, is_set, command = text.partition("=")
    if not is_set:
        raise refuse("--program", "it is not HOST=COMMAND", "write e.g. 'H0=ping 10.0.0.2'", text)
    host = _host(name.removesuffix(":"), scenario, "--program")
    return {"host": host, "command": command, "server": name.endswith(":")}


def _senders(given: list[str]) -> dict[str, str]:
    """The senders by label, from the command line."""
    senders = {}
    for text in given:
        label, is_set, how = text.partition("=")
        if not (label and is_set and how):
            message, remedy = "it is not LABEL=HOW", "write e.g. background=cubic"
            raise refuse("--send", message, remedy, text)
        if label in senders:
            raise refuse("--send", "its label was given before", "give each label once", text)
        senders[label] = how
    return senders
