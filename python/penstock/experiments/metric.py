"""What a metric is: a function of runs, its unit, and what its parameters mean.

A function becomes a metric by the decorator :func:`metric`, which says everything else that is
known of it; its parameters say what they mean in their annotations. `penstock list metrics`,
`penstock show` and the section "Metrics" of ``docs/files.md`` are made of these. What it is not:
the metrics themselves (`flow_metric`, `job_metric`, `run_metric`, `queueing`, `transient`) and the
check of an expression (:mod:`penstock.experiments.checked`). Invariant: a metric is described where
it is written, and nowhere else.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from penstock.analysis import MeasuredRun

Runs = Sequence[MeasuredRun]
Value = float | NDArray[np.float64]
Measure = TypeVar("Measure", bound=Callable[..., Value])

Ends = Sequence[int | str]
"""Both ends of a link, in its direction: numbers or names of nodes."""

PERCENTILE = "a percentile: p50, p99, p999"
"""What stands among the words of a `statistic` for every percentile."""

FORMS: dict[Any, str] = {
    int: "a number",
    float: "a number",
    str: "a text in quotes",
    Ends: "both ends of a link, such as ['T0', 'S1']",
    Sequence[Ends]: "a list of links, such as [['T0', 'S1']]",
    Sequence[int]: "a list of numbers, such as [0, 1]",
}
"""How a parameter is written, by its type."""

REQUIRED = "required"
"""The default of a parameter that has to be written."""

NOTHING = "none"
"""The default of a parameter that chooses nothing as long as it is not written."""


@dataclass(frozen=True)
class Meaning:
    """What a parameter means: it stands beside its type, in `Annotated`."""

    text: str
    """In words, with the unit in square brackets."""
    words: tuple[str, ...] = ()
    """The words that it takes; none where it takes something else."""
    needs: str = ""
    """As :attr:`Metric.needs`, where the parameter is written."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a metric."""

    name: str
    value: object
    """Its default; `inspect.Parameter.empty` where it has to be written."""
    form: str
    """How it is written, of :data:`FORMS`; empty: as a word or otherwise."""
    told: Meaning

    @property
    def default(self) -> str:
        """The default as an expression writes it, or :data:`REQUIRED`, or :data:`NOTHING`."""
        if self.value is inspect.Parameter.empty:
            return REQUIRED
        return NOTHING if self.value in (None, "", math.inf) else repr(self.value)

    @property
    def meaning(self) -> str:
        """What it means, with its unit in square brackets, and the words that it takes."""
        words = ", ".join(self.told.words)
        return f"{self.told.text}: {words}" if words else self.told.text


@dataclass(frozen=True)
class Metric:
    """A function that expressions call: it takes the runs that the selectors of its call choose,
    pooled over seeds, and its own parameters."""

    measure: Callable[..., Value]
    unit: str
    """The unit of its numbers in brackets, or of what they are shares; empty: none."""
    least: float
    """No run gives a smaller number."""
    most: float
    """No run gives a larger number."""
    needs: str
    """The field of `measure` without which it finds nothing; "series": its links, sampled."""
    kinds: tuple[str, ...]
    """The kinds of traffic that it is about; none: all."""
    is_per_bin: bool
    """Whether it has a value per bin of sizes."""
    is_pooled: bool
    """Whether it is a share of runs: a claim by it is judged by the runs of all seeds together."""
    is_of_finished: bool
    """Whether it knows only the flows, iterations or requests that finished."""

    def __call__(self, runs: Runs, **parameters: Any) -> Value:
        return self.measure(runs, **parameters)

    @property
    def name(self) -> str:
        """The name by which expressions call it."""
        return self.measure.__name__

    @property
    def meaning(self) -> str:
        """What it is, with its unit: the first paragraph of what it says about itself."""
        return " ".join(self._paragraphs[0].split())

    @property
    def details(self) -> str:
        """What else it says about itself; empty for most."""
        return " ".join(" ".join(self._paragraphs[1:]).split())

    @property
    def _paragraphs(self) -> list[str]:
        return (inspect.getdoc(self.measure) or "").split("\n\n")

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Its parameters by name, in the order of its declaration."""
        return {one.name: one for one in _declared(self.measure)}


METRICS: dict[str, Metric] = {}
"""Every metric by its name; whole in :mod:`penstock.experiments.expression`, which imports all."""


def metric(
    unit: str,
    *,
    least: float = 0.0,
    most: float = math.inf,
    needs: str = "",
    kinds: tuple[str, ...] = (),
    is_per_bin: bool = False,
    is_pooled: bool = False,
    is_of_finished: bool = False,
) -> Callable[[Measure], Measure]:
    """A decorator that makes a function of runs a metric; the words are those of :class:`Metric`.

    The first paragraph of the docstring is what users read. Parameters are keywords, annotated with
    their :class:`Meaning`. Times are in microseconds, sizes in bytes, rates in Gb/s, shares in
    [0, 1].
    """

    def register(function: Measure) -> Measure:
        made = Metric(
            function, unit, least, most, needs, kinds, is_per_bin, is_pooled, is_of_finished
        )
        METRICS[made.name] = made
        return function

    return register


def _declared(function: Callable[..., Value]) -> Iterator[Parameter]:
    """The keywords of a function; `**choice` stands for those of its `TypedDict`."""
    hints = get_type_hints(function, include_extras=True)
    for one in inspect.signature(function).parameters.values():
        if one.kind is one.KEYWORD_ONLY:
            yield _parameter(one.name, one.default, hints[one.name])
        elif one.kind is one.VAR_KEYWORD:
            [choice] = get_args(hints[one.name])
            for name, hint in get_type_hints(choice, include_extras=True).items():
                yield _parameter(name, None, hint)


def _parameter(name: str, default: object, hint: Any) -> Parameter:
    if get_origin(hint) is not Annotated:  # one that may be None
        [hint] = [one for one in get_args(hint) if get_origin(one) is Annotated]
    of_type, meaning = get_args(hint)
    return Parameter(name, default, FORMS.get(of_type, ""), meaning)
