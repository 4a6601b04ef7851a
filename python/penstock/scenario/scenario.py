"""The scenario: everything that a run depends on.

A :class:`Scenario` is checked when it is made, as a whole; whoever holds one can run it.
:meth:`Scenario.resolve` is the same scenario with nothing left to look up: that is what the Rust
core gets (:meth:`Scenario.to_json`) and what is stored with the results (:meth:`Scenario.to_toml`).
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from penstock.errors import Problem, ScenarioError, nearest, refuse
from penstock.scenario.base import OUR_CHOICE, Integer, Part, Text, field
from penstock.scenario.fault_checks import fault_problems
from penstock.scenario.host import TIMED_CONTROLLERS
from penstock.scenario.marking import TelemetryMarking
from penstock.scenario.measure import Faults, Measure, Wire
from penstock.scenario.scheme import Scheme, expand_scheme
from penstock.scenario.scheme_checks import scheme_problems
from penstock.scenario.table import DEFAULT_PRESET, Table, merge, to_toml, with_key
from penstock.scenario.topology import Topology
from penstock.scenario.traffic import Incast, LongLived, OpenLoop, Trace, Traffic
from penstock.scenario.traffic_checks import traffic_problems
from penstock.scenario.translation import translate
from penstock.units import U64_MAX, PositiveTime, Time
from penstock.workload import WORKLOADS, find_workload

TRAFFIC_MAX = 2**16 - 1
"""Most entries of traffic: the core numbers them in 16 bits."""


class Scenario(Part):
    """Network, scheme, traffic and measurement of one run, complete and checked.

    Raises
    ------
    ScenarioError
        From every way to make one, with everything that is wrong.

    Examples
    --------
    >>> scenario = Scenario(
    ...     topology={"kind": "single-switch", "hosts": 4},
    ...     scheme="bfc",
    ...     traffic=[{"kind": "long-lived", "pairs": [[0, 3], [1, 3]]}],
    ...     duration="1 ms",
    ... )
    >>> scenario.duration
    1000000000
    >>> scenario.with_overrides({"scheme": "dctcp"}).scheme.host.controller.kind
    'dctcp'
    """

    name: Text = field("name in results", "scenario")
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

    _written: Table = PrivateAttr(default_factory=dict)
    _directory: Path = PrivateAttr(default_factory=Path)
    _file: str | None = PrivateAttr(default=None)

    # -- making one --------------------------------------------------------------------------

    @classmethod
    def load(cls, reference: str | Path, overrides: Mapping[str, Any] | None = None) -> Scenario:
        """The scenario that a user means: a TOML file, or the name of a built-in one."""
        text = str(reference)
        if text.endswith(".toml") or Path(text).is_file():
            return cls.from_toml(text, overrides)
        return cls.from_name(text, overrides)

    @classmethod
    def from_toml(cls, path: str | Path, overrides: Mapping[str, Any] | None = None) -> Scenario:
        """The scenario of a file, with some keys set (see :meth:`with_overrides`)."""
        file = Path(path)
        try:
            table = tomllib.loads(file.read_text())
        except tomllib.TOMLDecodeError as error:
            remedy = "mend the TOML there"
            raise ScenarioError([Problem("", str(error), remedy, file=str(file))]) from None
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no text file"
            remedy = "name a TOML file, or a scenario of `penstock list scenarios`"
            raise ScenarioError([Problem("", reason, remedy, file=str(file))]) from None
        named = {"name": file.stem} | table
        return cls._read(named, overrides or {}, file.parent, str(file))

    @classmethod
    def from_name(cls, name: str, overrides: Mapping[str, Any] | None = None) -> Scenario:
        """A built-in scenario, with some keys set (see :meth:`with_overrides`)."""
        if name not in scenario_names():
            raise refuse(
                "scenario",
                "there is no such scenario",
                nearest(name, scenario_names()) + "; or name a TOML file",
                name,
            )
        table = tomllib.loads((files("penstock") / "scenarios" / f"{name}.toml").read_text())
        return cls._read({"name": name} | table, overrides or {}, Path(), None)

    def with_overrides(self, overrides: Mapping[str, Any]) -> Scenario:
        """This scenario with some keys set, checked again.

        Parameters
        ----------
        overrides
            Dotted paths to values as a user writes them: ``scheme`` to a preset's name,
            ``topology.racks``, ``scheme.switch.scheduling.kind``, ``traffic[0].load`` or
            ``traffic.LABEL.load``. ``load`` alone is that of the only open-loop traffic.
        """
        return self._read(self._written, overrides, self._directory, self._file)

    @classmethod
    def _read(
        cls, table: Table, overrides: Mapping[str, Any], directory: Path, file: str | None
    ) -> Scenario:
        try:
            for path, value in overrides.items():
                table = with_key(table, _full_path(path, table), value)
            scenario = cls.model_validate(table, context={"directory": directory})
        except ScenarioError as error:
            raise (error.within(file) if file else error) from None
        scenario._directory, scenario._file = directory, file
        return scenario

    @model_validator(mode="wrap")
    @classmethod
    def _whole(
        cls, written: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        """Reads the parts, then checks the whole; every error is a :class:`ScenarioError`."""
        if isinstance(written, cls):
            return written
        table = _plain(written)
        if not isinstance(table, dict):
            raise refuse("", "a scenario is a table", "write keys such as topology and traffic")
        try:
            scenario = handler(_with_implied(table))
        except ValidationError as error:
            raise translate(error, cls) from None
        scenario._written = table
        found = [*scenario.topology.problems()]
        if not found:
            found = [
                *scheme_problems(scenario),
                *fault_problems(scenario),
                *scenario._traffic_problems(),
            ]
        if found:
            raise ScenarioError(dict.fromkeys(found))
        return scenario

    def _traffic_problems(self) -> Iterable[Problem]:
        for index, entry in enumerate(self.traffic):
            try:
                _resolved(entry, self.duration)
            except ValueError as error:
                context = getattr(error, "context", None) or {}
                yield Problem(f"traffic[{index}].file", context["problem"], context["remedy"])
                return
        yield from traffic_problems(self.resolve())

    @property
    def file(self) -> str | None:
        """The file that it was read from, for messages."""
        return self._file

    def packet_bytes(self) -> int:
        """A full data packet on the wire [B]: payload, headers, what its acknowledgement echoes."""
        has_telemetry = isinstance(self.scheme.switch.marking, TelemetryMarking)
        is_timed = isinstance(self.scheme.host.controller, TIMED_CONTROLLERS)
        echo = has_telemetry * self.wire.telemetry + is_timed * self.wire.timestamp
        return self.wire.payload + self.wire.header + echo

    # -- using one ---------------------------------------------------------------------------

    def resolve(self) -> Scenario:
        """This scenario with every default and every file in place."""
        entries = tuple(_resolved(entry, self.duration) for entry in self.traffic)
        return self.model_copy(update={"traffic": entries})

    def to_json(self) -> str:
        """The resolved scenario for the Rust core: every field, integers in base units."""
        table = self.resolve().model_dump(mode="json", by_alias=True)
        del table["description"], table["scheme"]["title"], table["scheme"]["cite"]
        return json.dumps(table, sort_keys=True, separators=(",", ":"))

    def to_toml(self) -> str:
        """The resolved scenario for people: quantities with units, built-in tables by name."""
        resolved = self.resolve()
        table = resolved.model_dump(mode="json", by_alias=True, context={"with_units": True})
        for entry in table["traffic"]:
            sizes = entry.get("sizes", {})
            if sizes.get("kind") == "cdf" and _is_built_in(sizes):
                del sizes["points"]
        return to_toml(table)

    def content_hash(self) -> str:
        """SHA-256 of what the core gets: equal hashes, equal results."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def scenario_names() -> list[str]:
    """The built-in scenarios, sorted."""
    names = (entry.name for entry in (files("penstock") / "scenarios").iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def _resolved(entry: Any, duration: int) -> Any:
    match entry:
        case Trace() | LongLived():
            return entry.listed()
        case OpenLoop() | Incast() if entry.stop is None:
            return entry.model_copy(update={"stop": duration})
        case _:
            return entry


def _with_implied(table: Table) -> Table:
    """`table` with what follows from it: the preset's packet weights, the default topology."""
    implied: Table = {}
    try:
        _, wire = expand_scheme(table.get("scheme", DEFAULT_PRESET))
    except ValueError:
        wire = {}
    if wire and isinstance(table.get("wire", {}), Mapping):
        implied["wire"] = merge(wire, table.get("wire", {}))
    topology = table.get("topology")
    if isinstance(topology, Mapping) and "kind" not in topology:
        implied["topology"] = {"kind": "leaf-spine", **topology}
    return table | implied


def _plain(value: Any) -> Any:
    """`value` without models and tuples: what the same thing would be in a file."""
    match value:
        case BaseModel():
            return _plain(value.model_dump(by_alias=True))
        case Mapping():
            return {key: _plain(one) for key, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case _:
            return value


def _full_path(path: str, table: Table) -> str:
    """The path behind the short name `load`."""
    if path != "load":
        return path
    kinds = [entry.get("kind") for entry in table.get("traffic", [])]
    if kinds.count("open-loop") != 1:
        raise refuse(
            "load",
            f"{kinds.count('open-loop')} traffics have a load",
            "say which: traffic.LABEL.load",
        )
    return f"traffic[{kinds.index('open-loop')}].load"


def _is_built_in(sizes: Mapping[str, Any]) -> bool:
    if sizes["name"] not in {workload.name for workload in WORKLOADS}:
        return False
    points = [list(row) for row in find_workload(sizes["name"]).points]
    return bool(points == sizes["points"])
