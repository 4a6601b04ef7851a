"""The links that flows take.

What it is: the path of a flow from its source to its destination, as directed links. What it is
not: a record of where a flow's packets were; only a packet trace knows. Invariant: a flow's path is
the one that the core gave it when it started.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock import _core
from penstock.analysis.runs import MeasuredRun, part_of
from penstock.errors import core_refusals
from penstock.scenario.scheme import Scheme, expand_scheme
from penstock.scenario.traffic import Listed

Links = NDArray[np.uint32]
"""Numbers of directed links."""

INSIDE = 2**32 - 1
"""In place of the number of a path: the core's, of a flow that takes no link of the network."""


@dataclass(frozen=True)
class Paths:
    """Links between switches that flows take."""

    of_flow: Links
    """Number of the path, [flow]; :data:`INSIDE` for a flow that stays inside its server."""
    starts: Links
    """Place of a path's first link, [path + 1]."""
    links: Links
    """Links, path after path."""

    def of(self, flow: int) -> Links:
        """The links of the flow in place `flow`."""
        path = self.of_flow[flow]
        return self.links[self.starts[path] : self.starts[path + 1]]


def flow_paths(run: MeasuredRun, flows: pl.DataFrame) -> Paths | None:
    """The paths of flows; none where there is no single one, or where frames were real.

    There is none for sprayed packets, and none that is known beforehand under `fidelity`.

    Parameters
    ----------
    flows
        Columns `flow`, `src`, `dst` and `start_ps`.
    """
    scenario = run.scenario
    is_sprayed = scenario.scheme.routing.kind == "spray"
    if is_sprayed or scenario.fidelity != "exact" or run.summary.get("emulation") is not None:
        return None
    rows = flows.select(pl.col("flow", "src", "dst", "start_ps").cast(pl.UInt64)).to_numpy()
    with core_refusals(scenario.file):
        found = _core.core_paths(_network(scenario), np.ascontiguousarray(rows))
    return None if found is None else Paths(*found)


def _network(scenario: Any) -> str:
    """A scenario with what decides about paths, as the core reads it.

    A path does not depend on the traffic, which may be a list of a million flows. Of the scheme it
    depends on the routing alone; the rest may name that traffic, or a class in Python that has
    changed since the run.
    """
    scheme = _plain_scheme().model_copy(update={"routing": scenario.scheme.routing})
    network = scenario.model_copy(update={"traffic": (_any_traffic(),), "scheme": scheme})
    text: str = network.to_json()
    return text


@cache
def _any_traffic() -> Listed:
    """Some traffic: a scenario has some. Unchecked, as the checks take 20 ms to build."""
    return Listed.model_construct(kind="listed", flows=((0, 1, 1, 0),))


@cache
def _plain_scheme() -> Scheme:
    """A scheme that every network accepts."""
    table, _ = expand_scheme("line-rate", Path())
    return Scheme.model_validate(table)


@dataclass(frozen=True)
class Route:
    """What is known of the path of a flow."""

    links: Links
    """Directed links from the source on, all the time; the first and the last only, where not all
    are known or where they changed."""
    is_whole: bool
    """Whether these are all links of the path."""
    others: Links = field(default_factory=lambda: np.empty(0, dtype=np.uint32))
    """Links between switches that it took for a part of its time, if an outage moved it."""


def routes(run: MeasuredRun, flows: pl.DataFrame) -> list[Route]:
    """What is known of the path of each flow, its first and its last link included.

    Parameters
    ----------
    flows
        Rows of the table of flows.
    """
    start = picoseconds(flows["start_ns"].to_numpy())
    found = flow_paths(run, flows.select("flow", "src", "dst", pl.Series("start_ps", start)))
    later = _later_paths(run, flows, found) if found else {}
    ends = run.links.select("link", "from", "to")
    out_of = dict(ends.filter(pl.col("from").is_in(flows["src"].implode()))["from", "link"].rows())
    into = dict(ends.filter(pl.col("to").is_in(flows["dst"].implode()))["to", "link"].rows())
    nothing = np.empty(0, dtype=np.uint32)
    per_server = accelerators_of_server(run)
    known = []
    for place, (source, destination) in enumerate(flows.select("src", "dst").iter_rows()):
        if per_server and source // per_server == destination // per_server:
            known.append(Route(nothing, is_whole=True))
            continue
        between = found.of(place) if found else nothing
        ends_of = [out_of.get(source), into.get(destination)]
        first, last = ([] if end is None else [end] for end in ends_of)
        if place in later:
            others = np.concatenate([between, *later[place]])
            links = np.array([*first, *last], dtype=np.uint32)
            known.append(Route(links, is_whole=False, others=others))
            continue
        links = np.array([*first, *between, *last], dtype=np.uint32)
        known.append(Route(links, is_whole=found is not None))
    return known


def _later_paths(run: MeasuredRun, flows: pl.DataFrame, paths: Paths) -> dict[int, list[Links]]:
    """Place of a flow whose path changed while it lasted, because of an outage -> the new paths.

    Parameters
    ----------
    flows
        Rows of the table of flows.
    paths
        Their paths when they started.
    """
    found: dict[int, list[Links]] = {}
    begin = flows["start_ns"].to_numpy()
    end = (flows["start_ns"] + flows["fct_ns"]).fill_null(np.inf).to_numpy()
    outages = part_of(run.scenario, "faults", "outages") or ()
    for moment in sorted({int(time) for one in outages for time in (one.start, one.end) if time}):
        is_on = (begin < moment / 1e3) & (moment / 1e3 < end) & (paths.of_flow != INSIDE)
        lasting = np.flatnonzero(is_on).tolist()
        moved = flows[lasting].select("flow", "src", "dst", start_ps=pl.lit(moment, pl.UInt64))
        new = flow_paths(run, moved) if lasting else None
        if new is None:
            continue
        for row, place in enumerate(lasting):
            if not np.array_equal(new.of(row), paths.of(place)):
                found.setdefault(place, []).append(new.of(row))
    return found


def accelerators_of_server(run: MeasuredRun) -> int:
    """Hosts of a server whose transfers to each other do not enter the network; 0 without such."""
    topology: Any = getattr(run.scenario, "topology", None)
    return int(topology.gpus) if int(getattr(topology, "inner_rate", None) or 0) else 0


def picoseconds(nanoseconds: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Times of a table in whole picoseconds; tables have multiples of 0.001 ns."""
    return np.rint(nanoseconds * 1_000).astype(np.uint64)
