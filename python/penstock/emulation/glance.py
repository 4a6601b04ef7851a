"""What can be seen of a run in real time while it goes on.

The core publishes a glance a few times a second; the worker prints each as a line of JSON, and the
process that started the worker reads it. All counts begin with the run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class HostGlance:
    """What has crossed the edge of the network at one host so far."""

    host: int
    """Number of the host."""
    sent_bytes: int
    """Bytes of the frames from the host [B]."""
    received_bytes: int
    """Bytes of the frames to the host [B]."""
    refused: int
    """Frames from the host that were not let in."""


@dataclass(frozen=True)
class Glance:
    """What can be seen of a run at one moment."""

    now_ps: int
    """Time of the run [ps], on the scenario's scale."""
    hosts: tuple[HostGlance, ...]
    """A row for each host."""
    stored_bytes: tuple[int, ...]
    """Data in each switch [B]: those of the scenario, then the NICs of hosts with kernels."""
    drops: int
    """Packets dropped for want of room."""
    pfc_pauses: int
    """Pauses of classes that switches have sent."""
    queue_pauses: int
    """Pauses of queues and flows that switches have sent."""
    timed_pauses: int
    """Pauses for a given time that switches have sent."""
    late_p50_us: float
    """Median of how late frames have left the network, in the machine's time [us]."""
    late_p99_us: float
    """99th percentile of the same [us]."""


def read_glance(line: str) -> Glance:
    """The glance in a line of the core's JSON."""
    seen = json.loads(line)
    network, lateness = seen["network"], seen["lateness"]
    return Glance(
        now_ps=seen["now"],
        hosts=tuple(HostGlance(**one) for one in seen["hosts"]),
        stored_bytes=tuple(network["stored"]),
        drops=network["drops"],
        pfc_pauses=network["pfc_pauses"],
        queue_pauses=network["queue_pauses"],
        timed_pauses=network["timed_pauses"],
        late_p50_us=lateness["p50_us"],
        late_p99_us=lateness["p99_us"],
    )
