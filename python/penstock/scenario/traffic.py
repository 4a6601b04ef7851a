"""The flows: how large, when, from where to where.

One model per ``kind``. ``trace`` and ``long-lived`` are ways to write a list of flows; a resolved
scenario has ``listed`` in their place. Times without a value (`stop`) mean the scenario's duration
and are filled in by :meth:`penstock.scenario.Scenario.resolve`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from penstock.scenario.base import (
    BFC_SIMULATOR,
    OUR_CHOICE,
    Count,
    Integer,
    Label,
    Many,
    Node,
    Number,
    Part,
    Switch,
    Text,
    field,
    resolve_path,
)
from penstock.trace import FLOWS_MAX, PORT_MAX, read_trace
from penstock.units import PositiveSize, PositiveTime, Size, Time
from penstock.workload import Convention, Distribution, find_workload, read_cdf

WHOLE = f"{OUR_CHOICE}: the whole duration"
SIGMA_MAX = 4
"""Largest sigma; our choice: the core's bound. The squared coefficient of variation of the gaps is
then 9e6, and no run is long enough to see their mean."""
INCAST = "BFC 6.2.2: 100-to-1, 20 MB in aggregate, every 500 us"


# -- sizes ----------------------------------------------------------------------------------


class CdfSizes(Part):
    """A table of sizes and cumulative shares of flows."""

    kind: Literal["cdf"]
    name: Text = field("name of the distribution, or of the file it came from")
    convention: Convention = field("how the table is sampled: straight lines, or each row one size")
    points: Many[tuple[Integer, Number]] = field("rows [size in bytes, share of flows]", repr=False)

    @model_validator(mode="before")
    @classmethod
    def _load(cls, written: Any, info: ValidationInfo) -> Any:
        """Reads the points of a built-in distribution or of a `file`."""
        if not isinstance(written, dict) or "points" in written:
            return written
        rest = {key: value for key, value in written.items() if key not in ("file", "name")}
        if isinstance(written.get("file"), str):
            found = read_cdf(resolve_path(written["file"], info))
        elif isinstance(written.get("name"), str):
            found = find_workload(written["name"])
        else:
            return written
        return _table(found) | rest

    @model_validator(mode="after")
    def _check(self) -> CdfSizes:
        Distribution(self.name, self.convention, self.points).check()
        return self


class FixedSizes(Part):
    """Every flow has the same size."""

    kind: Literal["fixed"]
    size: PositiveSize = field("size of every flow")


class ExponentialSizes(Part):
    """Exponentially distributed sizes."""

    kind: Literal["exponential"]
    mean: PositiveSize = field("mean size")


class ParetoSizes(Part):
    """Pareto-distributed sizes, e.g. AFQ's shape 1.1 and mean 30 KB (sec. 6.2.1)."""

    kind: Literal["pareto"]
    shape: Number = field("tail index", 1.1, gt=1, source="AFQ 6.2.1")
    mean: PositiveSize = field("mean size", "30 kB", source="AFQ 6.2.1")


def _table(found: Distribution) -> dict[str, Any]:
    return {
        "kind": "cdf",
        "name": found.name,
        "convention": found.convention,
        "points": found.points,
    }


def _named_sizes(written: Any, info: ValidationInfo) -> Any:
    """Lets `sizes = "google"` and `sizes = "my.csv"` stand for a table."""
    if not isinstance(written, str):
        return written
    if Path(written).suffix:
        return _table(read_cdf(resolve_path(written, info)))
    return _table(find_workload(written))


Sizes = Annotated[
    Annotated[CdfSizes | FixedSizes | ExponentialSizes | ParetoSizes, Field(discriminator="kind")],
    BeforeValidator(_named_sizes),
]
"""A distribution of flow sizes; a text names a built-in one or a file."""


# -- arrivals, pairs, load ------------------------------------------------------------------


class Poisson(Part):
    """Exponential gaps."""

    kind: Literal["poisson"]


class Lognormal(Part):
    """Log-normal gaps: bursty."""

    kind: Literal["lognormal"]
    sigma: Number = field("shape", 2.0, ge=0, le=SIGMA_MAX, source="BFC 6.2.1")


class Deterministic(Part):
    """Equal gaps."""

    kind: Literal["deterministic"]


class UniformPairs(Part):
    """Source and destination uniform over all pairs of hosts."""

    kind: Literal["uniform"]


class RackLocalPairs(Part):
    """A share of the flows stays in its rack."""

    kind: Literal["rack-local"]
    fraction: Number = field("share of the flows that stay", ge=0, le=1)


class PermutationPairs(Part):
    """Each host sends to one other host."""

    kind: Literal["permutation"]


class BetweenPairs(Part):
    """From some hosts to some hosts."""

    kind: Literal["between"]
    sources: Many[Node] = field("hosts that send", min_length=1)
    destinations: Many[Node] = field("hosts that receive", min_length=1)


class FanInPairs(Part):
    """Groups of flows that start together, from random hosts to one random host."""

    kind: Literal["fan-in"]
    least: Count = field("fewest senders of a group", 1, ge=1, source="PCN 7.4: 1 to 15")
    most: Count = field("most senders of a group", 15, ge=1, source="PCN 7.4: 1 to 15")


class SynchronousPairs(Part):
    """Every arrival is a flow from each source to one receiver: generators that run in step."""

    kind: Literal["synchronous"]
    sources: Many[Node] = field("hosts that send", min_length=1)
    receiver: Node = field("the host that receives")


class CoreLoad(Part):
    """The links between switches."""

    kind: Literal["core"]


class EdgeLoad(Part):
    """The links from hosts to switches."""

    kind: Literal["edge"]


class LinksLoad(Part):
    """Named directed links."""

    kind: Literal["links"]
    links: Many[tuple[Node, Node]] = field("links as [from, to]", min_length=1)


Arrivals = Poisson | Lognormal | Deterministic
Pairs = (
    UniformPairs | RackLocalPairs | PermutationPairs | BetweenPairs | FanInPairs | SynchronousPairs
)
LoadOn = CoreLoad | EdgeLoad | LinksLoad


# -- the kinds of traffic -------------------------------------------------------------------


class _Traffic(Part):
    traffic_class: Count = field(
        "priority class, 0 is served first",
        0,
        alias="class",
        ge=0,
        source=f"{OUR_CHOICE}: no priorities",
    )


class OpenLoop(_Traffic):
    """Flows that arrive at a rate, whatever becomes of them."""

    kind: Literal["open-loop"]
    label: Label = field("name in the results", "background", source=f"{OUR_CHOICE}: BFC's word")
    sizes: Sizes = field("flow sizes")
    arrivals: Arrivals = field(
        "gaps between arrivals",
        {"kind": "lognormal", "sigma": 2.0},
        source="BFC 6.2.1",
        discriminator="kind",
    )
    pairs: Pairs = field(
        "who sends to whom", {"kind": "uniform"}, source="BFC 6.2.1", discriminator="kind"
    )
    load: Number = field("mean load, as a share of capacity", gt=0, lt=1)
    load_on: LoadOn = field(
        "the links that the load is measured on",
        {"kind": "core"},
        source="BFC 6.2.1",
        discriminator="kind",
    )
    load_counts: Literal["crossing", "all"] = field(
        "crossing: only flows that cross those links count; all: BFC's generator, which counts "
        "flows inside a rack too",
        "crossing",
        source=f"{OUR_CHOICE}: what the words of BFC 6.2.1 say; its generator differs",
    )
    start: Time = field("first arrivals", 0, source=WHOLE)
    stop: Time | None = field("end of arrivals; none: the duration", None, source=WHOLE)


class Incast(_Traffic):
    """Many senders to one receiver at once, again and again."""

    kind: Literal["incast"]
    label: Label = field("name in the results", "incast", source=f"{OUR_CHOICE}: BFC's word")
    degree: Count = field("senders", 100, ge=1, source=INCAST)
    size: PositiveSize = field("bytes of all senders together", "20 MB", source=INCAST)
    period: PositiveTime = field("time from one incast to the next", "500 us", source=INCAST)
    start: Time = field("first incast", 0, source=WHOLE)
    stop: Time | None = field("end of incasts; none: the duration", None, source=WHOLE)
    receiver: Node | None = field(
        "the receiver; null: random each time",
        None,
        source=f"{BFC_SIMULATOR}: uniform",
    )
    senders: tuple[Node, ...] | None = field(
        "hosts to draw senders from; null: all others",
        None,
        source=f"{BFC_SIMULATOR}: all",
        fail_fast=True,
    )
    replace: Switch = field(
        "a sender may be drawn twice", True, source=f"{BFC_SIMULATOR}: with replacement"
    )


def spread_field() -> Any:
    """The field of how far apart flows start that are given the same time."""
    return field(
        "each flow starts up to so much later, evenly drawn",
        0,
        source=f"{OUR_CHOICE}: exactly when it is written",
    )


Port = Annotated[Integer, Field(ge=0, le=PORT_MAX)]
"""A UDP port."""


class Listed(_Traffic):
    """Flows one by one."""

    kind: Literal["listed"]
    label: Label = field("name in the results", "listed", source=f"{OUR_CHOICE}: the kind")
    flows: Many[tuple[Node, Node, Size, Time]] = field(
        "rows [source, destination, size (0: endless), start]",
        min_length=1,
        max_length=FLOWS_MAX,
        repr=False,
    )
    spread: Time = spread_field()
    destination_ports: Many[Port] = field(
        "UDP port of each flow, for the ECMP hash of fidelity ns3-hpcc; none: 0",
        (),
        source=f"{OUR_CHOICE}: nothing else looks at ports",
        repr=False,
    )


class Trace(_Traffic):
    """Flows from a file: CSV, the HPCC simulator's flow file, or htsim's connection matrix."""

    kind: Literal["trace"]
    label: Label = field("name in the results", "trace", source=f"{OUR_CHOICE}: the kind")
    file: Text = field("the file, relative to the scenario")

    @field_validator("file")
    @classmethod
    def _absolute(cls, written: str, info: ValidationInfo) -> str:
        return str(resolve_path(written, info))

    def listed(self) -> Listed:
        """The flows of the file."""
        trace = read_trace(Path(self.file))
        return Listed(
            kind="listed",
            label=self.label,
            traffic_class=self.traffic_class,
            flows=tuple(trace.flows),
            destination_ports=tuple(trace.destination_ports),
        )


class LongLived(_Traffic):
    """Flows that never end, one per pair of hosts."""

    kind: Literal["long-lived"]
    label: Label = field("name in the results", "long-lived", source=f"{OUR_CHOICE}: the kind")
    pairs: Many[tuple[Node, Node]] = field(
        "rows [source, destination]", min_length=1, max_length=FLOWS_MAX
    )
    start: Time = field("when they begin", 0, source=WHOLE)
    spread: Time = spread_field()

    def listed(self) -> Listed:
        """The same flows, one by one, without an end."""
        rows = tuple((source, destination, 0, self.start) for source, destination in self.pairs)
        return Listed(
            kind="listed",
            label=self.label,
            traffic_class=self.traffic_class,
            flows=rows,
            spread=self.spread,
        )


Traffic = Annotated[OpenLoop | Incast | Listed | Trace | LongLived, Field(discriminator="kind")]
"""One of the kinds above."""
