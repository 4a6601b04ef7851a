"""Runs a sweep: gives the cells that are missing to an executor and writes what comes back.

A cell that is in the dataset is not computed again. Nothing of a run stays in memory but its row.
A sweep that was stopped or killed goes on when it is run again.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.errors import SimulationError
from penstock.experiments.measured import is_percentile
from penstock.interruption import stopping
from penstock.runner import SIGNAL_POLL_SECONDS
from penstock.storage.claim import refuse_out
from penstock.storage.record import CELLS
from penstock.sweep.dataset import HASH, Dataset
from penstock.sweep.executor import Executor, Failure, Result, Task
from penstock.sweep.grid import Grid, Point
from penstock.sweep.seeds import Seeds

LEAD = 2
"""Tasks that an executor holds for each that it can work on (our choice: one works, one waits, so
none waits for this process)."""


@dataclass(frozen=True)
class Standing:
    """How far a sweep is."""

    finished: int
    """Cells in the dataset, of those that the command wants."""
    every: int
    """Cells that it wants, as far as is known; seeds may be added."""
    failed: int
    """Cells that could not be run."""
    share: float
    """Share of the expected work that is done, in [0, 1]."""
    seconds_left: float | None
    """Time left at the speed so far [s]; none as long as nothing was run."""


@dataclass
class Outcomes:
    """What came of a sweep."""

    made: int = 0
    """Cells that were run now."""
    found: int = 0
    """Cells that were there before."""
    missing: int = 0
    """Cells that are not there, because the sweep was stopped."""
    is_stopped: bool = False
    """Whether it was stopped before it had come to all cells, though they may be there."""
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Cells that could not be run, and why."""
    seeds: dict[tuple[str, ...], int] = field(default_factory=dict)
    """Labels of a point -> its seeds in the dataset, of those that the command wants."""


@dataclass
class _Cell:
    """A cell that is waited for."""

    point: Point
    seed: int
    scenario_hash: str
    began: float


class _Sweep:
    """The state of a sweep under way."""

    def __init__(
        self,
        grid: Grid,
        seeds: Seeds,
        metrics: tuple[str, ...],
        dataset: Dataset,
        executor: Executor,
    ) -> None:
        self._grid = grid
        self._seeds = seeds
        self._metrics = metrics
        self._dataset = dataset
        self._executor = executor
        self._is_percentile = is_percentile(metrics[0])
        self.cancel = threading.Event()
        self.outcomes = Outcomes()
        self.todo: deque[tuple[Point, int]] = deque()
        self.waited: dict[str, _Cell] = {}
        self._values: dict[tuple[str, ...], dict[int, float]] = {
            point.labels: {} for point in grid.points
        }
        self._wanted: dict[tuple[str, ...], int] = {}
        self._work_done = 0.0
        self._began = time.monotonic()
        for seed in seeds.first():
            self.todo += [(point, seed) for point in grid.points]
        for point in grid.points:
            self._wanted[point.labels] = len(seeds.first())

    def go_on(self, keeps_flows: bool, threads: int, once: bool) -> None:
        """Gives cells to the executor until it has enough; those that are there are counted."""
        while self.todo and len(self.waited) < LEAD * self._executor.capacity:
            if self.cancel.is_set():
                return
            point, seed = self.todo.popleft()
            scenario = point.scenario(seed)
            key = self._dataset.cell(self._ordered(point), seed)
            scenario_hash = scenario.content_hash()
            row = self._dataset.read(key)
            if row is None:
                self.waited[key] = _Cell(point, seed, scenario_hash, time.monotonic())
                text = scenario.to_toml()
                metrics = self._metrics
                task = Task(key, text, scenario_hash, metrics, keeps_flows, threads, once)
                self._executor.submit(task)
                continue
            if row[HASH] != scenario_hash:
                place = self._dataset.directory / CELLS / key
                message = "it is of another scenario of the same values: a file has changed since"
                raise refuse_out(place, message, "name another directory")
            self.outcomes.found += 1
            self._note(point, seed, float(row[self._metrics[0]]))

    def take(self, outcome: Result | Failure) -> None:
        """Writes a cell that has come back."""
        cell = self.waited.pop(outcome.key)
        if isinstance(outcome, Failure):
            words = self._grid.words(cell.point.labels, cell.seed)
            self.outcomes.failures.append((words, outcome.message))
            return
        self._dataset.write(outcome, cell.scenario_hash)
        self.outcomes.made += 1
        self._work_done += cell.point.estimate.packet_hops
        self._note(cell.point, cell.seed, outcome.values[self._metrics[0]])

    def ended(self) -> Outcomes:
        """What came of it; cells that it has not come to may be there nevertheless."""
        keys = [self._dataset.cell(self._ordered(point), seed) for point, seed in self.todo]
        there = sum(self._dataset.has(key) for key in keys)
        self.outcomes.found += there
        self.outcomes.missing = len(self.waited) + len(keys) - there
        self.outcomes.is_stopped = bool(self.waited or keys)
        return self.outcomes

    def standing(self) -> Standing:
        """How far it is."""
        done = self.outcomes.found + self.outcomes.made
        left = [point for point, _ in self.todo] + [cell.point for cell in self.waited.values()]
        work = sum(point.estimate.packet_hops for point in left)
        spent = time.monotonic() - self._began
        seconds = spent * work / self._work_done if self._work_done else None
        every = done + len(left) + len(self.outcomes.failures)
        all_work = self._work_done + work
        share = self._work_done / all_work if all_work else 1.0
        return Standing(done, every, len(self.outcomes.failures), share, seconds)

    def _note(self, point: Point, seed: int, value: float) -> None:
        """Notes a cell that is in the dataset; adds seeds to its point where they are needed."""
        values = self._values[point.labels]
        values[seed] = value
        self.outcomes.seeds[point.labels] = len(values)
        if len(values) == self._wanted[point.labels]:
            in_order = [values[one] for one in sorted(values)]
            more = self._seeds.more(in_order, self._is_percentile)
            self._wanted[point.labels] += len(more)
            self.todo += [(point, one) for one in more]

    def _ordered(self, point: Point) -> list[str]:
        """The labels of a point in the order of the dataset's axes."""
        by_key = dict(zip((axis.key for axis in self._grid.axes), point.labels, strict=True))
        return [by_key[key] for key in self._dataset.axes]


def run_sweep(
    grid: Grid,
    seeds: Seeds,
    metrics: tuple[str, ...],
    dataset: Dataset,
    executor: Executor,
    *,
    keeps_flows: bool = False,
    threads: int = 1,
    once: bool = False,
    on_standing: Callable[[Standing], None] | None = None,
) -> Outcomes:
    """Makes every cell of a grid that is not in the dataset yet.

    Ctrl-C stops it and raises nothing: what has come back is in the dataset.

    Parameters
    ----------
    metrics
        Checked expressions, at least one; the first decides about more seeds.
    dataset
        Opened for this grid, in a directory that is claimed.
    executor
        Entered already.
    threads
        Threads of each simulation, > 0.
    once
        Run each scheme in Python once only, and not again to see that it repeats.
    on_standing
        Called about ten times a second.

    Raises
    ------
    ScenarioError
        A cell in the dataset is of another scenario.
    SimulationError, StorageError
        The executor cannot go on, or the disk does not take a cell.
    """
    sweep = _Sweep(grid, seeds, metrics, dataset, executor)
    with stopping(sweep.cancel.set):
        while not sweep.cancel.is_set():
            sweep.go_on(keeps_flows, threads, once)
            if not sweep.waited and not sweep.todo:
                break
            for outcome in executor.outcomes(SIGNAL_POLL_SECONDS):
                if outcome.key not in sweep.waited:
                    raise SimulationError(f"the executor gave back {outcome.key} twice")
                sweep.take(outcome)
            if on_standing:
                on_standing(sweep.standing())
        executor.cancel()
    return sweep.ended()
