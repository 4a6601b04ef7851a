"""Runs an experiment: its grid, its claims, its figures, its report.

Invariant: a finished run stays. Every run is saved as soon as it is done, so finished runs are on
disk after an interrupt, and the next time they are not made again (`kept`). Where next: `grid` for
the runs, `judge` for the claims.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from penstock import report
from penstock.analysis import MeasuredRun
from penstock.emulation.lateness import ATTEMPTS, is_too_late
from penstock.emulation.several import emulate_many
from penstock.errors import ScenarioError, describe
from penstock.experiments.catalogue import load
from penstock.experiments.checked import check_experiment, expressions_of
from penstock.experiments.figure import draw
from penstock.experiments.grid import Cell, cells
from penstock.experiments.judge import Judgement, judge, left_out
from penstock.experiments.kept import CODE_FILE, RUNS_FOLDER, begin, kept_runs
from penstock.experiments.model import Experiment, Scale
from penstock.experiments.outcome import OUTCOME_FILE, Outcome, inputs_digest
from penstock.experiments.present import check_present
from penstock.experiments.shown import figure_of_claim
from penstock.processors import check_threads
from penstock.provenance import package_version, source_commit
from penstock.readable import counted
from penstock.report import ClaimRow, PaperFigure
from penstock.report.columns import as_csv
from penstock.results import Run
from penstock.several import run_many
from penstock.storage.claim import Claim, refuse_out
from penstock.storage.comparison import refuse_run
from penstock.storage.draft import write_whole

CLAIMS_FILE = "claims.json"
"""The judged claims of an experiment, in its directory."""

BATCH = 16
"""Runs whose tables are in memory together; our choice: a sweep of small runs fits any machine."""

Progress = Callable[[int, int, str], None]
"""Called with the number of finished runs, of all runs, and the name of the one that finished."""

Runner = Callable[..., Mapping[str, MeasuredRun]]
"""Makes runs, saves each below `out`, and returns them: `penstock.run_many`."""


@dataclass(frozen=True)
class Reproduction:
    """An experiment that was run, with its claims judged."""

    experiment: Experiment
    scale: str
    judgements: list[Judgement]
    figures: list[PaperFigure]
    missing: list[str]
    """In words: figures that could not be drawn, schemes that do not exist yet."""
    cells: list[Cell]
    directory: Path
    """Where the runs (`runs/`), the figures (`figures/`) and the report are."""

    @property
    def report(self) -> Path:
        """The HTML report."""
        return self.directory / "report.html"

    @property
    def rows(self) -> list[ClaimRow]:
        """The judged claims, each with the figure that shows it."""
        drawn = {figure.name for figure in self.figures}
        specs = [spec for spec in self.experiment.figures if spec.name in drawn]
        return [
            one.row().model_copy(update={"figure": figure_of_claim(one.claim, specs)})
            for one in self.judgements
        ]

    @property
    def series(self) -> dict[str, dict[str, list[Any]]]:
        """The data of every figure: figure -> column -> values; NaN is None."""
        return {
            figure.name: {
                column: [_plain(value) for value in figure.data[column].to_list()]
                for column in figure.data.columns
            }
            for figure in self.figures
        }

    @property
    def unmade(self) -> list[str]:
        """Names of the runs that were not made, or not to their end."""
        return [cell.name for cell in self.cells if cell.run is None and not cell.missing]

    def outcome(self, inputs: str, *, wall_seconds: float, cpu_seconds: float) -> Outcome:
        """What came of it, in short."""
        main = self.figures[0] if self.figures else None
        return Outcome(
            id=self.experiment.id,
            title=self.experiment.title,
            source=self.experiment.source,
            scale=self.scale,
            inputs=inputs,
            version=package_version(),
            commit=source_commit(),
            claims=self.rows,
            figure=main.name if main else "",
            is_wide=bool(main and main.wide),
            notes=self.missing,
            runs=sum(cell.run is not None for cell in self.cells),
            wall_seconds=wall_seconds,
            cpu_seconds=cpu_seconds,
        )

    def to_json(self) -> str:
        """The reproduction as JSON: id, scale, claims, series."""
        page = {
            "id": self.experiment.id,
            "scale": self.scale,
            "claims": [row.model_dump() for row in self.rows],
            "series": self.series,
        }
        return json.dumps(page, indent=2, ensure_ascii=False)


def reproduce(
    identifier: str,
    scale: str = "quick",
    out: str | Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    *,
    seeds: Sequence[int] = (),
    threads: int | None = None,
    force: bool = False,
    runner: Runner | None = None,
    frames_runner: Runner | None = None,
) -> Reproduction:
    """Run an experiment and hold it against what its paper reports.

    Parameters
    ----------
    identifier:
        `bfc/fig10`, see `penstock list experiments`; or the path of a file.
    scale:
        "quick" (shorter, stated in the report) or "paper".
    out:
        Directory for runs, figures and report; by default `runs/<id>-<scale>`.
    jobs:
        Runs at the same time; by default one per processor.
    progress:
        Called whenever a run has finished.
    seeds:
        Seeds of its runs in place of the scale's, where anything is random.
    threads:
        Threads of each run of the simulator; by default the processors that `jobs` leaves free.
    force:
        The directory may be written to if it holds something else, and runs are made that seem too
        large for this machine.
    runner:
        Makes the runs; by default the simulator.
    frames_runner:
        Makes the runs with real frames, after the others; by default the emulator.

    Raises
    ------
    LookupError, ValueError
        There is no such experiment or scale.
    ScenarioError
        Somebody else writes to the directory, or it holds something else; or no run can have so
        many threads; or a claim or a figure names what the runs, which stay, do not have.

    Notes
    -----
    After Ctrl-C the claims are judged by the runs that had finished, the report says how many are
    missing, and their cells have no `run`. Otherwise `outcome.json` is left, as `reproduce_many`
    leaves it, which then does not make these runs again.
    """
    check_threads(threads)
    experiment = load(identifier).with_seeds(scale, seeds)
    check_experiment(experiment)
    directory = Path(out) if out is not None else Path("runs") / f"{experiment.id}-{scale}"
    grid = cells(experiment, scale_of(experiment, scale))
    check_runs(experiment, grid)
    inputs = inputs_digest(experiment, scale, grid)
    clock, spent = time.monotonic(), time.thread_time()
    with claim_directory(directory, force=force):
        (directory / OUTCOME_FILE).unlink(missing_ok=True)
        simulated = runner or partial(run_many, force=True, oversize=force, threads=threads)
        simulator: Runner = partial(simulated, jobs=jobs)
        emulator: Runner = frames_runner or partial(emulate_many, force=True)
        runners = {False: simulator, True: emulator}
        kept = kept_runs(directory, grid)
        begin(directory, kept)
        simulating = _run_all(grid, kept, directory / RUNS_FOLDER, progress, runners)
        made = conclude(experiment, scale, grid, directory)
        if not made.unmade:
            outcome = made.outcome(
                inputs,
                wall_seconds=time.monotonic() - clock,
                cpu_seconds=simulating + time.thread_time() - spent,
            )
            outcome.save(directory)
        return made


def check_runs(experiment: Experiment, grid: Sequence[Cell]) -> None:
    """Refuses an experiment that names a label or a link that no run has.

    Those of another scale count as well: a claim about points that a scale leaves out is not
    judged there.

    Raises
    ------
    ScenarioError
        It names the file and each such field.
    """
    others = (cells(experiment, scale) for scale in experiment.scales.values())
    first_seeds = (
        cell for one in chain([grid], others) for cell in one if cell.seed == one[0].seed
    )
    scenarios = (cell.scenario() for cell in first_seeds if not cell.missing)
    try:
        check_present(
            ((place, text) for place, text, _ in expressions_of(experiment)),
            scenarios,
            experiment.axes,
            experiment.figures,
        )
    except ScenarioError as error:
        raise error.within(str(experiment.file or experiment.id)) from None


def claim_directory(directory: Path, *, force: bool) -> Claim:
    """Claims the directory of an experiment.

    Raises
    ------
    ScenarioError
        Somebody else writes there; or it holds something else, and `force` is not given.
    """
    refuse_run(directory, "run")
    claim = Claim(directory)
    names = {path.name for path in directory.iterdir()} if directory.is_dir() else set()
    if names and not names & {RUNS_FOLDER, CODE_FILE, CLAIMS_FILE, OUTCOME_FILE} and not force:
        claim.release()
        raise refuse_out(
            directory,
            f"it holds what no experiment wrote, such as {describe(min(names))}",
            "name another directory, or add --force to write beside it",
        )
    return claim


def scale_of(experiment: Experiment, scale: str) -> Scale:
    """A scale of an experiment by its name.

    Raises
    ------
    ValueError
        The experiment has no such scale.
    """
    if scale not in experiment.scales:
        known = ", ".join(experiment.scales)
        raise ValueError(f"scale: {scale!r} is not known; {experiment.id} has {known}")
    return experiment.scales[scale]


def conclude(experiment: Experiment, scale: str, grid: list[Cell], directory: Path) -> Reproduction:
    """Judge the claims by the runs of a grid, draw the figures and write the report.

    Raises
    ------
    ScenarioError
        A claim or a figure names what the runs do not have.
    """
    try:
        judgements = judge(experiment, grid, scale)
        figures, missing = draw(experiment, grid)
    except ScenarioError as error:
        raise error.within(str(experiment.file)) from error
    reproduction = Reproduction(experiment, scale, judgements, figures, missing, grid, directory)
    _write(reproduction)
    return reproduction


def _run_all(
    grid: Sequence[Cell],
    kept: Mapping[str, Run],
    directory: Path,
    progress: Progress | None,
    runners: Mapping[bool, Runner],
) -> float:
    """Make the runs of a grid and put each that is whole into its cell, its tables on disk.

    A runner that is interrupted returns fewer runs, or stopped ones; no more are made then. Runs
    whose real frames were too late are made again when all others are done.

    Parameters
    ----------
    kept:
        Runs that are there, by name.
    runners:
        Of the simulated runs, and (`True`) of those with real frames.

    Returns
    -------
    The runs' processor time [s].
    """
    todo = {cell.name: cell for cell in grid if not cell.missing}
    scenarios = {name: cell.scenario() for name, cell in todo.items() if name not in kept}
    finished: set[str] = set()
    spent: list[float] = []

    def tell(name: str, run: MeasuredRun) -> None:
        finished.add(name)
        spent.append(run.summary["cpu_seconds"])
        if progress is not None:
            progress(len(finished), len(todo), name)

    for name, run in kept.items():
        todo[name].run = run
        tell(name, run)

    def make(runner: Runner, names: Sequence[str]) -> bool:
        """Make these runs; whether all of them are whole."""
        for start in range(0, len(names), BATCH):
            batch = {name: scenarios[name] for name in names[start : start + BATCH]}
            for name in batch:
                todo[name].run = None
            made = runner(batch, out=directory, on_finished=tell)
            whole = [name for name, run in made.items() if not run.summary["cancelled"]]
            for name in whole:
                todo[name].run = Run.load(directory / name)
            if len(whole) < len(batch):
                return False
        return True

    for frames, runner in sorted(runners.items()):
        names = [name for name in scenarios if todo[name].frames == frames]
        for _ in range(ATTEMPTS):
            if not make(runner, names):
                return sum(spent)
            names = [name for name in names if _is_late(todo[name])]
    return sum(spent)


def _is_late(cell: Cell) -> bool:
    return cell.run is not None and is_too_late(cell.run.summary)


def _write(reproduction: Reproduction) -> None:
    experiment, directory = reproduction.experiment, reproduction.directory
    scale = scale_of(experiment, reproduction.scale)
    folder = directory / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for figure in reproduction.figures:
        figure.save(folder)
        page = json.dumps(figure.as_json(), ensure_ascii=False)
        write_whole(folder / f"{figure.name}.json", page.encode())
        write_whole(folder / f"{figure.name}.csv", as_csv(figure.data))
    write_whole(directory / CLAIMS_FILE, reproduction.to_json().encode())
    notes = [*experiment.notes, *reproduction.missing]
    if scale.cannot_show:
        notes.append(f"Scale {reproduction.scale} cannot show {scale.cannot_show}")
    notes += left_out(experiment, reproduction.scale)
    unmade = reproduction.unmade
    if unmade:
        runs = counted(len(unmade), "run was", "runs were")
        notes.append(f"Interrupted: {runs} not made or not finished.")
    groups: dict[str, list[MeasuredRun]] = {}
    for cell in reproduction.cells:
        if cell.run is not None:
            groups.setdefault(cell.group, []).append(cell.run)
    report.write(
        groups,
        reproduction.report,
        command=_command(reproduction),
        title=f"{experiment.id}: {experiment.title}",
        lead=f"{experiment.shows} ({experiment.source})",
        claims=reproduction.rows,
        figures=reproduction.figures,
        notes=notes,
    )


def _command(reproduction: Reproduction) -> str:
    """The command that makes it again."""
    experiment = reproduction.experiment
    command = f"penstock reproduce {experiment.id} --scale {reproduction.scale}"
    seeds = experiment.wanted_seeds
    return f"{command} --seeds {','.join(map(str, seeds))}" if seeds else command


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
