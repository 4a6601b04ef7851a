"""Whether a scenario has the labels and links that are named, before there is a run.

What it is: the part of the check of an expression or a figure that needs a scenario, and what it
measures; :mod:`penstock.experiments.checked` has the other part. What it is not: a check of what a
run finds. Invariant: a name is refused only where no scenario has it, so that an axis may vary the
network or the traffic.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from penstock import _core
from penstock.errors import Problem, ScenarioError, describe, nearest, quoted
from penstock.experiments.expression import METRICS
from penstock.experiments.model import FigureSpec
from penstock.scenario import Scenario

REMEDIES = {
    "series": "write links into the list measure.series, e.g. [[0, 8]]",
    "sample_interval": "set measure.sample_interval, e.g. to 1us",
}
"""How to set the fields of `measure` that are not true or false."""

MEASURED: dict[str, tuple[str, ...]] = {
    "buffer": ("sample_interval",),
    "active-flows": ("active_flows",),
    "flow-packets": ("active_flows", "sample_interval"),
    "throughput": ("series", "sample_interval"),
}
"""Kind of figure -> the fields of `measure` without which it has nothing to show."""


@dataclass(frozen=True)
class _Network:
    """The nodes and links of a scenario, which are looked up when they are asked for, and once."""

    scenario: Scenario

    @cached_property
    def names(self) -> list[str]:
        """The names of its nodes, by number."""
        return self.scenario.topology.node_names()

    @cached_property
    def links(self) -> list[tuple[int, int]]:
        """The ends of its directed links."""
        return _core.link_ends(self.scenario.handed_over())


@dataclass(frozen=True)
class _Wanted:
    """A name in an expression or a figure."""

    place: str
    text: str
    """The expression; empty in a figure, which has the link alone."""
    label: str = ""
    kinds: tuple[str, ...] = ()
    """Of a label: the kinds of traffic that it may have; none: any."""
    link: tuple[int | str, ...] = ()
    is_sampled: bool = False
    """Of a link: whether it has to be sampled."""
    needs: str = ""
    """The field of `measure` that has to be set."""
    time_us: float = -1.0
    """A time [us] that has to be within the traffic and, with `is_drained`, what is left of it."""
    is_drained: bool = False

    def wrong(self, scenario: Scenario, network: _Network) -> Problem | None:
        """What a scenario of that network lacks; nothing where it has the label or the link."""
        if self.needs:
            found = self._of_measure(scenario)
        elif self.time_us >= 0:
            found = self._of_time(scenario)
        else:
            found = self._of_label(scenario) if self.label else self._of_link(network)
        time = self.time_us if self.time_us >= 0 else None
        return found and Problem(self.place, *found, self.text or self.link or self.label or time)

    def _of_measure(self, scenario: Scenario) -> tuple[str, str] | None:
        if getattr(scenario.measure, self.needs):
            return None
        remedy = REMEDIES.get(self.needs, f"set measure.{self.needs}=true")
        return "the scenario does not measure it", remedy

    def _of_time(self, scenario: Scenario) -> tuple[str, str] | None:
        lasts = int(scenario.duration) + self.is_drained * int(scenario.drain)
        if self.time_us * 1e6 < lasts:
            return None
        return "no run lasts so long", f"write less than {lasts / 1e6:g}, which are microseconds"

    def _of_label(self, scenario: Scenario) -> tuple[str, str] | None:
        entries = scenario.traffic
        labels = [one.label for one in entries if not self.kinds or one.kind in self.kinds]
        if self.label in labels:
            return None
        message = f"no traffic is labelled {quoted(self.label)}"
        if not self.kinds:
            return message, nearest(self.label, labels)
        kinds = " or ".join(self.kinds)
        message = f"no traffic of kind {kinds} is labelled {quoted(self.label)}"
        return message, nearest(self.label, labels) if labels else "add one, or leave the metric"

    def _of_link(self, network: _Network) -> tuple[str, str] | None:
        names, links = network.names, network.links
        if 1 + max(max(ends) for ends in links) > len(names):
            return None  # the core has added nodes, such as NICs, whose names it knows alone
        ends = []
        for one in self.link:
            known = one in names if isinstance(one, str) else 0 <= one < len(names)
            if not known:
                remedy = f"{nearest(str(one), names)}; or a number of 0 to {len(names) - 1}"
                return f"there is no node {describe(one)}", remedy
            ends.append(names.index(one) if isinstance(one, str) else one)
        if tuple(ends) in set(links):
            return self._of_samples(network.scenario, tuple(ends)) if self.is_sampled else None
        source, target = (names[one] for one in ends)
        others = [names[to] for number, to in links if number == ends[0]]
        return f"there is no link from {source} to {target}", nearest(target, others)

    def _of_samples(self, scenario: Scenario, ends: tuple[int, ...]) -> tuple[str, str] | None:
        if ends not in scenario.measure.series:
            message = f"the link {describe(self.link)} is not sampled"
            return message, f"write {list(ends)} into the list measure.series"
        if not scenario.measure.sample_interval:
            return "nothing is sampled", REMEDIES["sample_interval"]
        return None


def check_present(
    expressions: Iterable[tuple[str, str]],
    scenarios: Iterable[Scenario],
    axes: Collection[str] = (),
    figures: Sequence[FigureSpec] = (),
) -> None:
    """Refuses labels and links that no scenario has, and what no scenario measures.

    Parameters
    ----------
    expressions
        Rows [what it is called in messages, an expression that is right].
    scenarios
        Those of the runs, one by one; only as many are taken as are needed.
    axes
        The axes of an experiment: a keyword of such a name chooses runs.
    figures
        Those of an experiment, in its order.

    Raises
    ------
    ScenarioError
        It names each such label and link, and the nearest of the first scenario.
    """
    every = [one for place, text in expressions for one in _wanted(place, text, axes)]
    for number, figure in enumerate(figures):
        every += _of_figure(f"figures[{number}]", figure)
    left = list(dict.fromkeys(every))
    first: dict[_Wanted, Problem] = {}
    for scenario in scenarios if left else ():
        network = _Network(scenario)
        found = {one: problem for one in left if (problem := one.wrong(scenario, network))}
        first = first or found
        left = list(found)
        if not left:
            return
    if left and first:
        raise ScenarioError(dict.fromkeys(first[one] for one in left))


def _wanted(place: str, text: str, axes: Collection[str]) -> Iterator[_Wanted]:
    """The labels and links of an expression that are written in it."""
    for node in ast.walk(ast.parse(text.strip(), mode="eval")):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        metric = METRICS.get(node.func.id)
        if metric is None:
            continue
        parameters = {key: one for key, one in metric.parameters.items() if key not in axes}
        values = {key: one.value for key, one in parameters.items()}
        written = {str(one.arg): _literal(one.value) for one in node.keywords}
        values |= {key: value for key, value in written.items() if key in parameters}
        if isinstance(label := values.get("label"), str) and label:
            yield _Wanted(place, text, label=label, kinds=metric.kinds)
        needs = {parameters[key].told.needs for key in written.keys() & parameters}
        needs.add(metric.needs)
        yield from (_Wanted(place, text, needs=one) for one in sorted(needs - {"", "series"}))
        several = values.get("links")
        links = list(several) if isinstance(several, list | tuple) else []
        for link in [*links, values.get("link")]:
            if _is_link(link):
                yield _Wanted(place, text, link=tuple(link), is_sampled="series" in needs)


def _of_figure(place: str, figure: FigureSpec) -> Iterator[_Wanted]:
    """What a figure shows: a label, links, times, and what it needs of them."""
    for field in MEASURED.get(figure.kind, ()):
        yield _Wanted(f"{place}.kind", figure.kind, needs=field)
    if figure.label:
        yield _Wanted(f"{place}.label", "", label=figure.label)
    if figure.span:
        yield _Wanted(f"{place}.span[0]", "", time_us=figure.span[0], is_drained=True)
    if figure.kind == "timeline":
        yield _Wanted(f"{place}.window", "", time_us=figure.window)
    sampled = [(f"rates.{name}", link) for name, links in figure.rates.items() for link in links]
    sampled += [(f"allowed.{name}", link) for name, link in figure.allowed.items()]
    sampled += [(f"queued.{name}", link) for name, link in figure.queued.items()]
    named = [("links", link) for link in figure.links]
    if figure.link:
        (sampled if figure.kind == "queue" else named).append(("link", figure.link))
    for name, link in figure.pauses.items():
        named.append((f"pauses.{name}", link))
        yield _Wanted(f"{place}.pauses.{name}", "", link=link, needs="events")
    for name, link in sampled:
        yield _Wanted(f"{place}.{name}", "", link=link, is_sampled=True)
    for name, link in named:
        yield _Wanted(f"{place}.{name}", "", link=link)


def _literal(node: ast.expr) -> object:
    """What is written; nothing where it is computed."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None


def _is_link(value: object) -> bool:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        return False
    return all(isinstance(one, int | str) for one in value)
