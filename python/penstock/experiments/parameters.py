"""The parameters of metrics: their names, their defaults, and what they mean with their units.

What `penstock list metrics`, `penstock show` and the section "Metrics" of ``docs/files.md`` say
comes from here and from what the metrics say about themselves. What it is not: a check of an
expression, see :mod:`penstock.experiments.checked`. Invariant: every parameter of every metric has
a meaning.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.analysis.slowdown import BINS, STATISTICS
from penstock.experiments.expression import METRICS
from penstock.experiments.flow_metric import choose_flows
from penstock.experiments.metric import TOTALS

PERCENTILE = "a percentile: p50, p99, p999"
"""What stands among the words of a `statistic` for every percentile."""

WORDS: dict[str, tuple[str, ...]] = {
    "bins": tuple(BINS),
    "count": ("wire", "payload"),
    "of": TOTALS,
    "statistic": ("mean", "deviation", "count", "min", "max", PERCENTILE),
    "active_flows.statistic": ("mean", PERCENTILE),
    "core_delay.statistic": ("mean", "p50", "p95", "p99"),
    "link_pause.statistic": ("mean", "min", "max"),
    "packet_delay.statistic": ("mean", "p50", "p99"),
    "queue.statistic": ("mean", "max"),
    "slowdown_by_bin.statistic": ("mean", *STATISTICS),
}
"""The words that a parameter takes, by its name; by METRIC.NAME where they are others there."""

MEANINGS = {
    "after": "only what happens from this time of the run on [us]",
    "before": "only what happens before this time of the run [us]",
    "bins": "the bins of sizes",
    "by": "only pauses that nodes send whose names begin with this",
    "count": "which bytes count: with headers, or without",
    "flows": "a number of flows",
    "flows_min": "the fewest flows of a bin that has a value",
    "hold": "how long the rate stays there [us]",
    "label": "only flows of the traffic with this label",
    "layer": "only links of this layer, such as 'host-ToR'",
    "least": "the lowest rate [Gb/s]",
    "link": "both ends of a link in its direction, names or numbers: ['T0', 'S1']",
    "links": "several links, each as both of its ends: [['T0', 'S1'], ['T1', 'S1']]",
    "most": "the highest rate [Gb/s]",
    "of": "a count of the summary",
    "packets": "a number of packets",
    "scheduled": "packets that Homa has granted, or all others",
    "size_max": "only flows of at most this size [bytes]",
    "size_min": "only flows of at least this size [bytes]",
    "source": "the number of a host",
    "sources": "only flows that these hosts send, by their numbers: [0, 1]",
    "span": "a span of time [us]",
    "statistic": "what is told of all values",
    "traffic_class": "only pauses of this traffic class, 0 to 7",
    "until": "only what happens before this time of the run [us]",
    "window": "the span of time over which a rate is the mean [us]",
    "flows_above.layer": "only links of this layer, such as 'host-ToR', or of a list of layers",
    "queue_at_most.most": "the largest queue [bytes]",
    "queue_falls.most": "the largest queue [bytes]",
}
"""What a parameter means, by its name; by METRIC.NAME where it means something else there."""

FORMS = {
    "int": "a number",
    "float": "a number",
    "str": "a text in quotes",
    "Ends": "both ends of a link, such as ['T0', 'S1']",
    "Sequence[Ends]": "a list of links, such as [['T0', 'S1']]",
    "Sequence[int]": "a list of numbers, such as [0, 1]",
}
"""How a parameter is written, by its annotation."""

REQUIRED = "required"
"""The default of a parameter that has to be written."""

NOTHING = "none"
"""The default of a parameter that chooses nothing as long as it is not written."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a metric."""

    name: str
    default: str
    """As an expression writes it, or :data:`REQUIRED`, or :data:`NOTHING`."""
    meaning: str
    """What it means, with its unit in square brackets, and the words that it takes."""


def parameter_names(metric: str) -> list[str]:
    """The names of the parameters of a metric, in the order of its declaration."""
    return [one.name for one in _declared(metric)]


def parameters_of(metric: str) -> list[Parameter]:
    """The parameters of a metric, in the order of its declaration."""
    return [
        Parameter(one.name, _default(one.default), _meaning(metric, one.name))
        for one in _declared(metric)
    ]


def words_of(metric: str, name: str) -> tuple[str, ...]:
    """The words that a parameter of a metric takes; none where it takes something else."""
    return WORDS.get(f"{metric}.{name}") or WORDS.get(name, ())


def form_of(metric: str, name: str) -> str:
    """How a parameter of a metric is written, by its annotation: :data:`FORMS`; empty: as a word or
    otherwise."""
    [found] = [one for one in _declared(metric) if one.name == name]
    return FORMS.get(str(found.annotation).removesuffix(" | None"), "")


def _default(value: object) -> str:
    if value is inspect.Parameter.empty:
        return REQUIRED
    return NOTHING if value in (None, "", float("inf")) else repr(value)


def _meaning(metric: str, name: str) -> str:
    meaning = MEANINGS.get(f"{metric}.{name}") or MEANINGS[name]
    words = ", ".join(words_of(metric, name))
    return f"{meaning}: {words}" if words else meaning


def meaning_of(metric: str) -> str:
    """What a metric is, with its unit: the first paragraph of what it says about itself."""
    return " ".join(_paragraphs(metric)[0].split())


def details_of(metric: str) -> str:
    """What else a metric says about itself; empty for most."""
    return " ".join(" ".join(_paragraphs(metric)[1:]).split())


def _paragraphs(metric: str) -> list[str]:
    return (inspect.getdoc(METRICS[metric]) or "").split("\n\n")


def _declared(metric: str) -> Iterator[inspect.Parameter]:
    """The keywords of a metric; the choice of flows stands for those of `choose_flows`."""
    for one in inspect.signature(METRICS[metric]).parameters.values():
        if one.kind is one.KEYWORD_ONLY:
            yield one
        elif one.kind is one.VAR_KEYWORD:
            chosen = inspect.signature(choose_flows).parameters.values()
            yield from (other for other in chosen if other.kind is other.KEYWORD_ONLY)
