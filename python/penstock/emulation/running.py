"""Starts the worker of an emulation, and makes a run of what it leaves."""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.emulation.setting import Setting
from penstock.errors import Problem, ScenarioError, SimulationError
from penstock.interruption import stopping
from penstock.results import Run
from penstock.runner import Progress, finished_run
from penstock.scenario import Scenario

PROGRAMS = "-programs"
"""What is added to the name of a run's directory for the output of its programs."""


def emulate(
    scenario: Scenario,
    setting: Setting,
    *,
    output: Path,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Runs a scenario in real time, with real frames.

    Parameters
    ----------
    output
        A directory for what programs print; it is made when there are programs.
    progress
        Called about ten times a second.

    Raises
    ------
    ScenarioError
        The core refuses the scenario or a part of the setting.
    SimulationError
        Namespaces are forbidden, a program does not exist, or the worker has died.
    """
    resolved = scenario.resolve()
    if setting.programs:
        output.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="penstock-") as place:
        request, result = Path(place) / "request", Path(place) / "result"
        described = setting.to_json(resolved, output.resolve())
        request.write_text(f"{resolved.to_json()}\n{described}")
        code = _work(request, result, resolved, progress, began)
        if not result.exists():
            raise SimulationError(f"the worker ended with code {code} and left no result")
        answer: dict[str, Any] = pickle.loads(result.read_bytes())
    if "refused" in answer:
        raise ScenarioError(
            Problem(path, f"it is {value}", remedy, file=scenario.file)
            for path, value, remedy in answer["refused"]
        )
    if "failed" in answer:
        raise SimulationError(answer["failed"])
    wall = time.perf_counter() - began
    used = {"wall_seconds": wall, "cpu_seconds": wall, "threads": 1}
    done = answer["output"]
    used["emulation"] = json.loads(done["emulation"])
    run = finished_run(resolved, done, used)
    run.summary["cancelled"] = answer["stopped"]
    run.summary["notes"] += notes(run.summary["emulation"])
    return run


def _work(
    request: Path,
    result: Path,
    scenario: Scenario,
    progress: Callable[[Progress], None] | None,
    began: float,
) -> int:
    """Runs the worker to its end; signals are passed on to it."""
    command = [sys.executable, "-m", "penstock.emulation.worker", str(request), str(result)]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    end = scenario.duration + scenario.drain
    with stopping(lambda: worker.send_signal(signal.SIGTERM)):
        assert worker.stdout is not None
        for line in worker.stdout:
            if progress and line.strip().isdigit():
                now = min(int(line), end)
                wall = time.perf_counter() - began
                progress(Progress(now, scenario.duration, end, 0, 0, wall))
        return worker.wait()


def notes(emulation: dict[str, Any]) -> list[str]:
    """What a reader should know of how the run went."""
    late = emulation["lateness"]["network"]
    words = [
        f"real time: {emulation['frames']:,} frames, late by {late['p50_us']:.3g} us (median), "
        f"{late['p99_us']:.3g} us (99th percentile), {late['max_us']:.3g} us at most"
    ]
    for host, reasons in emulation["refused"].items():
        shown = ", ".join(f"{count:,} {name}" for name, count in reasons.items())
        words.append(f"frames of {host} that were not let in: {shown}")
    for program in emulation["programs"]:
        if program.get("code", 0) != 0:
            command = " ".join(program["command"])
            words.append(f"H{program['host']}: {command}: ended with code {program['code']}")
    connections = emulation["connections"]
    if connections["failed"]:
        words.append(f"{connections['failed']:,} connections failed")
    return words
