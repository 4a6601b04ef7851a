"""The executor of this machine: each task comes back once, whatever happens to its workers."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

from penstock import Scenario, run
from penstock.sweep.executor import ATTEMPTS, Failure, Outcome, Result, Task
from penstock.sweep.local import LocalExecutor
from penstock.sweep.work import work

SMALL = {
    "topology": {"kind": "single-switch", "hosts": 3},
    "traffic": [{"kind": "listed", "flows": [[0, 2, 5_000, "0 us"], [1, 2, 5_000, "0 us"]]}],
    "duration": "10 us",
}
METRIC = "slowdown(statistic='mean')"


def task(key: str, **changes: object) -> Task:
    scenario = Scenario.model_validate(SMALL | {"seed": len(key)})
    made = Task(key, scenario.to_toml(), scenario.content_hash(), (METRIC,))
    return replace(made, **changes)  # type: ignore[arg-type]


def all_of(executor: LocalExecutor, count: int) -> dict[str, Outcome]:
    """Outcomes until there are so many, by key; none comes twice."""
    found: dict[str, Outcome] = {}
    for _ in range(600):
        for one in executor.outcomes(0.1):
            assert one.key not in found
            found[one.key] = one
        if len(found) == count:
            return found
    raise AssertionError(f"only {sorted(found)} came back")


def test_a_task_gives_what_the_run_gives() -> None:
    outcome = work(task("a", keeps_flows=True))
    assert isinstance(outcome, Result)
    made = run(Scenario.model_validate(SMALL | {"seed": 1}))
    assert outcome.facts["digest"] == made.summary["digest"]
    assert outcome.values == {METRIC: made.flows["slowdown"].mean()}
    assert outcome.flows is not None
    assert work(task("a", keeps_flows=True)).flows == outcome.flows  # type: ignore[union-attr]


def test_what_cannot_be_measured_is_a_failure_with_words() -> None:
    outcome = work(task("a", metrics=("busy(link=[0, 99])",)))
    assert isinstance(outcome, Failure)
    assert "busy(link=[0, 99])" in outcome.message
    assert "cannot be measured" in outcome.message


def test_another_version_of_a_scenario_is_a_failure() -> None:
    outcome = work(task("a", scenario_hash="0" * 64))
    assert isinstance(outcome, Failure)
    assert "different versions" in outcome.message


def test_processes_give_the_same_and_dead_ones_lose_nothing() -> None:
    keys = ["a", "bb", "ccc", "dddd", "eeeee"]
    with LocalExecutor(2) as executor:
        for key in keys:
            executor.submit(task(key))
        for worker in list(executor._busy.values()):
            os.kill(worker.process.pid, signal.SIGKILL)
        found = all_of(executor, len(keys))
        assert executor.outcomes(0.0) == []
    for key in keys:
        alone = work(task(key))
        assert isinstance(alone, Result)
        one = found[key]
        assert isinstance(one, Result)
        assert (one.facts, one.values) == (alone.facts, alone.values)


def test_a_task_that_ends_its_workers_fails_in_the_end() -> None:
    with LocalExecutor(1) as executor:
        executor.submit(task("a"))
        for _ in range(ATTEMPTS):
            (worker,) = executor._busy.values()
            worker.process.kill()
            found = executor.outcomes(10.0)
        assert isinstance(found[0], Failure)
        assert f"died {ATTEMPTS} times, last by signal 9" in found[0].message


def test_cancelled_tasks_do_not_come_back_and_later_ones_do() -> None:
    with LocalExecutor(1) as executor:
        for key in ("a", "bb", "ccc"):
            executor.submit(task(key))
        executor.cancel()
        executor.submit(task("dddd"))
        assert set(all_of(executor, 1)) == {"dddd"}
