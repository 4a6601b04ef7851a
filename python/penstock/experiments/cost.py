"""How much processor time experiments take, for the estimate of the time left.

`cost.json` beside the experiments is part of the package: the time that each took at quick scale
with the maintainers, who renew it by ``make costs``. Runs read it and never write it. What they
take themselves goes into a file in their directory of results, which comes first when the next ones
there are estimated. Only the estimate uses the times, and follows the speed of the machine besides.
Invariant: an experiment changes no entry but its own.
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

LEARNT_FILE = "reproduce-cost.json"
"""The times that runs took, in the directory below which experiments have their own."""


def shipped_file() -> Path:
    """The file of the times that the package brings."""
    return catalogue.DIRECTORY / "cost.json"


def known_costs(out: Path) -> dict[str, float]:
    """Processor time of experiments at quick scale [s]: id -> time, those of `out` first."""
    return read_costs(shipped_file()) | read_costs(out / LEARNT_FILE)


def expected_cost(identifier: str, out: Path) -> float:
    """Processor time of an experiment [s]; one that was not measured costs what half of them do."""
    costs = known_costs(out)
    return costs.get(identifier) or statistics.median(costs.values() or [1.0])


def learn_cost(identifier: str, scale: str, cpu_seconds: float, out: Path) -> None:
    """Replaces the time in `out` of an experiment that was run at quick scale; the others stay.

    A directory to which nothing can be written learns nothing.
    """
    if scale == SCALE:
        costs = read_costs(out / LEARNT_FILE) | {identifier: round(cpu_seconds, 1)}
        with contextlib.suppress(StorageError):
            write_costs(out / LEARNT_FILE, costs)


def read_costs(file: Path) -> dict[str, float]:
    """The times of a file: id -> processor time [s]; none where there is no such file."""
    try:
        written = json.loads(file.read_text("utf-8"))["cpu_seconds"].items()
        return {str(name): float(seconds) for name, seconds in written}
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return {}


def write_costs(file: Path, costs: dict[str, float]) -> None:
    """Writes times, id -> processor time [s], in the order of the papers.

    Raises
    ------
    StorageError
        The disk does not take the file.
    """
    ordered = {name: costs[name] for name in sorted(costs, key=catalogue.paper_order)}
    page = {
        "what": "processor time of each experiment at quick scale [s]",
        "cpu_seconds": ordered,
    }
    write_whole(file, (json.dumps(page, indent=2) + "\n").encode())
