"""The messages of a collective among ranks that begin at different times.

What it is: a ring for all-reduce, all-gather and reduce-scatter, as in
``crates/penstock-sim/src/workload/dependent/collective/steps.rs``, and direct messages for
all-to-all. What it is not: a collective of a scenario, whose ranks begin together. Invariant: a
rank sends a message only when it is in the collective and has received what the message is made of.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.dependency import Event
from penstock.simai.workload import Operation

STEPS = {"ALLREDUCE": 2, "ALLGATHER": 1, "REDUCESCATTER": 1}
"""How often a ring goes round, less one step each time."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a rank goes on: not before a time, and so long after events of flows."""

    earliest_ns: int = 0
    lags_ns: dict[tuple[int, Event], int] = field(default_factory=dict)
    """By flow and event: how long after it [ns]."""

    def later(self, time_ns: int) -> Moment:
        """So much later."""
        lags = {event: lag + time_ns for event, lag in self.lags_ns.items()}
        return Moment(self.earliest_ns + time_ns, lags)

    def and_at(self, other: Moment) -> Moment:
        """When both have come."""
        lags = dict(self.lags_ns)
        for event, lag in other.lags_ns.items():
            lags[event] = max(lag, lags.get(event, 0))
        return Moment(max(self.earliest_ns, other.earliest_ns), lags)


def after(*events: tuple[int, Event]) -> Moment:
    """At the last of some events."""
    return Moment(0, dict.fromkeys(events, 0))


@dataclass(frozen=True, slots=True)
class Message:
    """A flow of a job."""

    source: int
    destination: int
    size: int
    """Payload [B]."""
    start: Moment
    iteration: int
    step: str


@dataclass
class Job:
    """The messages so far, numbered from 0, and where the next ones stand."""

    peers: int
    """To how many others a rank of an all-to-all sends at a time."""
    messages: list[Message] = field(default_factory=list)
    iteration: int = 0
    step: str = ""

    def add(self, source: int, destination: int, size: int, start: Moment) -> int:
        """Adds a message; its number."""
        self.messages.append(Message(source, destination, size, start, self.iteration, self.step))
        return len(self.messages) - 1


def flow_count(operation: Operation, ranks: int) -> int:
    """How many messages a collective of so many ranks has."""
    return ranks * (ranks - 1) * STEPS.get(operation, 1)


def bytes_of_rank(operation: Operation, ranks: int, size: int) -> int:
    """How much a rank sends, rounded down [B]; `size` is the largest buffer of a rank."""
    return size * (ranks - 1) // ranks * STEPS.get(operation, 1)


def send(
    job: Job, operation: Operation, ranks: list[int], size: int, starts: list[Moment]
) -> list[Moment]:
    """Adds the messages of a collective.

    Parameters
    ----------
    ranks
        At least two, in the order of the ring.
    size
        The largest buffer of a rank [B], at least one for each rank.
    starts
        When each rank begins.

    Returns
    -------
    list
        When each rank goes on: when it has received everything, and has begun all it sends.
    """
    count = len(ranks)
    parts = [size * (part + 1) // count - size * part // count for part in range(count)]
    if operation == "ALLTOALL":
        return _all_to_all(job, ranks, parts, starts)
    return _ring(job, ranks, parts, starts, STEPS[operation] * (count - 1))


def _ring(
    job: Job, ranks: list[int], parts: list[int], starts: list[Moment], steps: int
) -> list[Moment]:
    """In each step every rank sends a part to the next rank."""
    count = len(ranks)
    goes_on = starts
    for step in range(steps):
        sent = [
            job.add(rank, ranks[(place + 1) % count], parts[(place - step) % count], moment)
            for place, (rank, moment) in enumerate(zip(ranks, goes_on, strict=True))
        ]
        goes_on = [
            after((sent[place - 1], "received"), (sent[place], "started")) for place in range(count)
        ]
    return goes_on


def _all_to_all(job: Job, ranks: list[int], parts: list[int], starts: list[Moment]) -> list[Moment]:
    """Every rank sends a part to every other, the next one first, to some at a time."""
    count = len(ranks)
    received: list[list[int]] = [[] for _ in ranks]
    last = []
    for place, rank in enumerate(ranks):
        sent: list[int] = []
        for distance in range(1, count):
            to = (place + distance) % count
            if not sent:
                moment = starts[place]
            elif distance <= job.peers:
                moment = after((sent[0], "started"))
            else:
                moment = after((sent[distance - 1 - job.peers], "acknowledged"))
            sent.append(job.add(rank, ranks[to], parts[to], moment))
            received[to].append(sent[-1])
        last.append(sent[-1])
    return [
        after(*((one, "received") for one in received[place]), (last[place], "started"))
        for place in range(count)
    ]
