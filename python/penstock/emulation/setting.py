"""What the core needs for an emulation beside the scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from penstock.scenario import Scenario
from penstock.scenario.emulation import datagram_rate

NIC_MEMORY = 4 << 20
"""What the NIC of a host with a kernel holds for each direction [B]; our choice: the largest window
that Linux gives a connection by default (tcp_wmem, 4 MB)."""


def setting(scenario: Scenario, directory: Path, *, forced: bool, capture: Path | None) -> str:
    """The `emulation` of a scenario for the core, as JSON.

    Parameters
    ----------
    directory
        Where the output of programs goes.
    forced
        Whether to run what seems too fast for the machine.
    capture
        The file for all frames; none are kept without it.
    """
    emulation = scenario.emulation
    assert emulation is not None, "the caller gives every scenario one"
    labels = [entry.label for entry in scenario.traffic]
    return json.dumps(
        {
            "kernels": emulation.kernels(scenario.topology.host_count()),
            "scale_time": emulation.scale_time,
            "is_forced": forced,
            "nic_memory": NIC_MEMORY,
            "senders": [_sender(emulation.senders.get(label)) for label in labels],
            "programs": [
                {"host": one.host, "command": one.words, "awaited": not one.server}
                for one in emulation.programs
            ],
            "directory": str(directory),
            "capture": None if capture is None else str(capture),
        }
    )


def _sender(how: str | None) -> dict[str, Any]:
    """How kernels send the flows of a traffic entry."""
    rate = datagram_rate(how) if how else None
    return {"kind": "tcp", "congestion": how} if rate is None else {"kind": "udp", "rate": rate}
