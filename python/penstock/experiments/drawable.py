"""Whether a figure can be drawn, before there is a run and without a scenario: its words.

What it is not: a check of one field by itself, which the model has, nor of what runs measure, which
is that of :mod:`penstock.experiments.present`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic_core import PydanticCustomError

from penstock.analysis.slowdown import BINS, STATISTICS
from penstock.errors import Problem, nearest, problem_of
from penstock.experiments.model import FigureSpec, Point
from penstock.workload import find_workload


def wrong_words(
    figures: Sequence[FigureSpec], axes: Mapping[str, Sequence[Point]]
) -> Iterator[Problem]:
    """The words of an experiment's figures with which they cannot be drawn."""
    for number, figure in enumerate(figures):
        yield from _of_figure(f"figures[{number}]", figure, axes)


def _of_figure(
    place: str, figure: FigureSpec, axes: Mapping[str, Sequence[Point]]
) -> Iterator[Problem]:
    if figure.kind == "slowdown":
        for column in figure.columns:
            if column not in (known := ("mean", *STATISTICS)):
                remedy = nearest(column, known)
                yield Problem(f"{place}.columns", "no such statistic", remedy, column)
        if figure.bins not in BINS:
            yield Problem(f"{place}.bins", "no such bins", nearest(figure.bins, BINS), figure.bins)
    if figure.x in axes and all(one.value is None for one in axes[figure.x]):
        remedy = "give its points a value, or draw bars"
        yield Problem(f"{place}.x", "no point of this axis is a number", remedy, figure.x)
    for name, workload in figure.workloads.items():
        try:
            find_workload(workload)
        except PydanticCustomError as error:
            yield problem_of(error, f"{place}.workloads.{name}")
