"""What a user's scheme in Python derives from: a controller, a marker or a scheduler.

A class overrides the hooks that it needs; the others cost nothing. Times are whole picoseconds,
sizes are bytes, rates are bit/s. An object belongs to one flow (:class:`Controller`) or to one port
of a switch (:class:`Marking`, :class:`Scheduler`). What it is not: a clock or a random source. A
class that draws random numbers of its own gives another result every time, and such a run is
refused. Where next: ``docs/python-schemes.md``; :mod:`penstock.own_class` finds the classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from penstock._core import Acknowledgement, Flow, Hop, Loss, Packet, Port, Queue

__all__ = [
    "Acknowledgement",
    "Controller",
    "Flow",
    "Hop",
    "Loss",
    "Marking",
    "Pace",
    "Packet",
    "Port",
    "Queue",
    "Scheduler",
]

Pace = tuple[float | None, float | None] | None
"""What a hook of a controller returns: a window [B] and a rate [bit/s], each 1 or more, or ``None``
for no limit; a fraction is cut off. ``None`` in place of both changes nothing."""


class Controller:
    """A congestion controller: one object for each flow, at its source.

    Examples
    --------
    >>> from penstock import Controller, Scenario, run
    >>> class HalfRate(Controller):
    ...     base = "line-rate"
    ...
    ...     def on_start(self):
    ...         return None, self.flow.line_rate / 2
    >>> scenario = Scenario.from_name("quickstart", {"duration": "5 us", "scheme": HalfRate})
    >>> run(scenario).summary["scheme"]
    'HalfRate'

    Parameters
    ----------
    flow
        What is known of the flow when it starts.
    """

    base: ClassVar[str] = ""
    """The scheme whose switches, recovery and NIC it uses, e.g. ``"dctcp"``, when the class alone
    is the scheme (``--scheme module:Class``)."""

    needs: ClassVar[Sequence[str]] = ()
    """What it reacts to, of ``"marks"``, ``"telemetry"``, ``"feedback"``, ``"timestamp"`` and
    ``"losses"``. A scheme that does not send it is refused."""

    timer: int | None = None
    """When :meth:`on_timer` is called [ps], later than now; ``None``: never. A hook may set it."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow

    def on_start(self) -> Pace:
        """The flow starts. ``None``: a window of one bandwidth-delay product, at line rate."""
        return None

    def on_acknowledgement(self, now: int, ack: Acknowledgement) -> Pace:
        """An acknowledgement arrived, positive or negative, which does not complete the flow."""
        return None

    def on_loss(self, now: int, loss: Loss) -> Pace:
        """Recovery reports a loss, the end of a recovery, or a timeout."""
        return None

    def on_feedback(self, now: int, feedback: int) -> Pace:
        """The feedback of a switch arrived, 1 to 63 (QCN)."""
        return None

    def on_sent(self, now: int, size: int) -> Pace:
        """A packet of `size` bytes leaves, header included."""
        return None

    def on_timer(self, now: int) -> Pace:
        """The time of :attr:`timer` has come; it is ``None`` again."""
        return None

    def on_switch_drop(self, now: int) -> Pace:
        """A switch reported that it dropped a packet of the flow."""
        return None

    def on_pause(self, now: int, kept: float) -> Pace:
        """A timed pause leaves the share `kept` of the time (FAFC)."""
        return None


class Marking:
    """Congestion marks: one object for each port of a switch.

    A hook returns whether the packet is marked, or the probability of that, 0 to 1, for which the
    switch draws from its own seeded stream.

    Examples
    --------
    >>> from penstock import Marking, Scenario, run
    >>> class Step(Marking):
    ...     base = "dctcp"
    ...
    ...     def on_dequeue(self, now, packet):
    ...         return packet.queue_bytes > 100_000
    >>> scenario = Scenario.from_name("quickstart", {"duration": "5 us", "scheme": Step})
    >>> run(scenario).summary["scheme"]
    'Step'

    Parameters
    ----------
    port
        The port by which the packets leave.
    """

    base: ClassVar[str] = ""
    """The scheme of which it replaces the marking, e.g. ``"dctcp"``."""

    def __init__(self, port: Port) -> None:
        self.port = port

    def on_enqueue(self, now: int, packet: Packet) -> float:
        """A data packet has joined its queue."""
        return False

    def on_dequeue(self, now: int, packet: Packet) -> float:
        """A data packet has left its queue."""
        return False


class Scheduler:
    """The order in which the queues of a port send: one object for each port of a switch.

    Examples
    --------
    >>> from penstock import Scenario, Scheduler, run
    >>> class Longest(Scheduler):
    ...     base = "sfq"
    ...
    ...     def select(self, now, queues):
    ...         return max(queues, key=lambda queue: queue.bytes).number
    >>> scenario = Scenario.from_name("quickstart", {"duration": "5 us", "scheme": Longest})
    >>> run(scenario).summary["scheme"]
    'Longest'

    Parameters
    ----------
    port
        The port of the queues.
    """

    base: ClassVar[str] = ""
    """The scheme of which it replaces the scheduling, e.g. ``"sfq"``."""

    def __init__(self, port: Port) -> None:
        self.port = port

    def select(self, now: int, queues: list[Queue]) -> int:
        """The number of the queue that sends next, one of `queues`.

        `queues` are those that have packets and are not paused, at least one, in the order in which
        they became so.
        """
        raise NotImplementedError("write select(self, now, queues)")

    def on_active(self, queue: int, priority: int) -> None:
        """A queue has packets and may send."""

    def on_idle(self, queue: int) -> None:
        """A queue is empty or paused."""

    def on_sent(self, queue: int, size: int) -> None:
        """A queue has sent a packet of `size` bytes."""
