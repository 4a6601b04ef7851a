"""The executor of this machine: processes side by side.

Processes, and not threads as in `penstock compare`: what a simulation takes of memory is given back
with its process, and a simulation that dies takes no other with it. A worker gets one task at a
time, so it is known which task a dead worker had.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from types import TracebackType

from penstock.processors import processor_count
from penstock.sweep.executor import ATTEMPTS, Failure, Outcome, Task

END_SECONDS = 5.0
"""Time that a worker gets to end before it is killed [s] (our choice: it only has to return)."""


@dataclass
class _Attempt:
    """A task and how often it was begun."""

    task: Task
    begun: int = 0


@dataclass
class _Worker:
    """A process, our end of its pipe, and what it works on."""

    process: subprocess.Popen[bytes]
    pipe: Connection
    attempt: _Attempt


class LocalExecutor:
    """Works on so many tasks at a time, each in a process of this machine.

    Parameters
    ----------
    jobs
        Processes, > 0; by default one per processor.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self._jobs = jobs or processor_count()
        self._waiting: deque[_Attempt] = deque()
        self._idle: list[tuple[subprocess.Popen[bytes], Connection]] = []
        self._busy: dict[Connection, _Worker] = {}

    def __enter__(self) -> LocalExecutor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.cancel()
        for process, pipe in self._idle:
            pipe.close()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._idle.clear()

    @property
    def capacity(self) -> int:
        """Processes at a time."""
        return self._jobs

    def submit(self, task: Task) -> None:
        """Takes a task on."""
        self._waiting.append(_Attempt(task))
        self._begin()

    def outcomes(self, seconds: float) -> list[Outcome]:
        """What has come back since the last call."""
        found: list[Outcome] = []
        if not self._busy:
            return found
        ready = wait(list(self._busy), seconds)
        for worker in [self._busy.pop(pipe) for pipe in list(self._busy) if pipe in ready]:
            try:
                found.append(worker.pipe.recv())
                self._idle.append((worker.process, worker.pipe))
            except (EOFError, ConnectionError):
                failure = self._died(worker)
                found += [failure] if failure else []
        self._begin()
        return found

    def notices(self) -> list[str]:
        """Nothing: its processes come and go unseen."""
        return []

    def cancel(self) -> None:
        """Drops every task, and ends the processes that work on one."""
        self._waiting.clear()
        for worker in self._busy.values():
            worker.process.kill()
        for worker in self._busy.values():
            worker.pipe.close()
            worker.process.wait()
        self._busy.clear()

    def _begin(self) -> None:
        """Gives tasks that wait to processes that do not work."""
        while self._waiting and len(self._busy) < self._jobs:
            process, pipe = self._idle.pop() if self._idle else _started()
            attempt = self._waiting.popleft()
            attempt.begun += 1
            self._busy[pipe] = _Worker(process, pipe, attempt)
            try:
                pipe.send(attempt.task)
            except ConnectionError:
                continue  # it has died; `outcomes` finds the end of its pipe

    def _died(self, worker: _Worker) -> Failure | None:
        """What comes of a task whose worker has died: it waits again, or has failed."""
        worker.pipe.close()
        code = worker.process.wait()
        attempt = worker.attempt
        if attempt.begun < ATTEMPTS:
            self._waiting.append(attempt)
            return None
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        words = f"its process died {attempt.begun} times, last by {how}; memory may be short"
        return Failure(attempt.task.key, words)


def _started() -> tuple[subprocess.Popen[bytes], Connection]:
    """A process that waits for tasks, and our end of its pipe.

    It finds its modules where this process does, and does not run the user's own program again, as
    `multiprocessing` would.
    """
    ours, theirs = Pipe()
    with theirs:
        paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "penstock.sweep.worker", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env=os.environ | {"PYTHONPATH": paths},
        )
    return process, ours
