"""All checks of a scenario as a whole, in the order in which their problems are told.

The models know nothing of them. Each check is a function in the file of its subject, and looks at
the parts of a scenario; none of them stops another.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.errors import Problem, ScenarioError
from penstock.scenario.credit_checks import credit_problems
from penstock.scenario.fault_checks import fault_problems
from penstock.scenario.level_checks import level_problems, spray_problems
from penstock.scenario.node_checks import node_problems
from penstock.scenario.order_checks import order_problems
from penstock.scenario.parts import ScenarioParts
from penstock.scenario.scheme_checks import scheme_problems
from penstock.scenario.traffic_checks import traffic_problems


def scenario_problems(scenario: ScenarioParts) -> Iterator[Problem]:
    """What does not go together in a scenario whose network is sound."""
    yield from scheme_problems(scenario)
    yield from credit_problems(scenario)
    yield from order_problems(scenario.scheme)
    yield from level_problems(scenario)
    yield from spray_problems(scenario)
    yield from fault_problems(scenario)
    try:
        resolved = scenario.resolve()
    except ScenarioError as error:
        yield from error.problems
    else:
        yield from traffic_problems(resolved)
        yield from node_problems(resolved)
