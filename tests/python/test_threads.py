"""Threads of a run: the same results on any number of them, and how many a run gets unasked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_core import FakeCore

from penstock import Progress, Run, Scenario, ScenarioError, processors, run, run_many
from penstock.cli import main
from penstock.estimate import estimate
from penstock.experiments import campaign
from penstock.experiments import reproduce as reproduction
from penstock.processors import (
    THREADS_FROM_HOPS,
    THREADS_MAX,
    free_threads,
    processor_count,
    processor_time,
    threads_for,
)
from penstock.results import RUN_FILES

RACKS = {
    "topology": {"kind": "leaf-spine", "racks": 4, "hosts_per_rack": 4, "spines": 2},
    "traffic": [
        {"kind": "open-loop", "sizes": "google", "load": 0.5},
        {"kind": "incast", "degree": 6, "size": "60 kB", "period": "20 us"},
        {"kind": "long-lived", "pairs": [[0, 5]]},
    ],
    "duration": "60 us",
    "drain": "1 ms",
    "measure": {
        "sample_interval": "5 us",
        "active_flows": True,
        "events": True,
        "trace": {"nodes": [16, 20]},
    },
}
TIMING = {"wall_seconds", "cpu_seconds", "ns_per_packet_hop", "peak_memory_bytes", "threads"}
"""Keys of a summary that differ between two runs of one scenario."""
LARGE = Scenario.from_name("bfc-google-60", {"duration": "10 ms"})
SMALL = Scenario.from_name("quickstart")


@pytest.fixture
def eight(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of eight processors."""
    monkeypatch.setattr(processors, "processor_count", lambda: 8)
    monkeypatch.setattr(campaign, "processor_count", lambda: 8)


@pytest.mark.parametrize("scheme", ["bfc", "pfc", "hpcc"])
def test_a_run_directory_is_the_same_on_any_number_of_threads(scheme: str, tmp_path: Path) -> None:
    scenario = Scenario.model_validate(RACKS | {"scheme": scheme})
    kept = []
    for threads in (1, 2, 3):
        place = tmp_path / str(threads)
        made = run(scenario, threads=threads)
        made.save(place)
        assert made.summary["threads"] == threads
        assert made.packets.height > 0
        files = [(place / name).read_bytes() for name in RUN_FILES]
        kept.append((files, {k: v for k, v in made.summary.items() if k not in TIMING}))
    assert kept[0] == kept[1] == kept[2]


@pytest.mark.parametrize("command", ["run", "compare", "reproduce", "import-hpcc"])
def test_a_wrong_number_of_threads_is_refused(
    command: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for wrong in ("0", "-1", "two", str(THREADS_MAX + 1), "9" * 30):
        assert main([command, "quickstart", "--threads", wrong]) == 2
        shown = capsys.readouterr().err
        assert "--threads" in shown
        assert "Traceback" not in shown
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("wrong", [0, -1, THREADS_MAX + 1, 10**30])
def test_python_refuses_it_too_and_names_the_remedy(
    core: FakeCore, wrong: int, tmp_path: Path
) -> None:
    message = r"^threads = .*; write 1 to 1,024, or nothing"
    with pytest.raises(ScenarioError, match=message):
        run(SMALL, threads=wrong)
    with pytest.raises(ScenarioError, match=message):
        run_many({"one": SMALL}, threads=wrong, out=tmp_path)
    with pytest.raises(ScenarioError, match=message):
        campaign.reproduce_many(["bfc/fig2"], out=tmp_path, threads=wrong)
    with pytest.raises(ScenarioError, match=message):
        reproduction.reproduce("bfc/fig2", out=tmp_path / "one", threads=wrong)
    assert core.scenarios == []


def test_threads_are_what_the_runs_at_a_time_leave_free(eight: None) -> None:
    assert [free_threads(runs) for runs in (1, 2, 3, 4, 5, 8, 9, 100)] == [8, 4, 2, 2, 1, 1, 1, 1]
    assert threads_for(THREADS_FROM_HOPS, 2) == 4
    assert threads_for(THREADS_FROM_HOPS - 1, 2) == 1
    assert threads_for(float("inf"), 1) == 8


def test_no_machine_gives_a_run_more_threads_than_may_be_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processors, "processor_count", lambda: 4 * THREADS_MAX)
    assert free_threads(1) == THREADS_MAX


def test_the_processors_are_those_that_this_process_may_use() -> None:
    assert processor_count() >= 1
    if not hasattr(os, "sched_setaffinity"):
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert processor_count() == 1
    finally:
        os.sched_setaffinity(0, before)


def test_the_core_gets_the_threads_that_are_free_or_asked_for(core: FakeCore, eight: None) -> None:
    assert estimate(SMALL).packet_hops < THREADS_FROM_HOPS < estimate(LARGE).packet_hops
    run(LARGE)
    run(LARGE, oversize=True)
    run(SMALL)
    run(LARGE, threads=3)
    run(SMALL, threads=3, oversize=True)
    run(SMALL.with_overrides({"fidelity": "ns3-hpcc", "scheme": "hpcc-script"}), threads=3)
    assert core.threads == [8, 8, 1, 3, 3, 1]
    core.threads.clear()
    pair = {"a": LARGE, "b": LARGE.with_overrides({"seed": 2})}
    run_many(pair, jobs=2)
    run_many(pair, jobs=1)
    run_many(pair | {"small": SMALL}, jobs=3, threads=5)
    assert core.threads == [4, 4, 8, 8, 5, 5, 5]


@pytest.mark.parametrize("number", ["2", 1.5, True, 0])
def test_what_is_no_number_of_threads_or_runs_is_refused(number: Any) -> None:
    with pytest.raises(ScenarioError, match=r"threads = .*no run can have so many threads"):
        run(SMALL, threads=number)
    with pytest.raises(ScenarioError, match=r"jobs = .*write a whole number of 1 or more"):
        run_many({"small": SMALL}, jobs=number)


@pytest.mark.parametrize(
    ("options", "threads"),
    [([], 1), (["--jobs", "3"], 2), (["--jobs", "8", "--threads", "5"], 5)],
    ids=["default", "jobs", "threads"],
)
def test_experiments_run_a_simulation_on_what_others_leave(
    core: FakeCore, eight: None, options: list[str], threads: int, here: Path
) -> None:
    """The numbers that are made up are no experiment's, so each ends as failed."""
    assert main(["reproduce", "afq/fig14", "pcn/fig10", *options]) == 1
    assert core.threads == [threads] * 5  # two schemes, and one with three seeds


@pytest.mark.parametrize(("options", "threads"), [([], 4), (["--threads", "5"], 5)], ids=str)
def test_one_experiment_runs_on_what_its_runs_leave(
    core: FakeCore,
    eight: None,
    options: list[str],
    threads: int,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def conclude(experiment: Any, scale: str, grid: Any, directory: Path) -> Any:
        return reproduction.Reproduction(experiment, scale, [], [], [], grid, directory)

    monkeypatch.setattr(reproduction, "conclude", conclude)
    monkeypatch.setattr(processors, "THREADS_FROM_HOPS", 0)
    assert main(["reproduce", "afq/fig14", "--json", *options]) == 0
    assert core.threads == [threads] * 2


def test_the_command_line_hands_the_number_on(here: Path) -> None:
    short = ["quickstart", "--set", "duration=20 us", "--out"]
    assert main(["run", *short, "one", "--threads", "3"]) == 0
    assert main(["compare", *short, "both", "--scheme", "bfc,pfc", "--threads", "2"]) == 0
    places = [Path("one"), Path("both/bfc"), Path("both/pfc")]
    assert [Run.load(place).summary["threads"] for place in places] == [3, 2, 2]


def test_a_run_on_two_threads_that_is_stopped_keeps_what_has_finished(tmp_path: Path) -> None:
    seen: list[Progress] = []
    long = LARGE.with_overrides({"duration": "1 s"})
    stopped = run(
        long,
        oversize=True,
        threads=2,
        progress=seen.append,
        cancel=lambda: seen[-1].finished_flows > 0,
    )
    assert stopped.is_cancelled
    assert 0 < stopped.summary["sim_end_ps"] < long.duration
    finished = stopped.flows.filter("finished")
    assert finished.height == stopped.summary["flows_finished"] >= seen[-1].finished_flows
    stopped.save(tmp_path)
    assert Run.load(tmp_path).flows.equals(stopped.flows)


def test_runs_share_the_time_of_the_process_by_their_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def readings(*values: float) -> Any:
        left: Iterator[float] = iter(values)
        return lambda: next(left)

    # One run on 3 threads for 9 s; in its last 6 s another on 1 thread for 4 s of them.
    clock = SimpleNamespace(process_time=readings(0, 3, 7, 9), thread_time=readings(0, 0, 1.5, 3))
    monkeypatch.setattr(processors, "time", clock)
    with processor_time(3) as first, processor_time(1) as second:
        pass
    assert second.seconds == 1.5
    assert first.seconds == pytest.approx(3 + 4 * 3 / 4 + 2)
