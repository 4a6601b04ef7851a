"""A run of the other simulator as a scenario."""

from __future__ import annotations

from typing import Any

from penstock import Scenario
from penstock.hpcc.case import PS
from penstock.hpcc.flow_file import SECOND_NS, HpccFlow, base_second, read_hpcc_flows
from penstock.lines import read_lines
from penstock.topology_file import read_topology
from pyrrha.reference import Reference

VARIANTS: dict[str, tuple[str, str, str, str]] = {
    "asis": ("strict", "lowest", "unpaused-only", "data"),
    "strict": ("strict", "lowest", "unpaused-only", "control"),
    "rr": ("round-robin", "lowest", "unpaused-only", "control"),
    "letter": ("round-robin", "lowest", "any", "control"),
    "rot": ("round-robin", "rotating", "unpaused", "control"),
}
"""Scheduler, where the search for an empty queue starts, which empty queue is taken, and where
acknowledgements wait."""
WIRE = {"payload": "1000 B", "header": "76 B", "acknowledgement": "84 B", "control_frame": "70 B"}


def flows_of(reference: Reference) -> list[HpccFlow]:
    """The flows in the order in which that simulator starts them: node by node at the same time."""
    flows = read_hpcc_flows(read_lines(reference.flows))
    return sorted(flows, key=lambda flow: (flow.start_ns, flow.source))


def scenario_of(reference: Reference, fidelity: str) -> Scenario:
    """The run here. Flow k is flow k of :func:`flows_of`."""
    flows = flows_of(reference)
    base_ns = base_second(flows) * SECOND_NS
    rows = [(f.source, f.destination, f.size, PS * (f.start_ns - base_ns)) for f in flows]
    topology = read_topology(reference.topology)
    is_exact = fidelity == "exact"
    traffic = {
        "kind": "listed",
        "label": "flows",
        "flows": rows,
        "destination_ports": [flow.destination_port for flow in flows],
    }
    return Scenario(
        name=reference.name.replace("_", "-"),
        fidelity=fidelity,
        scheme=_scheme(reference, is_exact),
        wire=WIRE,
        duration=rows[-1][3] + PS,
        drain="1 s",
        topology={"kind": "graph", **topology.graph(as_ns3=True)},
        traffic=[traffic],
        measure={"events": not is_exact, "trace": None if is_exact else _TRACE},
    )


_TRACE = {"events": ["choose", "pause_sent", "resume_sent"]}


def _scheme(reference: Reference, is_exact: bool) -> dict[str, Any]:
    scheduling, search, empty_queue, acknowledgements = VARIANTS[reference.variant]
    # Exact NICs have numbered queues only: as many as a pause can name, so that flows share none.
    per_flow = 128 if is_exact else 0
    return {
        "name": f"bfc-{reference.variant}",
        "switch": {
            "admission": {"kind": "infinite"},
            "assignment": {
                "kind": "dynamic",
                "queues": reference.queues,
                "search": search,
                "empty_queue": empty_queue,
                "acknowledgements": acknowledgements,
            },
            "scheduling": {"kind": scheduling},
            "marking": {"kind": "none"},
            "backpressure": {"kind": "bfc", "bitmap_interval": "0 ns"},
        },
        "host": {
            "controller": {"kind": "line-rate"},
            "recovery": {"kind": "go-back-n", "timeout": "60 s"},
            "nic": {"queues": reference.queues if reference.has_nic_queues else per_flow},
        },
    }
