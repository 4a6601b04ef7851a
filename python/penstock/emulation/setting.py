"""What of an emulation is not in its scenario."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from penstock.errors import ScenarioError, problem_of, refuse
from penstock.scenario import Scenario
from penstock.units import RATE

NIC_MEMORY = 4 << 20
"""What the NIC of a host with a kernel holds for each direction [B]; our choice: the largest window
that Linux gives a connection by default (tcp_wmem, 4 MB)."""


@dataclass(frozen=True)
class Program:
    """A program on a host with a kernel."""

    host: int
    command: tuple[str, ...]
    awaited: bool = True
    """Whether the run goes on until the program has ended."""


@dataclass(frozen=True)
class Setting:
    """What of an emulation is not in its scenario."""

    kernels: bool = True
    """Whether hosts have kernels; else all are Penstock's own."""
    scale_time: int = 1
    """Seconds of the machine for a second of the scenario."""
    senders: Mapping[str, str] | None = None
    """By label of traffic: how kernels send it: a congestion control, or ``udp:RATE``."""
    programs: Sequence[Program] = ()
    forced: bool = False
    """Whether to run what seems too fast for the machine."""

    def to_json(self, scenario: Scenario, directory: Path) -> str:
        """This setting for the core; output of programs goes to `directory`.

        Raises
        ------
        ScenarioError
            A sender is for traffic that the scenario does not have, or is none.
        """
        labels = [entry.label for entry in scenario.traffic]
        given = dict(self.senders or {})
        for label in given:
            if label not in labels:
                known = ", ".join(labels)
                raise refuse("--send", "no traffic has this label", f"choose from {known}", label)
        return json.dumps(
            {
                "kernels": list(range(scenario.topology.host_count())) if self.kernels else [],
                "scale_time": self.scale_time,
                "is_forced": self.forced,
                "nic_memory": NIC_MEMORY,
                "senders": [sender(given.get(label), self.scale_time) for label in labels],
                "programs": [
                    {"host": one.host, "command": one.command, "awaited": one.awaited}
                    for one in self.programs
                ],
                "directory": str(directory),
            }
        )


def sender(text: str | None, scale_time: int) -> dict[str, Any]:
    """How kernels send the flows of a traffic entry, from what a user wrote.

    Raises
    ------
    ScenarioError
        A rate is none, or is below 1 b/s of the machine.
    """
    if text is None or not text.startswith("udp:"):
        return {"kind": "tcp", "congestion": text}
    try:
        rate = RATE.parse(text.removeprefix("udp:"))
    except PydanticCustomError as error:
        raise ScenarioError([problem_of(error, "--send")]) from None
    if rate < scale_time:
        message = f"it is less than 1 b/s with --scale-time {scale_time}"
        raise refuse("--send", message, f"at least udp:{scale_time}b/s", text)
    return {"kind": "udp", "rate": rate}
