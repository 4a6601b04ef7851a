"""Runs a search: asks for points, gives their cells to an executor, tells what came back.

A trial is proposed when all but the last few trials before it are known, and only those that came
before these: trial n knows the trials up to n - AHEAD, whatever has come back by then. So what is
proposed does not depend on time, and several processes have work. A search that is run again
proposes the same points, finds their cells in the dataset, and goes on where there is none. Cells
are named by the values of the fields, so a point that is met again is not run again.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock import estimate as estimates
from penstock.errors import ScenarioError, SimulationError
from penstock.interruption import stopping
from penstock.runner import SIGNAL_POLL_SECONDS
from penstock.storage.claim import refuse_out
from penstock.storage.record import CELLS
from penstock.sweep.dataset import HASH
from penstock.sweep.executor import Executor, Failure, Result, Task
from penstock.sweep.grid import Point
from penstock.sweep.run import LEAD, Standing
from penstock.tune.plan import REFUSED_MAX, Plan, located
from penstock.tune.sampler import Proposal
from penstock.tune.store import Store
from penstock.tune.trial import NOTHING, State, Trial, judge


@dataclass
class Found:
    """What a search has found."""

    trials: list[Trial] = field(default_factory=list)
    """In the order of their numbers."""
    starts_here: bool = False
    """Whether the first trial is the scenario as it is."""
    refused: int = 0
    """Points that the core refused; they took nothing of the budget."""
    refusal: str = ""
    """Why the first of them was."""
    made: int = 0
    """Cells that were run now."""
    there: int = 0
    """Cells that were there before."""
    missing: int = 0
    """Trials of the budget that were not made."""
    is_exhausted: bool = False
    """Whether the sampler had no more points that the core takes."""


@dataclass
class _Open:
    """A trial that was proposed and is not told yet."""

    number: int
    proposal: Proposal
    point: Point
    cells: dict[int, str]
    """Seed -> key of its cell, which other trials may have, too."""


class _Search:
    """The state of a search under way."""

    def __init__(
        self, plan: Plan, store: Store, executor: Executor, threads: int, once: bool
    ) -> None:
        self._plan, self._store, self._executor = plan, store, executor
        self._threads, self._once = threads, once
        self._sampler = plan.sampler()
        self.cancel = threading.Event()
        self.found = Found(starts_here=self._sampler.starts_here)
        self.open: deque[_Open] = deque()
        self._todo: deque[Task] = deque()
        self._hashes: dict[str, str] = {}
        """Key of a cell that is waited for -> hash of its scenario."""
        self._known: dict[str, Mapping[str, Any] | Failure] = {}
        """Key of a cell of an open trial that is known -> its row, or why there is none."""
        self._made: set[str] = set()
        """Keys of the cells that were run now."""
        self._asked = 0
        self._began = time.monotonic()

    def go_on(self) -> bool:
        """Proposes and judges as far as can be done without waiting; whether more is to be done."""
        self._propose()
        while self.open and all(key in self._known for key in self.open[0].cells.values()):
            if self.cancel.is_set():
                break
            self._judge(self.open.popleft())
            self._propose()
        while self._todo and len(self._hashes) - len(self._todo) < self._most_submitted():
            self._executor.submit(self._todo.popleft())
        return bool(self.open)

    def take(self, outcome: Result | Failure) -> None:
        """Keeps a cell that has come back."""
        scenario_hash = self._hashes.pop(outcome.key)
        if isinstance(outcome, Failure):
            self._store.write_failure(outcome)
            self._known[outcome.key] = outcome
        else:
            self._store.dataset.write(outcome, scenario_hash)
            self._known[outcome.key] = {**outcome.facts, **outcome.values}
        self._made.add(outcome.key)
        self.found.made += 1

    def is_waited_for(self, key: str) -> bool:
        """Whether the executor has a cell to give back."""
        return key in self._hashes

    def standing(self) -> Standing:
        """How far it is, in cells."""
        every = self._plan.trials * len(self._plan.seeds)
        done = len(self.found.trials) * len(self._plan.seeds)
        done += sum(key in self._known for one in self.open for key in one.cells.values())
        spent, left = time.monotonic() - self._began, every - done
        seconds = spent * left / self.found.made if self.found.made else None
        failed = sum(one.state is State.FAILED for one in self.found.trials)
        return Standing(done, every, failed, done / every, seconds)

    def _most_submitted(self) -> int:
        return LEAD * self._executor.capacity

    def _propose(self) -> None:
        """Opens trials until so many are under way as may be."""
        plan, refused = self._plan, 0
        while len(self.open) < plan.ahead and self._asked < plan.trials:
            if self.cancel.is_set() or self.found.is_exhausted:
                return
            proposal = self._sampler.ask()
            try:
                point = plan.point(proposal.values)
            except ScenarioError as error:
                self._sampler.tell(proposal, None, math.inf)
                self.found.refused += 1
                refused += 1
                self.found.refusal = self.found.refusal or str(
                    located(plan, proposal.values, error)
                )
                self.found.is_exhausted = refused >= REFUSED_MAX
                continue
            if not plan.oversize:
                estimates.check(point.estimate)
            refused = 0
            self._asked += 1
            self._open(proposal, point)

    def _open(self, proposal: Proposal, point: Point) -> None:
        """Looks for the cells of a trial, and makes tasks of those that are not there."""
        opened = _Open(self._asked, proposal, point, {})
        for seed in self._plan.seeds:
            key = self._store.dataset.cell(point.labels, seed)
            opened.cells[seed] = key
            if key in self._known or key in self._hashes:
                continue
            scenario = point.scenario(seed)
            scenario_hash = scenario.content_hash()
            failure, row = self._store.read_failure(key), self._store.dataset.read(key)
            if failure is not None:
                self._known[key] = failure
            elif row is not None:
                if row[HASH] != scenario_hash:
                    place = self._store.dataset.directory / CELLS / key
                    message = "it is of another scenario: a file of it has changed since"
                    raise refuse_out(place, message, "name another directory")
                self._known[key] = row
                self.found.there += key not in self._made
            else:
                self._hashes[key] = scenario_hash
                task = Task(
                    key,
                    scenario.to_toml(),
                    scenario_hash,
                    self._plan.expressions,
                    threads=self._threads,
                    once=self._once,
                )
                self._todo.append(task)
        self.open.append(opened)

    def _judge(self, one: _Open) -> None:
        """Ends a trial all of whose cells are known, and tells the sampler."""
        cells = [self._known[key] for key in one.cells.values()]
        failures = [cell for cell in cells if isinstance(cell, Failure)]
        if failures:
            message = failures[0].message
            trial = Trial(
                one.number,
                one.point.values,
                State.FAILED,
                NOTHING,
                required=(math.nan,) * len(self._plan.requirements),
                excess=math.inf,
                message=message,
            )
        else:
            rows = [cell for cell in cells if not isinstance(cell, Failure)]
            goal, required = self._plan.objective, self._plan.requirements
            trial = judge(one.number, one.point.values, rows, goal, required)
        has_number = trial.state in (State.MEETS, State.VIOLATES)
        value = trial.objective.mean if has_number else None
        self._sampler.tell(one.proposal, value, trial.excess)
        self.found.trials.append(trial)
        wanted = {key for other in self.open for key in other.cells.values()}
        for key in set(one.cells.values()) - wanted:
            del self._known[key]
        if len(self.found.trials) == self._plan.ahead:
            self._check_first()

    def _check_first(self) -> None:
        """Ends a search whose first trials have all failed: the others would, too."""
        if all(one.state is State.FAILED for one in self.found.trials):
            first = self.found.trials[0].message
            raise SimulationError(f"each of the first {self._plan.ahead} trials failed: {first}")


def run_search(
    plan: Plan,
    store: Store,
    executor: Executor,
    *,
    threads: int = 1,
    once: bool = False,
    on_standing: Callable[[Standing], None] | None = None,
) -> Found:
    """Makes every trial of a budget; cells that are in the store are not run again.

    Ctrl-C stops it and raises nothing: the cells that have come back are in the store.

    Parameters
    ----------
    plan
        Checked by :func:`check_plan`.
    store
        Opened for this plan, in a directory that is claimed.
    executor
        Entered already.
    threads
        Threads of each simulation, > 0.
    once
        Whether a scheme in Python is run once only, and not again to see that it repeats.
    on_standing
        Called about ten times a second.

    Raises
    ------
    ScenarioError
        A cell in the store is of another scenario, or a point is too large for this machine.
    SimulationError, StorageError
        The first trials all failed, the executor cannot go on, or the disk does not take a cell.
    """
    search = _Search(plan, store, executor, threads, once)
    with stopping(search.cancel.set):
        while search.go_on() and not search.cancel.is_set():
            for outcome in executor.outcomes(SIGNAL_POLL_SECONDS):
                if not search.is_waited_for(outcome.key):
                    raise SimulationError(f"the executor gave back {outcome.key} twice")
                search.take(outcome)
            if on_standing:
                on_standing(search.standing())
        executor.cancel()
    search.found.missing = plan.trials - len(search.found.trials)
    return search.found
