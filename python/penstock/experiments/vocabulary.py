"""What several metrics share: parameters with their meanings, the choice of flows, links.

Times are in microseconds, sizes in bytes, rates in Gb/s, shares in [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypedDict, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock import analysis
from penstock.analysis import MeasuredRun
from penstock.experiments.metric import PERCENTILE, Ends, Meaning, Runs

After = Annotated[float, Meaning("only what happens from this time of the run on [us]")]
Label = Annotated[str, Meaning("only flows of the traffic with this label")]
Layer = Annotated[str, Meaning("only links of this layer, such as 'host-ToR'")]
Link = Annotated[
    Ends, Meaning("both ends of a link in its direction, names or numbers: ['T0', 'S1']")
]
Links = Annotated[
    Sequence[Ends],
    Meaning("several links, each as both of its ends: [['T0', 'S1'], ['T1', 'S1']]"),
]
LargestQueue = Annotated[float, Meaning("the largest queue [bytes]")]
Until = Annotated[float, Meaning("only what happens before this time of the run [us]")]
Window = Annotated[float, Meaning("the span of time over which a rate is the mean [us]")]


def told_of_all(*words: str) -> Meaning:
    """The meaning of a `statistic` that is one of some words."""
    return Meaning("what is told of all values", words)


Statistic = Annotated[str, told_of_all("mean", "deviation", "count", "min", "max", PERCENTILE)]
"""What :func:`statistic_of` knows."""


class Choice(TypedDict, total=False):
    """A choice of flows; by default of all sizes, and of all traffic but incasts."""

    size_min: Annotated[int, Meaning("only flows of at least this size [bytes]")]
    size_max: Annotated[int, Meaning("only flows of at most this size [bytes]")]
    label: Label


def choose_flows(runs: Runs, **choice: Unpack[Choice]) -> pl.DataFrame:
    """How long the finished flows of a choice took, and would have taken alone: fct_ns,
    ideal_fct_ns, slowdown.
    """
    return analysis.selected_flows(
        runs,
        labels=[choice["label"]] if "label" in choice else None,
        size_min=choice.get("size_min", 0),
        size_max=choice.get("size_max"),
        columns=("fct_ns", "ideal_fct_ns", "slowdown"),
    )


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
    """Mean of an iterable of numbers; NaN when there are none."""
    listed = list(values)
    return float(np.mean(listed)) if listed else float("nan")


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
