"""How much processor time experiments take, for the estimate of the time left.

`cost.json` beside the experiments has the time that each took at quick scale when it was last run
among several: the run itself writes its entry. Only the estimate uses it, and follows the speed of
the machine besides. Invariant: an experiment changes no entry but its own.
"""

from __future__ import annotations

import contextlib
import json
import statistics
from pathlib import Path

from penstock.errors import StorageError
from penstock.experiments import catalogue
from penstock.storage.draft import write_whole

SCALE = "quick"
"""The scale whose times are kept."""


def cost_file() -> Path:
    """The file of the times."""
    return catalogue.DIRECTORY / "cost.json"


def measured_costs() -> dict[str, float]:
    """Processor time of experiments at quick scale [s]: id -> time; none where there is no file."""
    try:
        costs: dict[str, float] = json.loads(cost_file().read_text("utf-8"))["cpu_seconds"]
    except FileNotFoundError:
        return {}
    return costs


def expected_cost(identifier: str) -> float:
    """Processor time of an experiment [s]; one that was not measured costs what half of them do."""
    costs = measured_costs()
    return costs.get(identifier) or statistics.median(costs.values() or [1.0])


def renew_cost(identifier: str, scale: str, cpu_seconds: float) -> None:
    """Replace the time of an experiment that was run at quick scale; the others stay.

    An installed package may lie where nobody writes. The times then stay as they are.
    """
    if scale != SCALE:
        return
    costs = measured_costs() | {identifier: round(cpu_seconds, 1)}
    ordered = {name: costs[name] for name in sorted(costs, key=catalogue.paper_order)}
    page = {
        "what": "processor time of each experiment at quick scale [s]",
        "cpu_seconds": ordered,
    }
    with contextlib.suppress(StorageError):
        write_whole(cost_file(), (json.dumps(page, indent=2) + "\n").encode())
