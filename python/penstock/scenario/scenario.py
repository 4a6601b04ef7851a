"""The scenario: everything that a run depends on.

A :class:`Scenario` is checked as a whole when it is made, so every :class:`Scenario` can be run.
:meth:`Scenario.resolve` is the same scenario with nothing left to look up. The Rust core gets the
resolved scenario (:meth:`Scenario.handed_over`), and the results store it
(:meth:`Scenario.to_toml`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from pydantic import (
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from penstock import _core
from penstock.errors import ScenarioError, core_refusals, refuse
from penstock.flow_rows import FlowRows
from penstock.named import is_path
from penstock.presented import html_table, scenario_line, scenario_rows
from penstock.scenario.base import directory_of, is_recorded, label_of, working_directory
from penstock.scenario.catalogue import (
    built_in_file,
    no_such,
    read_scenario,
    scenario_file,
    scenario_names,
)
from penstock.scenario.declared.traffic import ListedTraffic
from penstock.scenario.emulation import Emulation
from penstock.scenario.matrix_file import of_files, with_rows
from penstock.scenario.node_names import numbered
from penstock.scenario.parts import ScenarioParts
from penstock.scenario.scheme import expand_scheme, find_preset
from penstock.scenario.settings import with_settings
from penstock.scenario.table import (
    DEFAULT_PRESET,
    Places,
    Table,
    merge,
    plain,
    to_toml,
)
from penstock.scenario.topology import of_topology_file
from penstock.scenario.translation import translate
from penstock.toml_text import ROWS_LONG, parse_toml
from penstock.workload import WORKLOADS, find_workload

_COMPACT: dict[str, Any] = {"sort_keys": True, "separators": (",", ":")}
"""How JSON is written."""


class Scenario(ScenarioParts):
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

    _written: Table = PrivateAttr(default_factory=dict)
    _directory: Path = PrivateAttr(default_factory=working_directory)
    _file: str | None = PrivateAttr(default=None)

    def __repr__(self) -> str:
        return scenario_line(self)

    def __str__(self) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        """Whether all fields are equal, however and wherever they were written."""
        if not isinstance(other, Scenario):
            return NotImplemented
        return self.__dict__ == other.__dict__

    __hash__ = ScenarioParts.__hash__

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return html_table(f"Scenario {self.name}", scenario_rows(self))

    # -- making one --------------------------------------------------------------------------

    @classmethod
    def load(cls, reference: str | Path, overrides: Mapping[str, Any] | None = None) -> Scenario:
        """The scenario that a user means.

        Parameters
        ----------
        reference
            The path of a TOML file; or a name, built-in or of a file in ``./scenarios``.
        overrides
            As for :meth:`with_overrides`.
        """
        text = str(reference)
        if is_path(text) or text not in scenario_names():
            return cls.from_toml(scenario_file(text), overrides)
        scenario_file(text)
        return cls.from_name(text, overrides)

    @classmethod
    def from_toml(
        cls,
        path: str | Path,
        overrides: Mapping[str, Any] | None = None,
        *,
        is_recorded: bool = False,
    ) -> Scenario:
        """The scenario of a file, with some keys set (see :meth:`with_overrides`).

        Parameters
        ----------
        is_recorded
            Whether the file is the record of a run. The code of a scheme in Python is then not
            looked for: it may have changed since, and the run has its results.
        """
        file = Path(path)
        named = {"name": label_of(file.stem)} | read_scenario(file)
        directory = working_directory() / file.parent
        return cls._read(named, overrides or {}, directory, str(file), is_recorded)

    @classmethod
    def from_name(cls, name: str, overrides: Mapping[str, Any] | None = None) -> Scenario:
        """A built-in scenario, with some keys set (see :meth:`with_overrides`)."""
        if name not in scenario_names():
            raise no_such(name)
        table = parse_toml(built_in_file(name).read_text())
        return cls._read({"name": name} | table, overrides or {}, working_directory(), None)

    def with_overrides(self, overrides: Mapping[str, Any]) -> Scenario:
        """This scenario with some keys set, checked again.

        Parameters
        ----------
        overrides
            Dotted paths to values as a user writes them: ``scheme`` to a preset's name,
            ``topology.racks``, ``scheme.switch.scheduling.kind``, ``traffic[0].load`` or
            ``traffic.LABEL.load``. ``load`` alone is that of the only open-loop traffic. A whole
            scheme comes first, wherever it stands; of the others none may replace another.
        """
        return self._read(self._written, overrides, self._directory, self._file)

    @classmethod
    def _read(
        cls,
        table: Table,
        overrides: Mapping[str, Any],
        directory: Path,
        file: str | None,
        is_recorded: bool = False,
    ) -> Scenario:
        try:
            table = with_settings(table, overrides)
            context = {"directory": directory, "is_recorded": is_recorded}
            scenario = cls.model_validate(table, context=context)
        except ScenarioError as error:
            raise (error.within(file) if file else error) from None
        scenario._directory, scenario._file = directory, file
        return scenario

    @model_validator(mode="wrap")
    @classmethod
    def _whole(
        cls, written: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        """Reads the parts, then asks the core; every error is a :class:`ScenarioError`."""
        if isinstance(written, cls):
            return written
        table, directory = plain(written), directory_of(info)
        if not isinstance(table, dict):
            raise refuse("", "a scenario is a table", "write keys such as topology and traffic")
        try:
            implied = _with_implied(table, directory, is_recorded(info))
            implied = with_rows(implied, directory)
            scenario = handler(numbered(implied, {"directory": directory}))
        except ValidationError as error:
            raise _of_scheme_file(translate(error, cls), table, directory) from None
        scenario._written = table
        if scenario.emulation:
            labels = [entry.label for entry in scenario.traffic]
            hosts, wire = scenario.topology.host_count(), scenario.wire
            sizes = (wire.payload, wire.header)
            wrong = list(scenario.emulation.misplaced(hosts, labels, *sizes))
            if wrong:
                raise ScenarioError(wrong)
        if is_recorded(info):
            return scenario  # the core accepted it before the run
        try:
            with core_refusals(None):
                _core.validate(scenario.handed_over())
        except ScenarioError as error:
            written = of_files(scenario.as_written(error.problems), table, directory)
            found = ScenarioError(of_topology_file(written, table, directory))
            raise _of_scheme_file(found, table, directory) from None
        return scenario

    @property
    def file(self) -> str | None:
        """The file that it was read from, for messages."""
        return self._file

    # -- using one ---------------------------------------------------------------------------

    def simulated(self) -> Scenario:
        """This scenario for the simulator, which reads nothing of how frames become real."""
        return self.with_emulation(None)

    def with_emulation(self, emulation: Emulation | None) -> Scenario:
        """This scenario with another way to run with real frames, which fits it."""
        if self.emulation == emulation:
            return self
        changed = self.model_copy(update={"emulation": emulation})
        changed._written = {key: one for key, one in self._written.items() if key != "emulation"}
        if emulation is not None:
            changed._written["emulation"] = emulation.model_dump(exclude_defaults=True)
        return changed

    def to_json(self) -> str:
        """The resolved scenario as the core reads it: every field, integers in base units."""
        lists = Places()

        def kept(rows: FlowRows) -> str:
            return lists.keep(f"[[{rows.joined('],[')}]]")

        return lists.filled(json.dumps(self._for_core(), default=kept, **_COMPACT))

    def handed_over(self) -> _core.Given:
        """The same for :mod:`penstock._core`, long lists of flows as columns beside the text."""
        table = self._for_core()
        lists = {
            index: entry["flows"].columns()
            for index, entry in enumerate(table["traffic"])
            if isinstance(entry.get("flows"), FlowRows)
        }
        for index in lists:
            table["traffic"][index]["flows"] = []
        text = json.dumps(table, **_COMPACT)
        return (text, lists) if lists else text

    def _for_core(self) -> Table:
        table = _dumped(self.resolve(), 0, exclude={"emulation"})
        del table["description"], table["scheme"]["title"], table["scheme"]["cite"]
        return table

    def to_toml(self) -> str:
        """The resolved scenario for people: quantities with units, built-in tables by name.

        A traffic that ends with the duration has no `stop` in the text, so that it does so also
        where somebody sets another duration. A run has the resolved scenario, which has them all.
        """
        table = _dumped(self.resolve(), ROWS_LONG, context={"with_units": True})
        for entry, own in zip(table["traffic"], self.traffic, strict=True):
            if getattr(own, "stop", 0) in (None, self.duration):
                entry.pop("stop", None)
            for name in ("sizes", "request", "response"):
                sizes = entry.get(name, {})
                if sizes.get("kind") == "cdf" and _is_built_in(sizes):
                    del sizes["points"]
        return to_toml(table)

    def content_hash(self) -> str:
        """SHA-256 of what is run: equal hashes, equal results; with real frames, up to chance."""
        emulation = self.emulation.model_dump_json() if self.emulation else ""
        return hashlib.sha256((self.to_json() + emulation).encode()).hexdigest()


def _dumped(resolved: Scenario, rows: int, exclude: Collection[str] = (), **how: Any) -> Table:
    """The fields of a resolved scenario; lists of at least so many flows are handed on as they are.

    The flows of a trace are numbers already, and there may be half a million of them.
    """
    listed = {
        index: entry.flows
        for index, entry in enumerate(resolved.traffic)
        if isinstance(entry, ListedTraffic) and len(entry.flows) >= rows
    }
    left_out: dict[str, Any] = dict.fromkeys(exclude, True)
    flows_left_out = {index: {"flows"} for index in listed}
    table = resolved.model_dump(
        mode="json", by_alias=True, exclude=left_out | {"traffic": flows_left_out}, **how
    )
    for index, flows in listed.items():
        table["traffic"][index]["flows"] = flows
    return table


def _of_scheme_file(error: ScenarioError, table: Table, directory: Path) -> ScenarioError:
    """The same error; what is wrong in the file of a scheme names that file and its headers."""
    named = table.get("scheme", DEFAULT_PRESET)
    try:
        found = find_preset(named, directory) if isinstance(named, str) else None
    except ValueError:  # that there is no such file is what the error says
        found = None
    if not isinstance(found, Path):
        return error
    return ScenarioError(
        replace(one, file=str(found), remedy=one.remedy.replace("[scheme.", "["))
        if one.field.startswith("scheme.")
        else one
        for one in error.problems
    )


def _with_implied(table: Table, directory: Path, is_recorded: bool) -> Table:
    """`table` with what follows from it: the preset's packet weights, the default topology."""
    implied: Table = {}
    try:
        written = table.get("scheme", DEFAULT_PRESET)
        _, wire = expand_scheme(written, directory, is_recorded=is_recorded)
    except ValueError:
        wire = {}
    if wire and isinstance(table.get("wire", {}), Mapping):
        implied["wire"] = merge(wire, table.get("wire", {}))
    topology = table.get("topology")
    if isinstance(topology, Mapping) and "kind" not in topology:
        implied["topology"] = {"kind": "leaf-spine", **topology}
    return table | implied


def _is_built_in(sizes: Mapping[str, Any]) -> bool:
    if sizes["name"] not in {workload.name for workload in WORKLOADS}:
        return False
    points = [list(row) for row in find_workload(sizes["name"]).points]
    return bool(points == sizes["points"])
