"""What all metrics share: their type, their registration, statistics, links.

A metric is a function of runs that expressions call. It takes the runs that the selectors of its
call choose (pooled over seeds) and its own parameters. Times are in microseconds, sizes in bytes,
shares in [0, 1].
:mod:`penstock.experiments.parameters` says what the parameters mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock import analysis
from penstock.analysis import MeasuredRun

Runs = Sequence[MeasuredRun]
Value = float | NDArray[np.float64]
Metric = Callable[..., Value]


def registering(table: dict[str, Metric]) -> Callable[[Metric], Metric]:
    """A decorator that makes functions of runs callable from expressions by their names."""

    def register(function: Metric) -> Metric:
        table[function.__name__] = function
        return function

    return register


def statistic_of(values: NDArray[np.float64], name: str) -> float:
    """Mean, deviation (population), count, min, max, or a percentile written p50, p99, p999."""
    if name == "count":
        return float(values.size)
    if values.size == 0:
        return float("nan")
    if name == "mean":
        return float(values.mean())
    if name == "deviation":
        return float(values.std())
    if name in ("min", "max"):
        return float(values.min() if name == "min" else values.max())
    digits = name.removeprefix("p")
    return analysis.percentile(values, int(digits) / 10 ** len(digits))


def mean(values: Any) -> float:
    """Mean of an iterable of numbers."""
    return float(np.mean(list(values)))


Ends = Sequence[int | str]
"""Both ends of a link, in its direction: numbers or names of nodes."""


def ends_of(run: MeasuredRun, link: Ends) -> tuple[int, int]:
    """The numbers of both ends of a link."""
    first, second = (_node(run, one) for one in link[:2])
    return first, second


def _node(run: MeasuredRun, node: int | str) -> int:
    if not isinstance(node, str):
        return int(node)
    names = run.summary["node_names"]
    if node not in names:
        raise ValueError(f"there is no node {node}; nodes are {names[0]} to {names[-1]}")
    return int(names.index(node))


def layer_number(run: MeasuredRun, layer: str) -> int:
    """The number of a layer of links by its name, such as ``host-ToR``."""
    layers: list[str] = run.summary["layers"]
    if layer not in layers:
        raise ValueError(f"there is no layer {layer!r}; layers are {', '.join(layers)}")
    return layers.index(layer)


def link_row(run: MeasuredRun, ends: Ends) -> dict[str, Any]:
    """Totals of the link between two nodes: its row of `links`."""
    number = analysis.link_between(run, *ends_of(run, ends))
    return run.links.filter(run.links["link"] == number).row(0, named=True)
