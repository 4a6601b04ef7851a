"""Forks of a process that has worked on tables: they refuse instead of waiting for ever."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys

import pytest

CODE = """
from concurrent.futures import ProcessPoolExecutor
from penstock import Run, Scenario, run, run_many
scenario = Scenario.from_name("quickstart", {"duration": "2 us"})
BEFORE
work = [(run, scenario), (run_many, {"one": scenario}), (Run.load, "nowhere")]
with ProcessPoolExecutor(1, CONTEXT) as pool:
    for function, argument in work:
        print(repr(pool.submit(function, argument).exception()))
"""


def printed(before: str, context: str = "None") -> list[str]:
    code = CODE.replace("BEFORE", before).replace("CONTEXT", context)
    made = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return made.stdout.splitlines()


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="no forks by default")
def test_a_fork_of_a_process_that_has_made_a_run_is_refused() -> None:
    for line in printed("run(scenario)"):
        assert "this process is a fork of one that has made" in line
        assert "use penstock.run_many" in line
    first, second, third = printed("")
    assert (first, second) == ("None", "None")
    assert "there is no such directory" in third


def test_a_process_that_is_spawned_works() -> None:
    spawned = '__import__("multiprocessing").get_context("spawn")'
    first, second, third = printed("run(scenario)", spawned)
    assert (first, second) == ("None", "None")
    assert "there is no such directory" in third
