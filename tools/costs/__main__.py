"""``make costs``: renews ``experiments/cost.json`` with the times that ``make reproduce`` took.

``.venv/bin/python tools/costs runs``: the directory is that of the results. Experiments that were
not run there keep their times; those that exist no more go.
"""

from __future__ import annotations

import sys
from pathlib import Path

from penstock.experiments import catalogue
from penstock.experiments.cost import LEARNT_FILE, read_costs, shipped_file, write_costs


def main() -> int:
    """Writes the file; the exit code."""
    [out] = map(Path, sys.argv[1:])
    learnt = read_costs(out / LEARNT_FILE)
    if not learnt:
        sys.exit(f"{out / LEARNT_FILE} has no times; run `make reproduce` before")
    known = read_costs(shipped_file()) | learnt
    kept = {name: known[name] for name in catalogue.identifiers() if name in known}
    write_costs(shipped_file(), kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
