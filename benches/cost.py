"""Writes what each experiment costs: the processor time that `reproduce --all` took at quick scale.

    make reproduce
    python benches/cost.py

The times are in `experiments/cost.json`, from which `reproduce` estimates the time left.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Reads a summary, writes the costs and prints them as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--summary", type=Path, default=ROOT / "runs" / "summary-quick.json")
    chosen = parser.parse_args()
    summary = json.loads(chosen.summary.read_text("utf-8"))
    done = [one for one in summary["experiments"] if one["state"] == "done"]
    costs = {one["id"]: round(one["cpu_seconds"], 1) for one in done}
    page = {
        "what": "processor time of each experiment at quick scale [s]",
        "commit": summary["commit"],
        "cpu_seconds": costs,
    }
    file = ROOT / "experiments" / "cost.json"
    file.write_text(json.dumps(page, indent=2) + "\n", encoding="utf-8")
    for one in done:
        print(f"{one['id']:14} {one['runs']:5} runs {one['cpu_seconds']:8.1f} s")
    print(f"{'all':14} {sum(one['runs'] for one in done):5} runs {sum(costs.values()):8.1f} s")


if __name__ == "__main__":
    main()
