"""The program that every rank of a training job follows, and the messages that follow from it.

The order is that of ``iterate_hybrid_parallel_Transformer_fwd_in_bckwd`` in aliyun/SimAI. Forward,
in the order of the layers: a rank waits for the layer's weight gradient of the iteration before,
computes, and does the collective. Backward, the last layer first: a rank computes the input
gradient and does its collective; then the rank computes the weight gradient, begins its collective
and goes on. What it is not: SimAI's two queues of a rank (``Sys::break_dimension``), of which each
does one collective at a time, the latest first. Here a group does one at a time in the order in
which a rank comes to them, as a communicator of NCCL does, and groups share the network. Invariant:
no rank waits for another one but through messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from penstock.simai.collective import Job, Message, Moment, bytes_of_rank, flow_count, send
from penstock.simai.groups import groups_of
from penstock.simai.workload import Group, Layer, Operation, Phase, Workload

PhaseName = Literal["forward", "input gradient", "weight gradient"]
"""A part of a layer's work."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A phase of a layer in the order in which ranks come to it."""

    number: int
    """The layer, from 0."""
    layer: Layer
    name: PhaseName
    phase: Phase

    @property
    def step(self) -> str:
        """The name of the step in the results."""
        return f"{self.number} {self.layer.name} {self.name}"


def turns(layers: tuple[Layer, ...]) -> Iterator[Turn]:
    """What a rank does in an iteration: forward, then backward."""
    numbered = list(enumerate(layers))
    for number, layer in numbered:
        yield Turn(number, layer, "forward", layer.forward)
    for number, layer in reversed(numbered):
        yield Turn(number, layer, "input gradient", layer.input_gradient)
        yield Turn(number, layer, "weight gradient", layer.weight_gradient)


def count_flows(workload: Workload, iterations: int) -> int:
    """How many messages the job has, without making them.

    Raises
    ------
    PydanticCustomError
        A `ValueError`: a buffer has fewer bytes than its group has ranks. The line is named.
    """
    groups = groups_of(workload)
    flows = 0
    for turn in turns(workload.layers):
        phase, ranks = turn.phase, len(groups[turn.phase.group][0])
        if phase.operation is None or ranks == 1:
            continue
        if phase.size < ranks:
            raise turn.layer.line.refuse(
                f"has {phase.size} B for {ranks} ranks in its {turn.name}",
                "each rank sends a byte at least; write more",
            )
        flows += flow_count(phase.operation, ranks) * len(groups[phase.group])
    return flows * iterations


def messages(
    workload: Workload, iterations: int, peers: int, progress: Callable[[int], None]
) -> list[Message]:
    """The messages of the job, by number.

    Parameters
    ----------
    peers
        To how many others a rank of an all-to-all sends at a time.
    progress
        Is told how many messages there are, after each phase.
    """
    ranks = _Ranks(workload, Job(peers))
    for iteration in range(iterations):
        ranks.job.iteration = iteration
        for turn in turns(workload.layers):
            ranks.do(turn)
            progress(len(ranks.job.messages))
    return ranks.job.messages


class _Ranks:
    """Where each rank is in the program."""

    def __init__(self, workload: Workload, job: Job) -> None:
        self.job = job
        self._groups = groups_of(workload)
        self._now = [Moment() for _ in range(workload.ranks)]
        self._gradients: dict[int, list[Moment]] = {}
        """By layer: when each rank has the weight gradient of the iteration before."""
        self._beside: dict[Group, list[Moment]] = {}
        """By kind of group: when each rank has done what it began there and went on beside."""

    def do(self, turn: Turn) -> None:
        """All ranks do a phase of a layer."""
        gradient = self._gradients.pop(turn.number, None) if turn.name == "forward" else None
        if gradient is not None:
            self._now = [now.and_at(one) for now, one in zip(self._now, gradient, strict=True)]
        self._now = [now.later(turn.phase.compute_ns) for now in self._now]
        done = self._communicate(turn)
        if done is None:
            return
        updated = [one.later(turn.layer.update_ns) for one in done]
        if turn.name == "weight gradient":
            self._gradients[turn.number] = updated
            self._beside[turn.phase.group] = done
        else:
            self._now = updated

    def _communicate(self, turn: Turn) -> list[Moment] | None:
        """The collective of a phase; when each rank has done it, none when there is none."""
        phase, groups = turn.phase, self._groups[turn.phase.group]
        if phase.operation is None or len(groups[0]) == 1:
            return None
        self.job.step = turn.step
        starts = self._now
        before = self._beside.pop(phase.group, None)
        if before is not None:
            starts = [now.and_at(one) for now, one in zip(starts, before, strict=True)]
        done = list(starts)
        for ranks in groups:
            begun = [starts[rank] for rank in ranks]
            ends = send(self.job, phase.operation, ranks, phase.size, begun)
            for rank, end in zip(ranks, ends, strict=True):
                done[rank] = end
        return done


@dataclass(frozen=True, slots=True)
class Span:
    """How long the job takes at least."""

    before_ns: int
    """Computation before the first message [ns]."""
    total_ns: int
    """All iterations, with messages at the rate of a link and nothing in their way [ns]."""
    after_ns: int
    """Computation after the last message that all ranks wait for [ns]."""


@dataclass(frozen=True, slots=True)
class Links:
    """What a rank sends by."""

    network_bps: int
    """Rate of its link to the network [bit/s]."""
    server_bps: int = 0
    """Rate of its link inside its server [bit/s]; 0 where servers have none."""
    gpus: int = 1
    """Ranks of a server."""

    def most_bps(self, group: list[int], operation: Operation) -> int:
        """A rate [bit/s] that a rank cannot exceed in a collective of its group.

        In a ring over several servers some rank sends everything by the network. In an all-to-all
        every rank may send by both links at a time.
        """
        servers = {rank // self.gpus for rank in group}
        if len(servers) == 1 and self.server_bps:
            return self.server_bps
        has_both = operation == "ALLTOALL" and len(servers) < len(group)
        return self.network_bps + (self.server_bps if has_both else 0)


def span(workload: Workload, iterations: int, links: Links) -> Span:
    """What a rank alone would take, if its messages went at the rate of a link without latency."""
    groups = groups_of(workload)
    now, first, last = 0, None, 0
    gradients: dict[int, int] = {}
    free: dict[Group, int] = {}
    for _ in range(iterations):
        for turn in turns(workload.layers):
            phase, ranks = turn.phase, len(groups[turn.phase.group][0])
            if turn.name == "forward":
                now = max(now, gradients.pop(turn.number, 0))
            now += phase.compute_ns
            if phase.operation is None or ranks == 1:
                continue
            first = now if first is None else first
            sent = bytes_of_rank(phase.operation, ranks, phase.size)
            begun = max(now, free.get(phase.group, 0))
            rate_bps = links.most_bps(groups[phase.group][0], phase.operation)
            done = begun + -(-8 * 10**9 * sent // rate_bps)
            last = max(last, done)
            if turn.name == "weight gradient":
                free[phase.group] = done
                gradients[turn.number] = done + turn.layer.update_ns
            else:
                now = done + turn.layer.update_ns
    total = max(now, *gradients.values(), 0)
    return Span(first or 0, total, total - last)
