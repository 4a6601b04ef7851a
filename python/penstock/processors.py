"""The processors of this machine: how runs share them, and what a run uses of them.

The number of threads of a run changes how long the run takes. It changes no result.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral

from penstock.errors import refuse

THREADS_MAX = 1_024
"""Most threads of a run (our choice: more than the processors of nearly every machine)."""
THREADS_FROM_HOPS = 2_000_000
"""Packet-hops from which a run gets several threads unasked (our choice: fewer take less than half
a second on one thread, about as long as Python takes to start and to write the tables)."""


def processor_count() -> int:
    """Processors that this process may use, at least 1.

    They are those of its affinity, and no more than the quota of its control group, which is what a
    container gets of a machine.

    Raises
    ------
    ImportError
        The core is not there.
    """
    from penstock import _core

    return _core.processors()


def free_threads(runs: int) -> int:
    """Threads of each of so many runs (> 0) at a time: the processors are shared; at least 1."""
    return min(max(1, processor_count() // runs), THREADS_MAX)


def threads_for(packet_hops: float, runs: int) -> int:
    """Threads of a run that nobody chose a number for: 1 for a small run, else `free_threads`.

    Parameters
    ----------
    packet_hops
        What is expected of the run; see :mod:`penstock.estimate`.
    runs
        Runs at a time, > 0.
    """
    return 1 if packet_hops < THREADS_FROM_HOPS else free_threads(runs)


def is_whole(given: object) -> bool:
    """Whether a user has given a whole number; true and false are none."""
    return isinstance(given, Integral) and not isinstance(given, bool)


def check_threads(threads: int | None) -> None:
    """Refuses a number of threads that no run can have; `None` leaves the choice to Penstock.

    Raises
    ------
    ScenarioError
        It is no whole number, below 1 or above :data:`THREADS_MAX`.
    """
    if threads is not None and not (is_whole(threads) and 1 <= threads <= THREADS_MAX):
        remedy = f"write 1 to {THREADS_MAX:,}, or nothing for the processors that are free"
        raise refuse("threads", "no run can have so many threads", remedy, threads)


class Spent:
    """What a run on so many threads (> 0) has used since it began, on the calling thread."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._own, self._share = time.thread_time(), _shares.change(threads)
        self._end: float | None = None

    @property
    def seconds(self) -> float:
        """Processor time of all its threads, until now or until it has ended [s]."""
        return self._so_far(0) if self._end is None else self._end

    def end(self) -> None:
        """It has ended."""
        self._end = self._so_far(-self._threads)

    def _so_far(self, more_threads: int) -> float:
        share = _shares.change(more_threads) - self._share
        return time.thread_time() - self._own if self._threads == 1 else share * self._threads


class _Shares:
    """The processor time of this process, shared among its runs by their threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads = 0
        self._read = 0.0
        self._of_a_thread = 0.0

    def change(self, threads: int) -> float:
        """So many threads more or fewer work from now on; the share of one thread so far [s]."""
        with self._lock:
            now = time.process_time()
            if self._threads:
                self._of_a_thread += (now - self._read) / self._threads
            self._read = now
            self._threads += threads
            return self._of_a_thread


_shares = _Shares()


@contextmanager
def processor_time(threads: int) -> Iterator[Spent]:
    """Measures what a run on so many threads (> 0) uses inside the block, on the calling thread.

    The system counts the time of one thread, or of the whole process. So one thread is exact.
    Several threads get their share of the process, waiting for each other included: with one run
    at a time that is exact, too, but for what else the process does.
    """
    spent = Spent(threads)
    try:
        yield spent
    finally:
        spent.end()
