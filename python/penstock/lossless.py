"""Why a run has lost packets that it should not have lost, or could have, in words and in bytes.

What it is: the memory that an ingress under PFC needs so that nothing is dropped, beside what it
has; and the sentences about drops and losses in a run's notes. What it is not: the switch, which
takes the headroom that the scenario gives it. Invariant: where every ingress has what it needs, and
no pause is lost, PFC drops nothing.

When an ingress passes XOFF, data goes on to arrive until its pause acts: two delays of the link,
the pipeline of the switch that pauses, that of the neighbour if it is a switch, the packet that the
pause frame waits for, the frame itself, and the packet that the neighbour has begun
(IEEE 802.1Qbb; ``docs/validation.md`` has the runs that hold to it).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from penstock import _core
from penstock.readable import bytes_text
from penstock.scenario.declared.admission import BytesHeadroom, SharedAdmission
from penstock.tables import xoff_out_of_reach

if TYPE_CHECKING:
    from penstock.analysis.runs import MeasuredRun
    from penstock.scenario import Scenario
    from penstock.scenario.declared.backpressure import Pfc


def longest_packet(scenario: Scenario) -> int:
    """A full data packet on the wire, with the telemetry or timestamp of its scheme [B]."""
    return _core.full_packet(scenario.to_json())


def bytes_until_a_pause_acts(links: pl.DataFrame, scenario: Scenario) -> pl.DataFrame:
    """What can arrive by each link into a switch after the link's ingress has passed XOFF.

    Parameters
    ----------
    links
        The table of a run.

    Returns
    -------
    Columns: from, to (nodes), needed_bytes [B], headroom_bytes [B], which is what the ingress has
    for it, of each class; null where the admission gives no headroom.
    """
    hosts = scenario.topology.host_count()
    frames = 2 * longest_packet(scenario) + int(scenario.wire.control_frame)
    pipelines = pl.when(pl.col("from") < hosts).then(1).otherwise(2)
    pipeline_ns = int(scenario.topology.pipeline_delay) / 1_000
    flight_ns = 2 * pl.col("delay_ns") + pipelines * pipeline_ns
    return links.filter(pl.col("to") >= hosts).select(
        "from",
        "to",
        (_bytes_in(flight_ns).ceil() + frames).cast(pl.Int64).alias("needed_bytes"),
        _headroom(scenario).alias("headroom_bytes"),
    )


def _bytes_in(time_ns: pl.Expr) -> pl.Expr:
    """Bytes of a link in a time; without the rounding errors of the product."""
    return (time_ns * pl.col("rate_bps") / 8e9).round(3)


def _headroom(scenario: Scenario) -> pl.Expr:
    admission = scenario.scheme.switch.admission
    ingress = admission.ingress if isinstance(admission, SharedAdmission) else None
    if ingress is None:
        return pl.lit(None, dtype=pl.Int64)
    if isinstance(ingress.headroom, BytesHeadroom):
        return pl.lit(int(ingress.headroom.size), dtype=pl.Int64)
    return (_bytes_in(pl.col("delay_ns")).floor() * ingress.headroom.factor).floor().cast(pl.Int64)


def loss_notes(run: MeasuredRun) -> list[str]:
    """That packets were lost that should not have been, or could have been, and what mends it."""
    return [*_drops(run), *_lost_with_links(run)]


def _drops(run: MeasuredRun) -> list[str]:
    """That switches that pause dropped packets, or could have, and why, where it can be told."""
    summary, scenario = run.summary, run.scenario
    drops = summary["drops"]
    if not drops and not summary["pfc_pauses"]:
        return []
    switch = scenario.scheme.switch
    below = getattr(switch.backpressure, "pfc", None)
    pfc = switch.backpressure if switch.backpressure.kind == "pfc" else below
    admission = switch.admission
    if pfc is None or not isinstance(admission, SharedAdmission) or xoff_out_of_reach(scenario):
        return []
    needs = bytes_until_a_pause_acts(run.links, scenario)
    names, has_headroom = summary["node_names"], admission.ingress is not None
    if not drops:
        lack = _too_little_headroom(needs, names) if has_headroom else ""
        return [f"no packet was dropped, but more senders may bring it about: {lack}"] * bool(lack)
    if has_headroom:
        why = _too_little_headroom(needs, names)
    else:
        classes = getattr(switch.assignment, "classes", 1)
        why = _too_little_memory(needs, names, admission, pfc, classes)
    faults = scenario.faults
    if not why and (faults.outages or faults.control_loss):
        why = "pauses were lost by `faults`"
    return [f"{drops:,} packets were dropped although PFC pauses: {why}"] if why else []


def _too_little_headroom(needs: pl.DataFrame, names: list[str]) -> str:
    """Which links have less headroom than they need; nothing where all have enough."""
    lack = needs.filter(pl.col("headroom_bytes") < pl.col("needed_bytes"))
    if lack.is_empty():
        return ""
    worst = lack.sort(pl.col("needed_bytes") - pl.col("headroom_bytes")).row(-1, named=True)
    link = f"{names[worst['from']]}->{names[worst['to']]}"
    most = int(lack["needed_bytes"].max())  # type: ignore[arg-type]  # of whole numbers
    return (
        f"the headroom of {lack.height} of {needs.height} links is less than what comes until a "
        f"pause acts. {link} has {worst['headroom_bytes']:,} B and needs "
        f"{worst['needed_bytes']:,} B. Set scheme.switch.admission.ingress.headroom to "
        f'{{ kind = "bytes", size = "{most} B" }}'
    )


def _too_little_memory(
    needs: pl.DataFrame, names: list[str], admission: SharedAdmission, pfc: Pfc, classes: int
) -> str:
    """Which switch cannot hold a fixed XOFF of all its ingresses; nothing where all can."""
    memories = dict(admission.other_buffers)
    xoff, least, found = int(pfc.xoff or 0), math.inf, ""
    for (node,), links in needs.group_by("to", maintain_order=True):
        memory = int(memories.get(int(node), admission.buffer))
        accounts = links.height * classes
        in_flight = int(links["needed_bytes"].sum()) * classes
        largest = (memory - in_flight) // accounts
        if xoff <= largest or largest >= least:
            continue
        least = largest
        smaller = f"an XOFF of at most {largest:,} B, or " if largest > pfc.xon_offset else ""
        found = (
            f"XOFF and what comes until a pause acts are {bytes_text(xoff * accounts + in_flight)} "
            f"at the {links.height} ports of {names[int(node)]}, which has {bytes_text(memory)}. "
            f"Set {smaller}a larger scheme.switch.admission.buffer"
        )
    return found


def _lost_with_links(run: MeasuredRun) -> list[str]:
    lost = run.summary["lost_packets"]
    if not lost or not run.scenario.faults.outages:
        return []
    return [f"{lost:,} packets were lost on links that failed; they are not among the drops"]
