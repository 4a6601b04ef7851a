"""Refuses hosts in real time for which this machine has no memory."""

from __future__ import annotations

from penstock.errors import refuse
from penstock.estimate import available_bytes
from penstock.readable import bytes_text
from penstock.scenario import Scenario
from penstock.scenario.emulation import Emulation

HOST_BYTES, NEIGHBOUR_BYTES = 600_000, 1_300
"""A host in a namespace of its own, and a neighbour that a host with a kernel knows [B], in the
kernel and in the worker together; measured with 200, 400 and 800 hosts at one switch. Every kernel
knows all other hosts."""


def check_hosts(scenario: Scenario, emulation: Emulation) -> None:
    """Refuses more hosts than fit the memory that is free.

    Raises
    ------
    ScenarioError
        Names the topology, and what its hosts need.
    """
    hosts = scenario.topology.host_count()
    kernels = len(emulation.kernels(hosts))
    needed = HOST_BYTES * hosts + NEIGHBOUR_BYTES * hosts * kernels
    free = available_bytes()
    if needed > free:
        raise refuse(
            "topology",
            f"its {hosts:,} hosts need about {bytes_text(needed)} in real time; "
            f"{bytes_text(free)} are free",
            "take fewer hosts, more of them of ours (emulation.hosts), or add --force to try all "
            "the same",
        )
