"""Runs scenarios: one, or several side by side.

The core works with the interpreter released, so threads are enough. Progress comes as
:class:`Progress` about ten times a second. A run that is stopped keeps the results so far.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock import _core
from penstock import estimate as estimates
from penstock.analysis.backlog import NOT_JUDGED, measure_backlog
from penstock.errors import SchemeError, core_refusals, refuse
from penstock.estimate import Estimate
from penstock.interruption import stopping
from penstock.own_run import classes_in, note, refuse_classes, repeated
from penstock.processors import check_threads, processor_count, processor_time, threads_for
from penstock.provenance import package_version, peak_memory_bytes, source_commit
from penstock.results import Run, claim
from penstock.scenario import Scenario
from penstock.storage.checkpoint import Checkpoint, Checkpoints, find_checkpoint
from penstock.storage.name import file_name
from penstock.storage.pieces import MOST_ROWS, Pieces
from penstock.tables import (
    columns_as_frames,
    deadlock_notes,
    make_frames,
    quiet_notes,
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

    Parameters
    ----------
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
    """
    return _run(scenario, check, oversize, threads, once, progress, cancel)


def _run(
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

    with core_refusals(scenario.file), processor_time(threads) as spent:
        try:
            output = _core.run(
                resolved.to_json(),
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
        with core_refusals(scenario.file):
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
        "notes": deadlock_notes(summary) + quiet_notes(summary),
    }
    finished = Run(resolved, summary, frames)
    found = measure_backlog([finished])
    summary["stability"] = found.words if found else NOT_JUDGED
    if found and found.is_unstable:
        summary["notes"].append(found.words)
    return finished


def run_many(
    scenarios: Mapping[str, Scenario],
    *,
    out: Path | Mapping[str, Path] | None = None,
    force: bool = False,
    oversize: bool = False,
    jobs: int | None = None,
    threads: int | None = None,
    check: bool = False,
    once: bool = False,
    checkpoint_seconds: float | None = None,
    resumed: Mapping[str, Checkpoint] | None = None,
    progress: Callable[[str, Progress], None] | None = None,
    on_estimate: Callable[[Estimate], None] | None = None,
    on_finished: Callable[[str, Run], None] | None = None,
    on_failed: Callable[[str, SchemeError], None] | None = None,
) -> dict[str, Run]:
    """Runs several scenarios side by side, in the order of their names' appearance.

    Ctrl-C stops all of them within about a tenth of a second and raises nothing: what each has
    finished is kept and saved (`Run.is_cancelled` is then true), runs that had not begun are left
    out of the result. In the command line the signals TERM and HUP do the same.

    Parameters
    ----------
    out
        Saves each run as soon as it ends: in the directory of its name below `out`, or in its own.
    force
        Runs of other scenarios that stand there are replaced.
    oversize
        Run even if the memory of this machine seems too small.
    jobs
        How many at a time; by default one per processor.
    threads
        Threads of each; by default the processors that the runs at a time leave free, and one for
        a small run.
    once
        As for :func:`run`.
    checkpoint_seconds
        Time after which each leaves a checkpoint in its directory [s], from which
        :func:`resume` goes on; none without it.
    resumed
        Runs that go on from a checkpoint in their directory, on as many threads as before.
    on_estimate
        Is told what all runs together will take, before the first.
    on_failed
        Is told of each run in which a class of its scheme failed. Such a run is left out of the
        result. Without this argument the first of these errors is raised, once all others are made.

    Raises
    ------
    ScenarioError, SimulationError, StorageError
        The first that a run raises, once the others have stopped; they go on when it is a
        `SchemeError`. A directory that must not be written to is refused before anything runs.
    """
    check_threads(threads)
    scenarios = {name: one.simulated() for name, one in scenarios.items()}
    resumed = resumed or {}
    _check_checkpoints(scenarios, checkpoint_seconds, out is not None)
    workers = min(jobs or processor_count(), len(scenarios)) or 1
    cancel = threading.Event()
    with stopping(cancel.set), ExitStack() as stack:
        needed = _check_all(scenarios, workers, oversize, on_estimate)
        places = {
            name: stack.enter_context(
                claim(directory, scenarios[name], force=force, resumes=name in resumed)
            )
            for name, directory in _directories(scenarios, out).items()
        }
        kept = {
            name: place.checkpoints(checkpoint_seconds, resumed.get(name))
            for name, place in places.items()
        }
        for name, checkpoints in kept.items():
            checkpoints.begin(scenarios[name])

        def work(name: str) -> Run | None:
            if cancel.is_set():
                return None
            each = None if progress is None else lambda now: progress(name, now)
            finished = _run(
                scenarios[name],
                check=check,
                oversize=True,
                threads=threads or threads_for(needed[name].packet_hops, workers),
                once=once,
                progress=each,
                cancel=cancel.is_set,
                checkpoints=kept.get(name),
            )
            if name in places:
                with places[name] as place:
                    finished.save_at(place)
            if on_finished:
                on_finished(name, finished)
            return finished

        with ThreadPoolExecutor(workers, thread_name_prefix="penstock") as pool:
            futures = {name: pool.submit(work, name) for name in scenarios}
            _wait(set(futures.values()), cancel)
    if on_failed:
        for name, future in list(futures.items()):
            if isinstance(error := future.exception(), SchemeError):
                on_failed(name, error)
                del futures[name]
    results = {name: future.result() for name, future in futures.items()}
    return {name: finished for name, finished in results.items() if finished is not None}


def resume(
    directory: str | Path,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Goes on with a run that did not end, from its last checkpoint.

    The results are those of a run that was never stopped. A signal stops it as in
    :func:`run_many`; then it can be resumed again.

    Parameters
    ----------
    directory
        Where the run was to be saved; it is saved there.

    Raises
    ------
    ScenarioError
        There is no checkpoint, it is damaged, or another version has written it.
    SimulationError, StorageError
        As :func:`run_many`.
    """
    place = Path(directory)
    scenario, last = find_checkpoint(place)
    each = None if progress is None else lambda _, now: progress(now)
    name = scenario.scheme.name
    runs = run_many(
        {name: scenario},
        out={name: place},
        oversize=True,
        threads=last.threads,
        check=last.check,
        checkpoint_seconds=last.every_seconds,
        resumed={name: last},
        progress=each,
    )
    return runs[name]


def _check_checkpoints(
    scenarios: Mapping[str, Scenario], seconds: float | None, is_saved: bool
) -> None:
    """Refuses checkpoints that cannot be written."""
    if seconds is None:
        return
    if not is_saved:
        raise refuse("checkpoint_seconds", "the runs have no directory", "name one with out")
    for scenario in scenarios.values():
        reason = "its state cannot be saved, so its run leaves no checkpoint"
        refuse_classes(scenario, "--checkpoint", reason, "leave the checkpoints out")
        if scenario.fidelity != "exact":
            message = "a run of this fidelity shares its random numbers and cannot be saved"
            raise refuse("fidelity", message, "leave the checkpoints out", scenario.fidelity)


def _check_all(
    scenarios: Mapping[str, Scenario],
    workers: int,
    oversize: bool,
    on_estimate: Callable[[Estimate], None] | None,
) -> dict[str, Estimate]:
    """What each will take; refuses what is too large for this machine."""
    each = {name: estimates.estimate(one) for name, one in scenarios.items()}
    if each:
        needed = estimates.together(each.values(), workers)
        if on_estimate:
            on_estimate(needed)
        if not oversize:
            estimates.check(needed)
    return each


def _directories(
    scenarios: Mapping[str, Scenario], out: Path | Mapping[str, Path] | None
) -> Mapping[str, Path]:
    """Where each run is saved."""
    if out is None or isinstance(out, Mapping):
        return out or {}
    return {name: out / file_name(name) for name in scenarios}


def _wait(pending: set[Future[Run | None]], cancel: threading.Event) -> None:
    """Waits for all; the first failure stops those that still work, unless it is of a class."""
    while pending:
        done, pending = wait(pending, SIGNAL_POLL_SECONDS, FIRST_COMPLETED)
        errors = [error for future in done if (error := future.exception())]
        if not all(isinstance(error, SchemeError) for error in errors):
            cancel.set()
