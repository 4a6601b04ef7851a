"""Several scenarios, side by side: yielded as they end, or all kept.

The core works with the interpreter released, so threads are enough. Invariant of :func:`run_each`:
no more runs have ended and wait for the caller than work at a time.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import cast

from penstock import estimate as estimates
from penstock.errors import SchemeError, refuse
from penstock.estimate import Estimate
from penstock.forked import check_fork
from penstock.interruption import stopping
from penstock.own_run import refuse_classes
from penstock.processors import check_threads, is_whole, processor_count, threads_for
from penstock.results import Run, claim
from penstock.runner import SIGNAL_POLL_SECONDS, Progress, check_scenario, run_kept
from penstock.scenario import Scenario
from penstock.storage.checkpoint import Resumable, resumable
from penstock.storage.name import file_names


def run_many(
    scenarios: Mapping[str, Scenario],
    *,
    out: str | Path | Mapping[str, Path] | None = None,
    force: bool = False,
    oversize: bool = False,
    jobs: int | None = None,
    threads: int | None = None,
    check: bool = False,
    once: bool = False,
    checkpoint_seconds: float | None = None,
    resumed: Mapping[str, Resumable] | None = None,
    progress: Callable[[str, Progress], None] | None = None,
    on_estimate: Callable[[Estimate], None] | None = None,
    on_finished: Callable[[str, Run], None] | None = None,
    on_failed: Callable[[str, SchemeError], None] | None = None,
) -> dict[str, Run]:
    """Runs several scenarios side by side, and returns all runs in the order of the names.

    The parameters, the errors and what a signal does are those of :func:`run_each`. All runs are in
    memory at the end, though large tables of runs that were saved are not.

    Examples
    --------
    >>> from penstock import Scenario, run_many
    >>> base = Scenario.from_name("quickstart", {"duration": "20 us"})
    >>> schemes = {name: base.with_overrides({"scheme": name}) for name in ("bfc", "dctcp")}
    >>> runs = run_many(schemes)
    >>> {name: run.summary["drops"] for name, run in runs.items()}
    {'bfc': 0, 'dctcp': 0}
    """
    runs = run_each(
        scenarios,
        out=out,
        force=force,
        oversize=oversize,
        jobs=jobs,
        threads=threads,
        check=check,
        once=once,
        checkpoint_seconds=checkpoint_seconds,
        resumed=resumed,
        progress=progress,
        on_estimate=on_estimate,
        on_finished=on_finished,
        on_failed=on_failed,
    )
    finished = dict(runs)
    return {name: finished[name] for name in scenarios if name in finished}


def run_each(
    scenarios: Mapping[str, Scenario],
    *,
    out: str | Path | Mapping[str, Path] | None = None,
    force: bool = False,
    oversize: bool = False,
    jobs: int | None = None,
    threads: int | None = None,
    check: bool = False,
    once: bool = False,
    checkpoint_seconds: float | None = None,
    resumed: Mapping[str, Resumable] | None = None,
    progress: Callable[[str, Progress], None] | None = None,
    on_estimate: Callable[[Estimate], None] | None = None,
    on_finished: Callable[[str, Run], None] | None = None,
    on_failed: Callable[[str, SchemeError], None] | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Iterator[tuple[str, Run]]:
    """Runs several scenarios side by side; yields the name and the run of each as soon as it ends.

    No run is kept here once it was yielded. A caller that takes its time holds new runs up, so that
    at most `jobs` runs wait. Nothing runs before the first is asked for. A caller that asks for no
    more (``break``) stops those that still work.

    Ctrl-C stops all of them within about a tenth of a second and raises nothing: what each has
    finished is yielded and saved (`Run.is_cancelled` is then true), runs that had not begun are
    left out. In the command line the signals TERM and HUP do the same.

    Examples
    --------
    >>> from penstock import Scenario, run_each
    >>> base = Scenario.from_name("quickstart", {"duration": "20 us"})
    >>> seeds = {f"seed {seed}": base.with_overrides({"seed": seed}) for seed in (1, 2)}
    >>> sorted(name for name, run in run_each(seeds, jobs=2))
    ['seed 1', 'seed 2']

    Parameters
    ----------
    scenarios
        What is run, each under the name by which its run is yielded.
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
        As for :func:`penstock.runner.run`.
    checkpoint_seconds
        Time after which each leaves a checkpoint in its directory [s], from which
        :func:`resume` goes on; none without it.
    resumed
        Runs that go on from a checkpoint in their directory, which is claimed already.
    progress
        Is told about ten times a second how far each run is, by its name, from several threads.
    on_estimate
        Is told what all runs together will take, before the first.
    on_finished
        Is told of each run that ends, on the thread that has made it.
    on_failed
        Is told of each run in which a class of its scheme failed; such a run is not yielded.
        Without this argument the first of these errors is raised, once all others are made.
    cancel
        Asked about ten times a second, from several threads; when it says yes all runs stop, as
        with Ctrl-C.

    Raises
    ------
    ScenarioError, SimulationError, StorageError
        The first that a run raises, once the others have stopped; they go on when it is a
        `SchemeError`. A directory that must not be written to is refused before anything runs.
    TypeError
        `scenarios` is no mapping, or one of them is no :class:`penstock.Scenario`.
    """
    check_fork()
    check_threads(threads)
    if not isinstance(scenarios, Mapping):
        words = "scenarios have names, by which their runs are returned"
        raise TypeError(f'{words}; write a dict, e.g. {{"bfc": scenario}}')
    for name, one in scenarios.items():
        check_scenario(one, f"scenarios[{name!r}]")
    if jobs is not None and not (is_whole(jobs) and jobs >= 1):
        remedy = "write a whole number of 1 or more, or leave it out"
        raise refuse("jobs", "no run would be made", remedy, jobs)
    scenarios = {name: one.simulated() for name, one in scenarios.items()}
    resumed = resumed or {}
    _check_checkpoints(scenarios, checkpoint_seconds, out is not None)
    workers = min(jobs or processor_count(), len(scenarios)) or 1
    stop = threading.Event()

    def stops() -> bool:
        if cancel and cancel():
            stop.set()
        return stop.is_set()

    with stopping(stop.set), ExitStack() as stack:
        needed = _check_all(scenarios, workers, oversize, on_estimate)
        places = {
            name: stack.enter_context(
                claim(directory, scenarios[name], force=force, resumed=resumed.get(name))
            )
            for name, directory in _directories(scenarios, out).items()
        }
        kept = {name: place.checkpoints(checkpoint_seconds) for name, place in places.items()}
        for name, checkpoints in kept.items():
            checkpoints.begin(scenarios[name])

        def work(name: str) -> Run | None:
            if stops():
                return None
            each = None if progress is None else lambda now: progress(name, now)
            finished = run_kept(
                scenarios[name],
                check=check,
                oversize=True,
                threads=threads or threads_for(needed[name].packet_hops, workers),
                once=once,
                progress=each,
                cancel=stops,
                checkpoints=kept.get(name),
            )
            if name in places:
                with places[name] as place:
                    finished.save_at(place)
            if on_finished:
                on_finished(name, finished)
            return finished

        with ThreadPoolExecutor(workers, thread_name_prefix="penstock") as pool:
            yield from _as_they_end(pool, work, iter(scenarios), workers, stop, on_failed)


def _as_they_end(
    pool: ThreadPoolExecutor,
    work: Callable[[str], Run | None],
    names: Iterator[str],
    workers: int,
    stop: threading.Event,
    on_failed: Callable[[str, SchemeError], None] | None,
) -> Iterator[tuple[str, Run]]:
    """Yields the runs of `names` as they end; `stop` is set when the caller wants no more, or one
    has failed for another reason than a class of its scheme."""
    pending: dict[Future[Run | None], str] = {}
    failures: list[SchemeError] = []
    try:
        while True:
            for name in islice(names, workers - len(pending)):
                pending[pool.submit(work, name)] = name
            if not pending:
                break
            done, _ = wait(pending, SIGNAL_POLL_SECONDS, FIRST_COMPLETED)
            failures += _of_classes(done, pending, on_failed)
            if any(future.exception() for future in done):
                stop.set()
                wait(pending)
            ended = [(pending.pop(future), future.result()) for future in list(done)]
            done.clear()
            while ended:  # nothing here keeps a run that is yielded
                if ended[-1][1] is None:
                    ended.pop()
                else:
                    yield cast(tuple[str, Run], ended.pop())
        if failures:
            raise failures[0]
    finally:
        stop.set()


def _of_classes(
    done: set[Future[Run | None]],
    pending: dict[Future[Run | None], str],
    on_failed: Callable[[str, SchemeError], None] | None,
) -> list[SchemeError]:
    """Takes the runs out in which a class of the scheme failed; the errors that nobody was told."""
    untold = []
    for future in list(done):
        if isinstance(error := future.exception(), SchemeError):
            done.remove(future)
            name = pending.pop(future)
            if on_failed:
                on_failed(name, error)
            else:
                untold.append(error)
    return untold


def resume(
    directory: str | Path,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Goes on with a run that did not end, from its last checkpoint.

    The results are those of a run that was never stopped. A signal stops it as in
    :func:`run_many`; then it can be resumed again. A run leaves checkpoints when it was started
    with `checkpoint_seconds` and `out` of :func:`run_many`, or by ``penstock run --checkpoint``::

        run_many({"long": scenario}, out="runs", checkpoint_seconds=600)  # stopped or killed
        run = resume("runs/long")

    Parameters
    ----------
    directory
        Where the run was to be saved; it is saved there.

    Raises
    ------
    ScenarioError
        There is no checkpoint, it is damaged, or another version has written it; or the run, or
        another writer, is at work there.
    SimulationError, StorageError
        As :func:`run_many`.
    """
    place = Path(directory)
    each = None if progress is None else lambda _, now: progress(now)
    with resumable(place) as found:
        name = found.scenario.scheme.name
        runs = run_many(
            {name: found.scenario},
            out={name: place},
            oversize=True,
            threads=found.last.threads,
            check=found.last.check,
            checkpoint_seconds=found.last.every_seconds,
            resumed={name: found},
            progress=each,
        )
    return runs[name]


def _check_checkpoints(
    scenarios: Mapping[str, Scenario], seconds: float | None, is_saved: bool
) -> None:
    """Refuses checkpoints that cannot be written."""
    if seconds is None:
        return
    if not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        remedy = "write a time in seconds above 0, or leave it out"
        raise refuse("checkpoint_seconds", "no checkpoint would be left", remedy, seconds)
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
    scenarios: Mapping[str, Scenario], out: str | Path | Mapping[str, Path] | None
) -> Mapping[str, Path]:
    """Where each run is saved."""
    if out is None or isinstance(out, Mapping):
        return out or {}
    return {name: Path(out) / place for name, place in file_names(scenarios).items()}
