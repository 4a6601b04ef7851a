"""Small runs of the ns-3 HPCC simulator, flow by flow and to the nanosecond.

The runs and where they come from: tests/data/ns3-hpcc/README.md.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cli import main
from penstock.hpcc.compare import KEY
from penstock.hpcc.output import FCT_COLUMNS, read_fct

MICRO = Path(__file__).parents[1] / "data" / "ns3-hpcc" / "micro"


@pytest.mark.parametrize("case", ["idle", "2to1", "nicrr", "100to1"])
@pytest.mark.parametrize("scheme", ["hpcc", "dcqcn", "dctcp", "timely"])
def test_every_flow_takes_the_same_time(scheme: str, case: str, here: Path) -> None:
    assert main(["import-hpcc", str(MICRO / f"{scheme}__micro_{case}.txt"), "--out", "out"]) == 0
    ours = read_fct(Path("out/fct.txt")).sort(KEY)
    reference = read_fct(MICRO / f"fct_{scheme}__micro_{case}.txt").sort(KEY)
    for column in FCT_COLUMNS:
        assert ours[column].to_list() == reference[column].to_list(), column
