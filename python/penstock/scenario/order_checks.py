"""Fields of a scheme that must not be larger than another field of the same part."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.errors import Problem
from penstock.scenario.base import Part
from penstock.scenario.credit_control import ExpressPass
from penstock.scenario.marking import EcnMarking
from penstock.scenario.rate_control import Pcn, Timely
from penstock.scenario.recovery import FastRetransmit, SelectiveRepeat
from penstock.scenario.scheme import Scheme
from penstock.scenario.window_control import Swift


def order_problems(scheme: Scheme) -> Iterator[Problem]:
    """Bounds of markings, controllers and recoveries that are the wrong way round."""
    marking, host = scheme.switch.marking, scheme.host
    controller, recovery = host.controller, host.recovery
    if isinstance(marking, EcnMarking):
        path = "scheme.switch.marking"
        yield from _at_most(path, marking, "kmin", "kmax", "B")
        for index, own in enumerate(marking.per_rate):
            yield from _at_most(f"{path}.per_rate[{index}]", own, "kmin", "kmax", "B")
    path = "scheme.host.controller"
    if isinstance(controller, Pcn | ExpressPass):
        yield from _at_least(path, controller, "maximum_weight", "minimum_weight")
    if isinstance(controller, ExpressPass):
        yield from _at_most(path, controller, "credit_minimum", "credit_maximum", "B")
    if isinstance(controller, Timely):
        yield from _at_most(path, controller, "low_rtt", "high_rtt", "ps")
    if (
        isinstance(controller, Swift)
        and controller.minimum_flow_window >= controller.maximum_flow_window
    ):
        yield Problem(
            f"{path}.maximum_flow_window",
            f"it is not above minimum_flow_window, {controller.minimum_flow_window}",
            "make it larger",
            controller.maximum_flow_window,
        )
    path = "scheme.host.recovery"
    if isinstance(recovery, SelectiveRepeat):
        yield from _at_least(path, recovery, "timeout_high", "timeout_low", "ps")
    if isinstance(recovery, FastRetransmit):
        yield from _at_most(path, recovery, "initial_timeout", "maximum_timeout", "ps")
        yield from _at_most(path, recovery, "minimum_timeout", "maximum_timeout", "ps")


def _at_most(path: str, part: Part, name: str, bound: str, unit: str = "") -> Iterator[Problem]:
    """A field must not be above another."""
    value, limit = getattr(part, name), getattr(part, bound)
    if value > limit:
        words = f"it is above {bound}, {limit} {unit}".rstrip()
        yield Problem(f"{path}.{name}", words, f"make it at most {bound}", value)


def _at_least(path: str, part: Part, name: str, bound: str, unit: str = "") -> Iterator[Problem]:
    """A field must not be below another."""
    value, limit = getattr(part, name), getattr(part, bound)
    if value < limit:
        words = f"it is below {bound}, {limit} {unit}".rstrip()
        yield Problem(f"{path}.{name}", words, f"make it at least {bound}", value)
