"""What a scenario is made of: its parts and their defaults.

The model below the checks: each part has read itself, and nobody has asked yet whether the parts go
together. :class:`penstock.scenario.Scenario` is the same, checked as a whole.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from penstock.errors import ScenarioError, problem_of
from penstock.scenario.base import OUR_CHOICE, Integer, Label, Part, Text, field
from penstock.scenario.host import TIMED_CONTROLLERS
from penstock.scenario.marking import TelemetryMarking
from penstock.scenario.measure import Faults, Measure, Wire
from penstock.scenario.scheme import Scheme, expand_scheme
from penstock.scenario.table import DEFAULT_PRESET
from penstock.scenario.topology import Topology
from penstock.scenario.traffic import Incast, LongLived, OpenLoop, Trace, Traffic
from penstock.units import U64_MAX, PositiveTime, Time

TRAFFIC_MAX = 2**16 - 1
"""Most entries of traffic: the core numbers them in 16 bits."""


class ScenarioParts(Part):
    """Network, scheme, traffic and measurement of one run, each read by itself."""

    name: Label = field("name in results", "scenario")
    description: Text = field("what it is for", "")
    seed: Annotated[Integer, Field(ge=0, le=U64_MAX)] = field(
        "seed of every random draw", 1, source=f"{OUR_CHOICE}: any will do"
    )
    fidelity: Literal["exact", "ns3-hpcc"] = field(
        "whose arithmetic the run follows: exact, or that of the ns-3 HPCC simulator",
        "exact",
        source=f"{OUR_CHOICE}: exact unless a run is compared with that simulator",
    )
    duration: PositiveTime = field(
        "traffic is generated in [0, duration)",
        "5 ms",
        source=f"{OUR_CHOICE}: ten of BFC's incasts (6.2.2), and a run takes less than a minute",
    )
    drain: Time = field(
        "how much longer flows may take to finish",
        "20 ms",
        source=f"{OUR_CHOICE}: the largest Google flow takes 12 ms at a tenth of line rate",
    )
    wire: Wire = field("what packets weigh", {}, source="see its fields")
    topology: Topology = field("the network", {"kind": "leaf-spine"}, source="BFC 6.2.1")
    scheme: Annotated[Scheme, BeforeValidator(lambda written: expand_scheme(written)[0])] = field(
        "how switches and hosts control the flows", DEFAULT_PRESET, source="BFC"
    )
    traffic: tuple[Traffic, ...] = field("the flows", min_length=1, max_length=TRAFFIC_MAX)
    faults: Faults = field("what breaks on purpose", {}, source="see its fields")
    measure: Measure = field("what is recorded", {}, source="see its fields")

    def packet_bytes(self) -> int:
        """A full data packet on the wire [B]: payload, headers, what its acknowledgement echoes."""
        has_telemetry = isinstance(self.scheme.switch.marking, TelemetryMarking)
        is_timed = isinstance(self.scheme.host.controller, TIMED_CONTROLLERS)
        echo = has_telemetry * self.wire.telemetry + is_timed * self.wire.timestamp
        return self.wire.payload + self.wire.header + echo

    def resolve(self) -> Self:
        """This scenario with every default and every file in place.

        Raises
        ------
        ScenarioError
            A file of flows has gone, or changed, since the scenario was checked.
        """
        entries = []
        for index, entry in enumerate(self.traffic):
            try:
                entries.append(_resolved(entry, self.duration))
            except PydanticCustomError as error:
                raise ScenarioError([problem_of(error, f"traffic[{index}].file")]) from None
        return self.model_copy(update={"traffic": tuple(entries)})


def _resolved(entry: Any, duration: int) -> Any:
    match entry:
        case Trace() | LongLived():
            return entry.listed()
        case OpenLoop() | Incast() if entry.stop is None:
            return entry.model_copy(update={"stop": duration})
        case _:
            return entry
