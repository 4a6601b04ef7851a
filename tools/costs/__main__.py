"""``make costs``: renews ``experiments/cost.json`` with the times that ``make reproduce`` took.

``.venv/bin/python tools/costs runs``: the directory is that of the results. The ``outcome.json``
of an experiment that was run alone may stand in its place. Experiments that were not run there keep
their times; those that exist no more go.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from penstock.experiments import catalogue
from penstock.experiments.cost import LEARNT_FILE, SCALE, read_costs, shipped_file, write_costs


def learnt_from(out: Path) -> dict[str, float]:
    """The times of a directory of results, or that of one outcome [s]."""
    if out.suffix != ".json":
        return read_costs(out / LEARNT_FILE)
    outcome = json.loads(out.read_text("utf-8"))
    is_time = outcome["scale"] == SCALE and not outcome["failure"]
    return {outcome["id"]: round(outcome["cpu_seconds"], 1)} if is_time else {}


def main() -> int:
    """Writes the file; the exit code."""
    [out] = map(Path, sys.argv[1:])
    learnt = learnt_from(out)
    if not learnt:
        sys.exit(f"{out} has no times at scale {SCALE}; run `make reproduce` before")
    known = read_costs(shipped_file()) | learnt
    kept = {name: known[name] for name in catalogue.identifiers() if name in known}
    write_costs(shipped_file(), kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
