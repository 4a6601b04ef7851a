"""Several runs side by side: their order, and what is refused before any begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import Scenario, ScenarioError, run_many

SHORT = Scenario.from_name("quickstart", {"duration": "1 us"})
LONG = Scenario.from_name("quickstart", {"duration": "2 ms"})


def test_runs_are_in_the_order_of_their_names_and_not_of_their_ends() -> None:
    runs = run_many({"long": LONG, "short": SHORT}, jobs=2)  # the second ends first
    assert list(runs) == ["long", "short"]


def test_of_no_scenario_there_is_no_run() -> None:
    assert run_many({}) == {}


@pytest.mark.parametrize("jobs", [0, -1, 1.5])
def test_no_run_at_a_time_is_refused(jobs: int) -> None:
    with pytest.raises(ScenarioError, match=r"jobs = .*: no run would be made"):
        run_many({"one": SHORT}, jobs=jobs)


@pytest.mark.parametrize("seconds", [0, -1.0, float("inf"), float("nan")])
def test_a_checkpoint_needs_a_time(seconds: float, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="no checkpoint would be left"):
        run_many({"one": SHORT}, out=tmp_path, checkpoint_seconds=seconds)
    assert not list(tmp_path.iterdir())
