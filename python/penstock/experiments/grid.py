"""From an experiment and a scale to its runs.

A cell is one run: its points on the axes, its seed and its scenario. A cell whose scheme does not
exist yet has no scenario. The cell stays in the grid, so claims about it are reported and not lost.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from penstock.analysis import MeasuredRun
from penstock.errors import Problem, ScenarioError, quoted, refuse
from penstock.experiments.declared import Table
from penstock.experiments.model import Axis, Experiment, Point, Scale, Sweep
from penstock.named import absolute, is_path
from penstock.own_class import is_class
from penstock.scenario import Scenario
from penstock.scenario.catalogue import read_scenario, scenario_file
from penstock.scenario.scheme import scheme_label, scheme_names
from penstock.scenario.settings import full_path
from penstock.scenario.table import Field, field_of, fields_set, replaces, with_key
from penstock.storage.name import LENGTH_MAX, file_name

ROUNDING = 1e-9
"""Share by which two numbers differ that are one point of an axis (our choice: far above what
arithmetic leaves, far below the step of any axis). Nothing but 0 is 0: a loss rate may be 1e-12."""


def point_name(axis: str, point: Point) -> str:
    """Name of a point in a figure: its own, or "load 0.5" where it is a number."""
    return point.name or f"{axis} {point.label}"


@dataclass(frozen=True)
class Origins:
    """Where the file of an experiment sets the fields of a run."""

    file: str = ""
    set: Sequence[tuple[Field, str]] = ()
    """Fields of the scenario, each with the field of the file that sets it, the last one last."""

    def placed(self, error: ScenarioError) -> ScenarioError:
        """What is wrong with the scenario, told of what sets it; other files keep their errors."""
        return ScenarioError(
            one if one.file else _at(one, self._place(field_of(one.field)), self.file or None)
            for one in error.problems
        )

    def _place(self, wrong: Field) -> str:
        within = [place for one, place in self.set if replaces(one, wrong)]
        beneath = [place for one, place in self.set if wrong and replaces(wrong, one)]
        return ["scenario", *beneath, *within][-1]


def _at(problem: Problem, place: str, file: str | None = None) -> Problem:
    """The same problem, of a field of a scenario that the field `place` of a file sets."""
    return replace(problem, field=": ".join(filter(None, (place, problem.field))), file=file)


@dataclass
class Cell:
    """A run to be made, and the run once it is made."""

    at: dict[str, Point]
    """Axis -> the point this run stands at; `sweep` and `scheme` included."""
    seed: int
    table: Table
    """The scenario as a table, not validated yet."""
    directory: Path = Path()
    """What paths in the scenario are relative to."""
    missing: str = ""
    """Name of the scheme that does not exist yet; empty when the run can be made."""
    frames: bool = False
    """Whether the run has real frames."""
    origins: Origins = field(default_factory=Origins)
    """What its file says of it, and where."""
    run: MeasuredRun | None = field(default=None)

    def scenario(self) -> Scenario:
        """The scenario, checked.

        Raises
        ------
        ScenarioError
            It cannot be run; the message names the file, and the field that sets what is wrong.
        """
        try:
            return Scenario.model_validate(self.table, context={"directory": self.directory})
        except ScenarioError as error:
            raise self.origins.placed(error) from None

    @property
    def group(self) -> str:
        """The points in words: runs that differ in their seed only have the same."""
        sweep, *points = [point.label for point in self.at.values()]
        return " ".join(points if points and sweep == "main" else [sweep, *points])

    @property
    def name(self) -> str:
        """Name for files and progress: the points and the seed."""
        seed = f"-seed{self.seed}"
        points = file_name(self.group.replace("/", "_").replace(" ", "-"))
        return points[: LENGTH_MAX - len(seed)] + seed


@dataclass(frozen=True)
class _Part:
    """A part of an experiment's file that sets fields of a run."""

    place: str
    """Its field in the file."""
    set: Table
    axis: Axis | None = None
    """The axis that it is a point of."""


def cells(experiment: Experiment, scale: Scale) -> list[Cell]:
    """All runs of an experiment at a scale, in the order of the file.

    Raises
    ------
    ScenarioError
        Something replaces what an axis varies, or two runs have one name; it names the file.
    """
    try:
        found = list(_cells(experiment, scale))
        for name, count in Counter(cell.name for cell in found).items():
            if count > 1:
                message = f"{count} runs are called {quoted(name)}, and one would replace another"
                raise refuse("sweeps", message, "give sweeps and points names of their own")
    except ScenarioError as error:
        raise error.within(str(experiment.file or experiment.id)) from None
    return found


def _cells(experiment: Experiment, scale: Scale) -> Iterator[Cell]:
    known = set(scheme_names())
    directory = experiment.file.parent if experiment.file else Path()
    base, beside = _base(experiment.scenario, directory)
    name = next((f"scales.{name}" for name, one in experiment.scales.items() if one is scale), "")
    # The scale comes last: how much is simulated is its to say, whatever a point has.
    last = _Part(f"{name}.set", scale.set)
    for number, sweep in enumerate(experiment.sweeps):
        own = _Part(f"sweeps[{number}].set", sweep.set)
        axes = _axes(sweep, f"sweeps[{number}]")
        for points in itertools.product(*(_restricted(*one, scale, directory) for one in axes)):
            at = {"sweep": Point(name=sweep.name)}
            at |= {axis.name: point for (axis, _), (_, point) in zip(axes, points, strict=True)}
            parts = [
                _Part(place, point.set, axis)
                for (axis, _), (place, point) in zip(axes, points, strict=True)
            ]
            # The scheme comes first, so that what a sweep sets can be a part of the scheme.
            schemes = [parts.pop(0)] if sweep.schemes else []
            table, places = _applied(base, [*schemes, own, *parts, last])
            scheme = at["scheme"].set.get("scheme", at["scheme"].name) if "scheme" in at else ""
            missing = "" if _is_there(scheme, known) else scheme
            origins = Origins(str(experiment.file or ""), [*places, (("seed",), f"{name}.seeds")])
            for seed in experiment.seeds(scale):
                run = table | {"seed": seed}
                yield Cell(at, seed, run, beside, missing, sweep.frames, origins)


def _is_there(scheme: Any, known: Collection[str]) -> bool:
    """Whether a scheme can be looked up; that a file is there is seen when it is read."""
    is_name = isinstance(scheme, str) and bool(scheme)
    return not is_name or is_path(scheme) or is_class(scheme) or scheme in known


def _axes(sweep: Sweep, place: str) -> list[tuple[Axis, list[str]]]:
    """The axes of a sweep, its schemes first, each with the fields of the file that set its points;
    `place` is the field of the sweep."""
    axes = []
    if sweep.schemes:
        schemes = [Point(name=scheme_label(one), set={"scheme": one}) for one in sweep.schemes]
        places = [f"{place}.schemes[{number}]" for number in range(len(schemes))]
        axes.append((Axis(name="scheme", points=schemes), places))
    for number, axis in enumerate(sweep.axes):
        own = f"{place}.axes[{number}]"
        several = [f"{own}.points[{number}].set" for number in range(len(axis.points))]
        axes.append((axis, several or [f"{own}.key"] * len(axis.values)))
    return axes


def _restricted(
    axis: Axis, places: Sequence[str], scale: Scale, directory: Path
) -> list[tuple[str, Point]]:
    """The points of an axis that a scale runs, each with its place in the file."""
    wanted = scale.only.get(axis.name)
    points = [
        (place, _of_file(point, directory) if axis.name == "scheme" else point)
        for place, point in zip(places, axis.all_points, strict=True)
        if wanted is None or any(stands(point, one) for one in wanted)
    ]
    if not points:
        message = f"no point of the axis {axis.name} is run"
        raise refuse("scales", message, "name one of them in `only`", wanted)
    return points


def _of_file(point: Point, directory: Path) -> Point:
    """The point of a scheme; a file's path, which is relative to the experiment, in full."""
    scheme = point.set.get("scheme", point.name)
    if not isinstance(scheme, str) or not is_path(scheme):
        return point
    path = absolute(scheme if scheme.startswith("~") else str(directory / scheme))
    return Point(name=scheme_label(point.name), set={**point.set, "scheme": path})


def _applied(base: Table, parts: Sequence[_Part]) -> tuple[Table, list[tuple[Field, str]]]:
    """The scenario of a run: `base` with what each part sets, and the fields that are set, each
    with the part's place.

    Raises
    ------
    ScenarioError
        A part replaces what an axis varies, however its path is written, or sets the seed; or a
        path leads nowhere.
    """
    table = base
    varied: list[tuple[str, Field]] = []
    places: list[tuple[Field, str]] = []
    for part in parts:
        own: list[tuple[str, Field]] = []
        for written, value in part.set.items():
            try:
                path = full_path(written, table)
                fields = fields_set(table, path, value)
                changed = with_key(table, path, value)
            except ScenarioError as error:
                raise ScenarioError(_at(one, part.place) for one in error.problems) from None
            if ("seed",) in fields:
                remedy = "write seeds = [...] into the scale"
                raise refuse(part.place, "a scale says its seeds, and nothing sets them", remedy)
            for axis, other in varied:
                if any(replaces(field, other) for field in fields):
                    message = f"it sets {written}, which the axis {axis} varies"
                    raise refuse(part.place, message, "leave it out of one of the two", value)
            if part.axis and part.axis.is_about(written):
                own += [(part.axis.name, field) for field in fields]
            places += [(field, part.place) for field in fields]
            table = changed
        varied += own
    return table, places


def stands(point: Point, wanted: str | float) -> bool:
    """Whether a point is the one that a selector names by name or number."""
    if isinstance(wanted, str):
        return point.label == wanted
    return point.value is not None and math.isclose(point.value, wanted, rel_tol=ROUNDING)


def _base(scenario: str | Table, directory: Path) -> tuple[Table, Path]:
    """The base scenario of an experiment, and what paths in it are relative to."""
    if isinstance(scenario, dict):
        return dict(scenario), directory
    if not scenario:
        return {}, directory
    file = scenario_file(scenario, directory)
    return read_scenario(file), file.parent
