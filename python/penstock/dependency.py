"""Flows of a file: what each of them must be, and whether those that wait for others can start.

What it is: the rows of a trace, before they become a list of flows (:mod:`penstock.trace`). What it
is not: a format; those are in :mod:`penstock.trace` and :mod:`penstock.connection_matrix`.
Invariant: a file in which some flow could never start is refused, and the line is named.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from penstock.lines import Line

Event = Literal["natural", "received", "acknowledged", "started"]
"""What of a flow another flow waits for; natural: what its own host learns, if it can."""

Flow = tuple[int, int, int, int]
"""Source host, destination host, size [B], start [ps]."""

SIZE = "the size in bytes"
"""What a column of sizes is called in refusals."""

SIZE_MAX = 2**63 - 1
"""Largest size of a listed flow [B]; our choice: what tables of signed numbers hold."""

FLOWS_MAX = 2**21
"""Most flows of a list; our choice: what is kept of one takes 700 B until the run has ended."""


@dataclass(slots=True)
class Row:
    """A flow with its place in the file."""

    line: Line
    flow: Flow
    after: list[tuple[int, Event]] = field(default_factory=list)
    """The rows that it waits for, from 0."""
    needed: int = 0
    """For how many of these it waits; 0: for all."""
    delay: int = 0
    """How long after them it starts [ps]."""
    lags: list[int] = field(default_factory=list)
    """How much later each of `after` takes effect [ps]; empty when all do at once."""
    iteration: int = 0
    """Of a job: its iteration, from 0."""
    step: str = ""
    """Of a job: the name of its step; empty when the flow belongs to no job."""
    rank: int = 0
    """Of a job: who sends."""


def checked_flows(
    header: Line, flows: Iterable[tuple[Line, Flow]], *, in_order: bool
) -> Iterator[Flow]:
    """Checks flows one by one; `in_order` says that none may start before the one above it."""
    before, count = 0, 0
    for count, (line, flow) in enumerate(flows, start=1):
        source, destination, _, start = flow
        if source == destination:
            raise line.refuse(f"is a flow from host {source} to itself", "name two hosts")
        if in_order and start < before:
            raise line.refuse("starts before the line above it", "sort the file by start")
        if count > FLOWS_MAX:
            raise line.refuse("is one flow too many", f"write at most {FLOWS_MAX:,} in a file")
        before = start
        yield flow
    if not count:
        raise header.refuse("has no flow below it", "add some, or leave the traffic out")


def check_reach(rows: list[Row], words: list[str]) -> None:
    """Refuses flows that wait for each other.

    Parameters
    ----------
    words
        How the file calls the flow of each row.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names the line of one of these flows, and those it waits for.
    """
    missing = [row.needed or len(row.after) for row in rows]
    waiting: list[list[int]] = [[] for _ in rows]
    for place, row in enumerate(rows):
        for awaited, _ in row.after:
            waiting[awaited].append(place)
    ready = deque(place for place, count in enumerate(missing) if not count)
    while ready:
        for place in waiting[ready.popleft()]:
            missing[place] -= 1
            if missing[place] == 0:
                ready.append(place)
    stuck = [place for place, count in enumerate(missing) if count > 0]
    if not stuck:
        return
    cycle = _cycle(rows, missing, stuck[0])
    named = " after ".join(words[place] for place in [*cycle, cycle[0]])
    raise rows[cycle[0]].line.refuse(
        f"can never start, because flows wait for each other: {named}",
        f"take one of these out; {len(stuck)} flows of the file depend on it",
    )


def _cycle(rows: list[Row], missing: list[int], first: int) -> list[int]:
    """Rows that wait for each other, each for the next."""
    path: list[int] = []
    met: dict[int, int] = {}
    place = first
    while place not in met:
        met[place] = len(path)
        path.append(place)
        place = next(awaited for awaited, _ in rows[place].after if missing[awaited] > 0)
    return path[met[place] :]
