"""Why a run has lost packets that it should not have lost, or could have, in words and in bytes.

What it is: the memory that an ingress under PFC needs so that nothing is dropped, beside what it
has; and the sentences about drops and losses in a run's notes. What it is not: the switch, which
takes the headroom that the scenario gives it. Invariant: where every ingress has what it needs, no
pause is lost, and none waits for acknowledgements, PFC drops nothing.

When an ingress passes XOFF, data goes on to arrive until its pause acts. The core knows how much:
``SwitchFacts::bytes_until_a_pause_acts``.
"""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock import _core
from penstock.readable import bytes_text, counted
from penstock.scenario.declared.admission import SharedAdmission
from penstock.scenario.declared.backpressure import Pfc, PfcBackpressure
from penstock.units import SIZE

if TYPE_CHECKING:
    from penstock.analysis.runs import MeasuredRun
    from penstock.scenario import Scenario


@dataclass(frozen=True)
class PauseRoom:
    """The room behind the pauses of one link into a switch, for each class."""

    source: int
    """The node that sends."""
    switch: int
    """The node that receives."""
    needed: int
    """What can arrive after the ingress has passed XOFF [B]."""
    headroom: int | None
    """What the ingress has for it [B]; ``None`` where the admission gives no headroom."""

    @property
    def lack(self) -> int:
        """How much more the ingress needs than it has [B]."""
        return self.needed if self.headroom is None else self.needed - self.headroom


def longest_packet(scenario: Scenario) -> int:
    """A full data packet on the wire, with the telemetry or timestamp of its scheme [B]."""
    return _core.full_packet(scenario.handed_over())


def pause_room(scenario: Scenario) -> list[PauseRoom]:
    """The room behind the pauses of every link into a switch, by switch and port."""
    rows = json.loads(_core.pause_room(scenario.handed_over()))
    return [PauseRoom(row["from"], row["to"], row["needed"], row["headroom"]) for row in rows]


def headroom_note(scenario: Scenario) -> str:
    """That PFC can drop packets for want of room, before anything runs; else nothing."""
    admission, pfc = scenario.scheme.switch.admission, _pfc(scenario)
    if pfc is None or not isinstance(admission, SharedAdmission) or xoff_out_of_reach(scenario):
        return ""
    return _too_little(pause_room(scenario), scenario, admission, pfc)


def _pfc(scenario: Scenario) -> Pfc | None:
    """PFC, alone or beneath another backpressure."""
    backpressure = scenario.scheme.switch.backpressure
    below: Pfc | None = getattr(backpressure, "pfc", None)
    return backpressure if isinstance(backpressure, PfcBackpressure) else below


def loss_notes(run: MeasuredRun) -> list[str]:
    """That packets were lost that should not have been, or could have been, and what mends it."""
    return [*_drops(run), *_lost_on_links(run)]


def _drops(run: MeasuredRun) -> list[str]:
    """That switches that pause dropped packets, or could have, and why, where it can be told."""
    summary, scenario = run.summary, run.scenario
    drops = summary["drops"] - _drops_of_nics(run)
    if not drops and not summary["pfc_pauses"]:
        return []
    admission, pfc = scenario.scheme.switch.admission, _pfc(scenario)
    if pfc is None or not isinstance(admission, SharedAdmission) or xoff_out_of_reach(scenario):
        return []
    if not drops and admission.ingress is None:
        return []  # all ingresses at a fixed XOFF at once are more than most runs come to
    why = _too_little(pause_room(scenario), scenario, admission, pfc)
    if not drops:
        return [f"no packet was dropped, but more senders may bring it about: {why}"] * bool(why)
    faults = scenario.faults
    if not why and (faults.outages or faults.control_loss or faults.corruption):
        why = "pauses were lost by `faults`"
    packets = counted(drops, "packet was", "packets were")
    return [f"{packets} dropped although PFC pauses: {why}"] if why else []


def _drops_of_nics(run: MeasuredRun) -> int:
    """What NICs of hosts with kernels have dropped. They come after the nodes of the scenario."""
    if "emulation" not in run.summary:
        return 0
    nodes = len(run.scenario.topology.node_names())
    links = run.links
    return int(links.filter(links["from"] >= nodes)["drops"].sum())


def _too_little(
    rooms: list[PauseRoom], scenario: Scenario, admission: SharedAdmission, pfc: Pfc
) -> str:
    """Which links, or which switch, has too little room; nothing where all have enough."""
    names = scenario.topology.node_names()
    if admission.ingress is not None:
        return _too_little_headroom(rooms, names)
    classes = getattr(scenario.scheme.switch.assignment, "classes", 1)
    return _too_little_memory(rooms, names, admission, pfc, classes)


def _too_little_headroom(rooms: list[PauseRoom], names: list[str]) -> str:
    """Which links have less headroom than they need; nothing where all have enough."""
    short = [room for room in rooms if room.lack > 0]
    if not short:
        return ""
    worst = max(short, key=lambda room: room.lack)
    return (
        f"the headroom of {len(short)} of {len(rooms)} links is less than what comes until a pause "
        f"acts. {names[worst.source]}->{names[worst.switch]} has {worst.headroom or 0:,} B and "
        f"needs {worst.needed:,} B. Set scheme.switch.admission.ingress.headroom to "
        '{ kind = "lossless" }'
    )


def _too_little_memory(
    rooms: list[PauseRoom], names: list[str], admission: SharedAdmission, pfc: Pfc, classes: int
) -> str:
    """Which switch cannot hold a fixed XOFF of all its ingresses; nothing where all can."""
    memories = dict(admission.other_buffers)
    xoff, least, found = int(pfc.xoff or 0), math.inf, ""
    for node, group in itertools.groupby(rooms, key=lambda room: room.switch):
        ports = list(group)
        memory = int(memories.get(node, admission.buffer))
        accounts = len(ports) * classes
        in_flight = sum(room.needed for room in ports) * classes
        largest = (memory - in_flight) // accounts
        if xoff <= largest or largest >= least:
            continue
        least = largest
        smaller = f"an XOFF of at most {largest:,} B, or " if largest > pfc.xon_offset else ""
        found = (
            f"XOFF and what comes until a pause acts are {bytes_text(xoff * accounts + in_flight)} "
            f"at the {len(ports)} ports of {names[node]}, which has {bytes_text(memory)}. "
            f"Set {smaller}a larger scheme.switch.admission.buffer"
        )
    return found


def _lost_on_links(run: MeasuredRun) -> list[str]:
    lost = run.summary["lost_packets"]
    if not lost:
        return []
    faults = run.scenario.faults
    ways = ["on links that failed"] * bool(faults.outages)
    ways += ["because they arrived corrupted"] * bool(faults.corruption)
    packets = counted(lost, "packet was", "packets were")
    return [f"{packets} lost {' or '.join(ways)}, and not counted among the drops"]


def xoff_out_of_reach(scenario: Scenario) -> str:
    """That no ingress can hold as much as a fixed XOFF, where that is so; else nothing."""
    switch = scenario.scheme.switch
    xoff = getattr(switch.backpressure, "xoff", None)
    if xoff is None or switch.admission.kind != "shared":
        return ""
    memory = max(switch.admission.buffer, *(size for _, size in switch.admission.other_buffers), 0)
    if xoff <= memory:
        return ""
    return (
        f"no PFC pause is possible: XOFF of {SIZE.format(xoff)} is more than a switch's whole "
        f"memory of {SIZE.format(memory)}, so packets are dropped instead"
    )
