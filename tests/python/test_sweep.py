"""Sweeps: the grid, what is refused, what is written, going on after a kill, pooled seeds."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer

from penstock import Scenario, run
from penstock.cli import main
from penstock.cli.options import read_scenario
from penstock.errors import ScenarioError
from penstock.experiments import bound
from penstock.experiments.checked import checked
from penstock.experiments.measured import axis_title, is_percentile, short_name
from penstock.look import looks
from penstock.sweep.axis import axis_of, read_axis, split_values
from penstock.sweep.dataset import Dataset
from penstock.sweep.page import arranged, draw, write_page
from penstock.sweep.pooled import Pooled, pool
from penstock.sweep.seeds import LEAST, Seeds, read_seeds

SMALL = """
duration = "30 us"
topology = {kind = "single-switch", hosts = 4}
[measure]
sample_interval = "0 us"
[[traffic]]
kind = "open-loop"
sizes = {kind = "fixed", size = "3 kB"}
load = 0.4
load_on = {kind = "edge"}
"""
SCHEME = """
preset = "bfc"
[switch.assignment]
queues = 8
"""
METRIC = "slowdown(statistic='mean')"


@pytest.fixture
def small(here: Path) -> Path:
    """A working directory with a scenario of a few hundred packets, and a scheme."""
    Path("small.toml").write_text(SMALL)
    Path("mine.toml").write_text(SCHEME)
    return here


def sweep(*more: str, out: str = "out", metric: str = METRIC) -> int:
    return main(["sweep", "small.toml", "--jobs", "2", "--out", out, "--metric", metric, *more])


def files(out: str, below: str = "cells") -> dict[str, bytes]:
    root = Path(out) / below
    return {str(one.relative_to(root)): one.read_bytes() for one in root.rglob("*.parquet")}


# -- axes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "text", "labels"),
    [
        ("load", "0.3:0.9:0.1", ["0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"]),
        ("load", "0.3:0.5:0.15", ["0.3", "0.45"]),
        ("duration", "10us:50us:20us", ["10 us", "30 us", "50 us"]),
        ("duration", "500ns:2us:500ns", ["500 ns", "1 us", "1.5 us", "2 us"]),
        ("size", "100kB,1MB", ["100 kB", "1 MB"]),
        ("rate", '"40 Gb/s",100Gb/s', ["40 Gb/s", "100 Gb/s"]),
        ("queues", "8,32,128", ["8", "32", "128"]),
        ("scheme", "bfc,dctcp,./mine.toml", ["bfc", "dctcp", "mine"]),
        ("links", "[[1,2]],[[1,3],[2,3]]", ["[[1, 2]]", "[[1, 3], [2, 3]]"]),
        ("flag", "true,false", ["true", "false"]),
        ("name", "a:b:c", ["a:b:c"]),
        ("load", "0.30", ["0.3"]),
    ],
)
def test_values_of_an_axis(key: str, text: str, labels: list[str]) -> None:
    axis = read_axis(key, text)
    assert [value.label for value in axis.values] == labels
    again = axis_of(key, labels)
    assert [value.label for value in again.values] == labels
    assert [value.number for value in again.values] == [value.number for value in axis.values]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it has no value"),
        ("0.3,", "one of its values is empty; write one between two commas, or leave a comma out"),
        ("0.5:0.3:0.1", "the range is empty"),
        ("0.3:0.5:0", "above 0"),
        ("0.3:0.5", "needs its step"),
        ("1us:5us:1kB", "units do not go together"),
        ("1us:5us:1", "units do not go together"),
        ("0:1000000:1", "values; take at most"),
        ("0.3,0.30", 'two values are called "0.3"'),
        ("1 us,1000 ns", 'two values are called "1 us"'),
    ],
)
def test_wrong_values_are_refused(text: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        read_axis("load", text)


def test_commas_in_brackets_and_quotes_separate_nothing() -> None:
    assert split_values('a, [1, 2], {k = "x,y"}, "b,c"') == ["a", "[1, 2]", '{k = "x,y"}', '"b,c"']


# -- seeds -----------------------------------------------------------------------------------------


def test_seeds_are_listed_or_added() -> None:
    assert read_seeds("1..3,7", None).listed == (1, 2, 3, 7)
    auto = read_seeds("auto..20", "5%")
    assert (auto.precision, auto.most, auto.first()) == (0.05, 20, tuple(range(1, LEAST + 1)))


@pytest.mark.parametrize(
    ("seeds", "precision", "words"),
    [
        ("5..1", None, "range is empty"),
        ("x", None, "these are no seeds"),
        ("", None, "these are no seeds"),
        ("1..2..3", None, "these are no seeds"),
        ("auto", None, "no precision is given"),
        ("auto..2", "5%", "cannot have so many"),
        ("auto", "0", "no share"),
        ("auto", "five", "no share"),
        ("1..3", "5%", "the seeds are listed"),
    ],
)
def test_wrong_seeds_are_refused(seeds: str, precision: str | None, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        read_seeds(seeds, precision)


def test_seeds_are_added_until_the_interval_is_narrow() -> None:
    auto = Seeds((), 0.05, 30)
    wide, narrow = [1.0, 2.0, 3.0, 2.0], [2.0, 2.01, 1.99, 2.0]
    assert auto.more(wide, False) == (5, 6, 7, 8)  # doubled at most
    assert auto.more(narrow, False) == ()
    assert auto.more([1.0, 3.0] * 15, False) == ()  # as many as there may be
    assert auto.more([float("nan")] * 4, False) == ()
    assert auto.more([0.0] * 4, False) == ()
    slightly = [2.0, 2.1, 1.9, 2.0]
    assert auto.more(slightly, False)[0] == 5


# -- metrics ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("slowdwn()", 'did you mean "slowdown"'),
        ("slowdown(size_mx=3)", 'did you mean "size_max"'),
        ("slowdown", r"write slowdown\(\)"),
        ("busy()", "missing a required .*argument: 'link'"),
        ("1 + 2", "it measures nothing"),
        ("__import__('os')", "there is no metric"),
        ("(lambda: 1)()", "not in the language"),
        ("slowdown(**x)", "no parameter"),
        ("(", "this is no expression"),
    ],
)
def test_wrong_metrics_are_refused(text: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        checked(text)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("slowdown(size_max=3000)", 1.0),
        ("slowdown(statistic='deviation')", 0.0),
        ("total(of='drops')", 0.0),
        ("backlog_growth()", -math.inf),
        ("1 + 2 * slowdown()", 3.0),
        ("max(slowdown(), total(of='drops'))", 1.0),
        ("min(slowdown(), fct())", 0.0),
        ("fct() / slowdown()", 0.0),
        ("slowdown() - 1", -math.inf),
        ("-fct()", -math.inf),
        ("2 * backlog_growth()", -math.inf),
    ],
)
def test_metrics_know_the_least_that_they_can_be(text: str, least: float) -> None:
    assert bound.least(text) == least


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("busy(link=[0, 1])", 1.0),
        ("utilization()", 1.0),
        ("2 * utilization()", math.inf),
        ("pause_time()", 1.0),
        ("slowdown()", math.inf),
    ],
)
def test_a_share_is_no_more_than_all(text: str, most: float) -> None:
    assert bound.most(text) == most


def test_metrics_know_their_statistic() -> None:
    assert checked(" slowdown( size_max =3000 )") == "slowdown(size_max=3000)"
    assert is_percentile("slowdown(size_max=3000)")
    assert is_percentile("2 * max(fct())")
    assert not is_percentile(METRIC)
    assert not is_percentile("total(of='drops')")
    assert short_name("slowdown()") == "slowdown, p99"
    assert short_name("slowdown() / 2") == ""


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("slowdown(size_max=3000)", "slowdown, p99 (1: as fast as alone)"),
        ("slowdown(statistic='deviation')", "slowdown, deviation"),
        ("slowdown(statistic='count')", "slowdown, count"),
        ("fct()", "fct, mean [µs]"),
        ("buffer()", "buffer, p99 [bytes]"),
        ("utilization()", "utilization (share of time)"),
        ("total(of='drops')", "drops [packets]"),
        ("total(of='packet_hops')", "packet hops"),
        ("fct() / slowdown()", "fct() / slowdown()"),
    ],
)
def test_an_axis_says_what_a_metric_is_and_its_unit(text: str, title: str) -> None:
    assert axis_title(checked(text)) == title


# -- refusals before anything runs -----------------------------------------------------------------


def test_a_description_that_is_no_json_is_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out").mkdir()
    Path("out/sweep.json").write_text("{\n  broken")
    assert main(["sweep", "quickstart", "--seeds", "1", "--out", "out"]) == 2
    told = capsys.readouterr().err
    assert 'out/sweep.json": it is no JSON (line 2, column 3); name another directory' in told


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--set", "load"], ["this sets nothing"]),
        (["--set", "load=0.3", "--set", "load=0.4"], ["load is set twice"]),
        (["--set", "load=0.3,0.5", "--set", "traffic[0].load=0.1,0.2"],
         ["error: traffic[0].load = 0.1: it replaces \"load\", which is set as well"]),
        (["--set", "scheme=bfc,dctcp", "--set", "scheme.preset=pfc"], ["scheme.preset"]),
        (["--scheme", "bfc,dctcp", "--set", "scheme=pfc"],
         ['--set = "scheme=pfc": scheme is set twice; leave it to --scheme alone']),
        (["--scheme", "bfk*"], ["--scheme", "no scheme has a name of this pattern"]),
        (["--scheme", ","], ["--scheme", "it names nothing"]),
        (["--set", "load=0.3,,0.5"], ['load = "0.3,,0.5": one of its values is empty']),
        (["--set", "seed=1,2"], ["seeds are repetitions"]),
        (["--set", "lode=0.3,0.4"], ["at lode = 0.3", "at lode = 0.4", "no such field"]),
        (["--set", "load=0.3,3"], ["at load = 3: it is 3"]),
        (["--set", "scheme=bfc,bfk"], ["at scheme = bfk", 'did you mean "bfc"']),
        (["--set", "scheme=bfc,./none.toml"], ["at scheme = none", "cannot be read"]),
        (["--set", "scheme=dctcp,bfc", "--set", "scheme.switch.assignment.queues=8,16"],
         ["at scheme = dctcp, scheme.switch.assignment.queues = 8"]),
        (["--metric", "slowdwn()"], ["there is no metric"]),
        (["--metric", "slowdown(label='bckground')"],
         ['no traffic is labelled "bckground"; did you mean "background"']),
        (["--metric", "request_rate(label='background')"], ["no traffic of kind rpc is labelled"]),
        (["--metric", "busy(link=['H0', 'H1'])"], ["there is no link from H0 to H1; one of S0"]),
        (["--metric", "busy(link=['T9', 'S0'])"], ['there is no node "T9"']),
        (["--metric", "total(of='dropz')"], ['a run has no count "dropz"; did you mean "drops"']),
        (["--seeds", "3..1"], ["range is empty"]),
    ],
)  # fmt: skip
def test_what_cannot_run_is_refused_first(
    small: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: list[str]
) -> None:
    assert sweep(*more) == 2
    told = capsys.readouterr().err
    assert all(one in told for one in words), told
    assert not Path("out").exists()


@pytest.mark.parametrize("option", ["--scheme", "--set"])
def test_schemes_are_an_axis_by_either_option(
    small: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    named = "bfc-avoid,bfc-grace,./mine.toml"
    chosen = (
        ["--set", f"scheme={named}"] if option == "--set" else ["--scheme", "bfc-[ag]*,./mine.toml"]
    )
    assert sweep(*chosen, "--set", "load=0.2", "--seeds", "1", "--json") == 0
    assert json.loads(capsys.readouterr().out)["cells"]["made"] == 3
    assert sweep("--set", f"scheme={named}", "--set", "load=0.2", "--seeds", "1", "--json") == 0
    assert json.loads(capsys.readouterr().out)["cells"] == {"made": 0, "found": 3, "missing": 0}


# -- the dataset -----------------------------------------------------------------------------------


def test_a_sweep_is_one_dataset_found_by_its_values(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = ["--set", "load=0.2,0.4", "--set", "scheme=bfc,./mine.toml"]
    assert sweep(*grid, "--seeds", "1..2", "--flows", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["cells"] == {"made": 8, "found": 0, "missing": 0}
    found = pl.scan_parquet("out/cells", hive_partitioning=True).collect()
    assert found.height == 8
    row = found.filter(load=0.4, scheme="mine", seed=2).row(0, named=True)
    settings = ["load=0.4", "scheme=./mine.toml"]
    made = run(read_scenario("small.toml", settings=settings, seed=2))
    assert row["digest"] == made.summary["digest"]
    assert row["scenario_hash"] == made.summary["scenario_hash"]
    assert row[METRIC] == made.flows["slowdown"].mean()
    flows = pl.scan_parquet("out/flows", hive_partitioning=True).collect()
    assert flows.filter(load=0.4, scheme="mine", seed=2).height == made.flows.height
    before = files("out")
    assert sweep(*grid, "--seeds", "1..2", "--flows", "--json") == 0
    assert json.loads(capsys.readouterr().out)["cells"]["found"] == 8
    assert files("out") == before


@pytest.mark.every_format
def test_seeds_are_pooled_and_never_schemes(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep("--set", "scheme=bfc,dctcp", "--seeds", "1..3", "--json") == 0
    points = json.loads(capsys.readouterr().out)["points"]
    assert [one["scheme"] for one in points] == ["bfc", "dctcp"]
    values = pl.read_parquet("out/cells/scheme=bfc/*/cell.parquet")[METRIC]
    assert points[0]["mean"] == pytest.approx(values.mean())
    assert points[0]["low"] < points[0]["mean"] < points[0]["high"]
    page = Path("out/report.html").read_text("utf-8")
    assert "6 runs, 3 seeds a point" in page
    assert "seed=1" not in page.partition("</header>")[2]
    assert Path("out/figures/metric-1.png").is_file()
    paper = Path("out/figures/metric-1.pdf").read_bytes()
    assert b"/TrueType" in paper or b"/CIDFontType2" in paper
    assert b"/Type3" not in paper  # publishers refuse such fonts


def test_values_and_seeds_can_be_added_and_nothing_else(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep("--set", "load=0.2,0.4", "--seeds", "1") == 0
    assert "write --seeds 1..3" in capsys.readouterr().out
    assert sweep("--set", "load=0.2:0.6:0.2", "--seeds", "1..2", "--json") == 0
    out = capsys.readouterr().out
    told = json.loads(out[out.index("\n{") :] if not out.startswith("{") else out)
    assert told["cells"] == {"made": 4, "found": 2, "missing": 0}
    for more, words in [
        (["--set", "load=0.2,0.4", "--set", "duration=20us"], "other fields with --set"),
        (["--set", "load=0.2,0.4", "--set", "drain=1ms,2ms"], "other axes"),
        (["--set", "load=0.2,0.4", "--metric", "fct()"], "other metrics"),
        (["--set", "load=0.2,0.4", "--flows"], "another choice of --flows"),
    ]:
        assert sweep(*more) == 2
        assert words in capsys.readouterr().err
    Path("small.toml").write_text(SMALL.replace("30 us", "31 us"))
    assert sweep("--set", "load=0.2,0.4") == 2
    assert "another scenario" in capsys.readouterr().err


def test_a_sweep_goes_on_from_another_directory(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep("--set", "scheme=bfc,./mine.toml", "--seeds", "1") == 0
    monkeypatch.chdir(small.parent)
    folder = f"./{small.name}"
    axis = f"scheme=bfc,{folder}/mine.toml"
    command = ["sweep", f"{folder}/small.toml", "--metric", METRIC, "--set", axis, "--seeds", "1"]
    capsys.readouterr()
    assert main([*command, "--out", f"{folder}/out", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cells"] == {"made": 0, "found": 2, "missing": 0}


def test_a_changed_scheme_is_not_mixed_with_the_old_one(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep("--set", "scheme=bfc,./mine.toml", "--seeds", "1") == 0
    Path("mine.toml").write_text(SCHEME.replace("8", "16"))
    assert sweep("--set", "scheme=bfc,./mine.toml", "--seeds", "1") == 2
    assert "a file has changed since" in capsys.readouterr().err


def test_another_directory_is_not_written_to(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out").mkdir()
    Path("out/letter.txt").write_text("dear")
    assert sweep("--set", "load=0.2,0.4") == 2
    assert "it holds what no sweep wrote" in capsys.readouterr().err
    assert [one.name for one in Path("out").iterdir()] == ["letter.txt"]


def test_what_cannot_be_measured_fails_alone(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metric = "busy(link=['H0', 4])"  # with five hosts, 4 is one of them
    assert sweep("--set", "topology.hosts=4,5", "--seeds", "1", metric=metric) == 1
    told = capsys.readouterr()
    assert "failed: topology.hosts = 5, seed = 1: busy(" in told.err
    assert len(files("out")) == 1


def test_a_run_that_gives_no_number_has_none_in_the_files(small: Path) -> None:
    more = ["--set", "load=0.2,0.4", "--seeds", "1"]
    for _ in range(2):  # made, and found
        assert sweep(*more, metric="slowdown(size_min=1000000000)") == 0
        found = pl.read_parquet("out/cells/*/*/cell.parquet")
        assert found["slowdown(size_min=1000000000)"].to_list() == [None, None]
        table = pl.read_csv("out/table.csv")
        assert table.select("mean", "low", "high").null_count().row(0) == (2, 2, 2)


def test_seeds_are_added_for_a_precision(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--set", "load=0.2,0.6", "--seeds", "auto..12", "--precision", "2%", "--json"]
    assert sweep(*more) == 0
    told = json.loads(capsys.readouterr().out)
    for one in told["points"]:
        half = max(one["high"] - one["mean"], one["mean"] - one["low"])
        assert one["cells"] == 12 or half <= 0.02 * one["mean"]
        assert one["cells"] >= LEAST
    before = files("out")
    assert sweep(*more) == 0
    assert files("out") == before


def test_a_sweep_that_is_stopped_while_it_reads_counts_what_is_there(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = ["--set", "load=0.2,0.4", "--seeds", "1..3"]
    assert sweep(*grid) == 0
    read = Dataset.read

    def stopped(dataset: Dataset, key: str) -> dict[str, Any] | None:
        signal.raise_signal(signal.SIGINT)
        return read(dataset, key)

    monkeypatch.setattr(Dataset, "read", stopped)
    capsys.readouterr()
    for seeds, missing in (("1..3", "no cell is"), ("1..4", "2 cells are")):
        assert sweep(*grid[:-1], seeds) == 1
        said = capsys.readouterr()
        assert "cells: 0 run now, 6 there before" in said.out
        assert f"interrupted; {missing} missing; the same command goes on" in said.err


@pytest.mark.slow
def test_a_killed_sweep_goes_on_with_the_same_bytes(small: Path) -> None:
    # A cell takes some hundredths of a second, so that the kill does not come after the last one.
    grid = ["--set", "load=0.1:0.4:0.1", "--seeds", "1..4", "--set", "duration=1ms"]
    assert sweep(*grid, out="whole") == 0
    command = [sys.executable, "-m", "penstock", "sweep", "small.toml", "--jobs", "2", "--out"]
    command += ["killed", "--metric", METRIC, *grid]
    for least in (1, 6):
        with subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL) as one:
            deadline = time.monotonic() + 60
            while (
                len([*Path("killed").rglob("cell.parquet")]) < least and time.monotonic() < deadline
            ):
                time.sleep(0.01)
            os.killpg(one.pid, signal.SIGKILL)
    assert 1 <= len(files("killed")) < 16
    assert sweep(*grid, out="killed") == 0
    assert files("killed") == files("whole")
    assert Path("killed/table.csv").read_bytes() == Path("whole/table.csv").read_bytes()


def test_figures_go_along_numbers_and_schemes_are_lines() -> None:
    load, scheme = read_axis("load", "0.1:0.5:0.1"), read_axis("scheme", "bfc,dctcp")
    queues, delay = read_axis("queues", "8,16"), read_axis("delay", "1us,2us,3us")
    assert arranged([scheme, load]) == (load, scheme, [])
    assert arranged([queues, load]) == (load, None, [queues])
    assert arranged([scheme, queues, load]) == (load, scheme, [queues])
    assert arranged([queues, delay, load]) == (load, delay, [queues])
    assert arranged([scheme]) == (scheme, None, [])


def test_the_axis_of_a_quantity_has_its_unit(small: Path) -> None:
    table = pl.DataFrame({"mean": [1.0, 2.0], "low": [1.0, 2.0], "high": [1.0, 2.0]})
    for axis, title, unit, places in (
        (read_axis("topology.delay", "1us,1500ns"), "topology.delay [µs]", "number", [1, 1.5]),
        (read_axis("rate", "10Gb/s,400Gb/s"), "rate [Gb/s]", "number", [10, 400]),
        (read_axis("kmin", "20kB,1MB"), "kmin", "bytes", [20_000, 1_000_000]),
        (read_axis("load", "0.2,0.5"), "load", "number", [0.2, 0.5]),
    ):
        labels = pl.Series(axis.key, [value.label for value in axis.values])
        rows = table.with_columns(labels, metric=pl.lit("fct()"))
        ((figure,), _) = draw(Pooled("small", (axis,), ("fct()",), rows.with_columns(cells=1), 2))
        assert (figure.chart.x.title, figure.chart.x.unit) == (title, unit)
        assert figure.chart.y.title == "fct, mean [µs]"
        assert figure.drawing.axes[0].get_ylabel() == "fct, mean [µs]"
        assert figure.chart.table[axis.key].to_list() == pytest.approx(places)


def test_the_axis_of_a_size_has_its_units_at_the_ticks() -> None:
    axis, numbers = read_axis("load", "0.2,0.5"), {"mean": [1e6, 2e6], "low": [1e6] * 2}
    rows = pl.DataFrame({"load": ["0.2", "0.5"], "high": [2e6] * 2, "cells": 1, **numbers})
    rows = rows.with_columns(metric=pl.lit("buffer()"))
    ((figure,), _) = draw(Pooled("small", (axis,), ("buffer()",), rows, 2))
    assert (figure.chart.y.title, figure.chart.y.unit) == ("buffer, p99", "bytes")
    drawn = figure.drawing.axes[0]
    assert drawn.get_ylabel() == "buffer, p99"
    assert drawn.yaxis.get_major_formatter()(1.5e6) == "1.5 MB"


def pooled_by_load(low: float, cells: int, mean: float = 2.0) -> Pooled:
    """Two points of a metric, each with the same numbers."""
    axis = read_axis("load", "0.2,0.5")
    numbers = {"mean": [mean] * 2, "low": [low] * 2, "high": [low] * 2, "metric": ["fct()"] * 2}
    table = pl.DataFrame({"load": ["0.2", "0.5"], **numbers, "seeds": cells, "cells": cells})
    return Pooled("small", (axis,), ("fct()",), table, 2 * cells)


def test_a_band_is_told_where_there_is_one(tmp_path: Path) -> None:
    for cells, low, words in ((1, math.nan, ""), (3, 1.0, "95% interval of the mean")):
        pooled = pooled_by_load(low, cells)
        ((figure,), _) = draw(pooled)
        (note,) = [one.get_text() for one in figure.drawing.texts if "small · " in one.get_text()]
        assert ("band: " in note) == bool(words)
        assert figure.chart.band_words == words
        assert ("interval of that mean" in figure.words) == bool(words)
        page = write_page(pooled, tmp_path / str(cells), "penstock sweep").read_text("utf-8")
        assert ("Means over seeds" in page) == ("in brackets" in page) == bool(words)
        assert ("write --seeds 1..3" in page) != bool(words)


def test_an_axis_of_zeros_begins_at_zero() -> None:
    ((figure,), _) = draw(pooled_by_load(0.0, 3, mean=0.0))
    assert figure.drawing.axes[0].get_ylim() == pytest.approx((0.0, 1.05))


def test_a_metric_without_a_number_has_no_figure() -> None:
    assert draw(pooled_by_load(math.nan, 1, mean=math.nan)) == (
        [],
        ["Figure of fct(): no run gave a finite number, e.g. for lack of flows."],
    )


def test_a_panel_without_a_number_is_left_out() -> None:
    axes = (read_axis("load", "0.2:0.8:0.2"), read_axis("queues", "8,16,32"))
    rows = [
        {"load": load, "queues": queues, "metric": "fct()", "low": math.nan, "high": math.nan}
        | {"mean": math.nan if queues == "16" else 1.0, "seeds": 1, "cells": 1}
        for load in ("0.2", "0.4", "0.6", "0.8")
        for queues in ("8", "16", "32")
    ]
    ((figure,), missing) = draw(Pooled("small", axes, ("fct()",), pl.DataFrame(rows), 12))
    titles = [ax.get_title(loc="left") for ax in figure.drawing.axes if ax.get_visible()]
    assert (titles, missing) == (["queues = 8", "queues = 32"], [])


def test_means_of_names_are_not_joined() -> None:
    numbers = {"mean": [2.0] * 4, "low": [1.0] * 4, "high": [3.0] * 4, "metric": ["fct()"] * 4}
    counts = {"seeds": [3] * 4, "cells": [3] * 4}
    scheme, sizes = axis_of("scheme", ["bfc", "dctcp"]), axis_of("sizes", ["a", "b", "c", "d"])
    alone = {"scheme": ["bfc", "dctcp", "hpcc", "pfc"]} | numbers | counts
    beside = {"sizes": ["a", "a", "b", "b"], "scheme": ["bfc", "dctcp"] * 2} | numbers | counts
    for axes, columns in (
        ((axis_of("scheme", alone["scheme"]),), alone),
        ((sizes, scheme), beside),
    ):
        pooled = Pooled("small", axes, ("fct()",), pl.DataFrame(columns), 12)
        ((figure,), _) = draw(pooled)
        assert figure.chart.form == "points"
        (ax,) = figure.drawing.axes
        marks = [one for one in ax.containers if isinstance(one, ErrorbarContainer)]
        assert all(one.lines[0].get_linestyle() == "None" for one in marks)
        names = columns["scheme"]
        drawn = {to_hex(one.lines[0].get_color(), keep_alpha=False) for one in marks}
        assert drawn == {one.colour.lower() for one in looks(names).values()}
        places = [place for one in marks for place in one.lines[0].get_xdata()]
        assert len(set(places)) == 4, "no mark covers another"
        assert "whisker" in "".join(one.get_text() for one in figure.drawing.texts)


def test_a_dataset_without_axes_is_pooled(small: Path) -> None:
    assert sweep("--seeds", "1..2") == 0
    found = pool(Path("out"))
    assert found.table.height == 1
    assert found.table["cells"].to_list() == [2]
    [low] = found.table["low"]
    assert low == 1, "two seeds tell little, but no slowdown is below 1"


def test_a_point_is_what_it_was_when_it_was_checked(small: Path) -> None:
    from penstock.sweep.grid import read_grid

    grid = read_grid("small.toml", ["load=0.2,0.4"], 1, oversize=False)
    Path("small.toml").unlink()
    made = grid.points[1].scenario(5)
    Path("small.toml").write_text(SMALL)
    expected = Scenario.load("small.toml", {"load": 0.4, "seed": 5})
    assert made.content_hash() == expected.content_hash()


def test_two_seeds_are_one_row_of_a_report(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in ("1", "2"):
        for scheme in ("bfc", "dctcp"):
            out = f"runs/{scheme}{seed}"
            assert (
                main(["run", "small.toml", "--scheme", scheme, "--seed", seed, "--out", out]) == 0
            )
    assert main(["report", *(f"runs/{one}" for one in ("bfc1", "bfc2", "dctcp1", "dctcp2"))]) == 0
    page = Path("runs/bfc1/report.html").read_text("utf-8")
    results = page.partition("<h2>Results</h2>")[2].partition("</section>")[0]
    assert results.count('<tr><th scope="row">') == 2
    assert '<th scope="row">bfc</th>' in results
    assert results.count(" [") >= 4
