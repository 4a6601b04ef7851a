"""Starts the worker of an emulation, and makes a run of what it leaves."""

from __future__ import annotations

import json
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.emulation.glance import Glance, read_glance
from penstock.emulation.lateness import LATE, packets_late
from penstock.emulation.memory import check_hosts
from penstock.emulation.printed import replaced
from penstock.emulation.setting import setting
from penstock.errors import Problem, ScenarioError, SimulationError, refuse
from penstock.interruption import held, stopping
from penstock.own_run import NOT_REAL, refuse_classes
from penstock.readable import time_text
from penstock.results import Run
from penstock.runner import Progress, finished_run
from penstock.scenario import Scenario
from penstock.scenario.emulation import Emulation

Followers = tuple[
    Callable[[Progress], None] | None,
    Callable[[Glance], None] | None,
    Callable[[], bool] | None,
]
"""Who follows a run: `progress`, `look` and `cancel` of :func:`emulate`."""

KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
"""Codes of a worker that was killed, itself or below the process that guards it."""
TOLD = ("with code 0", f"by signal {signal.SIGTERM:d}")
"""How a program ends well that is told to end."""
PROGRAMS = "-programs"
"""What is added to the name of a run's directory for the output of its programs."""


def emulate(
    scenario: Scenario,
    *,
    output: Path,
    capture: Path | None = None,
    forced: bool = False,
    progress: Callable[[Progress], None] | None = None,
    look: Callable[[Glance], None] | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Run:
    """Runs a scenario in real time, with real frames, as its `emulation` says.

    Parameters
    ----------
    output
        A directory for what programs print: ``program-N.out`` and ``program-N.err`` of program N,
        from 0. It is made when there are programs. Such files of an earlier run go when this one
        has ended; when it fails they stay.
    capture
        A file for all frames between hosts and network, which Wireshark reads (pcapng). It grows
        with the run; an earlier one is replaced.
    forced
        Run also what seems too fast or too large for the machine.
    progress
        Called about ten times a second.
    look
        Called about five times a second with what can be seen of the run.
    cancel
        Asked as often; when it says yes the run stops and keeps what is finished.

    Raises
    ------
    ScenarioError
        The core refuses the scenario or a part of its `emulation`, there is no such program, or no
        memory for its hosts.
    SimulationError
        Namespaces are forbidden, a program cannot be started, or the worker has died.
    """
    refuse_classes(scenario, "scheme", NOT_REAL, "simulate it with `penstock run`")
    emulation = scenario.emulation or Emulation()
    resolved = scenario.with_emulation(emulation).resolve()
    if not forced:
        check_hosts(resolved, emulation)
    for index, program in enumerate(emulation.programs):
        if shutil.which(program.words[0]) is None:
            place = f"emulation.programs[{index}].command"
            remedy = "write a name that is in PATH, or a path"
            raise refuse(place, f"there is no program {program.words[0]}", remedy, program.command)
    began = time.perf_counter()
    with (
        replaced(output, is_made=bool(emulation.programs)) as printed,
        tempfile.TemporaryDirectory(prefix="penstock-") as place,
    ):
        request, result = Path(place) / "request", Path(place) / "result"
        described = setting(
            resolved,
            output.resolve(),
            forced=forced,
            capture=capture.resolve() if capture else None,
        )
        request.write_text(f"{resolved.to_json()}\n{described}")
        code = _work(request, result, resolved, (progress, look, cancel), began)
        if not result.exists():
            _remove_empty(capture)
            cause = ", perhaps for want of memory" if code in KILLED else ""
            raise SimulationError(f"the worker ended with code {code}{cause}, and left no result")
        answer: dict[str, Any] = pickle.loads(result.read_bytes())
        if "output" in answer:
            printed.is_kept = True
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
    rate = run.links["rate_bps"].min()
    assert isinstance(rate, int)
    packet = resolved.wire.payload + resolved.wire.header
    done = run.summary["emulation"]
    done["packet_us"] = 8e6 * packet / rate * emulation.scale_time
    run.summary["notes"] += notes(done, emulation)
    return run


def _work(
    request: Path,
    result: Path,
    scenario: Scenario,
    followers: Followers,
    began: float,
) -> int:
    """Runs the worker to its end; a signal, or `cancel`, ends it early."""
    progress, look, cancel = followers
    command = [sys.executable, "-m", "penstock.emulation.worker", str(request), str(result)]
    end = scenario.duration + scenario.drain
    # A worker that is told to stop while it starts stops as soon as it can, and leaves a result.
    with held():
        worker = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
    with worker, stopping(lambda: worker.send_signal(signal.SIGTERM)):
        assert worker.stdout is not None
        for line in worker.stdout:
            glance = read_glance(line) if line.startswith("{") else None
            if glance and look:
                look(glance)
            if progress and (glance or line.strip().isdigit()):
                now = min(glance.now_ps if glance else int(line), end)
                wall = time.perf_counter() - began
                progress(Progress(now, scenario.duration, end, 0, 0, wall))
            if cancel and cancel():
                worker.send_signal(signal.SIGTERM)
        return worker.wait()


def _remove_empty(capture: Path | None) -> None:
    """Removes a capture without a frame."""
    if capture is not None and capture.exists() and capture.stat().st_size == 0:
        capture.unlink()


def notes(done: dict[str, Any], asked: Emulation) -> list[str]:
    """What a reader should know of how the run went.

    Parameters
    ----------
    done
        What the core says of it.
    asked
        How it was to run.
    """
    lateness = done["lateness"]
    words = [f"real time: {done['frames']:,} frames, late by {_late(lateness['network'])}"]
    if lateness["hosts"]["frames"]:
        words.append(f"real time: frames of the hosts, late by {_late(lateness['hosts'])}")
    if packets_late(done) > LATE:
        packet = time_text(done["packet_us"] * 1e3)
        words.append(
            f"too late: a frame in a hundred is late by more than half of the {packet} that a "
            "packet takes on the slowest link; completion times are too long (docs/emulation.md)"
        )
    for host, reasons in done["refused"].items():
        shown = ", ".join(f"{count:,} {name}" for name, count in reasons.items())
        words.append(f"frames of {host} that were not let in: {shown}")
    for host, missed in done["missed"].items():
        for way, reader in (("from", "network"), ("to", "host")):
            if count := missed[f"{way}_host"]:
                late = f"the {reader} was late in reading those before them"
                words.append(f"frames {way} {host} that were lost: {count:,}; {late}")
    for program, wanted in zip(done["programs"], asked.programs, strict=True):
        command = f"H{program['host']}: {wanted.command}"
        by_signal = "signal" in program
        end = f"by signal {program['signal']}" if by_signal else f"with code {program['code']}"
        # A server is told to end at the end of each run.
        ended_well = end in TOLD if program["told"] else end == TOLD[0]
        if program["told"] and not wanted.server:
            words.append(f"{command}: had not ended when the run was over; it then ended {end}")
        elif not ended_well:
            words.append(f"{command}: ended {end}")
    connections = done["connections"]
    if connections["failed"]:
        words.append(f"{connections['failed']:,} connections failed")
    return words


def _late(lateness: dict[str, float]) -> str:
    """How late frames were, in words."""
    median, high, most = (
        time_text(lateness[name] * 1e3) for name in ("p50_us", "p99_us", "max_us")
    )
    return f"{median} (median), {high} (99th percentile), {most} at most"
