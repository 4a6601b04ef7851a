"""The flows: what a scenario may write in place of the core's traffic.

``trace`` and ``long-lived`` are ways to write a list of flows; a resolved scenario has ``listed``
in their place. Flow sizes may be the name of a built-in distribution or of a file.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from penstock.dependency import SIZE_MAX
from penstock.scenario.base import (
    Count,
    Count8,
    Label,
    Many,
    Part,
    Text,
    field,
    inherited,
    resolve_path,
)
from penstock.scenario.declared.sizes import CdfSizes, ExponentialSizes, FixedSizes, ParetoSizes
from penstock.scenario.declared.traffic import (
    CollectiveTraffic,
    IncastTraffic,
    ListedTraffic,
    OnOffTraffic,
    OpenLoopTraffic,
    RpcTraffic,
)
from penstock.trace import FLOWS_MAX, read_trace
from penstock.units import Time, refusal
from penstock.workload import Distribution, find_workload, read_cdf

OWN = "our choice: the kind"
TRACES_KEPT = 4
"""Traces whose flows are kept (our choice: those of a scenario; the longest takes 400 MB)."""


class TableSizes(CdfSizes):
    """A table of sizes and cumulative shares of flows, perhaps a built-in one or in a file."""

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
    Annotated[
        TableSizes | FixedSizes | ExponentialSizes | ParetoSizes, Field(discriminator="kind")
    ],
    BeforeValidator(_named_sizes),
]
"""A distribution of flow sizes; a text names a built-in one or a file."""


class OpenLoop(OpenLoopTraffic):
    sizes: Sizes = inherited(OpenLoopTraffic, "sizes")


class Rpc(RpcTraffic):
    request: Sizes = inherited(RpcTraffic, "request")
    response: Sizes = inherited(RpcTraffic, "response")


class OnOff(OnOffTraffic):
    sizes: Sizes = inherited(OnOffTraffic, "sizes")


def _of_table(read: ListedTraffic) -> ListedTraffic:
    """Refuses sizes that no table of results holds."""
    large = next((place for place, row in enumerate(read.flows) if row[2] > SIZE_MAX), None)
    if large is not None:
        remedy = f"write at most {SIZE_MAX} bytes, or 0 for a flow that never ends"
        raise refusal(f"flows[{large}] has {read.flows[large][2]} for the size", remedy)
    return read


Listed = Annotated[ListedTraffic, AfterValidator(_of_table)]
"""Flows one by one, of sizes that tables hold."""


class _Flows(Part):
    """What the ways to write a list of flows share with it."""

    traffic_class: Count8 = inherited(ListedTraffic, "traffic_class")


class Trace(_Flows):
    """Flows from a file: CSV, the HPCC simulator's flow file, or htsim's connection matrix."""

    kind: Literal["trace"]
    label: Label = field("Name in tables and figures", "trace", source=OWN)
    file: Text = field("The file, relative to the scenario")

    @field_validator("file")
    @classmethod
    def _absolute(cls, written: str, info: ValidationInfo) -> str:
        return str(resolve_path(written, info))

    def listed(self) -> ListedTraffic:
        """The flows of the file."""
        path = Path(self.file)
        try:
            found = path.stat()
        except OSError:
            return _listed(path, (), self.label, self.traffic_class)  # which says what is wrong
        stamp = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        return _listed(path, stamp, self.label, self.traffic_class)


@lru_cache(maxsize=TRACES_KEPT)
def _listed(path: Path, stamp: tuple[int, ...], label: str, traffic_class: int) -> ListedTraffic:
    """The flows of a file, whose `stamp` changes with it.

    A scenario is resolved for its check, its estimate, its hash and its run, and a sweep resolves
    it at every point: with 524,288 flows each takes 1.5 s.
    """
    trace = read_trace(path)
    return ListedTraffic(
        kind="listed",
        label=label,
        traffic_class=traffic_class,
        flows=tuple(trace.flows),
        destination_ports=tuple(trace.destination_ports),
        after=tuple(trace.after),
        lag=tuple(trace.lags),
        delay=tuple(trace.delays),
        needed=tuple(trace.needed),
        places=tuple(trace.places),
        steps=tuple(trace.steps),
    )


class LongLived(_Flows):
    """Flows that never end, one per pair of hosts."""

    kind: Literal["long-lived"]
    label: Label = field("Name in tables and figures", "long-lived", source=OWN)
    pairs: Many[tuple[Count, Count]] = field(
        "Rows [source, destination]", max_length=FLOWS_MAX, repr=False
    )
    start: Time = field("When they begin", 0, source="our choice: with the run")
    spread: Time = inherited(ListedTraffic, "spread")

    def listed(self) -> ListedTraffic:
        """The same flows, one by one, without an end."""
        return ListedTraffic(
            kind="listed",
            label=self.label,
            traffic_class=self.traffic_class,
            flows=tuple((source, destination, 0, self.start) for source, destination in self.pairs),
            spread=self.spread,
        )


Traffic = Annotated[
    OpenLoop | IncastTraffic | Listed | CollectiveTraffic | Rpc | OnOff | Trace | LongLived,
    Field(discriminator="kind"),
]
"""One of the kinds above."""
