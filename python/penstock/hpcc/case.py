"""A config, or a topology and flows, as a scenario.

Invariant: flow `k` of the scenario is flow `k` of the flow file, so each result has its line there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from penstock.errors import Problem, ScenarioError, problem_of
from penstock.hpcc.config import Config, read_config
from penstock.hpcc.flow_file import SECOND_NS, HpccFlow, base_second, read_hpcc_flows
from penstock.hpcc.rules import check
from penstock.hpcc.scheme import scheme_of, wire_of
from penstock.lines import read_lines
from penstock.scenario import Scenario
from penstock.scenario.base import label_of
from penstock.scenario.topology import of_cables
from penstock.topology_file import TopologyFile, read_topology
from penstock.units import TIME

LONGEST_RUN = TIME.parse("60 s")
"""Longest simulated time of a run [ps]: the core's bound."""

PS = TIME.units["ns"]
"""Picoseconds in a nanosecond."""
DRAIN = TIME.parse("1 s")
"""How long flows may take after the last start where no config says it [ps]; our choice: seventy
times what the slowest reference run takes."""
LABEL = "flows"
"""What the traffic is called in results."""
GROUPS = range(1, 8)
"""Priority groups of data: a port has eight queues, and the first is that of control frames."""

FIELD_KEYS = {
    "payload": "PACKET_PAYLOAD_SIZE",
    "gain": "EWMA_GAIN",
    "fast_recovery_rounds": "FAST_RECOVERY_TIMES",
    "target_utilization": "U_TARGET",
    "maximum_stage": "MI_THRESH",
    "multiplier": "INT_MULTI",
    "kmin": "KMIN_MAP",
    "kmax": "KMAX_MAP",
    "pmax": "PMAX_MAP",
    "buffer": "BUFFER_SIZE",
}
"""The key behind a scenario's field, for a value that the scenario refuses."""


@dataclass(frozen=True)
class Case:
    """A scenario and the files that it came from."""

    scenario: Scenario
    topology: TopologyFile
    flows: tuple[HpccFlow, ...]
    """Those that are simulated, in the order of their file."""
    base_ns: int
    """When the scenario begins, on the files' clock [ns]: a whole second."""
    left_out: int
    """Flows that start only when that simulator has stopped."""


def case_of_config(path: Path, fidelity: str, overrides: Mapping[str, Any]) -> Case:
    """The case of a config file.

    Parameters
    ----------
    fidelity
        Whose arithmetic the run follows, see :class:`penstock.Scenario`.
    overrides
        Keys of the scenario to set, see :meth:`penstock.Scenario.with_overrides`.

    Raises
    ------
    ScenarioError
        With file and line of what is wrong.
    """
    try:
        config = read_config(path)
        check(config)
        assert config.topology is not None and config.flows is not None, "check() wants both"
        topology = read_topology(config.topology)
        scheme = scheme_of(config, topology)
        table = {"name": label_of(path.stem), "scheme": scheme, "wire": wire_of(config)}
        case = _case(table, topology, config.flows, config.stop_ns, fidelity)
    except PydanticCustomError as error:
        raise located(error) from None
    except ScenarioError as error:
        raise _with_lines(error, config) from None
    return _overridden(case, overrides)


def case_of_files(
    topology: Path, flows: Path, scheme: str, fidelity: str, overrides: Mapping[str, Any]
) -> Case:
    """The case of a topology and a flow file under a preset; else as :func:`case_of_config`."""
    try:
        table = {"name": label_of(flows.name.split(".")[0]), "scheme": scheme}
        case = _case(table, read_topology(topology), flows, None, fidelity)
    except PydanticCustomError as error:
        raise located(error) from None
    return _overridden(case, overrides)


def _case(
    table: dict[str, Any],
    topology: TopologyFile,
    flow_file: Path,
    stop_ns: int | None,
    fidelity: str,
) -> Case:
    every = read_hpcc_flows(read_lines(flow_file))
    _check_nodes(every, topology)
    base_ns = base_second(every) * SECOND_NS
    flows = [flow for flow in every if stop_ns is None or flow.start_ns < stop_ns]
    if not flows:
        raise every[0].line.refuse(
            "starts after SIMULATOR_STOP_TIME, as do all others", "raise SIMULATOR_STOP_TIME"
        )
    duration = (flows[-1].start_ns - base_ns + 1) * PS
    drain = DRAIN if stop_ns is None else (stop_ns - base_ns) * PS - duration
    try:
        scenario = Scenario(
            **table,
            fidelity=fidelity,
            duration=duration,
            # A run ends with its last flow; the longest is a minute, which that simulator exceeds.
            drain=max(min(drain, LONGEST_RUN - duration), 0),
            topology={"kind": "graph", **topology.graph(as_ns3=fidelity != "exact")},
            traffic=[_traffic(flows, topology, base_ns)],
            measure={"events": True},
        )
    except ScenarioError as error:
        raise ScenarioError(of_cables(error.problems, lambda: topology.cables, "")) from None
    return Case(scenario, topology, tuple(flows), base_ns, len(every) - len(flows))


def _traffic(flows: Iterable[HpccFlow], topology: TopologyFile, base_ns: int) -> dict[str, Any]:
    numbers = topology.numbers()
    rows = [
        (numbers[f.source], numbers[f.destination], f.size, PS * (f.start_ns - base_ns))
        for f in flows
    ]
    ports = [flow.destination_port for flow in flows]
    return {"kind": "listed", "label": LABEL, "flows": rows, "destination_ports": ports}


def _check_nodes(flows: Iterable[HpccFlow], topology: TopologyFile) -> None:
    """Flows join hosts, and share one priority group."""
    group: HpccFlow | None = None
    for flow in flows:
        for node in (flow.source, flow.destination):
            if node >= topology.nodes:
                raise flow.line.refuse(f"names node {node}", f"nodes are 0 to {topology.nodes - 1}")
            if node in topology.switches:
                raise flow.line.refuse(f"names node {node}, a switch", "name two hosts")
        group = group or flow
        if flow.priority_group not in GROUPS or flow.priority_group != group.priority_group:
            raise flow.line.refuse(
                f"has priority group {flow.priority_group}",
                "write the same group, 1 to 7, for all flows: several are not supported",
            )


def _overridden(case: Case, overrides: Mapping[str, Any]) -> Case:
    if not overrides:
        return case
    return replace(case, scenario=case.scenario.with_overrides(overrides))


def located(error: PydanticCustomError) -> ScenarioError:
    """The refusal of a file, which names its line, as an error of the command."""
    return ScenarioError([problem_of(error)])


def _with_lines(error: ScenarioError, config: Config) -> ScenarioError:
    """The scenario's refusals, with the config's line where a key stands behind the field.

    One without a field names the line of another file.
    """
    found: list[Problem] = []
    for problem in error.problems:
        line = config.lines.get(FIELD_KEYS.get(problem.field.rpartition(".")[2], ""))
        if not problem.field:
            found.append(problem)
        elif line is None:
            found.append(replace(problem, file=str(config.path)))
        else:
            wrong = f"is wrong: {problem.message}"
            found.append(problem_of(line.refuse(wrong, problem.remedy, line.text.split()[0])))
    return ScenarioError(found)
