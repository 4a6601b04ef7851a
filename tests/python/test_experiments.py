"""Experiments: every file is valid to the last expression; claims are judged, never dropped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from synthetic_runs import synthetic_run

from penstock import ScenarioError
from penstock.experiments import catalogue
from penstock.experiments.bounds import bounds_text
from penstock.experiments.checked import check_experiment
from penstock.experiments.claim import Claim
from penstock.experiments.closed_form import empty_fraction, worst_empty_fraction
from penstock.experiments.expression import (
    FUNCTIONS,
    METRICS,
    Evaluator,
    MissingSchemeError,
    NoRunsError,
)
from penstock.experiments.figure import draw, run_of_seed
from penstock.experiments.grid import Cell, cells, stands
from penstock.experiments.judge import judge, left_out
from penstock.experiments.model import Experiment, FigureSpec, Point, Sweep
from penstock.experiments.reproduce import reproduce
from penstock.results import Run
from penstock.scenario import Scenario
from penstock.storage.name import file_names
from penstock.tables import COLUMNS

IDS = catalogue.identifiers()


def synthetic_runner(
    scenarios: Mapping[str, Scenario],
    *,
    out: Path,
    jobs: int | None,
    on_finished: Callable[[str, Run], None],
) -> dict[str, Run]:
    """In place of the simulator: real run directories with random tables."""
    made = {}
    for name, scenario in scenarios.items():
        fake = synthetic_run(scenario.scheme.name, seed=scenario.seed, flows=3_000)
        fake.summary["labels"] = [entry.label for entry in scenario.traffic]
        frames = {
            table: getattr(fake, table).select(
                pl.lit(0).cast(kind).alias(column)
                if column not in getattr(fake, table).columns
                else pl.col(column).cast(kind)
                for column, kind in COLUMNS[table].items()
            )
            for table in ("flows", "links", "buffers", "series", "active_flows", "flow_packets")
        }
        made[name] = Run(scenario.resolve(), fake.summary, frames)
        made[name].save(out / name)
        on_finished(name, made[name])
    return made


def test_the_papers_figures_are_there() -> None:
    names = ["table1", "fig2", "fig4", "fig7", "fig8", "fig9", "fig10", "fig11", "fig12", "fig13"]
    names += ["fig3", "fig30", "deadlock"]
    names += [f"fig{number}" for number in (14, 15, 16, *range(20, 30))]
    wanted = {f"bfc/{name}" for name in names}
    wanted |= {f"afq/fig{number}" for number in (7, 8, 9, 10, 11, 12, 14, 15, 16, 17)}
    wanted |= {"afq/bpr", "afq/isolation", "afq/skip-and-inject"}
    assert wanted <= set(IDS)


@pytest.mark.parametrize("identifier", IDS)
def test_every_run_of_an_experiment_is_a_valid_scenario(identifier: str) -> None:
    experiment = catalogue.load(identifier)
    for scale in experiment.scales.values():
        grid = cells(experiment, scale)
        assert len({cell.name for cell in grid}) == len(grid)
        for cell in grid[:: max(len(grid) // 20, 1)]:
            if not cell.missing:
                Scenario.model_validate(cell.table)


@pytest.mark.parametrize("identifier", IDS)
def test_no_scenario_is_named_like_a_figure(identifier: str) -> None:
    """The name stands below every figure, where it would read as the number of another one."""
    base = catalogue.load(identifier).scenario
    name = base if isinstance(base, str) else base["name"]
    assert not re.fullmatch(r"(fig|table)\d+", name)


def test_what_a_sweep_sets_can_be_a_part_of_its_schemes() -> None:
    sweep = {"schemes": ["bfc", "dctcp"], "set": {"scheme.switch.admission.buffer": "3 MiB"}}
    experiment = _experiment(measure="1", at_least=1).model_copy(
        update={"sweeps": [Sweep.model_validate(sweep)]}
    )
    grid = cells(experiment, experiment.scales["quick"])
    flows = [{"kind": "long-lived", "pairs": [[0, 1]]}]
    schemes = [Scenario(scheme=cell.table["scheme"], traffic=flows).scheme for cell in grid]
    assert [scheme.name for scheme in schemes] == ["bfc", "dctcp"]
    assert {str(scheme.switch.admission.buffer) for scheme in schemes} == {str(3 << 20)}


def test_a_scale_says_last_how_much_is_simulated() -> None:
    """Even of a point that has other traffic, and a length of its own."""
    flows = {"kind": "listed", "label": "flows", "flows": []}
    point = {"name": "long", "set": {"duration": "4 ms", "traffic": [flows]}}
    axis = {"name": "length", "points": [{"name": "usual"}, point]}
    scale = {"set": {"duration": "50 ms", "traffic.flows.flows": [[0, 1, 9, "0 ps"]]}}
    page = _experiment(measure="1", at_least=1).model_dump()
    page |= {"scenario": {"traffic": [flows]}, "sweeps": [{"axes": [axis]}]}
    made = Experiment.model_validate(page | {"scales": {"paper": scale | {"seeds": 1}}})
    grid = cells(made, made.scales["paper"])
    assert [cell.name for cell in grid] == ["usual-seed1", "long-seed1"]
    for cell in grid:
        assert cell.table["duration"] == "50 ms"
        assert cell.table["traffic"][0]["flows"] == [[0, 1, 9, "0 ps"]]


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"at_least": 2, "at_most": 1}, "no number is within the bounds, 2 to 1"),
        ({"above": 1, "at_most": 1}, "no number is within the bounds"),
        ({"near": 1, "within": -0.1}, "within is negative"),
    ],
)
def test_bounds_that_no_number_keeps_are_refused(bounds: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        _experiment(measure="1", **bounds)


@pytest.mark.parametrize(
    ("measure", "bounds", "verdict"),
    [
        ("1 / 0", {"at_least": 1}, "holds"),  # e.g. pauses, over those of a scheme that has none
        ("1 / 0", {"at_most": 9}, "fails"),
        ("0 / 0", {"at_most": 9}, "not decided"),
    ],
)
def test_what_is_infinite_is_beyond_every_bound(
    measure: str, bounds: dict[str, float], verdict: str
) -> None:
    (judgement,) = judge(_experiment(measure=measure, **bounds), [], "quick")
    assert judgement.verdict == verdict


TRAFFIC = {"kind": "open-loop", "sizes": "google", "load": 0.5, "label": "background"}
LOADS = {"name": "load", "key": "traffic[0].load", "values": [0.3, 0.5]}


def _grid(sweep: dict[str, Any], scale: dict[str, Any] | None = None) -> list[str]:
    """The names of the runs of an experiment with one sweep."""
    page = _experiment(measure="1", at_least=1).model_dump()
    page |= {"scenario": {"traffic": [TRAFFIC]}, "sweeps": [sweep]}
    made = Experiment.model_validate(page | {"scales": {"quick": {"seeds": 1} | (scale or {})}})
    return [cell.name for cell in cells(made, made.scales["quick"])]


@pytest.mark.parametrize(
    ("sweep", "set", "words"),
    [
        ({"axes": [LOADS]}, {"traffic[0].load": 0.1}, "quick.set.*sets .* the axis load varies"),
        ({"axes": [LOADS]}, {"traffic.background.load": 0.1}, "which the axis load varies"),
        ({"axes": [LOADS]}, {"load": 0.1}, "sets load, which the axis load varies"),
        ({"axes": [LOADS | {"key": "load"}]}, {"traffic[0].load": 0.1}, "the axis load varies"),
        ({"axes": [LOADS]}, {"traffic.background": {"load": 0.1}}, "which the axis load varies"),
        ({"axes": [LOADS]}, {"traffic": [TRAFFIC]}, "which the axis load varies"),
        ({"axes": [LOADS | {"values": [0.3]}]}, {"traffic": [TRAFFIC]}, "the axis load varies"),
        ({"axes": [LOADS]}, {"seed": 3}, "a scale says its seeds"),
        ({"schemes": ["bfc", "pfc"]}, {"scheme": "dctcp"}, 'quick.set = "dctcp": it sets scheme,'),
        ({"schemes": ["bfc"]}, {"scheme.preset": "dctcp"}, "it sets scheme.preset, which"),
    ],
)
def test_a_scale_does_not_set_what_an_axis_varies(
    sweep: dict[str, Any], set: dict[str, Any], words: str
) -> None:
    assert _grid(sweep)
    with pytest.raises(ScenarioError, match=words):
        _grid(sweep, {"set": set})


def test_a_sweep_and_its_axes_do_not_set_what_another_axis_varies() -> None:
    schemes = {"schemes": ["bfc", "dctcp"]}
    queues = {"name": "q", "key": "scheme.switch.assignment.queues", "values": [8, 64]}
    assert _grid(schemes | {"axes": [queues]})[:2] == ["bfc-8-seed1", "bfc-64-seed1"]
    with pytest.raises(ScenarioError, match=r"sweeps\[0\].set.* the axis scheme varies"):
        _grid(schemes | {"set": {"scheme": "pfc"}})
    again = {"name": "other", "key": "traffic.background.load", "values": [0.1, 0.2]}
    with pytest.raises(ScenarioError, match=r"sweeps\[0\].axes\[1\].* the axis load varies"):
        _grid({"axes": [LOADS, again]})


@pytest.mark.parametrize(
    ("sweep", "words"),
    [
        ({"schemes": ["bfc", "bfc"]}, '2 schemes are called "bfc"'),
        ({"schemes": ["./x/v.toml", "./y/v.toml"]}, '2 schemes are called "v"'),
        ({"axes": [LOADS | {"values": [8, 8, 64]}]}, '2 points are called "8"'),
        ({"axes": [LOADS | {"name": "sweep"}]}, '2 axes are called "sweep"'),
        ({"axes": [LOADS, LOADS]}, '2 axes are called "load"'),
        ({"schemes": ["bfc"], "axes": [LOADS | {"name": "scheme"}]}, '2 axes are called "scheme"'),
    ],
)
def test_no_two_runs_of_an_experiment_have_one_name(sweep: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        _grid(sweep)


def test_small_numbers_are_points_of_their_own() -> None:
    """Loss rates of links lie below 1e-9; what arithmetic rounds is the same point."""
    rates = [Point(value=value) for value in (0.0, 1e-12, 1e-10, 1e-9, 2e-9, 0.1 + 0.2)]
    for wanted, point in zip((0, 1e-12, 1e-10, 1e-9, 2e-9, 0.3), rates, strict=True):
        assert [one for one in rates if stands(one, wanted)] == [point]


def test_a_seed_stands_once_and_a_name_belongs_to_one_run() -> None:
    with pytest.raises(ValueError, match='3 seeds are "1"'):
        _grid({"axes": [LOADS]}, {"seeds": [1, 1, 1]})
    points = [{"name": name, "set": {"traffic[0].load": 0.3}} for name in ("a b", "a-b")]
    with pytest.raises(ScenarioError, match='2 runs are called "a-b-seed1"'):
        _grid({"axes": [{"name": "load", "points": points}]})


def test_a_run_stands_in_the_directory_of_its_name() -> None:
    names = ["../x", "10 Gb/s", "η = 90 %", "long" * 30]
    points = [{"name": name, "set": {"traffic[0].load": 0.3}} for name in names]
    grid = _grid({"name": "some runs", "axes": [{"name": "at", "points": points}]})
    assert grid[:2] == ["some-runs-.._x-seed1", "some-runs-10-Gb_s-seed1"]
    assert file_names(grid) == {name: name for name in grid}
    assert all(name.endswith("-seed1") for name in grid)


def test_classes_of_one_file_are_schemes_of_their_own() -> None:
    sweep = {"schemes": ["./two.py:Slow", "./two.py:Fast", "two:Slower"]}
    assert _grid(sweep) == ["Slow-seed1", "Fast-seed1", "Slower-seed1"]
    assert _grid(sweep, {"only": {"scheme": ["Fast"]}}) == ["Fast-seed1"]


@pytest.mark.parametrize("identifier", IDS)
def test_everything_in_an_experiment_can_be_measured(identifier: str) -> None:
    check_experiment(catalogue.load(identifier))


@pytest.mark.parametrize("text", ["open('x')", "a.b", "slowdown", "[x for x in y]", "f(1)"])
def test_expressions_can_call_nothing_else(text: str) -> None:
    with pytest.raises(ValueError, match="is not in the vocabulary"):
        Evaluator([], []).value(text)


def test_a_ratio_to_nothing_is_infinite_or_no_number() -> None:
    evaluator = Evaluator([], [])
    assert evaluator.value("1 - 3 / 0") == float("-inf")
    assert evaluator.value("0 / 0") != evaluator.value("0 / 0")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["max", "min", "mean"])
def test_what_was_not_measured_is_not_left_out_of_several_numbers(name: str) -> None:
    evaluator = Evaluator([], [])
    assert np.isnan(evaluator.value(f"{name}(0 / 0, 1, 2)"))
    assert np.isnan(evaluator.value(f"{name}(0 / 0)"))
    reduce = FUNCTIONS[name]
    bins = np.array([np.nan, 1.0, 3.0])
    assert reduce(bins) == {"max": 3, "min": 1, "mean": 2}[name]
    assert np.isnan(reduce(bins, float("nan"))) and np.isnan(reduce(np.full(2, np.nan)))


def test_closed_forms_give_the_papers_numbers() -> None:
    assert worst_empty_fraction(1) == pytest.approx(0.2)  # App. C
    assert empty_fraction(2, 1) == pytest.approx(0.2)
    assert empty_fraction(1.1, 1) == pytest.approx(0.076, abs=5e-4)


def _experiment(**claim: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "id": "x/y",
            "title": "t",
            "source": "s",
            "shows": "w",
            "scales": {"quick": {"seeds": [1]}},
            "sweeps": [{"schemes": ["bfc", "none-such"]}],
            "claims": [{"claim": "c", "reported": "r", **claim}],
        }
    )


def _cells() -> list[Cell]:
    points = [{"sweep": Point(name="main"), "scheme": Point(name=n)} for n in ("bfc", "none-such")]
    run = synthetic_run("bfc", flows=500)
    run.summary["drops"] = 3
    return [
        Cell(points[0], 1, {}, run=run),
        Cell(points[1], 1, {}, missing="none-such"),
    ]


def _verdict(**claim: Any) -> tuple[str, str]:
    (judgement,) = judge(_experiment(**claim), _cells(), "quick")
    return judgement.verdict, judgement.measured_text


def test_bounds_are_applied_as_they_stand() -> None:
    drops = "total(scheme='bfc', of='drops')"
    assert _verdict(measure=drops, at_most=3) == ("holds", "3")
    assert _verdict(measure=drops, below=3) == ("fails", "3")
    assert _verdict(measure=drops, at_least=2, at_most=4) == ("holds", "3")
    assert _verdict(measure=drops, near=2.5, within=0.2, relative=True) == ("holds", "3")
    assert _verdict(measure=drops, near=2.5, within=0.4) == ("fails", "3")
    assert _verdict(measure=f"{drops} / 10", at_least=30, unit="%") == ("holds", "30 %")
    assert _verdict(measure=drops, near="1 + 2", within=0) == ("holds", "3")
    (judged,) = judge(_experiment(measure=drops, near="2 * 1.5", within=0), _cells(), "quick")
    assert judged.tolerance == "3 ± 0"


def test_a_scheme_that_does_not_exist_is_reported() -> None:
    claim = {"measure": "total(scheme='none-such', of='drops')", "at_most": 0}
    assert _verdict(**claim) == ("not decided", "not implemented yet: none-such")
    over = {"measure": "total(of='drops')", "at_most": 0, "over": ["scheme"]}
    (judgement,) = judge(_experiment(**over), _cells(), "quick")
    assert judgement.verdict == "fails"
    assert judgement.remark == "Decided at scheme = bfc. not implemented yet: none-such"


def test_figures_say_what_is_missing_and_leave_out_what_they_must() -> None:
    figures = [
        {"name": "all", "kind": "slowdown"},
        {"name": "others", "kind": "slowdown", "without": ["bfc"]},
    ]
    experiment = _experiment(measure="1", above=0).model_copy(
        update={"figures": [FigureSpec.model_validate(one) for one in figures]}
    )
    drawn, told = draw(experiment, _cells())
    assert [figure.name for figure in drawn] == ["all"]
    assert told == [
        "Figure others: no runs (others).",
        "Scheme none-such: not implemented yet.",
    ]


def test_zeros_of_a_curve_are_told_from_the_least_value() -> None:
    curve = {"name": "c", "kind": "curve", "x": "load", "y_log": True}
    y = "(load - 0.3) * total(of='drops')"
    figure = FigureSpec.model_validate(curve | {"x_label": "x", "y_label": "y", "y": y})
    experiment = _experiment(measure="1", above=0).model_copy(update={"figures": [figure]})
    cells = [
        Cell(cell.at | {"load": Point(value=load)}, 1, {}, run=cell.run)
        for cell in _cells()[:1]
        for load in (0.3, 0.5)
    ]
    ((drawn,), _) = draw(experiment, cells)
    assert (drawn.chart.x.least, drawn.chart.y.least) == (0, pytest.approx(0.6))


def test_a_figure_along_an_axis_has_no_runs_of_sweeps_without_it() -> None:
    run = synthetic_run("bfc", flows=500)
    lines = [Point(name=name) for name in ("one", "two")]
    along = [Cell({"sweep": Point(name="main"), "control": one}, 1, {}, run=run) for one in lines]
    other = Cell({"sweep": Point(name="letter"), "option": lines[0]}, 1, {}, run=run)
    figure = FigureSpec.model_validate({"name": "f", "kind": "slowdown", "by": "control"})
    experiment = _experiment(measure="1", above=0).model_copy(update={"figures": [figure]})
    ((drawn,), _) = draw(experiment, [*along, other])
    assert drawn.data["name"].unique(maintain_order=True).to_list() == ["one", "two"]
    assert drawn.note == "synthetic · 2 runs · seed 1"


def test_a_timeline_shows_the_seed_that_it_names_or_the_first() -> None:
    runs: list[Any] = [SimpleNamespace(scenario=SimpleNamespace(seed=seed)) for seed in (1, 2, 3)]
    assert [int(run_of_seed(runs, seed).scenario.seed) for seed in (None, 1, 3, 9)] == [1, 1, 3, 1]


def test_claims_of_another_scale_are_left_out_and_told_of() -> None:
    claim = {"measure": "total(scheme='bfc', of='drops')", "at_most": 9, "scales": ["paper"]}
    made = _experiment(**claim)
    assert judge(made, _cells(), "quick") == []
    assert left_out(made, "quick") == ["1 claim is judged only at scale paper."]
    assert left_out(made, "paper") == []
    twice = made.model_copy(update={"claims": made.claims * 2})
    assert left_out(twice, "quick") == ["2 claims are judged only at scale paper."]


def test_missing_runs_are_errors_of_their_own() -> None:
    evaluator = Evaluator(_cells(), ["scheme"])
    with pytest.raises(MissingSchemeError, match="none-such"):
        evaluator.value("unfinished(scheme='none-such')")
    with pytest.raises(NoRunsError, match="hpcc"):
        evaluator.value("unfinished(scheme='hpcc')")


def test_bounds_in_words() -> None:
    base = {"claim": "c", "reported": "r", "measure": "1"}
    assert bounds_text(Claim(**base, at_least=36, at_most=40, unit="%")) == "36–40 %"
    assert bounds_text(Claim(**base, at_least=-3, at_most=3, unit="%")) == "-3 to 3 %"
    assert bounds_text(Claim(**base, below=3, unit="µs")) == "< 3 µs"
    assert bounds_text(Claim(**base, near=0.2, within=0.03)) == "0.2 ± 0.03"
    with pytest.raises(ValueError, match="a claim needs"):
        Claim(**base)


def test_an_unknown_id_names_the_nearest() -> None:
    with pytest.raises(ScenarioError, match=r'"bfc/fig99": there is no such.* are bfc/fig9, '):
        catalogue.load("bfc/fig99")


@pytest.mark.every_format
def test_reproduce_writes_runs_figures_report_and_json(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    done = reproduce(
        "bfc/fig10",
        "quick",
        tmp_path,
        progress=lambda finished, every, name: told.append((finished, every)),
        runner=synthetic_runner,
    )
    page = json.loads(done.to_json())
    assert list(page) == ["id", "scale", "claims", "series"]
    assert page["claims"] == [one.model_dump() for one in done.rows]
    assert {one["figure"] for one in page["claims"]} >= {"slowdown"}
    report = done.report.read_text("utf-8")
    assert '<a href="#slowdown">figure</a>' in report and 'href="#claim-1">claim 1 ' in report
    assert len(page["claims"]) == len(done.experiment.claims)
    assert None not in [c["value"] for c in page["claims"]]
    assert set(page["series"]["slowdown"]["name"]) - set(page["series"]["buffer"]["name"]) == {
        "expresspass"
    }
    assert told[-1] == (24, 24)
    assert "not implemented yet" not in done.report.read_text("utf-8")
    assert {"slowdown.svg", "slowdown.png", "slowdown.csv", "slowdown.json"} <= {
        path.name for path in (tmp_path / "figures").iterdir()
    }
    assert Run.load(tmp_path / "runs" / "bfc-seed1").flows.height == 3_000


def test_wasted_credits_are_a_share_of_those_sent() -> None:
    runs = [synthetic_run("expresspass", seed=seed, flows=10) for seed in (1, 2)]
    for run, (sent, wasted) in zip(runs, [(300, 30), (100, 2)], strict=True):
        run.summary |= {"credits_sent": sent, "credits_wasted": wasted}
    assert METRICS["wasted_credits"](runs) == 0.08


def test_a_queues_share_of_samples_counts_its_own_link() -> None:
    run = synthetic_run("bfc", flows=10)
    number = int(run.series["link"][0])
    ends = run.links.filter(run.links["link"] == number).select("from", "to").row(0)
    own = run.series["link"] == number
    queue = np.where(own.to_numpy(), np.arange(own.len()) % 4 * 100, 9_999)
    run.series = run.series.with_columns(queue_bytes=pl.Series(queue))
    expected = float((queue[own.to_numpy()] <= 100).mean())
    assert 0 < expected < 1
    assert METRICS["queue_at_most"]([run], link=ends, most=100) == expected
    drained = run.series.with_columns(time_ns=pl.lit(3e6), queue_bytes=pl.lit(0, pl.Int64))
    run.series = pl.concat([run.series, drained])
    assert METRICS["queue_at_most"]([run], link=ends, most=100) == expected


def test_drop_share_counts_packets_that_arrived() -> None:
    run = synthetic_run("bfc", flows=10)
    delays = {"count": 0, "mean": 0.0, "p50": 0.0, "p99": 0.0}
    run.summary["queue_delay_ns"] = {"a": delays | {"count": 90}, "b": delays | {"count": 6}}
    run.summary["drops"] = 4
    assert METRICS["drop_share"]([run]) == 0.04


def test_endless_flows_are_not_unfinished() -> None:
    run = synthetic_run("bfc", flows=4)
    run.flows = run.flows.with_columns(ideal_fct_ns=pl.Series([1.0, 1.0, 1.0, None]))
    run.summary |= {"flows_started": 4, "flows_finished": 2}
    assert METRICS["unfinished"]([run]) == pytest.approx(1 / 3)


def test_fairness_of_a_label_knows_its_endless_flows() -> None:
    run = synthetic_run("bfc", flows=3)
    run.summary["sim_end_ps"] = 2_000_000
    run.flows = run.flows.with_columns(
        label=pl.Series([1, 1, 0], dtype=pl.UInt32),
        size_bytes=pl.Series([0, 0, 9], dtype=pl.UInt64),
        start_ns=pl.lit(0.0),
        finished=pl.lit(value=False),
        delivered_bytes=pl.Series([100, 300, 9], dtype=pl.UInt64),
    )
    assert METRICS["fairness"]([run], label="incast") == pytest.approx(0.8)  # of 1 to 3
    with pytest.raises(ValueError, match="no traffic is called 'none'"):
        METRICS["fairness"]([run], label="none")


def test_an_experiment_without_runs(tmp_path: Path) -> None:
    done = reproduce("bfc/fig2", "quick", tmp_path)
    assert done.judgements[0].measured == pytest.approx(42.07, abs=0.01)
    assert done.report.is_file()


def test_an_interrupt_leaves_what_had_finished(tmp_path: Path) -> None:
    def interrupted(scenarios: Mapping[str, Scenario], **rest: Any) -> dict[str, Run]:
        first = dict(list(scenarios.items())[:2])
        return synthetic_runner(first, **rest)

    done = reproduce("bfc/fig10", "quick", tmp_path, runner=interrupted)
    assert [cell.name for cell in done.cells if cell.run] == ["bfc-seed1", "bfc-seed2"]
    assert "Interrupted: 22 runs were not made" in done.report.read_text("utf-8")
    told = {one.claim.claim: one for one in done.judgements}
    hpcc = told["HPCC's short flows have 2.3 to 3 times BFC's p99 slowdown."]
    assert (hpcc.verdict, hpcc.measured) == ("not decided", None)
