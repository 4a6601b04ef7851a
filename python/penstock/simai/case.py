"""A training workload as two files: a scenario, and a trace of its messages.

Invariant: nothing is written of a workload that cannot be run: its size, its time and its network
are looked at before.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic_core import PydanticCustomError

from penstock.dependency_graph import after_cells
from penstock.errors import ScenarioError, problem_of, refuse
from penstock.readable import counted
from penstock.scenario import Scenario
from penstock.scenario.base import label_of
from penstock.scenario.declared.topology import RailTopology
from penstock.scenario.table import to_toml
from penstock.simai.collective import Message
from penstock.simai.training import Links, Span, count_flows, messages, span
from penstock.simai.workload import Workload, read_workload
from penstock.storage.name import file_name
from penstock.units import RATE, TIME

Shape = Literal["rail", "single-switch"]
"""The networks to choose from."""

FLOWS_MAX = 2**17
"""Most messages; our choice: a quarter of a trace's, so that results, which hold them and who
waits for whom, can be read back."""

TURNS_MAX = 2**24
"""Most layers of all ranks and iterations; our choice: a minute of work."""

RATE_BPS = 400 * 10**9
"""Rate of a rank's link [bit/s]: NVIDIA DGX SuperPOD reference architecture (H100)."""

GPUS_PER_SERVER = 8
"""Ranks of a server, from the same source."""

GROUP_SERVERS = 32
"""Servers whose ranks share leafs, from the same source."""

LONGEST_RUN = TIME.parse("60 s")
"""Longest simulated time of a run [ps]: the core's bound."""

PATIENCE = 9
"""How many times longer than on an idle network a job may take; our choice: what takes longer says
no more."""

LEAST_DRAIN = TIME.parse("20 ms")
"""How much longer it may take in any case [ps]: what every scenario has by default. A run ends with
its last message."""

LABEL = "training"
"""What the traffic is called in results."""

PS, US = TIME.units["ns"], TIME.units["us"]
"""Picoseconds in a nanosecond and in a microsecond."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user chooses."""

    shape: Shape = "rail"
    gpus_per_server: int | None = None
    """None: 8, or as many as there are."""
    scheme: str = "dcqcn"
    iterations: int = 1
    layers: int | None = None
    """Only the first layers; none: all."""
    peers: int = 4
    """To how many others a rank of an all-to-all sends at a time; our choice: some, so that one
    slow receiver does not stop a rank, and not all."""


@dataclass(frozen=True, slots=True)
class Case:
    """A workload that can be run."""

    name: str
    workload: Workload
    choice: Choice
    flows: int
    """Messages of all iterations."""
    span: Span
    """How long they take at least."""
    table: dict[str, Any]
    """The scenario."""

    def trace(self, progress: Callable[[int], None]) -> bytes:
        """The messages as a CSV trace; `progress` is told how many are made."""
        made = messages(self.workload, self.choice.iterations, self.choice.peers, progress)
        text = io.StringIO()
        text.write("id,src,dst,size_bytes,start_ns,after,delay_ns,iteration,step,rank\n")
        for number, message in enumerate(made):
            text.write(_row(number, message))
        return text.getvalue().encode()

    def scenario(self) -> bytes:
        """The scenario as TOML."""
        return to_toml(self.table).encode()


def _row(number: int, message: Message) -> str:
    waits = [(f"{flow}:{event}", lag) for (flow, event), lag in message.start.lags_ns.items()]
    words, delay = after_cells(waits)
    earliest = message.start.earliest_ns
    # An event is never before time 0, so its lag alone may say as much.
    is_implied = any(lag >= earliest for _, lag in waits)
    start = "" if is_implied else earliest
    cells = (number, message.source, message.destination, message.size, start, words, delay or "")
    place = (message.iteration, message.step, message.source)
    return ",".join(str(cell) for cell in (*cells, *place)) + "\n"


def case_of(path: Path, choice: Choice) -> Case:
    """The case of a workload.

    Raises
    ------
    ScenarioError
        With the line of the file, where one is wrong; or the choice does not go with the
        workload, or the job is too large.
    """
    try:
        workload = read_workload(path)
        if choice.layers is not None:
            if choice.layers > len(workload.layers):
                message = f"the workload has {counted(len(workload.layers), 'layer', 'layers')}"
                remedy = "take at most so many, or leave it out for all"
                raise refuse("--layers", message, remedy, choice.layers)
            workload = replace(workload, layers=workload.layers[: choice.layers])
        flows = count_flows(workload, choice.iterations)
    except PydanticCustomError as error:
        raise ScenarioError([problem_of(error)]) from None
    if not flows:
        raise refuse(
            "WORKLOAD", "no rank sends anything to another one", "write operations and their bytes"
        )
    if flows > FLOWS_MAX:
        fitting = _fitting_layers(workload, choice.iterations)
        some = f"the first {fitting} layers only (--layers {fitting}), " if fitting else ""
        raise refuse(
            "WORKLOAD",
            f"it has {flows:,} messages, {flows // choice.iterations:,} in an iteration of "
            f"{len(workload.layers):,} layers; at most {FLOWS_MAX:,} are possible",
            f"take {some}fewer iterations, or a workload of fewer ranks",
        )
    turns = workload.ranks * len(workload.layers) * choice.iterations
    if turns > TURNS_MAX:
        raise refuse(
            "WORKLOAD",
            f"all ranks come to {turns:,} layers in all iterations; at most {TURNS_MAX:,} are "
            "possible",
            "take the first layers only (--layers), fewer iterations, or a workload of fewer ranks",
        )
    topology = _topology(workload, choice)
    took = span(workload, choice.iterations, _links(topology))
    duration = US * (took.total_ns * PS // US + 1)
    if duration >= LONGEST_RUN:
        raise refuse(
            "WORKLOAD",
            f"it takes {duration / TIME.units['s']:.3g} s at least; a run has 60 s",
            "take the first layers only (--layers), or fewer iterations",
        )
    name = label_of(path.name.removesuffix(".gz").removesuffix(".txt"))
    iterations = counted(choice.iterations, "training iteration", "training iterations")
    job = f"{iterations} of {workload.ranks} ranks"
    layers = counted(len(workload.layers), "layer", "layers")
    parallel = f"{workload.tensor_parallel} tensor, {workload.data_parallel} data parallel"
    table = {
        "name": name,
        "description": f"{job} ({parallel}) over {layers}",
        "duration": TIME.format(duration),
        "drain": TIME.format(min(max(PATIENCE * duration, LEAST_DRAIN), LONGEST_RUN - duration)),
        "scheme": choice.scheme,
        "topology": topology,
        "traffic": [{"kind": "trace", "label": LABEL, "file": f"{file_name(name)}.csv"}],
    }
    _check(table)
    return Case(file_name(name), workload, choice, flows, took, table)


def _fitting_layers(workload: Workload, iterations: int) -> int:
    """How many of the first layers have few enough messages."""

    def flows(layers: int) -> int:
        return count_flows(replace(workload, layers=workload.layers[:layers]), iterations)

    return bisect_right(range(len(workload.layers) + 1), FLOWS_MAX, key=flows) - 1


def _topology(workload: Workload, choice: Choice) -> dict[str, Any]:
    rate = f"{RATE_BPS // 10**9} Gb/s"
    if choice.shape == "single-switch":
        if choice.gpus_per_server is not None:
            remedy = "leave it out, or take --topology rail"
            raise refuse("--gpus-per-server", "one switch has no servers", remedy)
        return {"kind": "single-switch", "hosts": workload.ranks, "rate": rate}
    gpus = choice.gpus_per_server or min(GPUS_PER_SERVER, workload.ranks)
    if workload.ranks % gpus:
        raise refuse(
            "--gpus-per-server",
            f"{workload.ranks} ranks do not fill servers of {gpus}",
            "name a number that divides the ranks",
            gpus,
        )
    servers = workload.ranks // gpus
    group = min(servers, GROUP_SERVERS)
    # As in the source: half as many spines as a leaf has hosts, so a link to a spine takes two.
    spines = max(group // 2, 1)
    return {
        "kind": "rail", "servers": servers, "gpus": gpus, "servers_per_group": group,
        "spines": spines, "rate": rate,
    }  # fmt: skip


def _links(topology: dict[str, Any]) -> Links:
    """What a rank of the network sends by."""
    if topology["kind"] != "rail":
        return Links(RATE_BPS)
    inner = RailTopology.model_fields["inner_rate"].default
    return Links(RATE_BPS, RATE.parse(inner), topology["gpus"])


def _check(table: dict[str, Any]) -> None:
    """Refuses a scheme or a network before any message is made."""
    one = {"kind": "listed", "flows": [[0, 1, 1, 0]]}
    try:
        Scenario(**table | {"traffic": [one]})
    except ScenarioError as error:
        raise ScenarioError(
            replace(problem, field="--scheme") if problem.field == "scheme" else problem
            for problem in error.problems
        ) from None
