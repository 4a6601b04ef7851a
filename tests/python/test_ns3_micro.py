"""Runs of the ns-3 HPCC simulator, byte for byte: each flow to the nanosecond, in its order.

The runs and where they come from: tests/data/ns3-hpcc/README.md.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from penstock.cli import main

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data" / "ns3-hpcc"
MICRO = DATA / "micro"


@pytest.mark.parametrize("case", ["idle", "2to1", "nicrr", "100to1"])
@pytest.mark.parametrize("scheme", ["hpcc", "dcqcn", "dctcp", "timely"])
def test_small_runs(scheme: str, case: str, here: Path) -> None:
    assert main(["import-hpcc", str(MICRO / f"{scheme}__micro_{case}.txt"), "--out", "out"]) == 0
    reference = MICRO / f"fct_{scheme}__micro_{case}.txt"
    assert Path("out/fct.txt").read_text().splitlines() == reference.read_text().splitlines()


@pytest.mark.parametrize("scheme", ["hpcc", "dcqcn", "dctcp", "timely"])
def test_a_trace_with_incasts_and_pauses(scheme: str, here: Path) -> None:
    name = f"{scheme}__fb55_incast5_s1"
    assert main(["import-hpcc", str(DATA / "conf" / f"{name}.txt"), "--out", "out"]) == 0
    for kind in ("fct", "pfc"):
        reference = gzip.decompress((DATA / "fct" / f"{kind}_{name}.txt.gz").read_bytes())
        same = Path(f"out/{kind}.txt").read_bytes() == reference
        assert same, f"{kind}.txt differs: see penstock import-hpcc --compare"
