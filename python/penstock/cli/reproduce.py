"""The command that runs the papers' figures and tables, and judges the papers' claims."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from penstock import interruption
from penstock.cli import completion, output
from penstock.cli.directory import RUNS, new_page, out_directory
from penstock.cli.options import (
    ForceOption,
    JobsOption,
    JsonOption,
    OutOption,
    ThreadsOption,
)
from penstock.cli.typed import command_line
from penstock.errors import nearest, refuse
from penstock.named import SUFFIX, is_path, own_files
from penstock.storage.record import REPORT_FILE

if TYPE_CHECKING:
    from penstock.experiments.campaign import Campaign, Standing
    from penstock.experiments.outcome import Outcome
    from penstock.report import ClaimRow
    from penstock.results import Run

Scale = Literal["quick", "paper"]


def reproduce(
    identifiers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            help="Ids of `list experiments`, patterns ('pcn/*'), or TOML files.",
            autocompletion=completion.experiments,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All experiments.")] = False,
    scale: Annotated[Scale, typer.Option("--scale", help="How much is simulated.")] = "quick",
    seeds: Annotated[
        str | None,
        typer.Option(
            "--seeds",
            help="Runs are made with these in place of the scale's: 1..12, or 1,2,7. "
            "Six or more decide more claims.",
        ),
    ] = None,
    out: OutOption = None,
    force: ForceOption = False,
    jobs: JobsOption = None,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a paper's figure or table and hold it against what the paper reports.

    Example: penstock reproduce bfc/fig10 --scale quick

    An experiment of your own: penstock reproduce ./mine.toml; `penstock list metrics`
    lists what its claims can measure

    Several at once: penstock reproduce --all, penstock reproduce 'pcn/*' bfc/fig7

    They end in one page, summary-SCALE.html, with all claims and main figures.
    Stopped, the same command goes on where it was: a run is made again only when
    its scenario or Penstock's code has changed. Runs with real frames always are.
    So with more --seeds only the new ones are run.

    Exit code: 0 all was run, whether claims hold or not; 1 an experiment failed
    or was interrupted; 2 the input was refused.
    """
    chosen = _chosen(identifiers or [], every)
    from penstock.sweep.seeds import read_listed

    listed = () if seeds is None else read_listed(seeds)
    options = Options(scale, listed, out, force, jobs, threads, as_json)
    _check_scale(chosen, scale)
    if len(chosen) > 1 or every:
        _many(chosen, options)
    else:
        _one(chosen[0], options)


@dataclass(frozen=True)
class Options:
    """The options of the command."""

    scale: Scale
    seeds: tuple[int, ...]
    out: Path | None
    force: bool
    jobs: int | None
    threads: int | None
    as_json: bool


def _chosen(wanted: list[str], every: bool) -> list[str]:
    """The ids that the command names, each once."""
    from penstock.experiments import catalogue

    known = catalogue.identifiers()
    if every and wanted:
        raise refuse("--all", "there are ids beside it", "name ids or --all", " ".join(wanted))
    if not every and not wanted:
        raise refuse("ID", "there is none", "name an experiment, or --all for all of them")
    # Only a pattern or an unknown id asks what is part of another experiment.
    named_whole = all(name in known or _is_own(name) for name in wanted)
    covered = {} if named_whole else catalogue.covered()
    chosen = list(known) if every else []
    for name in wanted:
        if _is_own(name):
            chosen.append(name)
            continue
        found = [one for one in known if fnmatchcase(one, name)]
        found += [covered[other] for other in covered if fnmatchcase(other, name)]
        if not found:
            remedy = (
                nearest(name, [*known, *covered, *own_files("experiments")])
                + "; or name a TOML file"
            )
            raise refuse("ID", "there is no such experiment", remedy, name)
        chosen += found
    return list(dict.fromkeys(chosen))


def _is_own(name: str) -> bool:
    """Whether a name means a user's experiment."""
    return name in own_files("experiments") or (is_path(name) and name.endswith(SUFFIX))


def _check_scale(chosen: list[str], scale: Scale) -> None:
    """Refuses a scale that a user's experiment does not have."""
    from penstock.experiments import catalogue

    for name in filter(_is_own, chosen):
        scales = catalogue.load(name).scales
        if scale not in scales:
            remedy = f"write --scale {next(iter(scales))}" if scales else "write one"
            raise refuse("--scale", f"{name} has no such scale", remedy, scale)


def _one(identifier: str, options: Options) -> None:
    from penstock.cli.display import display
    from penstock.cli.runs import interrupted
    from penstock.emulation.several import emulate_many
    from penstock.experiments import catalogue
    from penstock.experiments.reproduce import reproduce as reproduce_one
    from penstock.several import run_many

    scale = options.scale
    named = catalogue.load(identifier).id
    target = out_directory(options.out, f"{named}-{scale}")
    new_page(target / REPORT_FILE, options.force)
    interruption.keep(f"the runs that had finished are kept in {target}; the same command goes on")
    made: list[str] = []
    with display(()) as shown:

        def count(finished: int, every: int, name: str) -> None:
            made.append(name)
            shown.count(finished, every, name)

        runner = partial(
            run_many,
            force=True,
            oversize=options.force,
            threads=options.threads,
            progress=shown.update,
        )
        done = reproduce_one(
            identifier,
            scale,
            target,
            options.jobs,
            count,
            seeds=options.seeds,
            force=options.force,
            runner=runner,
            frames_runner=partial(emulate_many, force=True, progress=shown.update),
        )
    if options.as_json:
        typer.echo(done.to_json())
    else:
        titles = ["Claim", "Reported", "Measured", "Spread", "Accepted", "Verdict"]
        output.print_table(titles, (_claim_row(one) for one in done.rows))
        typer.echo(f"report: {done.report}")
    if done.unmade:
        unstarted = [name for name in done.unmade if name not in made]
        raise interrupted(_saved(target, made), unstarted)


def _claim_row(row: ClaimRow) -> list[str | Text]:
    """A judged claim of a paper: claim, reported, measured, spread, accepted, verdict."""
    reported = f"{row.reported} ({row.number})" if row.number else row.reported
    accepted = f"{row.tolerance} ({row.margin})" if row.margin else row.tolerance
    verdict = Text(row.told, style="bold" if row.verdict == "fails" else "")
    return [row.claim, reported, row.measured, row.spread, accepted, verdict]


def _saved(target: Path, names: list[str]) -> list[Run]:
    """The runs of these names, from their directories."""
    from penstock.results import Run

    return [Run.load(target / "runs" / name) for name in names]


def _many(identifiers: list[str], options: Options) -> None:
    from penstock.cli.display import display, standing_text
    from penstock.experiments.campaign import reproduce_many
    from penstock.experiments.overview import json_beside, overview_file, write_overview

    root = out_directory(options.out or RUNS, "")
    new_page(root / overview_file(options.scale), options.force)
    interruption.keep(f"what has ended is kept in {root}; the same command goes on")
    write = partial(write_overview, directory=root, command=command_line())
    with display(()) as shown:

        def on_outcome(campaign: Campaign, outcome: Outcome) -> None:
            shown.count(len(campaign.outcomes), len(campaign.directories), _told(outcome))
            write(campaign)

        def on_standing(standing: Standing) -> None:
            now = ", ".join(dict.fromkeys(name.partition(" ")[0] for name in standing.running))
            shown.whole(standing.share, f"{standing_text(standing, 'experiments')}  {now}")

        done = reproduce_many(
            identifiers,
            options.scale,
            root,
            options.jobs,
            seeds=options.seeds,
            threads=options.threads,
            force=options.force,
            on_standing=on_standing,
            on_outcome=on_outcome,
        )
    page = write(done)
    facts = json_beside(page)
    if options.as_json:
        typer.echo(facts.read_text("utf-8"), nl=False)
    else:
        titles = ["Experiment", "Hold", "Fail", "Not decided", "CPU time [s]", "State"]
        output.print_table(titles, (_row(done, name) for name in done.directories))
        typer.echo(f"summary: {page}\njson: {facts}")
    if not done.is_complete:
        unfinished = [name for name in done.directories if name not in done.outcomes]
        if unfinished:
            left = output.listed(unfinished)
            typer.echo(f"interrupted; not finished: {left}; the same command goes on", err=True)
        raise typer.Exit(1)


def _told(outcome: Outcome) -> str:
    """How an experiment came out, in a line."""
    if outcome.failure:
        return f"{outcome.id}: failed: {outcome.failure}"
    return (
        f"{outcome.id}: {outcome.count('holds')} of {len(outcome.claims)} claims hold, "
        f"{outcome.cpu_seconds:.1f} s of processor time"
    )


def _row(done: Campaign, name: str) -> list[str]:
    outcome = done.outcomes.get(name)
    if outcome is None:
        return [name, "", "", "", "", "not finished"]
    from penstock.experiments.decision import VERDICTS

    counts = [str(outcome.count(one)) for one in VERDICTS]
    state = f"failed: {outcome.failure}" if outcome.failure else "done"
    return [name, *counts, f"{outcome.cpu_seconds:.1f}", state]
