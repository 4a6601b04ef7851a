"""``make bench``: time and memory per packet-hop, beside a bare event loop.

A packet-hop is a packet put on a wire, data or control. Every row is a process of its own that runs
its scenarios, and the bare loop, in turn, several times. Times are medians; a ratio is the median
of the ratios of each turn. The tables go to ``bench.json`` and ``docs/performance.md``.

``make bench BENCH=smoke`` runs every case briefly, to see that the benchmark works. It leaves the
page as it is.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path

import counts
import memory
import prices
import rival
import start
import table
import tables
from rich.console import Console
from timing import Bench

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"
REPEATS = 5
TABLES = {
    "fabrics": tables.fabrics,
    "collectives": tables.collectives,
    "demo": tables.demo_traffic,
    "open-flows": tables.open_flows,
    "bursts": tables.many_due,
    "flows": tables.per_flow,
    "threads": tables.threads,
    "memory": memory.memory,
    "lengths": memory.lengths,
    "ns3": rival.rival,
    "counts": counts.counts,
    "prices": prices.prices,
    "starts": start.starts,
}


def machine() -> str:
    """The processor, its cores and the system."""
    names = [platform.machine()]
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        names += [line.partition(": ")[2] for line in lines if line.startswith("model name")][:1]
    return f"{names[-1]}, {os.cpu_count()} cores, {platform.system()}"


def main() -> None:
    """Makes the tables, prints them and writes them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the compiled bench program")
    parser.add_argument("--json", type=Path, default=Path("bench.json"), help="file to write")
    parser.add_argument("--smoke", action="store_true", help="short runs, one repeat")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="turns of each scenario")
    parser.add_argument(
        "tables", nargs="*", choices=[[], *TABLES], default=[], help="which; default: all"
    )
    arguments = parser.parse_args()
    console = Console(file=sys.stdout)
    repeats = 1 if arguments.smoke else arguments.repeats
    bench = Bench(arguments.binary.resolve(), repeats, arguments.smoke)
    made = []
    for name in arguments.tables or TABLES:
        one = TABLES[name](bench)
        if one is None:
            console.print(f"{name}: left out, because it needs valgrind")
            continue
        one.show(console)
        made.append(one)
    where = table.Table("machine", ("machine", "repeats"), text_columns=1)
    where.add(machine(), f"{repeats}")
    rows = {
        one.name: [dict(zip(one.headings, row, strict=True)) for row in one.rows]
        for one in [where, *made]
    }
    arguments.json.write_text(json.dumps(rows, indent=2) + "\n")
    console.print(f"written: {arguments.json}")
    if not arguments.smoke:
        PAGE.write_text(table.filled(PAGE.read_text(), [where, *made]))
        console.print(f"written: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
