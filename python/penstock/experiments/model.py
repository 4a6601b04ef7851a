"""What an experiment's file says.

Invariant: every difference between two experiments is a field here. Errors name the file, the
field and the value (pydantic), as for a scenario.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PrivateAttr, model_validator

from penstock.experiments.claim import Claim
from penstock.experiments.declared import Declared, Table
from penstock.scenario.scheme import scheme_label
from penstock.storage.name import file_name
from penstock.units import refusal

SEEDS = 3
"""Seeds of an experiment that does not say how many; our choice: the fewest that have a median and
a spread, and an hour for all experiments on two processors."""


_IDENTIFIER = re.compile(r"\w[\w.-]*(/\w[\w.-]*)*", re.ASCII)


def distinct(labels: Sequence[str | int], what: str) -> None:
    """Refuses names of which two are the same, because results go by them."""
    for label, count in Counter(labels).items():
        if count > 1:
            message = f'{count} {what} "{label}", by which results name them'
            raise refusal(message, "write each once, with a name of its own")


def _of_files(name: str) -> str:
    own = file_name(name)
    if own != name.replace(" ", "-"):
        raise refusal("no file of results can be called so", f'write e.g. "{own}"')
    return name


NameOfFiles = Annotated[str, AfterValidator(_of_files)]
"""A name with which files of results begin: no directory, hidden file or control character."""


class Point(Declared):
    """One value of an axis."""

    name: str = ""
    """Name in figures and selectors; by default the value."""
    value: float | None = None
    """Number on the x axis of a figure, in the axis's unit."""
    set: Table = Field(default_factory=dict)
    """Scenario fields of this point: dotted path to value."""

    @model_validator(mode="after")
    def _named(self) -> Point:
        if not self.name and self.value is None:
            raise refusal("a point needs a name or a value", "write either")
        return self

    @property
    def label(self) -> str:
        """The name, or the value in short."""
        return self.name or f"{self.value:g}"


class Axis(Declared):
    """A parameter that is varied."""

    name: str
    """Name by which expressions select: `f(threshold=2)`."""
    label: str = ""
    """Words and unit for the axis of a figure."""
    key: str = ""
    """Scenario field that takes each of `values`."""
    values: list[float | int | str] = Field(default_factory=list)
    points: list[Point] = Field(default_factory=list)
    """Values that set several fields, instead of `values`."""

    @model_validator(mode="after")
    def _complete(self) -> Axis:
        if bool(self.values) == bool(self.points) or bool(self.values) != bool(self.key):
            raise refusal("an axis has either `key` and `values`, or `points`", "write one of them")
        return self

    @model_validator(mode="after")
    def _distinct(self) -> Axis:
        distinct([point.label for point in self.all_points], "points are called")
        return self

    @property
    def all_points(self) -> list[Point]:
        """The points of the axis, whichever way they are written."""
        return self.points or [
            Point(
                name=value if isinstance(value, str) else "",
                value=None if isinstance(value, str) else value,
                set={self.key: value},
            )
            for value in self.values
        ]

    def is_about(self, key: str) -> bool:
        """Whether it goes by this field: each of its points sets it, and not all to the same."""
        if key in (self.key, self.name):
            return True
        points = self.all_points
        if any(key not in point.set for point in points):
            return False
        return any(point.set[key] != points[0].set[key] for point in points)


def _schemes(references: list[str]) -> list[str]:
    distinct([scheme_label(one) for one in references], "schemes are called")
    return references


class Sweep(Declared):
    """A grid of runs: every combination of the points of its axes, for every seed."""

    name: NameOfFiles = "main"
    set: Table = Field(default_factory=dict)
    schemes: Annotated[list[str], AfterValidator(_schemes)] = Field(default_factory=list)
    """Presets, files and classes, varied as the axis `scheme`. A preset that does not exist yet is
    reported as such. In figures and selectors a file has its name without `.toml`, and a class its
    own."""
    axes: list[Axis] = Field(default_factory=list)
    frames: bool = False
    """Whether its runs have real frames in real time, as the scenario's `emulation` says."""

    @model_validator(mode="after")
    def _named(self) -> Sweep:
        names = ["sweep", *(["scheme"] if self.schemes else []), *(one.name for one in self.axes)]
        distinct(names, "axes are called")
        return self


HowMany = Annotated[int, Field(ge=1, le=100_000)]


def _seeds(seeds: list[int]) -> list[int]:
    distinct(seeds, "seeds are")
    return seeds


Listed = Annotated[list[int], Field(min_length=1), AfterValidator(_seeds)]


class Scale(Declared):
    """How much is simulated."""

    seeds: HowMany | Listed | None = None
    """The seeds, or how many from 1 on; by default `SEEDS`, and one where nothing is random."""
    few_seeds: str = ""
    """Why there are fewer than `SEEDS`."""
    set: Table = Field(default_factory=dict)
    """Scenario fields of this scale, e.g. the duration; they come after those of the points."""
    only: dict[str, list[float | str]] = Field(default_factory=dict)
    """Axis -> the points that are run; all when absent."""
    cannot_show: str = ""
    """What a run at this scale cannot show."""


FigureKind = Literal[
    "slowdown",
    "slowdown-cdf",
    "buffer",
    "active-flows",
    "flow-packets",
    "queue",
    "link-pauses",
    "pause-time",
    "paused-queues",
    "utilization",
    "throughput",
    "timeline",
    "backlog",
    "curve",
    "bars",
    "workload",
]


NEEDED = {
    "slowdown": ["columns"],
    "queue": ["link"],
    "link-pauses": ["links"],
    "timeline": ["rates, allowed, queued, pauses"],
    "curve": ["x", "y"],
    "bars": ["bars"],
    "workload": ["workloads"],
}
"""Kind of figure -> fields without which it shows nothing; of several in one text, any will do."""

Links = Annotated[list[tuple[int, int]], Field(min_length=1)]


def _span(span: tuple[float, float]) -> tuple[float, float]:
    if span[0] >= span[1]:
        raise refusal("no time is between the two", "write the earlier one first")
    return span


class FigureSpec(Declared):
    """A figure to draw."""

    name: NameOfFiles
    kind: FigureKind
    title: str = ""
    words: str = ""
    by: str = "scheme"
    """Axis whose points are the lines of the figure; empty for a single line."""
    where: dict[str, str | float] = Field(default_factory=dict)
    """Points to which the runs are restricted: axis -> point."""
    without: list[str] = Field(default_factory=list)
    """Points of the axis `by` that are left out."""
    columns: list[str] = Field(default_factory=lambda: ["mean", "p50", "p95", "p99"])
    """Of a slowdown figure: its panels."""
    label: str = ""
    """Of a slowdown figure: the one traffic entry to show; by default all but incasts."""
    bins: str = "log"
    """Of a slowdown figure: its size bins."""
    queues: int | None = None
    """Of an active-flows figure: the line that marks the queues of a port."""
    link: tuple[int, int] | None = None
    """Of an active-flows or queue figure: the one link to count."""
    links: list[tuple[int, int]] = Field(default_factory=list)
    """Of a link-pauses figure: the links, in their order."""
    layer: str | list[str] | None = None
    """Of a flow-packets figure: the layer of links to count, or several; all by default."""
    span: Annotated[tuple[float, float], AfterValidator(_span)] | None = None
    """Of a throughput or queue figure or timeline: the part of the time [us]; all by default."""
    origin: float = 0.0
    """Of a timeline: the moment from which times count [us]."""
    window: float = Field(100.0, gt=0)
    """Of a timeline: what a point is the mean of [us]."""
    seed: int | None = None
    """Of a timeline: the seed whose runs are shown; the first by default."""
    rates: dict[str, Links] = Field(default_factory=dict)
    """Of a timeline: name of a line -> links whose rates are added up."""
    allowed: dict[str, tuple[int, int]] = Field(default_factory=dict)
    """Of a timeline: name of a line -> link of a host whose controllers' rates are shown."""
    queued: dict[str, tuple[int, int]] = Field(default_factory=dict)
    """Of a timeline: name of a line -> link whose queue is shown."""
    pauses: dict[str, tuple[int, int]] = Field(default_factory=dict)
    """Of a timeline: name of a line -> link whose pauses are counted."""
    x: str = ""
    """Of a curve: the axis along it."""
    y: str = ""
    """Of a curve: expression of its height."""
    deviation: str = ""
    """Of a curve: expression of the half length of its whiskers."""
    hollow: str = ""
    """Of a curve: expression that is not 0 where a point is drawn hollow, as one to be doubted."""
    reference: str = ""
    """Of a curve: expression in x of a closed form drawn beside the points."""
    reference_name: str = ""
    x_label: str = ""
    y_label: str = ""
    x_log: bool = False
    y_log: bool = False
    bars: dict[str, str] = Field(default_factory=dict)
    """Of bars: name of a group -> expression of the height, at each point of `by`."""
    tips: dict[str, str] = Field(default_factory=dict)
    """Of bars: name of a group -> expression of the end of the hatched bar above; all or none."""
    tip: str = ""
    """Of bars: what the hatched ones are."""
    workloads: dict[str, str] = Field(default_factory=dict)
    """Of a workload figure: name in the figure -> built-in distribution."""
    marks: dict[str, float] = Field(default_factory=dict)
    """Of a workload figure: label -> size [bytes] of upright lines."""

    @model_validator(mode="after")
    def _complete(self) -> FigureSpec:
        for names in NEEDED.get(self.kind, ()):
            if not any(getattr(self, name) for name in names.split(", ")):
                remedy = "write one of them" if ", " in names else "write it"
                raise refusal(f"a figure of kind {self.kind} needs {names}", remedy)
        return self


def _figures(figures: list[FigureSpec]) -> list[FigureSpec]:
    distinct([one.name for one in figures], "figures are called")
    return figures


def _identifier(value: str) -> str:
    if not _IDENTIFIER.fullmatch(value):
        remedy = "write letters, digits and -_. only, in parts with / between, such as mine/load"
        raise refusal("it is no id, which names a directory of results", remedy)
    return value


Identifier = Annotated[str, AfterValidator(_identifier)]
"""The name of an experiment, and of the directory of its results."""


class Experiment(Declared):
    """A figure or table of a paper."""

    _file: Path | None = PrivateAttr(default=None)
    _wanted_seeds: tuple[int, ...] = PrivateAttr(default=())

    id: Identifier
    title: str
    source: str
    """Paper, section, figure or table."""
    covers: list[str] = Field(default_factory=list)
    """Ids of further figures and tables that it shows: `pcn/fig3` of `pcn/fig2`."""
    shows: str
    """What the figure shows."""
    notes: list[str] = Field(default_factory=list)
    """What the paper leaves open and what was chosen."""
    scenario: str | Table = ""
    """Base scenario: a name, a file or a table; empty for an experiment without runs."""
    deterministic: str = ""
    """Why a seed changes nothing in its runs; such an experiment has one seed and no spread."""
    sweeps: list[Sweep] = Field(default_factory=list)
    scales: dict[Literal["quick", "paper"], Scale]
    figures: Annotated[list[FigureSpec], AfterValidator(_figures)] = Field(default_factory=list)
    claims: list[Claim] = Field(default_factory=list)

    @model_validator(mode="after")
    def _seeded(self) -> Experiment:
        several = [one for one in self.scales.values() if len(self.seeds(one)) > 1]
        if self.deterministic and several:
            raise refusal(
                "several seeds give the same run where nothing is random",
                "leave out deterministic, or the seeds",
            )
        return self

    @property
    def file(self) -> Path | None:
        """The file that it was read from; paths in it are relative to that file's directory."""
        return self._file

    def read_from(self, file: Path) -> Experiment:
        """This experiment, and the file that it was read from."""
        self._file = file
        return self

    @property
    def is_random(self) -> bool:
        """Whether a seed changes anything: not where the experiment says so, or has no runs."""
        return bool(self.scenario) and not self.deterministic

    def seeds(self, scale: Scale) -> list[int]:
        """The seeds of a scale."""
        wanted = scale.seeds or (SEEDS if self.is_random else 1)
        return list(range(1, wanted + 1)) if isinstance(wanted, int) else wanted

    def with_seeds(self, scale: str, seeds: Sequence[int]) -> Experiment:
        """This experiment with other seeds at a scale; as it is without any, or without chance."""
        if not seeds or not self.is_random or scale not in self.scales:
            return self
        other = self.scales[scale].model_copy(update={"seeds": list(seeds)})
        scales = {name: other if name == scale else one for name, one in self.scales.items()}
        made = self.model_copy(update={"scales": scales})
        made._wanted_seeds = tuple(seeds)
        return made

    @property
    def wanted_seeds(self) -> tuple[int, ...]:
        """Seeds that stand in place of a scale's (:meth:`with_seeds`); none without any."""
        return self._wanted_seeds

    @property
    def axes(self) -> dict[str, Axis | None]:
        """Axes of all sweeps by name; `scheme` and `sweep` are axes without a declaration."""
        declared: dict[str, Axis | None] = {"sweep": None, "scheme": None}
        for sweep in self.sweeps:
            declared.update({axis.name: axis for axis in sweep.axes})
        return declared
