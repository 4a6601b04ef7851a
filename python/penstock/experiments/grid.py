"""From an experiment and a scale to its runs.

A cell is one run: its points on the axes, its seed and its scenario. A cell whose scheme does not
exist yet has no scenario. The cell stays in the grid, so claims about it are reported and not lost.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.analysis import MeasuredRun
from penstock.errors import ScenarioError, quoted, refuse
from penstock.experiments.declared import Table
from penstock.experiments.model import Axis, Experiment, Point, Scale, Sweep
from penstock.named import absolute, is_path
from penstock.own_class import is_class
from penstock.scenario import Scenario
from penstock.scenario.catalogue import read_scenario, scenario_file
from penstock.scenario.scheme import scheme_label, scheme_names
from penstock.scenario.table import Field, fields_set, replaces, with_key
from penstock.storage.name import LENGTH_MAX, file_name

ROUNDING = 1e-9
"""Share by which two numbers differ that are one point of an axis (our choice: far above what
arithmetic leaves, far below the step of any axis). Nothing but 0 is 0: a loss rate may be 1e-12."""


def point_name(axis: str, point: Point) -> str:
    """Name of a point in a figure: its own, or "load 0.5" where it is a number."""
    return point.name or f"{axis} {point.label}"


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
    run: MeasuredRun | None = field(default=None)

    def scenario(self) -> Scenario:
        """The scenario, checked.

        Raises
        ------
        ScenarioError
            It cannot be run.
        """
        return Scenario.model_validate(self.table, context={"directory": self.directory})

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
    names = [name for name, one in experiment.scales.items() if one is scale]
    # The scale comes last: how much is simulated is its to say, whatever a point has.
    last = _Part(f"scales.{names[0]}.set" if names else "set", scale.set)
    for number, sweep in enumerate(experiment.sweeps):
        own = _Part(f"sweeps[{number}].set", sweep.set)
        placed = _axes(sweep, f"sweeps[{number}]")
        for points in itertools.product(*(_restricted(one, scale, directory) for _, one in placed)):
            at = {"sweep": Point(name=sweep.name)}
            at |= {axis.name: point for (_, axis), point in zip(placed, points, strict=True)}
            axes = [_Part(place, at[axis.name].set, axis) for place, axis in placed]
            # The scheme comes first, so that what a sweep sets can be a part of the scheme.
            schemes = [axes.pop(0)] if sweep.schemes else []
            table = _applied(base, [*schemes, own, *axes, last])
            scheme = at["scheme"].set.get("scheme", at["scheme"].name) if "scheme" in at else ""
            missing = "" if _is_there(scheme, known) else scheme
            for seed in experiment.seeds(scale):
                yield Cell(at, seed, table | {"seed": seed}, beside, missing, sweep.frames)


def _is_there(scheme: Any, known: Collection[str]) -> bool:
    """Whether a scheme can be looked up; that a file is there is seen when it is read."""
    is_name = isinstance(scheme, str) and bool(scheme)
    return not is_name or is_path(scheme) or is_class(scheme) or scheme in known


def _axes(sweep: Sweep, place: str) -> list[tuple[str, Axis]]:
    """The axes of a sweep with their fields in the file, its schemes first; `place` is its own."""
    axes = [(f"{place}.axes[{number}]", axis) for number, axis in enumerate(sweep.axes)]
    if sweep.schemes:
        schemes = [Point(name=scheme_label(one), set={"scheme": one}) for one in sweep.schemes]
        axes.insert(0, (f"{place}.schemes", Axis(name="scheme", points=schemes)))
    return axes


def _restricted(axis: Axis, scale: Scale, directory: Path) -> list[Point]:
    wanted = scale.only.get(axis.name)
    points = [p for p in axis.all_points if wanted is None or any(stands(p, w) for w in wanted)]
    if not points:
        message = f"no point of the axis {axis.name} is run"
        raise refuse("scales", message, "name one of them in `only`", wanted)
    return [_of_file(point, directory) for point in points] if axis.name == "scheme" else points


def _of_file(point: Point, directory: Path) -> Point:
    """The point of a scheme; a file's path, which is relative to the experiment, in full."""
    scheme = point.set.get("scheme", point.name)
    if not isinstance(scheme, str) or not is_path(scheme):
        return point
    path = absolute(scheme if scheme.startswith("~") else str(directory / scheme))
    return Point(name=scheme_label(point.name), set={**point.set, "scheme": path})


def _applied(base: Table, parts: Sequence[_Part]) -> Table:
    """The scenario of a run: `base` with what each part sets.

    Raises
    ------
    ScenarioError
        A part replaces what an axis varies, however its path is written, or sets the seed.
    """
    table = base
    varied: list[tuple[str, Field]] = []
    for part in parts:
        own: list[tuple[str, Field]] = []
        for path, value in part.set.items():
            fields = fields_set(table, path, value)
            if ("seed",) in fields:
                remedy = "write seeds = [...] into the scale"
                raise refuse(part.place, "a scale says its seeds, and nothing sets them", remedy)
            for axis, other in varied:
                if any(replaces(field, other) for field in fields):
                    message = f"it sets {path}, which the axis {axis} varies"
                    raise refuse(part.place, message, "leave it out of one of the two", value)
            if part.axis and part.axis.is_about(path):
                own += [(part.axis.name, field) for field in fields]
            table = with_key(table, path, value)
        varied += own
    return table


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
