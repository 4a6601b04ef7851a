"""Flow-size distributions: the built-in tables and files of users."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from penstock.workload import WORKLOADS, find_workload, read_cdf

MEANS = {
    "google": 2927.4,
    "google-2008": 2892,
    "google-bfc": 2907,
    "google-search": 440.8,
    "facebook-hadoop": 127_797,
    "facebook-hadoop-bfc": 121_849,
    "facebook-hadoop-hpcc": 120_421,
    "facebook-web-server": 62_874,
    "facebook-cache": 692_976,
    "web-search": 1_711_250,
    "web-search-homa": 2_547_268,
    "ali-storage": 40_870,
    "enterprise": 216_304,
    "data-mining": 7_470_236,
    "pcn-w1": 62_874,
    "pcn-w2": 517_632,
}
"""Mean flow sizes [B] under the native convention (workloads/README.md)."""


@pytest.mark.parametrize("name", [workload.name for workload in WORKLOADS])
def test_means_are_those_of_the_source(name: str) -> None:
    table = find_workload(name)
    assert table.mean() == pytest.approx(MEANS[name], rel=1e-3)


@pytest.mark.parametrize(
    ("name", "flows", "traffic"),
    [
        ("pcn-w1", [80.14, 10.32, 9.12, 0.41], [3.08, 5.89, 83.8, 7.04]),
        ("pcn-w2", [70.79, 16.59, 3.52, 9.1], [0.22, 1.56, 1.53, 96.7]),
    ],
)
def test_pcns_tables_have_the_shares_of_the_paper(
    name: str, flows: list[float], traffic: list[float]
) -> None:
    """PCN Table 1: shares of flows and of traffic [%] up to 10 KB, 100 KB, 1 MB and above."""
    edges = [10_000, 100_000, 1_000_000, float("inf")]
    found = [[0.0, 0.0] for _ in edges]
    points = find_workload(name).points
    for (size, share), (next_size, next_share) in itertools.pairwise(points):
        row = next(one for one, edge in enumerate(edges) if next_size <= edge)
        found[row][0] += next_share - share
        found[row][1] += (next_share - share) * (size + next_size) / 2
    mean = sum(row[1] for row in found)
    # The paper rounds to 0.01 %, and its columns sum up to 99.8 to 100.01 %.
    assert [100 * row[0] for row in found] == pytest.approx(flows, abs=0.02)
    assert [100 * row[1] / mean for row in found] == pytest.approx(traffic, abs=0.2)


def test_a_file_name_is_as_good_as_a_name() -> None:
    assert find_workload("Google_AllRPC") is not None
    assert find_workload("Google_AllRPC").points == find_workload("google").points


@pytest.mark.parametrize(
    "text",
    [
        "size_bytes,cdf\n100,0.5\n1000,1.0\n",
        "100 50\n1000 100\n",
        "550.0\n100 0.5\n1000 1\n",
        "# comment\n100\t0.5\n\n1000\t1\n",
    ],
)
def test_fraction_percent_and_mean_line_are_understood(tmp_path: Path, text: str) -> None:
    file = tmp_path / "sizes.txt"
    file.write_text(text)
    assert read_cdf(file).points == ((100, 0.5), (1000, 1.0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# sizes\n\n100 0.5\n10 1\n", "line 4 has the size 10, below 100 in the row above"),
        ("100 50\n1000 40\n2000 100\n", "line 2 has the share 40, below 50 in the row above"),
        ("100 0.5\n1e20 1\n", "line 2 has a size that no flow has"),
        ("100 0.5\n1000 0.9\n", "line 2 ends the table with a share of 0.9, not 1"),
        ("100 0\n1000 0.9999999\n", "with a share of 0.9999999, not 1"),
        ("10000001 0.5\n10000000 1\n", "the size 10000000, below 10000001 in the row above"),
        ("100 0.5\n1000 1.2\n", "1.2, not 1"),
        ("0 0.5\n0 1\n", "without bytes"),
        ("100 0.5\n1000 many\n", "line 2"),
        ("100 0.5\n-5 1\n", "line 2.*below zero"),
        ("0.5,1000\n1,20000\n", 'line 2: "20000" is above 100'),
        ("100 0.5\nnan 1\n", "line 2.*not finite"),
        ("100 1 0.5\n1000 1 1\n", "line 1.*3 columns"),
        ("sizes\n", "no rows"),
        ("size,share\n", "no rows"),
        ("1 kB,0.1\n2 kB,0.5\n4000,1\n", "line 1 has 3 columns"),
        ("1k,0.1\n2k,0.5\n4000,1\n", 'line 1: "1k" is not a number'),
        ('1000,"0.1"\n2000,1\n', "line 1.*not a number: it has quotes"),
        ("1_000,1\n", "line 1.*1_000.*is not a number"),
        ("١00 1\n", "line 1.*is not a number"),
        ("١ ٢\n1000 1\n", "line 1.*is not a number"),
        ('"1000","0.1"\n"2000","1"\n', "line 1.*not a number: it has quotes"),
        ("1000;0.1\n2000;1\n", 'line 1 has 1 column, because ";" separates none'),
        ("1000,10%\n2000,100%\n", "line 1.*10%.*not a number: it has a percent sign"),
        ("nan,nan\n1000,1\n", "line 1.*not finite"),
        ("size,share\nbytes,fraction\n1000,1\n", "line 2.*not a number"),
        ("size,share\n550.0\n1000,1\n", "line 2 has 1 column"),
        ("550.0\nsize,share\n1000,1\n", "line 2.*not a number"),
    ],
)
def test_a_table_that_is_no_distribution_is_refused(
    tmp_path: Path, text: str, expected: str
) -> None:
    file = tmp_path / "sizes.txt"
    file.write_text(text)
    with pytest.raises(ValueError, match=expected):
        read_cdf(file)
