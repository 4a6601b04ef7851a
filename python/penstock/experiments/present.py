"""Whether a scenario has the labels and links that expressions name, before there is a run.

What it is: the part of the check of an expression that needs a scenario;
:mod:`penstock.experiments.checked` has the other part. What it is not: a check of what a run
measures. Invariant: a name is refused only where no scenario has it, so that an axis may vary the
network or the traffic.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from penstock import _core
from penstock.errors import Problem, ScenarioError, describe, nearest, quoted
from penstock.experiments.expression import METRICS
from penstock.experiments.flow_metric import choose_flows
from penstock.scenario import Scenario

KINDS = {
    "iteration_time": ("collective", "trace", "listed"),
    "bus_bandwidth": ("collective", "trace", "listed"),
    "request_latency": ("rpc",),
    "request_rate": ("rpc",),
}
"""Metric -> the kinds of traffic that it is about; the others are about all."""


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
        return _core.link_ends(self.scenario.to_json())


@dataclass(frozen=True)
class _Wanted:
    """A name in an expression."""

    place: str
    text: str
    """The expression."""
    label: str = ""
    kinds: tuple[str, ...] = ()
    """Of a label: the kinds of traffic that it may have; none: any."""
    link: tuple[int | str, ...] = ()

    def wrong(self, scenario: Scenario, network: _Network) -> Problem | None:
        """What a scenario of that network lacks; nothing where it has the label or the link."""
        found = self._of_label(scenario) if self.label else self._of_link(network)
        return found and Problem(self.place, *found, self.text)

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
            return None
        source, target = (names[one] for one in ends)
        others = [names[to] for number, to in links if number == ends[0]]
        return f"there is no link from {source} to {target}", nearest(target, others)


def check_present(
    expressions: Iterable[tuple[str, str]],
    scenarios: Iterable[Scenario],
    axes: Collection[str] = (),
) -> None:
    """Refuses labels and links that no scenario has.

    Parameters
    ----------
    expressions
        Rows [what it is called in messages, an expression that is right].
    scenarios
        Those of the runs, one by one; only as many are taken as are needed.
    axes
        The axes of an experiment: a keyword of such a name chooses runs.

    Raises
    ------
    ScenarioError
        It names each such label and link, and the nearest of the first scenario.
    """
    every = (one for place, text in expressions for one in _wanted(place, text, axes))
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
        name = node.func.id
        if name not in METRICS:
            continue
        values = {str(one.arg): _literal(one.value) for one in node.keywords}
        parameters = dict(inspect.signature(METRICS[name]).parameters)
        if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
            parameters |= inspect.signature(choose_flows).parameters
        for axis in axes:
            parameters.pop(axis, None)
        default = parameters["label"].default if "label" in parameters else None
        label = values.get("label", default) if "label" in parameters else None
        if isinstance(label, str) and label:
            yield _Wanted(place, text, label=label, kinds=KINDS.get(name, ()))
        several = values.get("links")
        links = list(several) if isinstance(several, list | tuple) else []
        for link in [*links, values.get("link")] if {"link", "links"} & set(parameters) else []:
            if _is_link(link):
                yield _Wanted(place, text, link=tuple(link))


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
