"""The grid of a sweep: a scenario, the fields that are varied, and every combination of values.

A *point* is a combination of values; a *cell* is a point and a seed, which is one run. Invariant: a
grid that was made can be run: every point's scenario was checked.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from penstock import estimate as estimates
from penstock.errors import PROBLEMS_MAX, Problem, ScenarioError, refuse
from penstock.estimate import Estimate
from penstock.scenario import Scenario
from penstock.scenario.settings import check_settings
from penstock.sweep.axis import Axis, Value, read_axis
from penstock.toml_text import parse_toml

POINTS_MAX = 100_000
"""Most points of a grid (our choice: each is checked before the first run, in some 5 ms)."""

SAFE = " +,-.@_~"
"""Characters that stay as they are in the name of a partition, letters and digits aside; the others
are written as %XX, which readers of hive partitions take back."""


@dataclass(frozen=True)
class Point:
    """A combination of values, without a seed."""

    values: tuple[Value, ...]
    """One of each axis, in the order of the axes."""
    text: bytes
    """The resolved scenario as TOML, compressed: what was checked, whatever becomes of files."""
    estimate: Estimate
    """What a run there takes."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its values, which no other point has."""
        return tuple(value.label for value in self.values)

    def scenario(self, seed: int) -> Scenario:
        """The scenario of one of its cells."""
        table = parse_toml(zlib.decompress(self.text).decode())
        return Scenario.model_validate(table | {"seed": seed})


@dataclass(frozen=True)
class Grid:
    """Everything that is run, seeds aside."""

    reference: str
    """The scenario as the user named it."""
    constants: Mapping[str, Any]
    """Fields that are set to one value."""
    axes: tuple[Axis, ...]
    points: tuple[Point, ...]

    def words(self, labels: Sequence[str], seed: int | None = None) -> str:
        """A point, or a cell, as a message names it: "load = 0.3, scheme = bfc, seed = 1"."""
        named = [f"{axis.key} = {one}" for axis, one in zip(self.axes, labels, strict=True)]
        return ", ".join(named + ([f"seed = {seed}"] if seed is not None else []))


def read_grid(reference: str, settings: Sequence[str], seed: int, *, oversize: bool) -> Grid:
    """The grid that a command line describes, checked.

    Parameters
    ----------
    reference
        The scenario: a name or a TOML file.
    settings
        What ``--set`` says, in its order.
    seed
        The seed with which each point is checked.
    oversize
        Whether a run may need more memory than there seems to be.

    Raises
    ------
    ScenarioError
        An axis is wrong, or points cannot be run: all problems, each with the point's values.
    """
    read: dict[str, Axis] = {}
    for text in settings:
        key, separator, values = text.partition("=")
        key = key.strip()
        if not separator or not key:
            raise refuse("--set", "this sets nothing", "write KEY=VALUES, e.g. load=0.3,0.5", text)
        if key in read:
            raise refuse("--set", f"{key} is set twice", "write all its values once", text)
        if key == "seed":
            raise refuse("--set", "seeds are repetitions, no axis", "write --seeds 1..5", text)
        read[key] = read_axis(key, values)
    check_settings(reference, {key: axis.values[0].written for key, axis in read.items()})
    axes = tuple(axis for axis in read.values() if len(axis.values) > 1)
    constants = {key: one.values[0].written for key, one in read.items() if len(one.values) == 1}
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > POINTS_MAX:
        message = f"the grid has {count:,} points"
        raise refuse("--set", message, f"take fewer values: at most {POINTS_MAX:,} points")
    grid = Grid(reference, constants, axes, ())
    return replace(grid, points=_points(grid, seed, oversize))


def partition(axes: Sequence[str], labels: Sequence[str], seed: int) -> str:
    """The directory of a cell in the dataset, which is its key: "load=0.3/scheme=bfc/seed=1"."""
    pairs = [*zip(axes, labels, strict=True), ("seed", str(seed))]
    return "/".join(f"{column(key)}={quote(one, safe=SAFE)}" for key, one in pairs)


def column(key: str) -> str:
    """The name of an axis in the partitions: readers take it as it is, so few fields change."""
    return quote(key, safe=SAFE + "[]")


def point_at(
    reference: str, settings: Mapping[str, Any], values: tuple[Value, ...], seed: int
) -> Point:
    """The point of a scenario with some fields set, checked.

    Parameters
    ----------
    settings
        Every field that is set, varied or not, and its value.
    values
        Those of the fields that are varied.
    seed
        The seed with which it is checked.

    Raises
    ------
    ScenarioError
        It cannot be run.
    """
    scenario = Scenario.load(reference, {**settings, "seed": seed}).simulated()
    text = zlib.compress(scenario.to_toml().encode())
    return Point(values, text, estimates.estimate(scenario))


def _points(grid: Grid, seed: int, oversize: bool) -> tuple[Point, ...]:
    points: list[Point] = []
    problems: list[Problem] = []
    for values in itertools.product(*(axis.values for axis in grid.axes)):
        labels = [value.label for value in values]
        varied = {axis.key: one.written for axis, one in zip(grid.axes, values, strict=True)}
        try:
            point = point_at(grid.reference, {**grid.constants, **varied}, values, seed)
            if not oversize:
                estimates.check(point.estimate)
            points.append(point)
        except ScenarioError as error:
            there = f"at {grid.words(labels)}: " if labels else ""
            problems += [replace(one, message=f"{there}{one.message}") for one in error.problems]
            if len(problems) > PROBLEMS_MAX:
                break
    if problems:
        raise ScenarioError(problems)
    return tuple(points)
