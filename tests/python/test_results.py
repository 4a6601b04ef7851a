"""Runs in memory and on disk, and several side by side; with a stand-in for the core."""

from __future__ import annotations

import gc
import json
from inspect import signature
from pathlib import Path
from weakref import WeakSet

import polars as pl
import pytest
from fake_core import FakeCore

from penstock import (
    Progress,
    Run,
    Scenario,
    ScenarioError,
    SimulationError,
    _core,
    plot,
    run,
    run_many,
)
from penstock.cli.report import run_directories
from penstock.experiments.expression import METRICS
from penstock.report import write
from penstock.report.table import HEADLINE, headline
from penstock.results import KEPT_BYTES
from penstock.tables import FILES
from penstock.toml_text import parse_toml

QUICK = Scenario.from_name("quickstart")


def test_a_saved_run_reads_back(core: FakeCore, tmp_path: Path) -> None:
    made = run(QUICK)
    made.save(tmp_path / "run")
    stored = Run.load(tmp_path / "run")
    assert stored.summary == made.summary
    assert stored.flows.equals(made.flows)
    assert stored.scenario.to_json() == made.scenario.to_json()
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == sorted(
        [*FILES.values(), "scenario.toml", "summary.json"]
    )


def test_the_summary_says_where_the_result_comes_from(core: FakeCore) -> None:
    summary = run(QUICK).summary
    assert summary["seed"] == 1
    assert summary["scenario_hash"] == QUICK.content_hash()
    for key in ("version", "digest", "wall_seconds", "cpu_seconds", "ns_per_packet_hop"):
        assert summary[key]
    assert summary["peak_memory_bytes"] > 1_000_000


def test_an_empty_table_says_why(core: FakeCore) -> None:
    reasons = run(QUICK).summary["empty_tables"]
    assert reasons["events"] == "measure.events is false"
    assert reasons["series"] == "measure.series names no link"
    assert "flows" not in reasons
    listed = run(QUICK.with_overrides({"measure.events": True})).summary
    assert "no PFC pause: ingress peaked at 31 % of XOFF" in listed["empty_tables"]["events"]
    assert listed["notes"] == ["no PFC pause: ingress peaked at 31 % of XOFF"]


def test_a_threshold_beyond_the_memory_is_told(core: FakeCore) -> None:
    small = {"scheme.switch.admission.buffer": "700 kB"}
    fixed = QUICK.with_overrides({"scheme": "dcqcn-static", **small})
    assert run(fixed).summary["notes"] == ["no PFC pause: ingress peaked at 31 % of XOFF"]
    beyond = fixed.with_overrides({"scheme.switch.backpressure.xoff": "900 kB"})
    assert run(beyond).summary["notes"] == [
        "no PFC pause is possible: XOFF of 900 kB is more than a switch's whole memory of 700 kB, "
        "so packets are dropped instead"
    ]


def test_events_are_written_by_name(core: FakeCore) -> None:
    assert run(QUICK).packets["event"].to_list() == ["arrive", "drop"]


def test_a_directory_without_a_summary_is_no_run(core: FakeCore, tmp_path: Path) -> None:
    run(QUICK).save(tmp_path)
    (tmp_path / "summary.json").unlink()
    with pytest.raises(ScenarioError, match="no complete run"):
        Run.load(tmp_path)


def test_cells_of_a_sweep_are_no_run_and_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "cells").mkdir()
    expected = f"read them with polars.read_parquet('{tmp_path}/cells', hive_partitioning=True)"
    for read in (Run.load, run_directories):
        with pytest.raises(ScenarioError) as refused:
            read(tmp_path)
        assert expected in str(refused.value) and ": open " not in str(refused.value)
        (tmp_path / "report.html").touch()
        with pytest.raises(ScenarioError, match=r"open .*report\.html, or read them"):
            read(tmp_path)
        (tmp_path / "report.html").unlink()


def test_what_the_core_refuses_names_the_file(core: FakeCore, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(QUICK.to_toml())
    rows = [("duration", "0 ns", "write more"), ("traffic[0].load", "0.99", "write 0.8")]
    core.error = _core.ScenarioError(rows)
    with pytest.raises(ScenarioError) as refused:
        run(Scenario.from_toml(file))
    assert str(refused.value).splitlines() == [
        f"{file}: duration: it is 0 ns; write more",
        f"{file}: traffic[0].load: it is 0.99; write 0.8",
    ]


def test_a_broken_invariant_is_a_simulation_error(core: FakeCore) -> None:
    core.error = _core.SimulationError("a queue below zero")
    with pytest.raises(SimulationError, match="below zero"):
        run(QUICK, check=True)


def test_progress_and_cancelling(core: FakeCore) -> None:
    core.steps = 50
    seen: list[Progress] = []
    stopped = run(QUICK, progress=seen.append, cancel=lambda: len(seen) >= 3)
    assert stopped.is_cancelled
    assert [one.sim_ps for one in seen] == [0, 1, 2]


def test_several_runs_keep_their_order_and_are_saved(core: FakeCore, tmp_path: Path) -> None:
    names = ["hpcc", "bfc", "dctcp"]
    scenarios = {name: QUICK.with_overrides({"scheme": name}) for name in names}
    finished: list[str] = []
    runs = run_many(
        scenarios, out=tmp_path, jobs=2, on_finished=lambda name, _: finished.append(name)
    )
    assert list(runs) == names
    assert sorted(finished) == sorted(names)
    assert json.loads((tmp_path / "hpcc" / "summary.json").read_text())["scheme"] == "hpcc"


def test_a_failure_stops_the_others(core: FakeCore) -> None:
    core.error = _core.SimulationError("broken")
    with pytest.raises(SimulationError):
        run_many({str(seed): QUICK.with_overrides({"seed": seed}) for seed in range(8)}, jobs=1)
    assert len(core.scenarios) < 8


def test_endless_flows_are_listed_and_not_called_unfinished() -> None:
    endless = {"kind": "long-lived", "pairs": [[0, 2], [1, 2]]}
    finite = {"kind": "listed", "flows": [[0, 2, "1 MB", 0]]}
    made = run(
        Scenario(
            topology={"kind": "single-switch", "hosts": 3},
            traffic=[endless, finite],
            duration="20 us",
            drain="1 us",
        )
    )
    assert sorted(made.flows["size_bytes"]) == [0, 0, 1_000_000]
    assert not made.flows["finished"].any()
    assert made.flows.select("fct_ns", "slowdown", "ideal_fct_ns").null_count().row(0) == (3, 3, 2)
    ((_, cells),) = headline({"mixed": [made]}).rows
    shown = dict(zip((column.title for column in HEADLINE), cells, strict=True))
    assert shown["Unfinished"] == ("1", False)


def test_slowdown_by_label_and_by_size(core: FakeCore) -> None:
    made = run(QUICK)
    assert made.slowdown(by="size")["flows"].sum() == 2
    by_label = made.slowdown(by="label")
    assert by_label["label"].to_list() == ["background", "incast"]
    assert {"flows", "fct_p99_ns", "p99"} < set(by_label.columns) and "name" not in by_label.columns
    assert isinstance(made.slowdown(), pl.DataFrame)
    for wrong, words in (
        ({"by": "foo"}, 'by = "foo": there is no such grouping'),
        (
            {"labels": ["incst"]},
            'labels = "incst": no run has such a label; did you mean "incast"',
        ),
        ({"labels": "incast"}, r'labels = "incast": labels are a list; write \["incast"\]'),
        ({"by": "label", "labels": ["incast"]}, "labels: by label there is no such choice"),
    ):
        with pytest.raises(ScenarioError, match=words):
            made.slowdown(**wrong)


def test_a_run_of_another_version_says_so_when_it_cannot_be_read(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = run(QUICK)
    made.summary |= {"version": "9.9", "commit": "0123456789abcdef"}
    made.save(tmp_path / "run")
    assert Run.load(tmp_path / "run").summary["version"] == "9.9"  # what can be read, is
    text = (tmp_path / "run" / "scenario.toml").read_text()
    newer = {**parse_toml(text), "unheard_of": 1}
    monkeypatch.setattr("penstock.scenario.scenario.read_scenario", lambda _: newer)
    with pytest.raises(ScenarioError) as caught:
        Run.load(tmp_path / "run")
    first, second = caught.value.problems
    assert first.field == "unheard_of"
    assert "made by Penstock 9.9 of commit 0123456789, and this is Penstock" in second.message
    assert second.file == str(tmp_path / "run")
    assert second.remedy == "read it with that one, or run the scenario again"


def test_the_figures_of_a_run_are_functions_with_help(core: FakeCore) -> None:
    figures = run(QUICK).plot
    assert set(dir(figures)) == set(plot.__all__) - set(plot.OF_TABLES)
    for name in plot.__all__:
        first = next(iter(signature(getattr(plot, name)).parameters))
        assert (first == "runs") == (name in dir(figures))
    assert figures.slowdown.__doc__ == plot.slowdown.__doc__
    assert [*signature(figures.slowdown).parameters] == ["percentile", "bins", "labels", "ax"]
    assert repr(figures).startswith("<figures of <Run quickstart under bfc")
    with pytest.raises(AttributeError, match="no figure 'slowdwn'; did you mean \"slowdown\""):
        _ = figures.slowdwn
    assert not hasattr(figures, "style")  # a module of penstock.plot, and no figure


def test_large_tables_leave_the_memory_when_they_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = run(Scenario.from_name("quickstart", {"duration": "20 us"}))
    flows = finished.flows
    monkeypatch.setattr("penstock.results.KEPT_BYTES", flows.estimated_size() - 1)
    finished.save(tmp_path / "run")
    assert finished.flows is not flows
    assert finished.flows.equals(flows)
    assert finished.links is finished.links


def test_the_stored_tables_of_all_runs_share_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(Scenario.from_name("quickstart", {"duration": "20 us"})).save(tmp_path / "run")
    size = int(Run.load(tmp_path / "run").flows.estimated_size())
    monkeypatch.setattr("penstock.results._KEEPERS", WeakSet())
    monkeypatch.setattr("penstock.results.ALL_KEPT_BYTES", 2 * size)
    runs = [Run.load(tmp_path / "run") for _ in range(3)]
    tables = [one.flows for one in runs]
    assert runs[0].flows is tables[0]
    assert runs[1].flows is tables[1]
    assert runs[2].flows is not tables[2]
    assert runs[2].flows.equals(tables[2])
    del runs[0]
    gc.collect()
    assert runs[1].flows is runs[1].flows  # there is room again


def test_of_a_table_that_is_not_kept_only_the_columns_that_are_used_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(Scenario.from_name("quickstart", {"duration": "20 us"})).save(tmp_path / "run")
    whole = pl.read_parquet
    read: list[str] = []

    def reading(path: Path) -> pl.DataFrame:
        read.append(path.stem)
        return whole(path)

    monkeypatch.setattr(pl, "read_parquet", reading)
    pages = []
    for kept_bytes, of_flows in ((KEPT_BYTES, 1), (0, 0)):
        monkeypatch.setattr("penstock.results.KEPT_BYTES", kept_bytes)
        read.clear()
        found = Run.load(tmp_path / "run")
        assert METRICS["unfinished"]([found]) == 0.0
        assert METRICS["fct"]([found], statistic="count") > 0
        pages.append(write([found], tmp_path / "report.html").read_text())
        assert read.count("flows") == of_flows
    assert pages[0] == pages[1]


def test_a_directory_is_no_run_and_an_unknown_table_is_told(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"write Run.load\('runs/x'\)"):
        plot.slowdown("runs/x")  # type: ignore[arg-type]
    found = run(Scenario.from_name("quickstart", {"load": 0.2, "duration": "10 us"}))
    with pytest.raises(ScenarioError, match=r"a run has no such table.*flows"):
        found.scan("flow")
