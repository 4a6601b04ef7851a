"""The executor of other machines: workers of Dask distributed, which one scheduler knows.

What it is: an :class:`penstock.sweep.executor.Executor` whose tasks go to Dask workers. What it is
not: a way to start scheduler or workers (see `slurm`, `docs/cluster.md`).

This process decides which worker gets which task, and gives a worker only what it can begin at
once. So it is known how often a task was begun, and no task goes to a worker whose version is not
known. Invariant: the coroutines on the client's loop change the fields between `_waiting` and
`_refused`; the caller's thread changes `_missing` only.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
import uuid
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

from distributed import Client, KilledWorker, get_worker
from distributed.client import FutureCancelledError
from distributed.core import Status

from penstock.errors import SimulationError, refuse
from penstock.provenance import result_versions
from penstock.sweep.executor import ATTEMPTS, Failure, Outcome, Task
from penstock.sweep.work import work

OPTION = "--cluster"
CONNECT_SECONDS = 5.0
"""Time that a scheduler gets to answer [s] (our choice: one that is there answers at once)."""
WORKERS_SECONDS = 30.0
"""Time that is waited for the first worker [s] (our choice: one takes some seconds to start)."""
WATCH_SECONDS = 0.5
"""Time between two looks at which workers there are [s] (our choice: short beside a task)."""
REMEDY = "install the same build of Penstock and its packages everywhere, then restart the workers"


_T = TypeVar("_T")


@dataclass
class _Attempt:
    """A task, how often it was begun, and which worker has it."""

    task: Task
    begun: int = 0
    worker: str = ""


class DaskExecutor:
    """Works on tasks on the workers of a Dask scheduler.

    Parameters
    ----------
    address
        The scheduler's, e.g. ``tcp://10.0.0.1:8786``.
    awaits_workers
        Whether a scheduler without workers is refused after :data:`WORKERS_SECONDS`. Otherwise
        they may come whenever they come.
    """

    def __init__(self, address: str, *, awaits_workers: bool = True) -> None:
        self._address = address
        self._awaits_workers = awaits_workers
        self._name = f"penstock-{uuid.uuid4().hex[:8]}"
        self._numbers = itertools.count()
        self._threads = 1
        self._missing = 0
        self._found: SimpleQueue[Outcome | SimulationError] = SimpleQueue()
        self._notices: SimpleQueue[str] = SimpleQueue()
        self._waiting: deque[_Attempt] = deque()
        self._begun: dict[asyncio.Task[None], _Attempt] = {}
        self._workers: dict[str, int] = {}
        self._refused: dict[str, str] = {}

    def __enter__(self) -> DaskExecutor:
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # our own messages say it
        try:
            _probe(self._address)
            self._client: Any = Client(self._address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, RuntimeError):
            message = f"no scheduler of Dask answers there within {CONNECT_SECONDS:g} s"
            remedy = "start one with `dask scheduler`, and name the address that it prints"
            raise refuse(OPTION, message, remedy, self._address) from None
        try:
            self._client.sync(self._first_look)
        except BaseException:
            self._client.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.cancel()
        self._client.sync(self._stop_watching)
        self._client.close()

    @property
    def capacity(self) -> int:
        """Tasks at a time: of each worker its threads, shared by the threads of a task."""
        each = [max(1, threads // self._threads) for threads in list(self._workers.values())]
        return max(1, sum(each))

    def notices(self) -> list[str]:
        """What the user should know of the workers, since the last call."""
        return _drained(self._notices)

    def submit(self, task: Task) -> None:
        """Takes a task on."""
        self._missing += 1
        self._threads = task.threads
        self._client.loop.add_callback(self._take, _Attempt(task))

    def outcomes(self, seconds: float) -> list[Outcome]:
        """What has come back since the last call."""
        if not self._missing:
            return []
        try:
            found = [self._found.get(timeout=seconds), *_drained(self._found)]
        except Empty:
            return []
        outcomes: list[Outcome] = []
        for one in found:
            if isinstance(one, SimulationError):
                raise one
            outcomes.append(one)
        self._missing -= len(outcomes)
        return outcomes

    def cancel(self) -> None:
        """Drops every task; the workers end those under way within a fraction of a second."""
        self._client.sync(self._drop)
        _drained(self._found)
        self._missing = 0

    async def _drop(self) -> None:
        self._waiting.clear()
        following = list(self._begun)
        self._begun.clear()
        for one in following:
            one.cancel()
        await asyncio.gather(*following, return_exceptions=True)

    async def _first_look(self) -> None:
        """Finds the workers; refuses another version, and a scheduler without workers."""
        waited = 0.0
        while True:
            await self._look()
            for worker, versions in self._refused.items():
                raise refuse(OPTION, f"the worker {worker} has {versions}", REMEDY, self._address)
            if self._workers or not self._awaits_workers:
                self._watcher = asyncio.create_task(self._watch())
                return
            if waited >= WORKERS_SECONDS:
                message = f"the scheduler has had no worker for {WORKERS_SECONDS:g} s"
                remedy = f"start some with `dask worker {self._address} --nthreads 1`"
                raise refuse(OPTION, message, remedy, self._address)
            await asyncio.sleep(WATCH_SECONDS)
            waited += WATCH_SECONDS

    async def _watch(self) -> None:
        """Looks again and again, until the scheduler has gone."""
        while self._client.status == "running":
            with suppress(OSError):  # a time-out is one, too; the next look sees the rest
                await asyncio.wait_for(self._look(), CONNECT_SECONDS)
            self._begin()
            await asyncio.sleep(WATCH_SECONDS)
        self._lost()

    async def _stop_watching(self) -> None:
        self._watcher.cancel()
        await asyncio.gather(self._watcher, return_exceptions=True)

    async def _look(self) -> None:
        """Finds which workers have come and gone; checks those that are new."""
        there = dict(await self._client.nthreads())
        new = [one for one in there if one not in self._workers and one not in self._refused]
        gone = [one for one in self._workers if one not in there]
        for worker in gone:
            del self._workers[worker]
            left = f"{len(self._workers)} left" if self._workers else "none left: the sweep waits"
            self._notices.put(f"the worker {worker} has gone, {left}")
        for follower, attempt in list(self._begun.items()):
            if attempt.worker in gone:
                del self._begun[follower]
                follower.cancel()
                self._died(attempt)
        if not new:
            return
        mine = result_versions()
        told = await self._client.run(result_versions, workers=new, on_error="return")
        for worker, theirs in told.items():
            if theirs == mine:
                self._workers[worker] = there[worker]
            elif not isinstance(theirs, OSError):  # one that cannot be reached is asked again
                self._refused[worker] = differences(theirs, mine)
                self._notices.put(f"not used: the worker {worker} has {self._refused[worker]}")

    def _take(self, attempt: _Attempt) -> None:
        self._waiting.append(attempt)
        self._begin()

    def _begin(self) -> None:
        """Gives tasks that wait to workers with free threads, the freest first."""
        free = dict(self._workers)
        for attempt in self._begun.values():
            free[attempt.worker] -= attempt.task.threads
        while self._waiting and free:
            attempt = self._waiting[0]
            worker = max(free, key=lambda one: free[one])
            # A task of more threads than any worker has gets a worker for itself.
            if free[worker] < min(attempt.task.threads, self._workers[worker]):
                return
            self._waiting.popleft()
            free[worker] -= attempt.task.threads
            attempt.begun += 1
            attempt.worker = worker
            follower = asyncio.create_task(self._follow(attempt))
            self._begun[follower] = attempt

    async def _follow(self, attempt: _Attempt) -> None:
        """Has a worker work on a task, and takes what comes of that.

        The result is dropped there as soon as it is here, or as nobody waits for it.
        """
        task = attempt.task
        key = f"{self._name}-{next(self._numbers)}"
        future = self._client.submit(
            work_on_worker, task, key=key, workers=[attempt.worker], pure=False
        )
        try:
            self._found.put(await future)
        except KilledWorker:
            self._died(attempt)
        except FutureCancelledError:
            self._lost()
        except Exception as error:  # whatever it is, the other tasks go on
            self._found.put(Failure(task.key, f"{type(error).__name__}: {error}"))
        finally:
            future.release()
            self._finished()

    def _finished(self) -> None:
        """The coroutine that runs has followed its task to the end."""
        this = asyncio.current_task()
        if this in self._begun:
            del self._begun[this]
            self._begin()

    def _died(self, attempt: _Attempt) -> None:
        """A task whose worker has died waits again, or has failed."""
        if attempt.begun < ATTEMPTS:
            self._waiting.appendleft(attempt)
            return
        words = f"its worker died {attempt.begun} times, last {attempt.worker}; memory may be short"
        self._found.put(Failure(attempt.task.key, words))

    def _lost(self) -> None:
        words = f"the scheduler {self._address} has gone; with it back, the same command goes on"
        self._found.put(SimulationError(words))


def _probe(address: str) -> None:
    """Raises `OSError` where nothing speaks first, as schedulers do on TCP.

    The client of Dask would wait for ever for a server that accepts connections and is silent.
    """
    protocol, _, place = address.partition("://")
    host, _, port = place.rpartition(":")
    if protocol != "tcp":
        return
    where = (host.strip("[]"), int(port))
    with socket.create_connection(where, CONNECT_SECONDS) as connection:
        if not connection.recv(1):
            raise ConnectionError(f"{address} has closed the connection")


def work_on_worker(task: Task) -> Outcome:
    """Works on a task in a thread of a Dask worker, as long as somebody waits for its outcome."""
    worker = get_worker()
    key = worker.get_current_task()

    def is_unwanted() -> bool:
        known = worker.state.tasks.get(key)
        return known is None or known.state != "executing" or worker.status in _ENDING

    return work(task, cancel=is_unwanted)


_ENDING = (Status.closing, Status.closed, Status.failed)


def differences(theirs: object, mine: dict[str, str]) -> str:
    """What of a worker's versions is not ours, both named.

    Parameters
    ----------
    theirs
        What the worker says: versions, or the error for which it cannot say them.
    """
    if not isinstance(theirs, dict):
        here = f"{mine['Penstock']} is here"
        return f"no Penstock that works here ({type(theirs).__name__}: {theirs}); {here}"
    other = [name for name in mine if theirs.get(name) != mine[name]]
    return ", ".join(f"{one} {theirs.get(one)} (here {mine[one]})" for one in other)


def _drained(queue: SimpleQueue[_T]) -> list[_T]:
    """What is in a queue, which is empty afterwards."""
    found = []
    while True:
        try:
            found.append(queue.get_nowait())
        except Empty:
            return found
