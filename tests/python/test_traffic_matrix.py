"""Traffic matrices: rows, files of them, and that the flows follow their shares."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from penstock import Scenario, ScenarioError, run

FABRIC = {"kind": "leaf-spine", "racks": 3, "hosts_per_rack": 2, "spines": 2}
"""Hosts H0 to H5, racks T0 to T2 (nodes 6 to 8), spines S0 and S1."""
LIST = "src,dst,weight\nT0,T1,3\nH4,0,1\nT2,T2,0\n"
SQUARE = "to,T0,T1,T2\nT0,0,5,1\nT1,0,0,0\nT2,0.5,1,0\n"


def scenario(pairs: dict[str, Any], directory: Path = Path(), **fields: Any) -> Scenario:
    entry = {
        "kind": "open-loop",
        "label": "rpc",
        "load": 0.2,
        "sizes": {"kind": "fixed", "size": "10 kB"},
        "arrivals": {"kind": "poisson"},
        "pairs": pairs,
    }
    table = {"topology": FABRIC, "scheme": "dctcp", "traffic": [entry], "duration": "2 ms"}
    return Scenario.model_validate(table | fields, context={"directory": str(directory)})


def rows(made: Scenario) -> Any:
    return made.traffic[0].pairs.rows  # type: ignore[union-attr]


def test_a_file_is_the_rows_that_it_has(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text(LIST, "utf-8")
    (tmp_path / "square.csv.gz").write_bytes(gzip.compress(SQUARE.encode()))
    listed = scenario({"kind": "matrix", "file": "list.csv"}, tmp_path)
    assert rows(listed) == ((6, 7, 3.0), (4, 0, 1.0))
    square = scenario({"kind": "matrix", "file": "square.csv.gz"}, tmp_path)
    assert rows(square) == ((6, 7, 5.0), (6, 8, 1.0), (8, 6, 0.5), (8, 7, 1.0))
    written = scenario({"kind": "matrix", "rows": [["T0", "T1", 3], ["H4", 0, 1]]})
    assert written.content_hash() == listed.content_hash()
    record = tmp_path / "record.toml"
    record.write_text(listed.to_toml(), "utf-8")
    assert Scenario.from_toml(record).content_hash() == listed.content_hash()


def test_flows_follow_the_shares() -> None:
    made = scenario({"kind": "matrix", "rows": [["T0", "T1", 3], ["H4", "H0", 1], ["T2", "T2", 4]]})
    flows = run(made).flows
    count = flows.height
    rack = pl.col("src") // 2, pl.col("dst") // 2
    between = flows.group_by(rack[0].alias("from"), rack[1].alias("to")).len()
    shares = {(row[0], row[1]): row[2] / count for row in between.iter_rows()}
    # Within five standard errors of a binomial share.
    error = 5 * (0.25 / count) ** 0.5
    assert shares == {
        (0, 1): pytest.approx(3 / 8, abs=error),
        (2, 0): pytest.approx(1 / 8, abs=error),
        (2, 2): pytest.approx(4 / 8, abs=error),
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("src,dst,weight\nT0,T1,3\nT0,T9,3\n", ["line 3", "T9", "is no node", "T0"]),
        ("src,dst,weight\nT0,T1,many\n", ["line 2", "many", "the weight", "a number, 0 or more"]),
        ("src,dst,weight\nT0,T1\n", ["line 2", "has 2 columns, and the header 3"]),
        ("src,dst\nT0,T1\n", ["line 1", "has no weight column", "weight"]),
        ("to,T0,T1\nT0,0,0\n", ["without a weight", "above 0"]),
        ("to,T0,T7\nT0,0,1\n", ["line 1", "T7", "is no node"]),
        ("src,dst,weight\nT0,T1,3\nT2,T1,1\n6,7,0\n", ["line 4", "T0 to T1 again", "line 2"]),
        ("to,T0,T1,T1\nT0,0,1,0\n", ["line 1", '"T1" names a receiver twice', "src,dst,weight"]),
        ("to,T0,T1\nT0,0,1\nT1,1,0\nT0,0,0\n", ["line 4", "T0 to T0 again", "line 2"]),
        ("0,1,1\n1,2,3\n", ["line 1", '"1" names a receiver twice', "src,dst,weight"]),
        ("src,dst,weight\nT0,T1,1\nT0,T2,0\nS0,T1,1\n", ["line 4 has S0 for the sender", "host"]),
        ("src,dst,weight\nT0,7,1\n1,10,1\n", ["line 3 has S1 for the receiver", "0 to 5"]),
        ("src,dst,weight\n\nT0,T1,1\nH1,1,2\n", ["line 4 has H1 to H1", "take the row out"]),
        ("to,H0,H1\nH0,0,1\nH1,1,2\n", ["line 3 has H1 to H1", "a weight of 0"]),
        ("src,dst,weight\nT0,T1,1e308\nT0,T2,1e308\n", ["pairs.file", "smaller weights"]),
        ("src;dst;weight\nT0;T1;1\n", ["line 1", "one column, because a semicolon separates"]),
        ("src,dst,bytes,weight\nT0,T1,1,2\n", ["line 1", "bytes and weight", "keep one"]),
        ("weights\n1\n", ["line 1", "has one column", "src,dst,weight"]),
        ("", ["is empty"]),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(text: str, words: list[str], tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(text, "utf-8")
    with pytest.raises(ScenarioError) as refused:
        scenario({"kind": "matrix", "file": "m.csv"}, tmp_path)
    message = str(refused.value)
    assert "traffic[0].pairs.file" in message
    assert all(word in message for word in [*words, "m.csv"]), message


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ({"file": "missing.csv"}, ["traffic[0].pairs.file", "missing.csv"]),
        ({"rows": [["S0", "T1", 1]]}, ["rows[0][0]", "it is 9", "neither a host nor a switch"]),
        ({"rows": [["T3", "T1", 1]]}, ["rows[0][0]", "no such node"]),
        ({"rows": [[0, 0, 1]]}, ["rows[0]", "does not send to itself"]),
        ({"rows": [[0, 1, -1]]}, ["rows[0][2]", "0 or more"]),
        ({}, ["traffic[0].pairs.rows"]),
    ],
)
def test_wrong_rows_are_refused(pairs: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario({"kind": "matrix"} | pairs)
    assert all(word in str(refused.value) for word in words), str(refused.value)
