"""Who works on the cells of a sweep: the interface, and what crosses it.

What it is: the contract between the one process that owns a dataset and the processes, perhaps on
other machines, that simulate. What it is not: an executor (see `local`), or what a worker does (see
`work`). A sweep, a search for the best values, and any other caller with independent simulations
use the same interface.

The contract
------------
- A caller enters the executor (``with``), submits tasks, asks for outcomes until none is missing,
  and leaves. Leaving ends every worker and frees what the executor holds, whatever has happened.
  All calls come from one thread.
- A :class:`Task` is complete: it names no file and no directory of the caller's machine. An
  executor may send it anywhere by `pickle`, and call :func:`penstock.sweep.work.work` on it there.
- `work` is a pure function that returns an :class:`Outcome` and raises nothing on account of a
  scenario. So a task may be worked on more than once, e.g. because a worker died, and always has
  the same :class:`Result`.
- Each task that was submitted comes back exactly once, as a result or as a :class:`Failure`, in any
  order, unless it was cancelled. A worker that dies costs the task it worked on, which is tried
  again up to :data:`ATTEMPTS` times; then it comes back as a failure that says so.
- Nothing is written by an executor or a worker. The caller writes what comes back, so a dataset has
  one writer, and an executor may be killed at any moment.
- `capacity` is how many tasks can be worked on at a time, now; on a cluster it may change. A caller
  keeps somewhat more than that submitted and not more, so that memory does not grow with a sweep.
- An executor that cannot work at all (an unreachable cluster, another version of Penstock there)
  raises :class:`penstock.errors.ScenarioError` when it is entered. What goes wrong later with one
  task is that task's failure; what goes wrong with all raises
  :class:`penstock.errors.SimulationError` from `outcomes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

ATTEMPTS = 3
"""Times that a task is begun whose workers die (our choice: a machine that is lost takes one of
them, memory that is short takes two; a task that ends three workers ends every worker)."""


@dataclass(frozen=True)
class Task:
    """A simulation, and what is to be measured in it."""

    key: str
    """Names the task among all that its caller submits."""
    scenario: str
    """The resolved scenario as TOML, which names no file (`Scenario.to_toml`)."""
    scenario_hash: str
    """What its scenario must have as its hash where it is read; see `Scenario.content_hash`."""
    metrics: tuple[str, ...] = ()
    """Expressions of one number each (:mod:`penstock.experiments.expression`)."""
    keeps_flows: bool = False
    """Whether the table of flows comes back, too."""
    threads: int = 1
    """Threads of the simulation, > 0; they change no result."""
    once: bool = False
    """Whether a scheme in Python is run once only, and not again to see that it repeats."""


@dataclass(frozen=True)
class Result:
    """What a task gave; all but `wall_seconds` is the same every time."""

    key: str
    """That of the task."""
    facts: Mapping[str, int | str]
    """Totals and digests of the run, and words on lost packets, as in `work.FACTS`, `LOSSES`."""
    values: Mapping[str, float]
    """The metrics: expression to number; NaN where the run gives none."""
    wall_seconds: float
    """Time that it took there [s]."""
    flows: bytes | None = None
    """The table of flows as a Parquet file, where the task asks for it."""


@dataclass(frozen=True)
class Failure:
    """Why a task gave nothing."""

    key: str
    """That of the task."""
    message: str
    """What went wrong, in words for the user."""
    trace: str = ""
    """Where in the code it did; empty where only the message says something."""


Outcome = Result | Failure


class Executor(AbstractContextManager["Executor"], Protocol):
    """Works on tasks, somewhere; the module says what holds of it."""

    @property
    def capacity(self) -> int:
        """Tasks that can be worked on at a time, now; at least 1."""

    def submit(self, task: Task) -> None:
        """Takes a task on; returns at once."""

    def outcomes(self, seconds: float) -> list[Outcome]:
        """What has come back since the last call; waits at most so long [s] for the first.

        An empty list means that the time is over, or that there is no task.
        """

    def notices(self) -> list[str]:
        """What the user should know of the workers, in words; since the last call."""

    def cancel(self) -> None:
        """Drops every task that has not come back; returns at once.

        Those under way are ended without an outcome. More tasks may be submitted afterwards.
        """
