"""The table of times beside another simulator."""

from __future__ import annotations

import tomllib
from pathlib import Path
from statistics import median

from table import Table
from timing import Bench

from penstock.hpcc.case import case_of_config

DATA = Path(__file__).resolve().parents[2] / "tests" / "data" / "ns3-hpcc"
SCHEMES = {"hpcc": "HPCC", "dctcp": "DCTCP", "dcqcn": "DCQCN"}


def rival(bench: Bench) -> Table:
    """The reference trace in both arithmetics, beside the ns-3 HPCC simulator."""
    headings = ("scheme", "packet-hops", "ns-3 HPCC s", "exact s", "its arithmetic s", "ratio")
    table = Table("ns3", headings)
    reference = tomllib.loads((DATA / "cpu_seconds.toml").read_text())
    for name, title in SCHEMES.items():
        seconds, _ = reference[name]
        config = bench.pick(f"conf/{name}__fb60_s1.txt", f"micro/{name}__micro_2to1.txt")
        cases = [case_of_config(DATA / config, way, {}) for way in ("exact", "ns3-hpcc")]
        runs = bench.beside([case.scenario.to_json() for case in cases]).runs
        exact, as_ns3 = (median(one.all_seconds) for one in runs)
        table.add(
            title,
            f"{runs[1].packet_hops:,}",
            f"{seconds:.1f}",
            f"{exact:.2f}",
            f"{as_ns3:.2f}",
            f"{seconds / as_ns3:.1f}",
        )
    return table
