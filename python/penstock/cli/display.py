"""Progress of runs: bars on a terminal, plain lines elsewhere; always on standard error.

A bar shows simulated time, its speed, events per second, finished flows and the time left.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Bars
from rich.table import Column

from penstock.estimate import Estimate
from penstock.results import Run
from penstock.runner import Progress

LINE_SECONDS = 5.0
"""Time between two lines of a run where there is no terminal (our choice: a log stays short)."""

SILENT_SECONDS = 3.0
"""An unannounced run that says nothing for this long has ended, and its bar goes (our choice)."""

BAR_FROM = 100
"""Columns of a terminal in which there is a bar (our choice: in fewer its place is for words)."""

ALL = "all"
"""Name of the bar of everything."""


class Display(AbstractContextManager["Display"], Protocol):
    """What shows how far runs are."""

    def estimate(self, needed: Estimate) -> None:
        """What the runs will take."""

    def update(self, name: str, progress: Progress) -> None:
        """A run has come further."""

    def finish(self, name: str, run: Run) -> None:
        """A run has ended."""

    def count(self, finished: int, every: int, name: str) -> None:
        """A run of an experiment, or an experiment, has ended, the first, second, ... of all."""

    def whole(self, share: float, words: str) -> None:
        """How far all is: a share in [0, 1], and what is to be said about it."""


def display(names: Iterable[str]) -> Display:
    """The display that suits standard error."""
    return Terminal(list(names)) if sys.stderr.isatty() else Lines()


def speed(progress: Progress) -> str:
    """Simulated time per second, events per second and finished flows."""
    wall = max(progress.wall_seconds, 1e-9)
    return (
        f"{progress.sim_ps / 1e9:8.3f} ms  {progress.sim_ps / 1e6 / wall:7.0f} us/s  "
        f"{progress.events / 1e6 / wall:5.1f} Mev/s  {progress.finished_flows:>9,} flows"
    )


def time_left(progress: Progress) -> str:
    """Time to the end of the traffic at the speed so far; then the last flows drain."""
    if not progress.sim_ps:
        return "eta     ?"
    if progress.sim_ps >= progress.duration_ps:
        return "draining "
    return f"eta {clock(progress.wall_seconds * (progress.duration_ps / progress.sim_ps - 1))}"


def clock(seconds: float) -> str:
    """A time as minutes and seconds: 75 -> " 1:15"."""
    return f"{int(seconds) // 60:2d}:{int(seconds) % 60:02d}"


class Standing(Protocol):
    """How far many runs are."""

    @property
    def finished(self) -> int:
        """How many have ended."""

    @property
    def every(self) -> int:
        """How many there are."""

    @property
    def failed(self) -> int:
        """How many have failed."""

    @property
    def seconds_left(self) -> float | None:
        """Time left at the speed so far [s]; none as long as there is no telling."""


def standing_text(now: Standing, what: str) -> str:
    """How far many runs, called `what`, are: "3 of 18 cells  eta  1:15  1 failed"."""
    left = "?" if now.seconds_left is None else clock(now.seconds_left)
    failed = f"  {now.failed} failed" if now.failed else ""
    return f"{now.finished} of {now.every} {what}  eta {left}{failed}"


class TimeLeft:
    """The time that is left of work whose share is known, at the speed so far."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def text(self, share: float) -> str:
        """The time left when `share`, in [0, 1], is done; a question mark before that is known."""
        if share <= 0:
            return "?"
        return clock((time.monotonic() - self._began) * (1 / share - 1))


def teller(shown: Display) -> Callable[[float, str], None]:
    """Shows how much of something is written, in [0, 1], and how long the rest will take."""
    left = TimeLeft()

    def tell(share: float, words: str) -> None:
        shown.whole(share, f"{words}  eta {left.text(share)}")

    return tell


class Terminal:
    """A bar per run; runs that were not announced get one when they are first heard of."""

    def __init__(self, names: list[str]) -> None:
        console, longest = Console(stderr=True), max(map(len, names), default=0)
        # What does not fit is cut on the right. The name stays, or half of the line for it.
        kept = Column(no_wrap=True, min_width=min(longest, console.width // 2))
        bar = [BarColumn(bar_width=24)] if console.width >= BAR_FROM else []
        self._bars = Bars(
            TextColumn("{task.description}", markup=False, table_column=kept),
            *bar,
            TextColumn("{task.fields[words]}", markup=False),
            console=console,
        )
        self._announced = set(names)
        self._tasks: dict[str, TaskID] = {}
        self._heard: dict[str, float] = {}
        for name in names:
            self._task(name)

    def __enter__(self) -> Terminal:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def estimate(self, needed: Estimate) -> None:
        self._bars.console.print(f"estimate: {needed}", highlight=False, markup=False)

    def update(self, name: str, progress: Progress) -> None:
        self._bars.update(
            self._task(name),
            completed=min(progress.sim_ps / progress.duration_ps, 1.0),
            words=f"{speed(progress)}  {time_left(progress)}",
            visible=True,
        )
        now = time.monotonic()
        self._heard[name] = now
        for other, heard in self._heard.items():
            if other not in self._announced and now - heard > SILENT_SECONDS:
                self._bars.update(self._tasks[other], visible=False)

    def finish(self, name: str, run: Run) -> None:
        self._bars.update(self._task(name), completed=1.0, words=ending(run))

    def count(self, finished: int, every: int, name: str) -> None:
        self._bars.console.print(f"{finished}/{every} {name}", highlight=False, markup=False)
        if name in self._tasks:
            self._bars.update(self._tasks[name], visible=False)

    def whole(self, share: float, words: str) -> None:
        self._announced.add(ALL)
        self._bars.update(self._task(ALL), completed=share, words=f"{share:4.0%}  {words}")

    def _task(self, name: str) -> TaskID:
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=1.0, words="waiting")
        return self._tasks[name]


class Lines:
    """A line now and then."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown: dict[str, float] = {}

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sys.stderr.flush()

    def estimate(self, needed: Estimate) -> None:
        self._say(f"estimate: {needed}")

    def update(self, name: str, progress: Progress) -> None:
        if self._is_due(name):
            self._say(f"{name}: {speed(progress)}  {time_left(progress)}")

    def finish(self, name: str, run: Run) -> None:
        self._say(f"{name}: {ending(run)}")

    def count(self, finished: int, every: int, name: str) -> None:
        self._say(f"{finished}/{every} {name}")

    def whole(self, share: float, words: str) -> None:
        if self._is_due(ALL):
            self._say(f"{ALL}: {share:4.0%}  {words}")

    def _say(self, line: str) -> None:
        """Prints a line; another thread's does not come into it."""
        with self._lock:
            print(line, file=sys.stderr, flush=True)

    def _is_due(self, name: str) -> bool:
        """Whether a name's last line is long enough ago."""
        now = time.monotonic()
        with self._lock:
            if now - self._shown.setdefault(name, now) < LINE_SECONDS:
                return False
            self._shown[name] = now
        return True


def ending(run: Run) -> str:
    """How a run ended, in a line."""
    summary = run.summary
    verb = "stopped" if run.is_cancelled else "done"
    # In real time a packet-hop takes what the clock says.
    is_real = "emulation" in summary
    speed = "" if is_real else f", {summary['ns_per_packet_hop']:.0f} ns per packet-hop"
    return (
        f"{verb} at {summary['sim_end_ps'] / 1e9:.3f} ms in {summary['wall_seconds']:.1f} s, "
        f"{summary['flows_finished']:,} of {summary['flows_started']:,} flows{speed}"
    )
