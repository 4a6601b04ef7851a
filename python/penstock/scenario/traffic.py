"""The flows: what a scenario may write in place of the core's traffic.

``trace`` and ``long-lived`` are ways to write a list of flows; a resolved scenario has ``listed``
in their place. Flow sizes may be the name of a built-in distribution or of a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_serializer,
    field_validator,
    model_validator,
)

from penstock.dependency import FLOWS_MAX, SIZE_MAX, Flow
from penstock.flow_rows import FlowRows
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
from penstock.trace import read_trace
from penstock.units import Time, refusal
from penstock.workload import Distribution, find_workload, read_cdf

OWN = "our choice: the kind"
TRACES_KEPT = 4
"""Traces whose flows are kept (our choice: those of a scenario; the longest takes 400 MB, or 50 MB
in columns)."""


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


class Listed(ListedTraffic):
    @field_validator("flows", mode="wrap")
    @classmethod
    def _in_columns(cls, written: Any, read: ValidatorFunctionWrapHandler) -> Any:
        """Keeps the columns of a long list, whose numbers were checked where they were read."""
        if isinstance(written, FlowRows) and len(written) <= FLOWS_MAX:
            return written
        return read(written)

    @model_validator(mode="after")
    def _of_table(self) -> Self:
        """Refuses sizes that no table of results holds."""
        if isinstance(self.flows, FlowRows):
            return self
        large = next((place for place, row in enumerate(self.flows) if row[2] > SIZE_MAX), None)
        if large is not None:
            remedy = f"write at most {SIZE_MAX} bytes, or 0 for a flow that never ends"
            raise refusal(f"flows[{large}] has {self.flows[large][2]} for the size", remedy)
        return self

    @field_serializer("flows", mode="wrap")
    def _tuples(self, flows: Sequence[Flow], write: SerializerFunctionWrapHandler) -> Any:
        """Writes also those of a long file as tuples."""
        return write(tuple(flows))


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

    def listed(self) -> Listed:
        """The flows of the file."""
        path = Path(self.file)
        try:
            found = path.stat()
        except OSError:
            return _listed(path, (), self.label, self.traffic_class)  # which says what is wrong
        stamp = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        return _listed(path, stamp, self.label, self.traffic_class)


@lru_cache(maxsize=TRACES_KEPT)
def _listed(path: Path, stamp: tuple[int, ...], label: str, traffic_class: int) -> Listed:
    """The flows of a file, whose `stamp` changes with it.

    A scenario is resolved for its check, its estimate, its hash and its run, and a sweep resolves
    it at every point. The reader has checked each number, and the model checks none a second time.
    """
    trace = read_trace(path)
    flows = trace.flows if isinstance(trace.flows, FlowRows) else tuple(trace.flows)
    return Listed.model_construct(
        kind="listed",
        label=label,
        traffic_class=traffic_class,
        flows=cast("tuple[Flow, ...]", flows),
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

    def listed(self) -> Listed:
        """The same flows, one by one, without an end."""
        return Listed(
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
