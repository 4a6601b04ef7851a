"""Runs a scenario. Where next: :mod:`penstock.several`, for several side by side.

The core works with the interpreter released, so threads are enough. Progress comes as
:class:`Progress` about ten times a second. A run that is stopped keeps the results so far.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock import _core
from penstock import estimate as estimates
from penstock.analysis.backlog import NOT_JUDGED, measure_backlog
from penstock.errors import core_refusals
from penstock.forked import check_fork
from penstock.lossless import loss_notes
from penstock.own_class import find
from penstock.own_run import classes_in, note, repeated
from penstock.own_state import guarded
from penstock.processors import check_threads, processor_time, threads_for
from penstock.provenance import package_version, peak_memory_bytes, source_commit
from penstock.results import Run
from penstock.scenario import Scenario
from penstock.storage.checkpoint import Checkpoints
from penstock.storage.pieces import MOST_ROWS, Pieces
from penstock.tables import (
    columns_as_frames,
    deadlock_notes,
    idle_notes,
    make_frames,
    quiet_notes,
    short_notes,
    why_empty,
)

SIGNAL_POLL_SECONDS = 0.1
"""How often the main thread looks for signals that another thread was given (our choice: as often
as the core reports)."""


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    sim_ps: int
    """Simulated time so far [ps]."""
    duration_ps: int
    """Where the traffic ends [ps]; most runs end soon after, once the last flow has finished."""
    end_ps: int
    """Where it ends at the latest [ps]: duration and drain."""
    events: int
    """Events so far."""
    finished_flows: int
    """Flows finished so far."""
    wall_seconds: float
    """Time since the run began [s]."""


def run(
    scenario: Scenario,
    *,
    check: bool = False,
    oversize: bool = False,
    threads: int | None = None,
    once: bool = False,
    progress: Callable[[Progress], None] | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Run:
    """Runs a scenario.

    Examples
    --------
    >>> from penstock import Scenario, run
    >>> done = run(Scenario.from_name("quickstart", {"duration": "20 us"}))
    >>> done.summary["flows_finished"] == done.summary["flows_started"]
    True
    >>> done.summary["drops"]
    0

    Parameters
    ----------
    scenario
        What is run; a path or a name is refused, see :meth:`penstock.Scenario.load`.
    check
        Also check the invariants of the simulation; several times slower.
    oversize
        Run even if the memory of this machine seems too small.
    threads
        Threads that work on it, which changes no result; by default one per processor, and one for
        a small run.
    once
        Run a scheme in Python only once. Without it such a run is made twice, to see that it gives
        the same; its `progress` is then that of both together.
    progress
        Called about ten times a second.
    cancel
        Asked as often; when it says yes the run stops and keeps what is finished.

    Raises
    ------
    ScenarioError
        The core refuses what only it can know, e.g. a load that a link cannot carry; or the run
        is too large for this machine; or no run can have so many threads.
    SimulationError
        An invariant was broken under `check`, or time stood still; a `SchemeError` when a class of
        the scheme failed, or gave another result the second time.
    TypeError
        `scenario` is no :class:`penstock.Scenario`.
    RuntimeError
        This process is a fork of one that has made or read a run; see :mod:`penstock.forked`.
    """
    return run_kept(scenario, check, oversize, threads, once, progress, cancel)


def check_scenario(given: object, place: str = "scenario") -> None:
    """Refuses what is no scenario.

    Raises
    ------
    TypeError
        It says how to make one.
    """
    if not isinstance(given, Scenario):
        is_name = isinstance(given, str | Path)
        remedy = f"Scenario.load({str(given)!r})" if is_name else "Scenario(...)"
        raise TypeError(f"{place} is a {type(given).__name__} and no Scenario; write {remedy}")


def run_kept(
    scenario: Scenario,
    check: bool,
    oversize: bool,
    threads: int | None,
    once: bool,
    progress: Callable[[Progress], None] | None,
    cancel: Callable[[], bool] | None,
    checkpoints: Checkpoints | None = None,
) -> Run:
    """As :func:`run`; what `checkpoints` keep leaves the run while it goes on."""
    check_fork()
    check_scenario(scenario)
    check_threads(threads)
    resolved = scenario.simulated().resolve()
    if threads is None or not oversize:
        needed = estimates.estimate(resolved)
        threads = threads or threads_for(needed.packet_hops, runs=1)
        if not oversize:
            estimates.check(needed)
    if resolved.fidelity != "exact":
        threads = 1  # that simulator's order of events is one order of all of them
    classes = classes_in(resolved)
    if classes:
        threads = 1  # users' objects may share state
    parts, made = 2 if classes and not once else 1, 0
    last = checkpoints.last if checkpoints else None
    began = time.perf_counter() - (last.wall_seconds if last else 0.0)
    cpu_before = last.cpu_seconds if last else 0.0

    def on_progress(sim_ps: int, end_ps: int, events: int, finished_flows: int) -> bool | str:
        if progress:
            wall = time.perf_counter() - began
            so_far = (made * end_ps + sim_ps) // parts
            progress(Progress(so_far, resolved.duration, end_ps, events, finished_flows, wall))
        stops = bool(cancel and cancel())
        file = checkpoints.due(stops=stops) if checkpoints else None
        return file or not stops

    def on_saved() -> None:
        assert checkpoints is not None
        wall = time.perf_counter() - began
        checkpoints.written(threads, check, wall, cpu_before + spent.seconds)

    def on_rows(tables: Mapping[str, Mapping[str, Any]]) -> None:
        assert checkpoints is not None
        checkpoints.pieces.add(columns_as_frames(tables))

    with (
        core_refusals(scenario.file),
        guarded(find(name) for name in classes),
        processor_time(threads) as spent,
    ):
        try:
            output = _core.run(
                resolved.handed_over(),
                on_progress=on_progress,
                on_rows=on_rows if checkpoints else None,
                most_rows=MOST_ROWS,
                on_saved=on_saved,
                restore=checkpoints.restore() if checkpoints else None,
                check=check,
                threads=threads,
            )
        except _core.StorageError as error:
            assert checkpoints is not None
            raise checkpoints.failure(error) from None
    used = {
        "wall_seconds": time.perf_counter() - began,
        "cpu_seconds": cpu_before + spent.seconds,
        "threads": threads,
    }
    pieces = checkpoints.pieces if checkpoints else None
    repeats = False
    if parts == 2:
        made = 1
        with core_refusals(scenario.file), guarded(find(name) for name in classes):
            repeats = repeated(resolved, output, check=check, on_progress=on_progress)
    finished = finished_run(resolved, output, used, pieces)
    if classes:
        ns = finished.summary["ns_per_packet_hop"]
        finished.summary["notes"].append(note(classes, ns, repeats=repeats))
    return finished


def finished_run(
    resolved: Scenario,
    output: _core.Output,
    used: Mapping[str, Any],
    pieces: Pieces | None = None,
) -> Run:
    """The run of a resolved scenario, from what the core returned and what the run has used.

    Parameters
    ----------
    pieces
        Rows that have left the run before.
    """
    summary: dict[str, Any] = json.loads(output["summary"])
    frames = make_frames(output["tables"], summary["event_names"], pieces)
    summary |= dict(used) | {
        "ns_per_packet_hop": used["cpu_seconds"] * 1e9 / max(summary["packet_hops"], 1),
        "peak_memory_bytes": peak_memory_bytes(),
        "version": package_version(),
        "commit": source_commit(),
        "seed": resolved.seed,
        "scenario": resolved.name,
        "scheme": resolved.scheme.name,
        "scenario_hash": resolved.content_hash(),
        "empty_tables": why_empty(frames, resolved, summary),
    }
    finished = Run(resolved, summary, frames)
    summary["notes"] = [
        *deadlock_notes(summary),
        *loss_notes(finished),
        *quiet_notes(summary, resolved),
        *short_notes(frames, resolved),
        *idle_notes(summary, resolved),
    ]
    found = measure_backlog([finished])
    summary["stability"] = found.words if found else NOT_JUDGED
    if found and found.is_unstable:
        summary["notes"].append(found.words)
    return finished
