"""The command `sweep`: a scenario over a grid of values and seeds, as one dataset."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock import interruption
from penstock.cli import completion, output
from penstock.cli.directory import out_directory
from penstock.cli.options import (
    ForceSizeOption,
    JobsOption,
    JsonOption,
    OnceOption,
    OneThreadOption,
    OutOption,
    ScenarioArgument,
    SchemesIfAnyOption,
    named_schemes,
    with_scheme,
)
from penstock.cli.typed import command_line
from penstock.processors import processor_count
from penstock.storage.claim import Claim
from penstock.storage.name import file_name

if TYPE_CHECKING:
    from penstock.sweep.executor import Executor
    from penstock.sweep.pooled import Pooled
    from penstock.sweep.run import Outcomes, Standing

METRICS = ("slowdown(size_max=3000)", "slowdown(statistic='mean')")
"""What is measured when the command does not say: the p99 slowdown of short flows, and the mean of
all (BFC sec. 6.3 reports both)."""

FAILURES_SHOWN = 10
"""Cells that could not be run and are named (our choice: a screen)."""


def sweep(
    scenario: ScenarioArgument,
    scheme: SchemesIfAnyOption = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUES",
            help="A field and its values: load=0.3:0.9:0.1, topology.delay=1us:5us:2us, "
            "scheme.switch.assignment.queues=8,32. A field with one value is set everywhere.",
            autocompletion=completion.settings,
        ),
    ] = None,
    seeds: Annotated[
        str, typer.Option("--seeds", help="1..5, or 1,2,7; or auto, or auto..N for at most N.")
    ] = "1..5",
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help="What is measured, e.g. slowdown(size_max=3000); may be repeated. "
            "`penstock list metrics` lists all.",
        ),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision",
            help="With --seeds auto: add seeds until the interval of the first metric is within "
            "this share of its mean, e.g. 5%.",
        ),
    ] = None,
    out: OutOption = None,
    flows: Annotated[
        bool, typer.Option("--flows", help="Keep the flows of every cell as a second dataset.")
    ] = False,
    force: ForceSizeOption = False,
    jobs: JobsOption = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="Run on other machines: the scheduler of Dask at tcp://HOST:PORT, or slurm.",
        ),
    ] = None,
    cluster_options: Annotated[
        list[str] | None,
        typer.Option(
            "--cluster-option",
            metavar="KEY=VALUE",
            help="With --cluster slurm: partition=, account=, time=, mem=, cpus-per-task= of a "
            "job, or interface= of the network; may be repeated.",
        ),
    ] = None,
    threads: OneThreadOption = 1,
    once: OnceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario over a grid of values and seeds: one dataset, one table, one page.

    Every combination of the values is run with every seed. Seeds are repetitions: a number is
    taken from each run by itself, and tables and figures show its mean over the seeds with a 95 %
    interval. Stopped or killed, the same command goes on where it was. The same command with more
    values or more seeds adds them.

    Example: penstock sweep quickstart --scheme bfc,dctcp --set load=0.3:0.7:0.2 --seeds 1..5
    """
    from penstock.cli.display import display, standing_text
    from penstock.estimate import check, together
    from penstock.experiments.checked import checked
    from penstock.experiments.present import check_present
    from penstock.scenario.catalogue import scenario_file
    from penstock.sweep.cluster import check_cluster
    from penstock.sweep.dataset import open_dataset
    from penstock.sweep.grid import read_grid
    from penstock.sweep.page import write_page
    from penstock.sweep.pooled import pool
    from penstock.sweep.run import run_sweep
    from penstock.sweep.seeds import read_seeds

    chosen = read_seeds(seeds, precision)
    metrics = tuple(dict.fromkeys(checked(one) for one in metric or METRICS))
    schemes = None if scheme is None else ",".join(named_schemes(scheme))
    varied = with_scheme(settings, schemes)
    grid = read_grid(scenario, varied, chosen.first()[0], oversize=force)
    first = chosen.first()[0]
    expressions = [("--metric", one) for one in metrics]
    check_present(expressions, (point.scenario(first) for point in grid.points))
    if cluster is not None or cluster_options:
        check_cluster(cluster or "", cluster_options or [], jobs)
    elif not force:
        check(together([point.estimate for point in grid.points], jobs or processor_count()))
    target = out_directory(out, file_name(f"{Path(scenario).stem}-sweep"))
    with Claim(target), display(()) as shown:
        dataset = open_dataset(
            target,
            grid,
            metrics,
            keeps_flows=flows,
            scenario_text=scenario_file(scenario).read_text("utf-8"),
            command=command_line(),
        )
        interruption.keep(f"the cells that had finished are in {target}; the same command goes on")

        def tell(now: Standing) -> None:
            for notice in executor.notices():
                typer.echo(notice, err=True)
            shown.whole(now.share, standing_text(now, "cells"))

        with _executor(cluster, cluster_options or [], jobs, threads, target) as executor:
            outcomes = run_sweep(
                grid,
                chosen,
                metrics,
                dataset,
                executor,
                keeps_flows=flows,
                threads=threads,
                once=once,
                on_standing=tell,
            )
        pooled = pool(target)
        page = write_page(pooled, target, command_line(), _notes(outcomes))
    interruption.written(target)
    _present(pooled, outcomes, target, page, as_json)
    if outcomes.is_stopped or outcomes.failures:
        raise typer.Exit(1)


def _executor(
    cluster: str | None, options: list[str], jobs: int | None, threads: int, target: Path
) -> AbstractContextManager[Executor]:
    """Who simulates: processes of this machine, or a cluster."""
    from penstock.sweep.cluster import cluster_executor
    from penstock.sweep.local import LocalExecutor

    if cluster is None:
        return LocalExecutor(jobs)
    return cluster_executor(cluster, options, jobs, threads, target)


def _notes(outcomes: Outcomes) -> list[str]:
    """What the page lacks."""
    notes = [f"{words}: {message}" for words, message in outcomes.failures]
    if outcomes.missing:
        notes.append(f"{outcomes.missing} cells were not run: the sweep was stopped.")
    return notes


def _present(pooled: Pooled, outcomes: Outcomes, target: Path, page: Path, as_json: bool) -> None:
    """Prints the table, or everything as JSON, and says what is missing."""
    if as_json:
        cells = {"made": outcomes.made, "found": outcomes.found, "missing": outcomes.missing}
        failures = [{"cell": words, "error": error} for words, error in outcomes.failures]
        places = {"directory": str(target), "report": str(page)}
        points = pooled.table.rows(named=True)
        notes = {"losses": pooled.losses}
        output.print_json(
            places | {"cells": cells, "failures": failures} | notes | {"points": points}
        )
    else:
        from penstock.sweep.pooled import texts

        titles, rows = texts(pooled)
        output.print_table(titles, rows, right=len(pooled.axes))
        if pooled.is_repeated:
            typer.echo("means over seeds, in brackets their 95 % intervals")
        else:
            typer.echo("values of single runs; for three seeds a point write --seeds 1..3")
        if pooled.losses:
            typer.echo(pooled.losses)
        typer.echo(f"cells: {outcomes.made:,} run now, {outcomes.found:,} there before")
        typer.echo(f"dataset: {target / 'cells'}\nreport:  {page}")
    for words, error in outcomes.failures[:FAILURES_SHOWN]:
        typer.echo(f"failed: {words}: {error}", err=True)
    more = len(outcomes.failures) - FAILURES_SHOWN
    if more > 0:
        typer.echo(f"failed: {more} more cells", err=True)
    if outcomes.is_stopped:
        missing = f"{outcomes.missing:,} cells are" if outcomes.missing else "no cell is"
        typer.echo(f"interrupted; {missing} missing; the same command goes on", err=True)
