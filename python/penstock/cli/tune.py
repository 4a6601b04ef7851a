"""The command `tune`: searches for good values of fields of a scenario.

The options are here; `searching` has what the command does, and is imported when it does that.
"""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.options import (
    ForceSizeOption,
    JobsOption,
    JsonOption,
    OnceOption,
    OneThreadOption,
    OutOption,
    ScenarioArgument,
    SchemeOption,
    SetOption,
    one_scheme,
    with_scheme,
)

TRIALS_MAX, AHEAD_MAX = 2_000, 100
"""Largest budget, and most trials under way (our choice: before each proposal the sampler models
all trials so far, which takes some 10 ms after a hundred and half a second after two thousand)."""


def tune(
    scenario: ScenarioArgument,
    scheme: SchemeOption = None,
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--field",
            metavar="KEY=VALUES",
            help="A field and its values: load=0.3:0.9, KEY=10kB:1MB:log, KEY=a,b,c; KEY alone: "
            "the bounds that the schema has. May be repeated.",
        ),
    ] = None,
    minimize: Annotated[
        str | None,
        typer.Option(
            "--minimize",
            metavar="EXPR",
            help="What is to be small, e.g. slowdown(). `penstock list metrics` lists all.",
        ),
    ] = None,
    maximize: Annotated[
        str | None, typer.Option("--maximize", metavar="EXPR", help="What is to be large.")
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            metavar="COMPARISON",
            help="What must hold in every run: 'drops == 0', 'pause_time() <= 0.05'; repeatable.",
        ),
    ] = None,
    settings: SetOption = None,
    trials: Annotated[
        int, typer.Option("--trials", min=1, max=TRIALS_MAX, help="Points that are tried.")
    ] = 40,
    seeds: Annotated[
        str, typer.Option("--seeds", help="Each point is run with these: 1..3, or 1,2,7.")
    ] = "1..3",
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of the search itself.")
    ] = 1,
    ahead: Annotated[
        int | None,
        typer.Option(
            "--ahead",
            min=1,
            max=AHEAD_MAX,
            help="Trials under way at a time: more keep more processors busy, fewer learn more; "
            "4 unless set.",
        ),
    ] = None,
    out: OutOption = None,
    force: ForceSizeOption = False,
    jobs: JobsOption = None,
    threads: OneThreadOption = 1,
    once: OnceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Search for good values of fields: Optuna proposes points, each is run with all seeds.

    The result is the best point with its interval, the importance of each field, best.toml and a
    page. The same command tries the same points, whatever --jobs says. Stopped or killed, it goes
    on where it was; with more --trials it goes further. docs/tune.md has what to install.

    Example: penstock tune storage-fabric --field scheme.switch.marking.kmin=5kB:400kB:log
    --minimize 'slowdown()' --require 'drops == 0' --trials 20
    """
    from penstock.cli.searching import Asked, search

    asked = Asked(
        scenario=scenario,
        fields=fields or [],
        minimize=minimize,
        maximize=maximize,
        require=require or [],
        settings=with_scheme(settings, None if scheme is None else one_scheme(scheme)),
        trials=trials,
        seeds=seeds,
        seed=seed,
        ahead=ahead,
    )
    search(asked, out=out, force=force, jobs=jobs, threads=threads, once=once, as_json=as_json)
