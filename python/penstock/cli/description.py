"""What `penstock show` prints about a named thing: facts, and fields with units and sources."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, PydanticUndefined
from rich.text import Text

from penstock.cli import output
from penstock.errors import ScenarioError, problem_of
from penstock.estimate import available_bytes, estimate
from penstock.experiments import catalogue
from penstock.flow_rows import FlowRows
from penstock.lossless import headroom_note
from penstock.named import SUFFIX, absolute, is_code, own_files
from penstock.own_class import is_class
from penstock.readable import bytes_text, counted
from penstock.scenario import Scenario, Scheme, load_preset, preset_names, scenario_names
from penstock.scenario.base import is_default, note, quantity_of
from penstock.scenario.scheme import built_in_preset, expand_scheme, find_preset
from penstock.scenario.topology import TOPOLOGIES
from penstock.scenario.translation import translate
from penstock.toml_text import read_toml
from penstock.workload import WORKLOADS, find_workload

COLUMNS = ["Field", "Value", "Meaning", "Source"]


@dataclass(frozen=True)
class Description:
    """Facts and rows about one thing."""

    facts: dict[str, str]
    """What it is, in the order of printing."""
    columns: list[str] = field(default_factory=lambda: COLUMNS)
    """Titles of the rows."""
    rows: list[list[str]] = field(default_factory=list)
    """Its fields, or its rows of numbers."""
    scenario: Scenario | None = None
    """The scenario, if it is one."""
    values: dict[str, Any] = field(default_factory=dict)
    """Path of a field -> its value, where a row does not tell it whole."""
    keys: list[str] | None = None
    """Names of the columns for programs; none: their titles in small letters."""

    def print(self) -> None:
        """Prints the facts, then the rows."""
        console = output.console()
        for name, text in self.facts.items():
            console.print(Text.assemble((name, "bold"), "  ", text), soft_wrap=True)
        if self.rows:
            output.print_table(self.columns, self.rows)

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        names = self.keys or [name.lower() for name in self.columns]
        return {
            **{name.lower().replace(" ", "_"): text for name, text in self.facts.items()},
            "fields": [dict(zip(names, row, strict=True)) for row in self.rows],
        }


def describe(name: str, read: Callable[[str], Scenario] = Scenario.load) -> Description | None:
    """What `name` is: scheme, workload, topology, scenario, experiment, metric, or a file.

    A name in ``./schemes``, ``./scenarios`` or ``./experiments`` is a user's file. A class in
    Python is a scheme. A scenario is what `read` makes of its name or file.
    """
    topologies = {kind_of(one): one for one in TOPOLOGIES}
    if name in preset_names():
        return _scheme(name)
    if name in {one.name for one in WORKLOADS}:
        return _workload(name)
    if name in topologies:
        return _topology(topologies[name])
    if name in scenario_names():
        return _scenario(read(name))
    if name in catalogue.identifiers():
        return _experiment(name)
    if name in own_files("schemes"):
        return _scheme(name)
    if name in own_files("scenarios"):
        return _scenario(read(name))
    if name in own_files("experiments"):
        return _experiment(name)
    if is_class(name) or is_code(name):
        return _scheme(absolute(name))
    if name.endswith(SUFFIX) or Path(name).is_file():
        return _file(name, read)
    if (metric := _metric(name)) is not None:
        return metric
    shown_by = catalogue.covered().get(name)
    return None if shown_by is None else _experiment(shown_by)


def _file(name: str, read: Callable[[str], Scenario]) -> Description:
    """What a file is can be told from its keys: each kind has some that the others lack."""
    try:
        keys = read_toml(Path(name), "name a TOML file, or something of `penstock list`").keys()
    except PydanticCustomError as error:
        raise ScenarioError([problem_of(error)]) from None
    if keys & {"scales", "claims", "sweeps", "shows"}:
        return _experiment(name)
    if keys & {"switch", "host", "preset", "cite"} and not keys & {"traffic", "topology"}:
        return _scheme(str(Path(name).absolute()))
    return _scenario(read(name))


def kind_of(model: type[BaseModel]) -> str:
    """The `kind` by which a scenario names a model."""
    return str(typing.get_args(model.model_fields["kind"].annotation)[0])


def _kind_first(model: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    return sorted(model.model_fields.items(), key=lambda item: item[0] != "kind")


def first_line(model: type[BaseModel]) -> str:
    """What a model is, from its documentation."""
    return (inspect.getdoc(model) or "").partition("\n")[0]


def _scheme(name: str) -> Description:
    try:
        found, table, (written, wire) = find_preset(name), load_preset(name), expand_scheme(name)
        scheme = Scheme.model_validate(written)
    except PydanticCustomError as error:
        raise ScenarioError([problem_of(error)]) from None
    except ValidationError as error:
        raise translate(error, Scheme).within(name) from None
    sources = table.get("source", {})
    if isinstance(found, Path) and found.suffix == SUFFIX:
        raw = read_toml(found, "name a TOML file")
        sources = _of_preset(scheme, raw.get("preset"), sources, found.parent) | {
            path: words for path, words in sources.items() if path in raw.get("source", {})
        }
    fields = [one for one in _fields(scheme, "") if one.path not in ("name", "title", "cite")]
    rows = [one.row(sources) for one in fields]
    rows += [[f"wire.{key}", str(value), "", sources.get(f"wire.{key}", "")]
             for key, value in wire.items()]  # fmt: skip
    facts = {"Scheme": scheme.name, "What": scheme.title, "Published": scheme.cite}
    if isinstance(found, Path):
        facts["File"] = str(found)
    return Description(facts, rows=rows, values={one.path: one.value for one in fields})


def _topology(model: type[BaseModel]) -> Description:
    rows = []
    for name, info in _kind_first(model):
        if name != "kind":
            default = "required" if info.default is PydanticUndefined else str(info.default)
            rows.append([name, default, _meaning(info), note(info, "source")])
    facts = {"Topology": kind_of(model), "What": first_line(model)}
    return Description(facts, ["Field", "Default", "Meaning", "Source"], rows)


def _workload(name: str) -> Description:
    workload = next(one for one in WORKLOADS if one.name == name)
    table = find_workload(name)
    facts = {
        "Workload": name,
        "What": workload.title,
        "Source": workload.source,
        "Sampling": f"{workload.convention} (step: each row one size; linear: lines between rows)",
        "Mean": f"{table.mean():,.0f} B",
        "Sizes": f"{table.points[0][0]:,} B to {table.points[-1][0]:,} B",
    }
    quantiles = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0]
    rows = []
    for quantile in quantiles:
        size = next((size for size, share in table.points if share >= quantile), 0)
        rows.append([f"{100 * quantile:g} %", f"{size or table.points[-1][0]:,} B"])
    return Description(facts, ["Share of flows", "Size of the row at most"], rows)


def _scenario(scenario: Scenario) -> Description:
    name = scenario.scheme.name
    named = built_in_preset(name) if name in preset_names() else {}
    own = _of_preset(scenario.scheme, name if named else None, named.get("source", {}), Path())
    sources = {f"scheme.{path}": source for path, source in own.items()}
    needed = estimate(scenario)
    facts = {
        "Scenario": scenario.name,
        "What": scenario.description,
        "Hash": scenario.content_hash(),
        "Estimate": f"{needed}; {bytes_text(available_bytes())} are free here",
    }
    if needed.fullest_link:
        facts["Load"] = str(needed.fullest_link)
    if note := headroom_note(scenario):
        facts["PFC can drop"] = note
    fields = list(_fields(scenario.resolve(), ""))
    rows, values = [one.row(sources) for one in fields], {one.path: one.value for one in fields}
    return Description(facts, rows=rows, scenario=scenario, values=values)


def _experiment(name: str) -> Description:
    experiment = catalogue.load(name)
    facts = {
        "Experiment": experiment.id,
        "What": experiment.title,
        "Paper": experiment.source,
        "Shows": experiment.shows,
        "Scales": ", ".join(experiment.scales),
    }
    rows = [[claim.claim, claim.reported] for claim in experiment.claims]
    return Description(facts, ["Claim", "Reported"], rows)


def _metric(name: str) -> Description | None:
    """Looked at behind all names of files: metrics need NumPy and Polars."""
    from penstock.experiments.expression import METRICS

    metric = METRICS.get(name)
    if metric is None:
        return None
    facts = {"Metric": name, "What": metric.meaning, "More": metric.details}
    facts["For"] = "--metric of sweep; --minimize, --maximize, --require of tune; experiments"
    rows = [[one.name, one.default, one.meaning] for one in metric.parameters.values()]
    shown = {title: text for title, text in facts.items() if text}
    return Description(shown, ["Parameter", "Default", "Meaning"], rows)


@dataclass(frozen=True)
class _Field:
    """A field of a part, at any depth."""

    path: str
    value: Any
    info: FieldInfo
    kind: type[BaseModel] | None
    """The part whose kind the field is; none for other fields."""

    def row(self, sources: dict[str, str]) -> list[str]:
        """Path, value, meaning with unit, source."""
        if self.kind is not None:
            return [self.path, self.value, first_line(self.kind), ""]
        origin = _origin(self.path, self.value, self.info, sources)
        return [self.path, _shown(self.value, self.info), _meaning(self.info), origin]


def _fields(part: BaseModel, prefix: str) -> Iterator[_Field]:
    """The fields of a part, at any depth."""
    for name, info in _kind_first(type(part)):
        path = f"{prefix}{info.alias or name}"
        value = getattr(part, name)
        if isinstance(value, BaseModel):
            yield from _fields(value, f"{path}.")
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            for index, one in enumerate(value):
                yield from _fields(one, f"{path}[{index}].")
        else:
            yield _Field(path, value, info, type(part) if name == "kind" else None)


def _of_preset(
    scheme: Scheme, preset: str | None, sources: dict[str, str], directory: Path
) -> dict[str, str]:
    """The sources of a preset, and "as written" for each value of `scheme` that is another one."""
    if preset is None:
        return dict(sources)
    base = Scheme.model_validate(expand_scheme(preset, directory)[0])
    values = {one.path: one.value for one in _fields(base, "")}
    other = [one.path for one in _fields(scheme, "") if values.get(one.path) != one.value]
    return dict(sources) | dict.fromkeys(other, "as written")


def _origin(path: str, value: Any, info: FieldInfo, sources: dict[str, str]) -> str:
    """Where a value comes from: the preset says it, it is the default, or somebody wrote it."""
    while path not in sources and "." in path:
        path = path.rpartition(".")[0]
    if path in sources:
        return sources[path]
    return note(info, "source") if is_default(value, info) else "as written"


def _shown(value: Any, info: FieldInfo) -> str:
    quantity = quantity_of(info)
    if quantity is not None and isinstance(value, int):
        return quantity.format(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | FlowRows):
        return counted(len(value), "row", "rows") if value else "none"
    return "none" if value is None else str(value)


def _meaning(info: FieldInfo) -> str:
    quantity = quantity_of(info)
    bounds = quantity.name if quantity else note(info, "unit"), note(info, "range")
    said = ", ".join(one for one in bounds if one)
    return f"{info.description} [{said}]" if said else str(info.description)
