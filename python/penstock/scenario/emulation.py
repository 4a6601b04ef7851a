"""How a scenario runs in real time: the part that the simulator does not read.

``penstock emulate`` and the runs with real frames of an experiment read it. The core checks what
only a machine knows: whether the kernel has a congestion control, whether a program exists.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, Strict, model_validator

from penstock.errors import Problem
from penstock.scenario.base import Count, Flag, Label, Many, Part, field
from penstock.units import RATE, refusal

SCALE_MAX = 1_000_000
"""The largest scale of time; our choice: a second of the machine is then a microsecond."""

LEAST_PACKET = 590
"""The smallest packet of hosts with kernels [B]: Ethernet's header, and the 576 B that every host
with IPv4 takes (RFC 791)."""


def _command(value: str) -> str:
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise refusal(f"it cannot be read: {str(error).lower()}", "quote as in a shell") from None
    if not words:
        raise refusal("it names no program", "write a program and its arguments")
    return value


Command = Annotated[str, Strict(), AfterValidator(_command)]
"""A program and its arguments, quoted as in a shell."""


class Program(Part):
    """A program on a host with a kernel."""

    host: Count = field("The host, which has a kernel")
    command: Command = field("The program and its arguments, quoted as in a shell")
    server: Flag = field("Whether it is ended with the run, which does not wait for it", False)

    @property
    def words(self) -> list[str]:
        """The program and its arguments."""
        return shlex.split(self.command)


def datagram_rate(how: str) -> int | None:
    """The rate of a sender's datagrams [b/s]; None for TCP."""
    return RATE.parse(how.removeprefix("udp:")) if how.startswith("udp:") else None


def _sender(value: str) -> str:
    datagram_rate(value)
    return value


Sender = Annotated[str, Strict(), Field(min_length=1), AfterValidator(_sender)]
"""How kernels send: a congestion control of Linux, or ``udp:RATE`` with a rate of the scenario."""


class Emulation(Part):
    """How a scenario runs with real frames."""

    hosts: Literal["kernel", "penstock"] = field(
        "What hosts are: the kernel of Linux, or Penstock's own",
        "kernel",
        source="our choice: what real programs run on",
    )
    other_hosts: Many[Count] = field(
        "Hosts of the other kind", (), source="our choice: all hosts are of one kind"
    )
    scale_time: Annotated[Count, Field(ge=1, le=SCALE_MAX)] = field(
        "Seconds of the machine for a second of the scenario",
        1,
        range="1 to 1,000,000",
        source="our choice: real time",
    )
    senders: dict[Label, Sender] = field(
        "How kernels send, by the label of traffic: a congestion control of Linux, or `udp:RATE`",
        {},
        source="our choice: TCP as the kernel has it",
    )
    programs: Many[Program] = field("Programs of hosts with kernels", (), source="our choice: none")

    @model_validator(mode="after")
    def _kernels_for_all(self) -> Emulation:
        for index, program in enumerate(self.programs):
            if program.host not in self.kernels(program.host + 1):
                problem = f"host {program.host} of programs[{index}] has no kernel"
                raise refusal(problem, "name a host that has one, or change `hosts`")
        if self.hosts == "penstock" and not self.other_hosts and self.senders:
            raise refusal("no host has a kernel", "leave out senders, or change `hosts`")
        return self

    def kernels(self, hosts: int) -> list[int]:
        """The hosts with kernels, of so many hosts."""
        others = set(self.other_hosts)
        return [host for host in range(hosts) if (host in others) == (self.hosts == "penstock")]

    def misplaced(
        self, hosts: int, labels: Sequence[str], payload: int, header: int
    ) -> Iterator[Problem]:
        """What does not fit a scenario of so many hosts with traffic of these labels.

        Its largest packets have these bytes of payload and header.
        """
        packet = payload + header
        if self.kernels(hosts) and packet < LEAST_PACKET:
            message = (
                f"it makes packets of {packet} B, and hosts with kernels need {LEAST_PACKET} B"
            )
            yield Problem("wire.payload", message, 'write more, or hosts = "penstock"', payload)
        places = {f"other_hosts[{at}]": host for at, host in enumerate(self.other_hosts)}
        places |= {f"programs[{at}].host": one.host for at, one in enumerate(self.programs)}
        for place, host in places.items():
            if host >= hosts:
                remedy = f"hosts are 0 to {hosts - 1}"
                yield Problem(f"emulation.{place}", "there is no such host", remedy, host)
        for label, how in self.senders.items():
            place = f"emulation.senders.{label}"
            if label not in labels:
                remedy = f"choose from {', '.join(labels)}"
                yield Problem(place, "no traffic has this label", remedy, label)
            rate = datagram_rate(how)
            if rate is not None and rate < self.scale_time:
                message = f"it is less than 1 b/s with scale_time = {self.scale_time}"
                yield Problem(place, message, f"at least udp:{self.scale_time}b/s", how)
