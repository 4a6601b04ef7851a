"""Rows of a packet trace that are frames: an interface, a sender and a rate for each.

A frame passes a switch twice: when its last bit is in (`arrive`, `control_arrive`), and when its
first bit leaves (`depart`, `control_depart`). An interface is a port of a traced switch, called
after the switch and its neighbour. A port of a host is seen at the switch behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from penstock import _core
from penstock.errors import nearest, refuse
from penstock.results import Run
from penstock.tables import COLUMNS

FRAME_EVENTS = ("arrive", "depart", "control_arrive", "control_depart")
"""Events that are frames on a wire."""

LEAVES = ("depart", "control_depart")
"""Of these, the frames that leave the switch."""


@dataclass(frozen=True)
class Interfaces:
    """The ports of the switches whose frames are wanted."""

    names: list[str]
    """By the number of the interface."""
    by_link: pl.DataFrame
    """By ``link`` and ``leaves``: the number of the interface, the sender, the rate."""


def traced_nodes(run: Run, nodes: Sequence[str] | None) -> list[int]:
    """The numbers of the switches whose frames are wanted.

    Parameters
    ----------
    nodes
        Their names; none for all that were traced.

    Raises
    ------
    ScenarioError
        The run has no packet trace, or there is no such switch in it.
    """
    trace = run.scenario.measure.trace
    run_again = "run it with `--trace packets`, e.g. `penstock run scenario.toml --trace packets`"
    if trace is None:
        message = "it has no packet trace, so no frame was written down"
        raise refuse("RUN", message, run_again, str(run.directory) if run.directory else None)
    if trace.events and not set(FRAME_EVENTS) <= set(trace.events):
        missing = ", ".join(one for one in FRAME_EVENTS if one not in trace.events)
        raise refuse(
            "measure.trace.events", f"its trace leaves out {missing}, which are frames", run_again
        )
    if not set(COLUMNS["packets"]) <= set(run.scan("packets").collect_schema().names()):
        raise refuse("RUN", "an earlier version traced it, without kinds of packets", run_again)
    names = run.scenario.topology.node_names()
    hosts = run.scenario.topology.host_count()
    traced = list(trace.nodes) or list(range(hosts, len(names)))
    if nodes is None:
        return traced
    numbers = {names[number]: number for number in traced}
    for node in nodes:
        if node not in numbers:
            raise refuse("--nodes", "this is no traced switch", nearest(node, numbers), node)
    return [numbers[node] for node in nodes]


def interfaces(run: Run, nodes: Sequence[int]) -> Interfaces:
    """The ports of switches of a run."""
    names = run.scenario.topology.node_names()
    links = run.links.select("link", "from", "to", "rate_bps").sort("link")
    out = links.filter(pl.col("from").is_in(nodes)).with_row_index("interface")
    # Of several cables between two nodes, the first link one way has the first the other way.
    nth = pl.int_range(pl.len()).over("from", "to").alias("nth")
    back = (
        links.with_columns(nth)
        .join(
            out.with_columns(nth).select("interface", "from", "to", "nth"),
            left_on=["from", "to", "nth"],
            right_on=["to", "from", "nth"],
        )
        .with_columns(leaves=False)
    )
    both = pl.concat(
        [
            frame.select("link", "leaves", "interface", pl.col("from").alias("sender"), "rate_bps")
            for frame in (out.with_columns(leaves=True), back)
        ]
    )
    ends = out.select("from", "to").iter_rows()
    return Interfaces([f"{names[a]}-{names[b]}" for a, b in ends], both)


def frame_rows(
    run: Run, nodes: Sequence[int], ports: Interfaces, start: int, count: int
) -> pl.LazyFrame:
    """The frames among some rows of a trace, in the order of time.

    Parameters
    ----------
    start, count
        The first of the rows, and how many there are.

    Returns
    -------
    pl.LazyFrame
        The columns of `_core.capture_frames`, a row for each frame.
    """
    leaves = pl.col("event").is_in(LEAVES)
    kinds = {name: number for number, name in enumerate(_core.PACKET_KINDS)}
    return (
        run.scan("packets")
        .slice(start, count)
        .filter(pl.col("event").is_in(FRAME_EVENTS), pl.col("node").is_in(nodes))
        .with_columns(
            leaves=leaves,
            link=pl.when(leaves).then("egress").otherwise("ingress").cast(pl.UInt32),
            # A switch reads the label of a queued packet, and then gives the packet a queue.
            label=pl.when(event_is("arrive")).then("upstream_queue").otherwise("queue"),
            kind=pl.col("kind").replace_strict(kinds, return_dtype=pl.UInt32),
        )
        .join(ports.by_link.lazy(), on=["link", "leaves"], how="left", maintain_order="left")
        .drop("event", "node", "ingress", "egress", "flow", "table_index", "queue", "queue_bytes",
              "port_bytes", "active_queues", "threshold_bytes", "counted", "link")
    )  # fmt: skip


def event_is(name: str) -> pl.Expr:
    """Whether a row is of this event."""
    return pl.col("event") == name
