"""How much processor time experiments take, for the estimate of the time left.

`cost.json` beside the experiments has the time that each took at quick scale, measured once. Only
the estimate uses it. The estimate also follows the speed of the machine.
"""

from __future__ import annotations

import json
import statistics
from functools import cache

from penstock.experiments.catalogue import DIRECTORY

COST_FILE = DIRECTORY / "cost.json"


@cache
def measured_costs() -> dict[str, float]:
    """Processor time of experiments at quick scale [s]: id -> time."""
    costs: dict[str, float] = json.loads(COST_FILE.read_text("utf-8"))["cpu_seconds"]
    return costs


def expected_cost(identifier: str) -> float:
    """Processor time of an experiment [s]; one that was not measured costs what half of them do."""
    costs = measured_costs()
    return costs.get(identifier) or statistics.median(costs.values())
