"""Runs many experiments: their simulations side by side, each concluded when its last has ended.

A finished experiment is not done again. An experiment whose `outcome.json` has the inputs of today
is finished; of any other the runs are made that are not there (`kept`). An experiment that fails is
recorded as failed, and the others go on. Simulations run on threads of a pool, in the order of the
catalogue and across experiments, so no processor waits for the end of an experiment. Meanwhile the
calling thread makes claims, figures and reports. Runs with real frames come last, one at a time:
each needs the machine for itself. Those whose frames were too late are made again after all others.

Invariant: only the calling thread writes below an experiment's directory, except for its `runs/`.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from penstock.emulation.lateness import ATTEMPTS, is_too_late
from penstock.emulation.running import PROGRAMS, emulate
from penstock.errors import refuse
from penstock.experiments.catalogue import is_built_in, load
from penstock.experiments.checked import check_experiment
from penstock.experiments.cost import expected_cost, learn_cost
from penstock.experiments.grid import Cell, cells
from penstock.experiments.kept import RUNS_FOLDER, begin, kept_runs
from penstock.experiments.model import Experiment
from penstock.experiments.outcome import (
    OUTCOME_FILE,
    Outcome,
    failed,
    finished,
    inputs_digest,
)
from penstock.experiments.reproduce import check_runs, claim_directory, conclude, scale_of
from penstock.interruption import stopping
from penstock.processors import check_threads, free_threads, processor_count
from penstock.results import Run
from penstock.runner import SIGNAL_POLL_SECONDS, Progress, run
from penstock.storage.comparison import refuse_run

SHARE_MIN = 0.005
"""Share of the work from which on a time left is told; our choice: before, it jumps."""

CONCLUSION_SHARE = 0.1
"""Share of an experiment's work that judging and drawing are; our choice: seconds of a minute."""


@dataclass(frozen=True)
class Standing:
    """How far all experiments are."""

    finished: int
    """Experiments that have ended."""
    every: int
    """Experiments in all."""
    failed: int
    """Experiments that have failed."""
    share: float
    """Share of the expected work that is done, in [0, 1]."""
    seconds_left: float | None
    """Time left at the speed so far [s]; None as long as there is no telling."""
    running: list[str]
    """Simulations under way, id and run; last, what is being concluded."""


@dataclass
class Task:
    """An experiment under way."""

    experiment: Experiment
    directory: Path
    inputs: str
    """Digest of its inputs."""
    cost: float
    """Processor time it is expected to take [s]."""
    todo: list[Cell]
    """The cells with a simulation to make."""
    kept: dict[str, Run]
    """The runs that are there already, by name."""
    grid: list[Cell]
    """All cells."""
    left: int
    """Simulations that have not ended."""
    began: float | None = None
    """Clock when the first simulation began [s]."""
    cpu_seconds: float = 0.0
    failure: str = ""
    """What went wrong; empty as long as nothing did."""
    trace: str = ""
    """Where in the code it did."""
    running: dict[str, float] = field(default_factory=dict)
    """Simulations under way: run -> share of its time that is simulated."""
    is_concluded: bool = False
    """Whether its report is written, or it has failed."""

    @property
    def share(self) -> float:
        """Share of its work that is done."""
        every = len(self.todo)
        made = (every - self.left + sum(list(self.running.values()))) / every if every else 1.0
        return 1.0 if self.is_concluded else made * (1 - CONCLUSION_SHARE)

    def place(self, cell: Cell) -> Path:
        """The directory of a run."""
        return self.directory / RUNS_FOLDER / cell.name

    def fail(self, place: str, error: Exception) -> None:
        """Record the first error."""
        if not self.failure:
            name = type(error).__name__
            self.failure = ": ".join(part for part in (place, name, str(error)) if part)
            self.trace = "".join(traceback.format_exception(error))


@dataclass(frozen=True)
class Campaign:
    """Many experiments that were run, or some of them."""

    scale: str
    directories: dict[str, Path]
    """Id -> where its runs, figures and report are, in the order of the command."""
    outcomes: dict[str, Outcome]
    """Id -> what came of it; one that is missing was not finished."""
    experiments: dict[str, Experiment]
    """Id -> the experiment."""

    @property
    def is_complete(self) -> bool:
        """Whether every experiment ended and none failed."""
        ended = [self.outcomes.get(name) for name in self.directories]
        return all(one is not None and not one.failure for one in ended)


OnStanding = Callable[[Standing], None]
OnOutcome = Callable[[Campaign, Outcome], None]


def reproduce_many(
    identifiers: Sequence[str],
    scale: str = "quick",
    out: str | Path = "runs",
    jobs: int | None = None,
    *,
    seeds: Sequence[int] = (),
    threads: int | None = None,
    force: bool = False,
    on_standing: OnStanding | None = None,
    on_outcome: OnOutcome | None = None,
) -> Campaign:
    """Run experiments that are not finished yet and hold each against what its paper reports.

    Parameters
    ----------
    identifiers:
        `["bfc/fig10", "pcn/fig5"]`, see `penstock list experiments`; or paths of files.
    out:
        Directory below which each experiment has its own, `<id>-<scale>`.
    jobs:
        Simulations at the same time; by default one per processor.
    seeds:
        Seeds of the runs in place of the scale's, in each experiment with anything random.
    threads:
        Threads of each; by default the processors that `jobs` leaves free.
    force:
        Directories may be written to that hold something else, and runs are made that seem too
        large for this machine.
    on_standing:
        Called about ten times a second, on the calling thread.
    on_outcome:
        Called with the campaign so far when an experiment has ended.

    Raises
    ------
    LookupError, ValueError
        There is no such experiment or scale. What fails later is in the outcomes.
    ScenarioError
        Somebody else writes to a directory, or it holds something else, such as a single run; or
        no run can have so many threads.

    Notes
    -----
    Ctrl-C stops the simulations under way and raises nothing; experiments that had ended stay.
    """
    check_threads(threads)
    refuse_run(Path(out), "experiment")
    jobs = jobs or processor_count()
    experiments = {name: one.with_seeds(scale, seeds) for name, one in _loaded(identifiers).items()}
    directories = {one: Path(out) / f"{one}-{scale}" for one in experiments}
    campaign = Campaign(scale, directories, {}, experiments)
    with ExitStack() as claims:
        tasks = []
        for identifier, directory in campaign.directories.items():
            experiment = experiments[identifier]
            grid = cells(experiment, scale_of(experiment, scale))
            inputs = inputs_digest(experiment, scale, grid)
            outcome = finished(directory, inputs)
            if outcome is None:
                check_runs(experiment, grid)
                claims.enter_context(claim_directory(directory, force=force))
                tasks.append(_task(experiment, grid, directory, inputs, Path(out)))
            else:
                campaign.outcomes[identifier] = outcome
        making = partial(run, threads=threads or free_threads(jobs), oversize=force)
        worker = _Worker(campaign, tasks, Path(out), making, on_standing, on_outcome)
        with stopping(worker.cancel.set):
            worker.work(jobs)
    return campaign


def _loaded(identifiers: Sequence[str]) -> dict[str, Experiment]:
    """The experiments by their ids."""
    found: dict[str, Experiment] = {}
    for one in identifiers:
        experiment = load(one)
        check_experiment(experiment)
        other = found.setdefault(experiment.id, experiment)
        if other.file != experiment.file:
            remedy = f"change the id in {experiment.file}"
            raise refuse("id", f"{other.file} has the same id", remedy, experiment.id)
    return found


def _task(
    experiment: Experiment, grid: list[Cell], directory: Path, inputs: str, out: Path
) -> Task:
    kept = kept_runs(directory, grid)
    todo = [cell for cell in grid if not cell.missing and cell.name not in kept]
    share = max(len(todo), 1) / max(len(todo) + len(kept), 1)
    cost = expected_cost(experiment.id, out) * share
    spent = sum(one.summary["cpu_seconds"] for one in kept.values())
    left = len(todo)
    return Task(experiment, directory, inputs, cost, todo, kept, grid, left, cpu_seconds=spent)


class _Worker:
    """The pool of simulations, and the thread that concludes experiments."""

    def __init__(
        self,
        campaign: Campaign,
        tasks: Sequence[Task],
        out: Path,
        simulate: Callable[..., Run],
        on_standing: OnStanding | None,
        on_outcome: OnOutcome | None,
    ) -> None:
        self.cancel = threading.Event()
        self._campaign = campaign
        self._out = out
        self._tasks = tasks
        self._simulate = simulate
        self._on_standing = on_standing
        self._on_outcome = on_outcome
        self._clock = time.monotonic()
        self._lock = threading.Lock()

    def work(self, jobs: int) -> None:
        """Make all simulations, and conclude each experiment after its last."""
        with ThreadPoolExecutor(jobs, thread_name_prefix="penstock") as pool:
            try:
                self._make_all(pool)
            finally:
                self.cancel.set()  # an error here, e.g. a full disk, must not wait for the pool

    def _make_all(self, pool: ThreadPoolExecutor) -> None:
        pending: dict[Future[bool], tuple[Task, Cell]] = {}
        alone: deque[tuple[Task, Cell]] = deque()
        attempts: Counter[Path] = Counter()
        for task in self._tasks:
            for cell in task.todo:
                if cell.frames:
                    alone.append((task, cell))
                else:
                    pending[pool.submit(self._make, task, cell)] = (task, cell)
            if not task.todo:
                self._begun(task)
                self._conclude(task)
        while pending or alone:
            if not pending:
                one = alone.popleft()
                pending[pool.submit(self._make, *one)] = one
            done, _ = wait(pending, SIGNAL_POLL_SECONDS, FIRST_COMPLETED)
            for future in done:
                task, cell = pending.pop(future)
                task.running.pop(cell.name, None)
                place = task.place(cell)
                attempts[place] += 1
                if future.result() and attempts[place] < ATTEMPTS:
                    alone.append((task, cell))
                    continue
                task.left -= 1
                if not task.left and not self.cancel.is_set():
                    self._conclude(task)
            self._tell()

    def _make(self, task: Task, cell: Cell) -> bool:
        """Make one run, on a thread of the pool; an error is the whole experiment's.

        Whether the run has ended and its real frames were too late.
        """
        if self.cancel.is_set() or task.failure:
            return False
        self._begun(task)

        def progress(now: Progress) -> None:
            task.running[cell.name] = min(now.sim_ps / max(now.duration_ps, 1), 1.0)

        def stop() -> bool:
            return self.cancel.is_set() or bool(task.failure)

        try:
            task.running[cell.name] = 0.0
            scenario = cell.scenario()
            place = task.place(cell)
            if cell.frames:
                made = emulate(
                    scenario,
                    output=place.with_name(place.name + PROGRAMS),
                    progress=progress,
                    cancel=stop,
                    forced=True,
                )
            else:
                made = self._simulate(scenario, progress=progress, cancel=stop)
            began_saving = time.thread_time()
            if not made.is_cancelled:
                made.save(place, force=True)
            saving = time.thread_time() - began_saving
            with self._lock:
                task.cpu_seconds += made.summary["cpu_seconds"] + saving
            return not made.is_cancelled and is_too_late(made.summary)
        except Exception as error:  # whatever it is, the other experiments go on
            task.fail(cell.name, error)
            return False
        finally:
            task.running[cell.name] = 1.0

    def _begun(self, task: Task) -> None:
        """Removes what is not kept of an earlier experiment, before the first run."""
        with self._lock:
            if task.began is None:
                task.began = time.monotonic()
                (task.directory / OUTCOME_FILE).unlink(missing_ok=True)
                begin(task.directory, task.kept)

    def _conclude(self, task: Task) -> None:
        """Judge, draw and write what an experiment's runs give, or record that it failed."""
        self._tell([f"{task.experiment.id} report"])
        began = time.thread_time()
        outcome = None
        if not task.failure:
            try:
                for cell in task.grid:
                    if not cell.missing:
                        cell.run = task.kept.get(cell.name) or Run.load(task.place(cell))
                outcome = self._outcome(task, began)
            except Exception as error:  # the same: it is shown, and the others go on
                task.fail("", error)
        if outcome is None:
            outcome = failed(task.experiment, self._campaign.scale, task.failure, task.trace)
        outcome.save(task.directory)
        is_usual = is_built_in(task.experiment) and not task.experiment.wanted_seeds
        if not outcome.failure and is_usual:
            learn_cost(outcome.id, outcome.scale, outcome.cpu_seconds, self._out)
        for cell in task.grid:
            cell.run = None  # its tables would stay in memory
        task.grid.clear()
        task.kept.clear()
        task.is_concluded = True
        self._campaign.outcomes[task.experiment.id] = outcome
        if self._on_outcome:
            self._on_outcome(self._campaign, outcome)

    def _outcome(self, task: Task, began: float) -> Outcome:
        made = conclude(task.experiment, self._campaign.scale, task.grid, task.directory)
        return made.outcome(
            task.inputs,
            wall_seconds=time.monotonic() - (task.began or self._clock),
            cpu_seconds=task.cpu_seconds + time.thread_time() - began,
        )

    def _tell(self, concluding: Sequence[str] = ()) -> None:
        if self._on_standing is None:
            return
        cost = sum(task.cost for task in self._tasks)
        share = sum(task.cost * task.share for task in self._tasks) / cost if cost else 1.0
        spent = time.monotonic() - self._clock
        names = [f"{t.experiment.id} {name}" for t in self._tasks for name in list(t.running)]
        standing = Standing(
            finished=len(self._campaign.outcomes),
            every=len(self._campaign.directories),
            failed=sum(bool(one.failure) for one in self._campaign.outcomes.values()),
            share=share,
            seconds_left=spent * (1 / share - 1) if share > SHARE_MIN else None,
            running=[*names, *concluding],
        )
        self._on_standing(standing)
