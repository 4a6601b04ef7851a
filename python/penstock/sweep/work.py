"""What a worker does with a task: simulate, measure, and keep nothing.

Invariant: what comes back depends on the task alone (the time that it took aside). So it does not
matter where, and how often, a task is worked on.
"""

from __future__ import annotations

import io
import time
import traceback
from collections.abc import Callable

from penstock.errors import ScenarioError, SimulationError
from penstock.experiments.expression import Evaluator, measuring
from penstock.experiments.grid import Cell
from penstock.lossless import loss_notes
from penstock.results import Run
from penstock.runner import run
from penstock.scenario import Scenario
from penstock.sweep.executor import Failure, Outcome, Result, Task
from penstock.toml_text import parse_toml

FACTS = (
    "digest",
    "flows_started",
    "flows_finished",
    "drops",
    "pfc_pauses",
    "queue_pauses",
    "events",
    "packet_hops",
    "sim_end_ps",
)
"""What of a run's summary comes back: what it did, and nothing of how long that took."""
LOSSES = "losses"
"""Beside them: what `penstock.lossless` says of packets that were lost, or could have been."""


def work(task: Task, cancel: Callable[[], bool] | None = None) -> Outcome:
    """Simulates and measures; an error becomes a :class:`Failure`.

    Parameters
    ----------
    cancel
        Asked about ten times a second; when it says yes the simulation ends, as a failure.
    """
    began = time.perf_counter()
    try:
        scenario = Scenario.model_validate(parse_toml(task.scenario))
        if scenario.content_hash() != task.scenario_hash:
            words = "the scenario is another one here: caller and worker have different versions"
            return Failure(task.key, words)
        made = run(scenario, oversize=True, threads=task.threads, once=task.once, cancel=cancel)
        if made.is_cancelled:
            return Failure(task.key, "it was stopped")
        values = {one: measure(made, one) for one in task.metrics}
        facts = {name: made.summary[name] for name in FACTS} | {LOSSES: "; ".join(loss_notes(made))}
        flows = _parquet(made) if task.keeps_flows else None
    except (ScenarioError, SimulationError) as error:
        return Failure(task.key, str(error))
    except Exception as error:  # whatever it is, the other tasks go on
        message = f"{type(error).__name__}: {error}"
        return Failure(task.key, message, "".join(traceback.format_exception(error)))
    return Result(task.key, facts, values, time.perf_counter() - began, flows)


def measure(made: Run, expression: str) -> float:
    """The number that an expression gives for one run.

    Raises
    ------
    ScenarioError
        It gives none for this run, e.g. because the run has no such link or label.
    """
    cell = Cell({}, int(made.summary["seed"]), {}, run=made)
    with measuring(expression):
        return Evaluator([cell], []).value(expression)


def _parquet(made: Run) -> bytes:
    sink = io.BytesIO()
    made.flows.write_parquet(sink)
    return sink.getvalue()
