"""Reports: self-contained, complete, and honest about what they do not show."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from synthetic_runs import SyntheticRun, synthetic_run

from penstock import report

COMMAND = "penstock compare bfc-demo --scheme bfc,hpcc --out runs/demo"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    runs = {name: synthetic_run(name, badness=b) for name, b in {"bfc": 1.0, "hpcc": 3.0}.items()}
    path = report.write(runs, tmp_path_factory.mktemp("report"), command=COMMAND, title="BFC <x>")
    return path.read_text(encoding="utf-8")


class _Tags(HTMLParser):
    """Collects open tags, and addresses that would be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "href", "xlink:href") and not str(value).startswith(("data:", "#")):
                self.fetched.append(str(value))
        if tag not in ("meta", "br", "link", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element that closes itself opens nothing."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_fetches_nothing_and_is_well_formed(page: str) -> None:
    tags = _Tags()
    tags.feed(page)
    assert tags.fetched == []
    assert tags.open == []
    assert "<script" not in page and "url(http" not in page


def test_the_page_has_command_scenario_and_provenance(page: str) -> None:
    assert page.count(COMMAND) >= 2
    assert "BFC &lt;x&gt;" in page
    assert "synthetic" in page and "0000000000" in page
    assert "its queue at T0 is paused by S1" in page
    assert "<td>2.4 µs</td>" in page  # p99 queueing
    assert "<td>40 Gb/s</td>" in page  # long-lived flow: 10 MB in 2 ms


def test_every_figure_has_its_data(page: str) -> None:
    figures = re.findall(r'<figure id="([^"]+)"', page)
    assert figures[0] == "slowdown" and "buffer" in figures and "throughput" in figures
    encoded = re.findall(r'href="data:text/csv;base64,([^"]+)"', page)
    assert len(encoded) == len(figures)
    table = pl.read_csv(base64.b64decode(encoded[0]))
    assert {"name", "size_to", "flows", "unfinished", "p99"} <= set(table.columns)


def test_the_best_of_a_column_is_bold(page: str) -> None:
    rows = re.findall(r"<tr><td>(bfc|hpcc)</td>(.*?)</tr>", page, re.DOTALL)[:2]
    assert 'class="best"' in dict(rows)["bfc"]
    assert 'class="best"' not in dict(rows)["hpcc"]


def _bare(run: SyntheticRun) -> SyntheticRun:
    for table in ("buffers", "series", "active_flows"):
        setattr(run, table, getattr(run, table).clear())
    return run


def test_what_cannot_be_shown_is_said(tmp_path: Path) -> None:
    run = _bare(synthetic_run("dctcp"))
    run.summary["cancelled"] = True
    page = report.write(run, tmp_path / "report.html").read_text("utf-8")
    assert "not sampled (measure.sample_interval is 0)" in page
    assert "Fullest ingress: dctcp: 31 % of XOFF" in page
    assert "the run was stopped at 2.400 ms" in page
    assert re.findall(r'<figure id="([^"]+)"', page) == ["slowdown", "utilization"]


def test_claims_come_first_with_their_verdict(tmp_path: Path) -> None:
    words = {"reported": "nearly one", "tolerance": "≤ 2"}
    claims = [
        report.ClaimRow(
            claim="a",
            measured="1.1",
            number="0.9",
            spread="1–1.2 over 3 seeds",
            margin="read off",
            verdict="holds",
            **words,
        ),
        report.ClaimRow(claim="b", measured="3", verdict="fails", reason="scale", **words),
        report.ClaimRow(claim="c", measured="3", verdict="fails", reason="not stated", **words),
        report.ClaimRow(claim="d", measured="no run", verdict="not decided", **words),
    ]
    page = report.write({}, tmp_path, title="t", claims=claims, figures=[]).read_text("utf-8")
    verdicts = re.findall(r'<td class="verdict (\w+)">([^<]+)(?:<[^>]+>([^<]+))?', page)
    assert verdicts == [
        ("holds", "holds", ""),
        ("fails", "fails", "scale"),
        ("fails", "fails", "reason not stated"),
        ("open", "not decided", ""),
    ]
    first = page[page.index("<td>a</td>") : page.index("<td>b</td>")]
    for part in ("nearly one", "0.9", "1.1", "1–1.2 over 3 seeds", "≤ 2", "read off"):
        assert f">{part}<" in first
    assert not list(tmp_path.glob(".report*"))
