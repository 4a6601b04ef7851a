"""What the command `tune` does: reads what is asked for, searches, writes and prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from penstock import interruption
from penstock.cli import output
from penstock.cli.directory import out_directory
from penstock.cli.display import display, standing_text
from penstock.cli.options import read_settings
from penstock.cli.typed import command_line
from penstock.errors import refuse
from penstock.estimate import check, together
from penstock.processors import processor_count
from penstock.scenario import Scenario
from penstock.scenario.catalogue import scenario_file
from penstock.scenario.settings import check_settings
from penstock.storage.claim import Claim
from penstock.storage.name import file_name
from penstock.sweep.executor import Executor
from penstock.sweep.local import LocalExecutor
from penstock.sweep.run import Standing
from penstock.sweep.seeds import read_listed
from penstock.tune.field import Field, read_fields
from penstock.tune.goal import read_objective, read_requirements
from penstock.tune.outcome import (
    BEST,
    TRIALS,
    Outcome,
    outcome_of,
    shown,
    table_of,
    texts,
    told,
    trials_in,
    write_files,
)
from penstock.tune.page import write_page
from penstock.tune.plan import AHEAD, Plan, check_plan
from penstock.tune.sampler import load_optuna
from penstock.tune.search import run_search
from penstock.tune.store import open_store


@dataclass(frozen=True)
class Asked:
    """What a command line says of a search, unread."""

    scenario: str
    fields: list[str]
    minimize: str | None
    maximize: str | None
    require: list[str]
    settings: list[str]
    trials: int
    seeds: str
    seed: int
    ahead: int | None
    """Trials under way at a time; none: :data:`penstock.tune.plan.AHEAD`."""


def search(
    asked: Asked,
    *,
    out: Path | None,
    force: bool,
    jobs: int | None,
    threads: int,
    once: bool,
    as_json: bool,
) -> None:
    """Searches and shows what came out; ends with exit code 1 where that is not whole.

    Parameters
    ----------
    out
        Directory of the search; by default one named after the scenario.
    force
        Run what seems too large for this machine.
    jobs
        Processes, > 0; by default one per processor.
    threads
        Threads of a run, > 0.
    once
        Run a scheme in Python once only.

    Raises
    ------
    ScenarioError
        Something that is asked for cannot be.
    """
    load_optuna()
    plan = _plan(asked, force)
    scenario = asked.scenario
    workers = jobs or processor_count()
    first = check_plan(plan)
    if not force:
        check(together([first.estimate] * workers, workers))
    target = out_directory(out, file_name(f"{Path(scenario).stem}-tune"))
    with Claim(target), display(()) as progress:
        text = scenario_file(scenario).read_text("utf-8")
        store = open_store(target, plan, text, command_line())
        interruption.keep(f"the runs that had finished are in {target}; the same command goes on")

        def tell(now: Standing) -> None:
            progress.whole(now.share, standing_text(now, "runs"))

        executor: Executor
        with LocalExecutor(workers) as executor:
            found = run_search(plan, store, executor, threads=threads, once=once, on_standing=tell)
        if found.missing and len(found.trials) < (before := trials_in(target)):
            # It was stopped while it read what is there, which says more than what it had read.
            words = f"the results of {before:,} trials are still in {target}"
            typer.echo(f"interrupted; {words}; the same command goes on", err=True)
            raise typer.Exit(1)
        outcome = outcome_of(plan, found)
        write_files(outcome, target)
        page = write_page(outcome, target, command_line())
    interruption.written(target)
    _present(outcome, target, page, as_json)
    if found.missing or outcome.best is None:
        raise typer.Exit(1)


def _plan(asked: Asked, force: bool) -> Plan:
    """What the search depends on."""
    constants = _constants(asked.settings)
    fields = read_fields(asked.fields, _as_it_is(asked.scenario, constants))
    _refuse_both(asked.scenario, constants, fields)
    return Plan(
        asked.scenario,
        constants,
        fields,
        read_objective(asked.minimize, asked.maximize),
        read_requirements(asked.require),
        asked.trials,
        read_listed(asked.seeds),
        asked.seed,
        AHEAD if asked.ahead is None else asked.ahead,
        oversize=force,
    )


def _constants(settings: list[str]) -> dict[str, Any]:
    """The fields that ``--set`` fixes."""
    found = read_settings(settings)
    if "seed" in found:
        raise refuse("--set", "seeds are repetitions", "write --seeds 1..3")
    return found


def _refuse_both(reference: str, constants: dict[str, Any], fields: Sequence[Field]) -> None:
    """Refuses what ``--set`` fixes and ``--field`` varies, whichever way its path is written."""
    for one in fields:
        if one.key in constants:
            given = f"{one.key}={constants[one.key]}"
            raise refuse(
                "--set", "--field varies it, and it is set as well", "leave one out", given
            )
    lowest = {one.key: one.value(one.low).written for one in fields}
    check_settings(reference, constants | lowest)


def _as_it_is(reference: str, constants: dict[str, Any]) -> Scenario:
    """The scenario before anything is varied."""
    ordered = dict(sorted(constants.items(), key=lambda item: item[0] != "scheme"))
    return Scenario.load(reference, ordered).simulated()


def _present(outcome: Outcome, target: Path, page: Path, as_json: bool) -> None:
    """Prints the best trials and what came out, or everything as JSON."""
    found, best = outcome.found, outcome.best
    files = {"directory": target, "trials": target / TRIALS, "report": page}
    if best is not None:
        files["best"] = target / BEST
    if as_json:
        places = {name: str(path) for name, path in files.items()}
        rows = table_of(outcome).rows(named=True)
        whole = {"best": best.number if best else None, "importance": dict(outcome.importance)}
        counts = {"made": found.made, "found": found.there, "missing": found.missing}
        refused = {"refused": found.refused, "reached": outcome.reached}
        output.print_json(whole | refused | {"runs": counts, "files": places, "trials": rows})
        return
    titles, rows_of_texts = texts(outcome, shown(outcome))
    output.print_table(titles, rows_of_texts, right=1 + len(outcome.plan.fields))
    for line in told(outcome):
        typer.echo(line)
    typer.echo(f"runs: {found.made:,} made now, {found.there:,} there before")
    for name in ("best", "trials", "report"):
        if name in files:
            typer.echo(f"{name + ':':7} {files[name]}")
    if found.missing:
        words = f"interrupted or ended early; {found.missing:,} trials are not among these"
        kept = "runs that had finished are kept, and the same command goes on"
        typer.echo(f"{words}; {kept}", err=True)
