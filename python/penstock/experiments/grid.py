"""From an experiment and a scale to its runs.

A cell is one run: its points on the axes, its seed and its scenario. A cell whose scheme does not
exist yet has no scenario. The cell stays in the grid, so claims about it are reported and not lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from penstock.analysis import MeasuredRun
from penstock.experiments.declared import Table
from penstock.experiments.model import Axis, Experiment, Point, Scale, Sweep
from penstock.named import absolute, is_path
from penstock.scenario import Scenario
from penstock.scenario.base import label_of
from penstock.scenario.scenario import scenario_file
from penstock.scenario.scheme import scheme_names
from penstock.scenario.table import with_key
from penstock.toml_text import read_toml


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
        return f"{self.group} seed{self.seed}".replace("/", "_").replace(" ", "-")


def cells(experiment: Experiment, scale: Scale) -> list[Cell]:
    """All runs of an experiment at a scale, in the order of the file."""
    known = set(scheme_names())
    directory = experiment.file.parent if experiment.file else Path()
    base, beside = _base(experiment.scenario, directory)
    found = []
    for sweep in experiment.sweeps:
        for at in _combinations(sweep, scale):
            scheme = at["scheme"].name if "scheme" in at else ""
            missing = "" if is_path(scheme) or not scheme or scheme in known else scheme
            if is_path(scheme):
                at["scheme"] = _of_file(scheme, directory)
            # The scheme comes first, so that what a sweep sets can be a part of the scheme.
            points = dict(at)
            table = _apply(base, points.pop("scheme").set) if sweep.schemes else base
            # The scale comes last: how much is simulated is its to say, whatever a point has.
            for changes in (sweep.set, *(point.set for point in points.values()), scale.set):
                table = _apply(table, changes)
            for seed in experiment.seeds(scale):
                seeded = table | {"seed": seed}
                found.append(Cell(at, seed, seeded, beside, missing, sweep.frames))
    return found


def _combinations(sweep: Sweep, scale: Scale) -> Iterator[dict[str, Point]]:
    axes = list(sweep.axes)
    if sweep.schemes:
        axes.insert(0, Axis(name="scheme", key="scheme", values=list(sweep.schemes)))
    chosen = [_restricted(axis, scale) for axis in axes]
    for points in itertools.product(*chosen):
        named = {axis.name: point for axis, point in zip(axes, points, strict=True)}
        yield {"sweep": Point(name=sweep.name), **named}


def _restricted(axis: Axis, scale: Scale) -> list[Point]:
    wanted = scale.only.get(axis.name)
    points = [p for p in axis.all_points if wanted is None or any(stands(p, w) for w in wanted)]
    if not points:
        raise ValueError(f"scales: no point of axis {axis.name!r} is among {wanted}")
    return points


def stands(point: Point, wanted: str | float) -> bool:
    """Whether a point is the one that a selector names by name or number."""
    if isinstance(wanted, str):
        return point.label == wanted
    return point.value is not None and abs(point.value - wanted) <= 1e-9 * max(abs(wanted), 1.0)


def _apply(table: Table, changes: Table) -> Table:
    for path, value in changes.items():
        table = with_key(table, path, value)
    return table


def scheme_label(scheme: str) -> str:
    """How figures and selectors call a scheme of a sweep: a file without its ending."""
    return label_of(Path(scheme).stem) if is_path(scheme) else scheme


def _of_file(scheme: str, directory: Path) -> Point:
    """The point of a scheme that is a file."""
    path = absolute(scheme if scheme.startswith("~") else str(directory / scheme))
    return Point(name=scheme_label(path), set={"scheme": path})


def _base(scenario: str | Table, directory: Path) -> tuple[Table, Path]:
    """The base scenario of an experiment, and what paths in it are relative to."""
    if isinstance(scenario, dict):
        return dict(scenario), directory
    if not scenario:
        return {}, directory
    file = scenario_file(scenario, directory)
    table = read_toml(file, "name a TOML file, or a scenario of `penstock list scenarios`")
    return table, file.parent
