"""The commands that simulate: `run` one scenario, `compare` several schemes on the same traffic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.directory import compared, default_name, new_page, out_directory
from penstock.cli.options import (
    CheckOption,
    CheckpointOption,
    ForceOption,
    JobsOption,
    JsonOption,
    OnceOption,
    OutOption,
    ScenarioArgument,
    SchemeOption,
    SchemesOption,
    SeedOption,
    SetOption,
    ThreadsOption,
    TraceOption,
    WatchOption,
    checkpoint_seconds,
    read_scenario,
    read_schemes,
    read_settings,
)
from penstock.errors import refuse
from penstock.storage.name import file_names
from penstock.storage.record import REPORT_FILE, WATCH_FILE

FRAMES = " with frames"
"""What is added to a scheme's name for its run with real frames."""


def run(
    scenario: ScenarioArgument,
    scheme: SchemeOption = None,
    out: OutOption = None,
    force: ForceOption = False,
    seed: SeedOption = None,
    settings: SetOption = None,
    threads: ThreadsOption = None,
    check: CheckOption = False,
    once: OnceOption = False,
    trace: TraceOption = None,
    checkpoint: CheckpointOption = None,
    watch: WatchOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run one scenario and write a run directory.

    Example: penstock run quickstart --scheme dctcp --set load=0.7 --out runs/one
    """
    from penstock.cli.runs import end_if_interrupted, present, simulate
    from penstock.cli.watch import recorded, write_page

    every = checkpoint_seconds(checkpoint)
    chosen = read_scenario(scenario, settings=settings, seed=seed, trace=trace, scheme=scheme)
    if watch:
        chosen = recorded(chosen)
    name = chosen.scheme.name
    target = out_directory(out, default_name(chosen, name, bool(settings or trace or watch)))
    places = {name: target}
    runs = simulate(
        {name: chosen},
        places,
        force=force,
        threads=threads,
        check=check,
        once=once,
        checkpoint_seconds=every,
    )
    end_if_interrupted(runs, [name])
    page = write_page(runs[name], target / WATCH_FILE) if watch else None
    more = {"watch": str(page)} if page else {}
    present(runs, target, f"{chosen.name}: {name}", as_json, more)
    if page and not as_json:
        typer.echo(f"watch:   {page}")


def resume(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where the run was to be saved (--out).")
    ],
    as_json: JsonOption = False,
) -> None:
    """Go on with a run that was stopped or killed, from its last checkpoint.

    The run must have been started with --checkpoint. It ends with the results of a run that was
    never stopped.

    Example: penstock resume runs/long
    """
    from penstock import interruption
    from penstock.cli.runs import end_if_interrupted, present, simulate
    from penstock.storage.checkpoint import resumable
    from penstock.storage.unfinished import how_to_resume

    with resumable(directory) as found:
        interruption.keep(f"the checkpoint is kept: {how_to_resume(directory)}")
        name = found.scenario.scheme.name
        runs = simulate(
            {name: found.scenario},
            {name: directory},
            force=True,
            threads=found.last.threads,
            check=found.last.check,
            checkpoint_seconds=found.last.every_seconds,
            resumed={name: found},
        )
    end_if_interrupted(runs, [name])
    present(runs, directory, f"{found.scenario.name}: {name}", as_json)


def compare(
    scenario: ScenarioArgument,
    scheme: SchemesOption,
    out: OutOption = None,
    force: ForceOption = False,
    seed: SeedOption = None,
    seeds: Annotated[
        str | None,
        typer.Option("--seeds", help="Each scheme is run with these: 1..5, or 1,2,7."),
    ] = None,
    settings: SetOption = None,
    jobs: JobsOption = None,
    threads: ThreadsOption = None,
    check: CheckOption = False,
    once: OnceOption = False,
    trace: TraceOption = None,
    emulate: Annotated[
        bool,
        typer.Option(
            "--emulate",
            help="Beside each simulation a run with real frames, as the table `emulation` of the "
            "scenario says (docs/emulation.md).",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run the same traffic under several schemes: one table, one report.

    With --seeds the table has means over the seeds and their 95 % intervals.

    Example: penstock compare bfc-demo --scheme bfc,pfc,./mine.toml --out runs/demo
    """
    from penstock.cli.output import listed
    from penstock.cli.runs import (
        end_if_failed,
        end_if_interrupted,
        present,
        run_with_frames,
        simulate,
    )
    from penstock.own_run import NOT_REAL, refuse_classes
    from penstock.storage.comparison import compared_in

    repeated = _repeated(seeds, seed, settings, emulate)
    first = repeated[0] if repeated else seed
    chosen = read_schemes(scenario, scheme, settings=settings, seed=first, trace=trace)
    for one in chosen.values() if emulate else ():
        refuse_classes(one, "--emulate", NOT_REAL, "leave --emulate out")
    base = next(iter(chosen.values()))
    what = compared(list(chosen), repeated) + ("-emulated" if emulate else "")
    target = out_directory(out, default_name(base, what, bool(settings or trace)))
    new_page(target / REPORT_FILE, force)
    groups = {name: [f"{name}-seed{one}" for one in repeated] or [name] for name in chosen}
    if repeated:
        chosen = {
            key: chosen[name].with_overrides({"seed": one})
            for name, keys in groups.items()
            for key, one in zip(keys, repeated, strict=True)
        }
    frames = {f"{name}{FRAMES}": one for name, one in chosen.items()} if emulate else {}
    names = list(chosen)
    places = {name: target / place for name, place in file_names([*names, *frames]).items()}
    with compared_in(target, [one.name for one in places.values()], force=force):
        runs = simulate(
            chosen,
            {name: places[name] for name in names},
            force=force,
            jobs=jobs,
            threads=threads,
            check=check,
            once=once,
        )
        end_if_interrupted(runs, names)
        if emulate:
            beside = {name: places[name] for name in frames}
            runs |= run_with_frames(frames, beside, force=force)
            end_if_interrupted(runs, [*names, *frames])
            runs = {name: runs[name] for one in names for name in (one, f"{one}{FRAMES}")}
            groups = {name: [name] for name in runs}
    present(runs, target, f"{base.name}: {listed(list(groups))}", as_json, groups=groups)
    end_if_failed(runs, names)


def _repeated(
    seeds: str | None, seed: int | None, settings: list[str] | None, emulate: bool
) -> tuple[int, ...]:
    """The seeds of ``--seeds``; none without the option.

    Raises
    ------
    ScenarioError
        They are no list of seeds, or another option contradicts them.
    """
    if seeds is None:
        return ()
    from penstock.sweep.seeds import read_listed

    if seed is not None or "seed" in read_settings(settings):
        raise refuse("--seeds", "another option sets the seed", "leave one of them out", seeds)
    if emulate:
        message = "a run with real frames is not repeated"
        raise refuse("--seeds", message, "leave it out, or --emulate", seeds)
    return read_listed(seeds)
