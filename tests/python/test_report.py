"""Reports: self-contained, complete, and honest about what they do not show."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import zlib
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from page_data import data_of
from synthetic_runs import SyntheticRun, synthetic_run

from penstock import report
from penstock.analysis import layer_summary, percentile, slowdown_by_size
from penstock.readable import number_text, time_text
from penstock.report import columns, kinds, section
from penstock.report.chart import Axis
from penstock.report.document import shortened
from penstock.report.figure import ReportFigure
from penstock.report.frame import whole_options
from penstock.report.table import HEADLINE, headline, unfinished
from penstock.results import SCENARIO_FILE
from penstock.storage.unfinished import CHECKPOINT_FILE, UNFINISHED

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
    assert "url(http" not in page and "Copyright (c) 2022 Leon Sorokin" in page
    modules = re.search(r'<script type="importmap">(.*?)</script>', page)
    assert modules
    imports = json.loads(modules[1])["imports"]
    assert {"penstock/page", "penstock/plot"} <= set(imports)
    assert all(one.startswith("data:text/javascript;base64,") for one in imports.values())


def test_what_others_wrote_is_as_it_was_reviewed() -> None:
    hashes = {
        "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
        "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
        "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    }
    folder = Path(report.__file__).parent / "vendor" / "uplot"
    found = {one.name: sha256(one.read_bytes()).hexdigest() for one in folder.iterdir()}
    assert found == hashes


def test_the_page_has_command_scenario_and_provenance(page: str) -> None:
    assert COMMAND in page
    assert "BFC &lt;x&gt;" in page
    assert "synthetic" in page and "0000000000" in page
    assert "its queue at T0 is paused by S1" in page
    assert "<td>2.4 µs</td>" in page  # p99 queueing
    assert "<td>40 Gb/s</td>" in page  # long-lived flow: 10 MB in 2 ms


def test_every_figure_has_its_data(page: str) -> None:
    figures = re.findall(r'<figure id="([^"]+)"', page)
    assert figures[0] == "slowdown" and "buffer" in figures and "throughput" in figures
    data = data_of(page)
    assert [one["name"] for one in data["figures"]] == figures
    assert data["names"] == ["bfc", "hpcc"] and set(data["looks"]) == {"bfc", "hpcc"}
    first = data["figures"][0]
    assert {"name", "size_to", "flows", "unfinished", "p99"} <= set(first["table"])
    assert [view["title"] for view in first["views"]] == ["Mean", "Median", "p95", "p99", "p99.9"]
    runs = {name: synthetic_run(name, badness=b) for name, b in {"bfc": 1.0, "hpcc": 3.0}.items()}
    expected = slowdown_by_size(runs)["p99"].to_list()
    assert first["table"]["p99"] == pytest.approx(expected, rel=1e-6)


def test_long_data_are_compressed_and_nothing_in_them_ends_the_script() -> None:
    short = columns.embed({"name": "</script><!-- a & b"})
    assert short.form == "json" and "<" not in short.text
    assert json.loads(short.text) == {"name": "</script><!-- a & b"}
    numbers = list(range(columns.COMPRESSED_FROM // 5))
    long = columns.embed({"numbers": numbers})
    assert long.form == "deflate" and len(long.text) < columns.COMPRESSED_FROM * 0.6
    assert json.loads(zlib.decompress(base64.b64decode(long.text))) == {"numbers": numbers}


def test_a_table_keeps_its_numbers_and_names() -> None:
    table = pl.DataFrame(
        {
            "name": ["b", "a", "b"],
            "exact": [1, 2, 9_007_199_254_740_993],
            "real": [1.23456789, float("nan"), float("inf")],
        }
    )
    assert columns.columns(table) == {
        "name": {"words": ["b", "a"], "at": [0, 1, 0]},
        "exact": [1, 2, 9_007_199_254_740_993],
        "real": [1.234568, None, "inf"],
    }
    assert columns.as_csv(table.select("name", "real")) == b"name,real\nb,1.23456789\na,\nb,inf\n"


def test_seeds_are_a_band_from_the_smallest_to_the_largest() -> None:
    runs = {"bfc": [synthetic_run("bfc", seed=seed, flows=4_000) for seed in (1, 2, 3)]}
    table = slowdown_by_size(runs)
    single = [slowdown_by_size([run]) for run in runs["bfc"]]
    for row in table.iter_rows(named=True):
        each = [one.filter(size_from=row["size_from"]) for one in single]
        p99 = [one["p99"][0] for one in each if one.height and one["flows"][0]]
        assert (row["p99_low"], row["p99_high"]) == (min(p99), max(p99))
    assert kinds.slowdown(table).views[0].band == ("mean_low", "mean_high")
    layers = layer_summary(runs)
    assert (layers["utilization_low"] <= layers["utilization"]).all()
    chart = kinds.layer_bars(layers, "utilization", Axis("u"), title="t")
    assert chart.views[0].band == ("utilization_low", "utilization_high")
    assert kinds.slowdown(single[0]).views[0].band is None


def test_samples_over_time_are_means_over_windows() -> None:
    count = 3 * kinds.WINDOWS
    table = pl.DataFrame(
        {
            "name": ["a"] * count,
            "link": ["T0-S0"] * count,
            "time_ns": np.arange(count) * 1_000.0,
            "queue_bytes": np.arange(count),
            "rate_bps": np.full(count, 2e9),
        }
    )
    chart = kinds.over_time(table)
    assert chart.table.height == kinds.WINDOWS
    assert chart.table["queue_bytes"][:2].to_list() == [1.0, 4.0]
    assert chart.table["time_us"][1] == 3.0 and set(chart.table["rate_gbps"]) == {2.0}
    longer = kinds.over_time(table.with_columns(pl.col("time_ns") * 100))
    assert longer.x.title == "Time [ms]" and longer.table["time_ms"][1] == 0.3


def test_the_best_of_a_column_is_bold(page: str) -> None:
    rows = re.findall(r'<tr><th scope="row">(bfc|hpcc)</th>(.*?)</tr>', page, re.DOTALL)[:2]
    assert 'class="best"' in dict(rows)["bfc"]
    assert 'class="best"' not in dict(rows)["hpcc"]


def test_values_that_read_alike_are_the_best_together() -> None:
    first, near, other = (synthetic_run("bfc", badness=badness) for badness in (1.0, 1.0, 3.0))
    flows = near.flows.with_columns(
        (pl.col("fct_ns") * (1 + 1e-6)).cast(near.flows["fct_ns"].dtype)
    )
    object.__setattr__(near, "flows", flows)
    rows = dict(headline({"one": [first], "near": [near], "other": [other]}).rows)
    at = [column.title for column in HEADLINE].index("All flows mean")
    assert [rows[name][at][1] for name in ("one", "near", "other")] == [True, True, False]
    alike = dict(headline({"one": [first], "near": [near]}).rows)
    assert not any(cells[at][1] for cells in alike.values())


def test_repeated_runs_are_listed_one_by_one(tmp_path: Path) -> None:
    runs = {"bfc": [synthetic_run("bfc", seed=seed, flows=4_000) for seed in (1, 2)]}
    page = report.write(runs, tmp_path).read_text("utf-8")
    part = page[page.index("<h2>Each seed</h2>") :]
    assert re.findall(r"<tr><td>(bfc)</td><td>(\d)</td>", part)[:2] == [("bfc", "1"), ("bfc", "2")]


def test_a_report_needs_no_matplotlib_and_no_scipy(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from synthetic_runs import synthetic_run; "
        "from penstock import report; report.write(synthetic_run('bfc', flows=500), sys.argv[2]); "
        "print([one for one in ('matplotlib', 'scipy') if one in sys.modules])"
    )
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", code, here, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def _bare(run: SyntheticRun) -> SyntheticRun:
    for table in ("buffers", "series", "active_flows"):
        setattr(run, table, getattr(run, table).clear())
    return run


def test_what_cannot_be_shown_is_said(tmp_path: Path) -> None:
    run = _bare(synthetic_run("dctcp"))
    page = report.write(run, tmp_path / "report.html").read_text("utf-8")
    assert "not sampled (measure.sample_interval is 0)" in page
    assert "Fullest ingress: dctcp: 31 % of XOFF" in page
    assert re.findall(r'<figure id="([^"]+)"', page) == ["slowdown", "traffic", "utilization"]


def test_no_line_of_a_table_ends_inside_an_option() -> None:
    words = whole_options("a<b (--trace causes tells)")
    assert words == 'a&lt;b (<span class="whole">--trace</span> causes tells)'


def test_a_number_of_queues_names_the_schemes_that_have_it() -> None:
    groups = {name: [synthetic_run(name, flows=500)] for name in ("bfc", "dctcp")}
    for members, kind in zip(groups.values(), ("dynamic", "class"), strict=True):
        assignment = SimpleNamespace(kind=kind, queues=32)
        members[0].scenario.scheme.switch = SimpleNamespace(assignment=assignment)
    shown = section.active_flows(groups)
    assert shown.chart.marks == {"31 queues: bfc": 31}
    assert "The number is that of bfc;" in shown.words
    alone = section.active_flows({"bfc": groups["bfc"]})
    assert alone.chart.marks == {"31 queues": 31} and "that of" not in alone.words


def test_a_run_that_was_stopped_is_said_first_and_how_it_goes_on(tmp_path: Path) -> None:
    run = synthetic_run("dctcp", flows=500)
    assert "was stopped" not in report.write(run, tmp_path / "whole.html").read_text("utf-8")
    run.summary["cancelled"] = True
    page = report.write(run, tmp_path / "stopped.html").read_text("utf-8")
    head = page[page.index("<h1>") : page.index("</header>")]
    assert "dctcp, seed 1: the run was stopped at 2.400 ms of simulated time" in head
    assert "its traffic lasts 2 ms" in head and "penstock resume" not in page
    directory = tmp_path / "my run"
    (directory / UNFINISHED).mkdir(parents=True)
    (directory / UNFINISHED / CHECKPOINT_FILE).touch()
    (directory / SCENARIO_FILE).write_text(run.scenario.to_toml())
    vars(run)["directory"] = directory
    page = report.write(run, tmp_path / "stopped.html").read_text("utf-8")
    assert f"<code>penstock resume &#39;{directory}&#39;</code>" in page[: page.index("</header>")]


def test_completion_times_are_split_by_traffic(tmp_path: Path) -> None:
    run = synthetic_run("dctcp", flows=500)
    page = report.write({"mine": run}, tmp_path).read_text("utf-8")
    table = page[page.index("<h2>Completion times by traffic</h2>") :].split("</table>")[0]
    rows = [re.findall("<td>(.*?)</td>", row) for row in table.split("<tr>")[2:]]
    for number, (label, row) in enumerate(zip(("background", "incast"), rows, strict=True)):
        flows = run.flows.filter(pl.col("label") == number)
        done = flows.filter("finished")
        counts = [str(done.height), str(flows.height - done.height)]
        assert row[:4] == ["mine", label, *counts]
        assert row[4] == time_text(done["fct_ns"].mean())
        assert row[6] == time_text(percentile(done["fct_ns"], 0.99))
        assert row[9] == number_text(percentile(done["slowdown"], 0.99))
    chart = next(one for one in data_of(page)["figures"] if one["name"] == "traffic")
    assert chart["x"]["names"] == ["background", "incast"]
    assert chart["table"]["fct_p99_us"][0] == pytest.approx(
        percentile(run.flows.filter(pl.col("label") == 0, "finished")["fct_ns"], 0.99) / 1e3
    )


def test_flows_that_did_not_finish_are_said_to_be_left_out_of_traffics(tmp_path: Path) -> None:
    run = synthetic_run("dctcp", flows=500)
    run.flows = run.flows.with_columns(finished=pl.col("flow") >= 10)
    page = report.write(run, tmp_path).read_text("utf-8")
    (found,) = [one for one in data_of(page)["figures"] if one["name"] == "traffic"]
    assert found["words"].endswith("incasts included. 10 flows did not finish and are left out.")
    run.flows = run.flows.with_columns(finished=False)
    page = report.write(run, tmp_path).read_text("utf-8")
    assert '<figure id="traffic"' not in page
    assert "Completion times by traffic: no flow finished." in page


def test_one_traffic_is_not_split(tmp_path: Path) -> None:
    """Flows without an end, which have no completion time, are none to split."""
    run = synthetic_run("dctcp", flows=500)
    endless = pl.when(pl.col("label") == 1).then(0).otherwise("size_bytes").cast(pl.UInt64)
    run.flows = run.flows.with_columns(size_bytes=endless)
    page = report.write(run, tmp_path).read_text("utf-8")
    assert "<h2>Completion times by traffic" not in page
    assert "Completion times by traffic: all flows are of one traffic." in page
    assert '<figure id="traffic"' not in page


def test_a_scenario_is_shown_without_most_of_its_flows() -> None:
    rows = [f"  [{flow}, 1, 2, 3]," for flow in range(1_000)]
    behind = ["]", "a = [", "  [1, 2]", "]", ""]
    text = "\n".join(["flows = [", *rows, *behind])
    more = "  # and 980 rows: see scenario.toml of the run"
    assert shortened(text) == "\n".join(["flows = [", *rows[:20], more, *behind])
    assert shortened("x" * 1_200) == "x" * 1_000 + " # and 200 characters\n"


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
    first = page[page.index("<td>a") : page.index("<td>b")]
    for part in ("nearly one", "0.9", "1.1", "1–1.2 over 3 seeds", "≤ 2", "read off"):
        assert f">{part}<" in first
    assert not list(tmp_path.glob(".report*"))


def test_unfinished_flows_name_their_seed_where_there_are_several() -> None:
    def one(seed: int) -> SyntheticRun:
        run = synthetic_run("bfc", seed=seed, flows=10)
        run.summary["unfinished"] = [{"flow": seed}]
        return run

    found = unfinished({"bfc": [one(1), one(2)], "pfc": [one(3)]})
    assert found["run"].to_list() == ["bfc, seed 1", "bfc, seed 2", "pfc"]


def test_a_figure_of_few_flows_does_not_promise_twenty_in_a_bin() -> None:
    few = section.slowdown({"bfc": [synthetic_run("bfc", flows=10)]})
    many = section.slowdown({"bfc": [synthetic_run("bfc", flows=1_000)]})
    assert isinstance(few, ReportFigure) and isinstance(many, ReportFigure)
    assert "none with many flows" in few.words
    assert "at least 20 flows each" in many.words
