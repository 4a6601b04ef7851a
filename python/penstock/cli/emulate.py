"""The command `emulate`: a scenario in real time, with real frames."""

from __future__ import annotations

import shlex
import shutil
from enum import StrEnum
from functools import partial
from typing import Annotated

import typer

from penstock.cli.display import display
from penstock.cli.options import (
    ForceOption,
    JsonOption,
    OutOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
    default_name,
    new_page,
    out_directory,
    read_scenario,
    split_names,
)
from penstock.cli.runs import end_if_interrupted, present
from penstock.emulation.running import PROGRAMS
from penstock.emulation.running import emulate as run_in_real_time
from penstock.emulation.setting import Program, Setting
from penstock.errors import refuse
from penstock.scenario import Scenario
from penstock.storage.name import file_name
from penstock.storage.record import REPORT_FILE


class Hosts(StrEnum):
    """What hosts are."""

    KERNEL = "kernel"
    PENSTOCK = "penstock"


def emulate(
    scenario: ScenarioArgument,
    scheme: Annotated[
        str | None, typer.Option("--scheme", help="A preset, or several, separated by commas.")
    ] = None,
    hosts: Annotated[
        Hosts,
        typer.Option("--hosts", help="Linux's TCP in network namespaces, or Penstock's own hosts."),
    ] = Hosts.KERNEL,
    scale_time: Annotated[
        int,
        typer.Option(
            "--scale-time",
            min=1,
            max=1_000_000,
            help="Seconds of the machine for a second of the scenario: with 1000, 100 Gb/s and "
            "1 us of the scenario take the machine 100 Mb/s and 1 ms.",
        ),
    ] = 1,
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
    out: OutOption = None,
    force: ForceOption = False,
    seed: SeedOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario in real time: its switches between real hosts, with real frames.

    Every host is a network namespace of its own; no root is needed, and nothing stays behind.
    Several schemes run one after the other and give one table and one report. What programs print
    is in the directory beside the run, with -programs behind its name.

    Example: penstock emulate quickstart --scheme bfc,pfc --scale-time 10000 --out runs/frames
    """
    names = split_names(scheme, "--scheme") if scheme else [""]
    chosen = {}
    for name in names:
        one = read_scenario(scenario, settings=settings, seed=seed, scheme=name or None)
        chosen[one.scheme.name] = one
    base = next(iter(chosen.values()))
    if hosts is Hosts.PENSTOCK and (program or send):
        given, value = ("--program", program) if program else ("--send", send)
        message = "Penstock's own hosts have no kernel"
        raise refuse(given, message, "leave out --hosts penstock", (value or [""])[0])
    setting = Setting(
        kernels=hosts is Hosts.KERNEL,
        scale_time=scale_time,
        senders=_senders(send or []),
        programs=[_program(text, base) for text in program or []],
        forced=force,
    )
    what = f"{'-'.join(chosen) if len(chosen) == 1 else 'compare'}-frames"
    target = out_directory(out, default_name(base, what, bool(settings)))
    new_page(target / REPORT_FILE, force)
    runs = {}
    with display(chosen) as shown:
        for name, one in chosen.items():
            place = target if len(chosen) == 1 else target / file_name(name)
            run = run_in_real_time(
                one,
                setting,
                output=place.with_name(place.name + PROGRAMS),
                progress=partial(shown.update, name),
            )
            run.save(place, force=force)
            shown.finish(name, run)
            runs[name] = run
            if run.is_cancelled:
                break
    end_if_interrupted(runs, chosen)
    present(runs, target, f"{base.name} in real time: {', '.join(chosen)}", as_json)


def _program(text: str, scenario: Scenario) -> Program:
    """A program, from the command line."""
    name, is_set, command = text.partition("=")
    names = scenario.topology.node_names()[: scenario.topology.host_count()]
    host = name.removesuffix(":")
    if not is_set or host not in names:
        remedy = f"write HOST=COMMAND with a host of {names[0]} to {names[-1]}"
        raise refuse("--program", "it names no host", remedy, text)
    try:
        words = shlex.split(command)
    except ValueError as error:
        message = f"its command cannot be read: {str(error).lower()}"
        raise refuse("--program", message, "quote as in a shell", text) from None
    if not words:
        raise refuse("--program", "it has no command", "write one behind the =", text)
    if shutil.which(words[0]) is None:
        remedy = "write a name that is in PATH, or a path"
        raise refuse("--program", f"there is no program {words[0]}", remedy, text)
    return Program(names.index(host), tuple(words), awaited=not name.endswith(":"))


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
