"""Claims: one rule decides, each seed is judged alone, bounds can fail and say whose they are."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic_runs import synthetic_run

from penstock import ScenarioError
from penstock.experiments import catalogue
from penstock.experiments.bounds import apart_text
from penstock.experiments.claim import Claim
from penstock.experiments.decision import Limits, decide, median, spread_of
from penstock.experiments.expression import Evaluator
from penstock.experiments.grid import Cell, cells
from penstock.experiments.judge import Judgement, judge
from penstock.experiments.model import SEEDS, Experiment, Point
from penstock.runner import run
from penstock.scenario import Scenario

INF = float("inf")

TOTAL = "total(of='drops')"


@pytest.mark.parametrize(
    ("values", "limits", "verdict"),
    [
        ([3.0, 3.1, 3.2], Limits(lower=2), "holds"),
        ([3.0, 3.1, 3.2], Limits(lower=3.5), "fails"),
        ([2.01, 2.02, 2.30], Limits(lower=2), "not decided"),  # holds by 0.02, spreads over 0.29
        ([1.70, 1.98, 1.99], Limits(lower=2), "not decided"),  # fails by as little
        ([1.9, 2.5, 2.6], Limits(lower=2), "not decided"),  # a seed says otherwise
        ([2.0, 2.5, 2.5], Limits(lower=2), "holds"),  # margin and spread are equal
        ([2.0, 2.5, 2.5], Limits(lower=2, is_above=True), "not decided"),  # one is not above
        ([9.8, 10.0, 10.1], Limits(lower=9, upper=11), "holds"),
        ([9.0, 10.0, 11.1], Limits(lower=9, upper=11), "not decided"),
        ([0.0, 0.0, 0.0], Limits(upper=0), "holds"),
        ([0.0, 0.0, 1.0], Limits(upper=0), "not decided"),
        ([5.0, INF, INF], Limits(upper=9), "not decided"),
        ([INF, INF, INF], Limits(upper=9), "fails"),
        ([5.0], Limits(upper=9), "holds"),
        ([9.0], Limits(upper=9, is_below=True), "fails"),
    ],
)
def test_the_rule(values: list[float], limits: Limits, verdict: str) -> None:
    assert decide(median(values), values, limits).verdict == verdict


@pytest.mark.parametrize(
    ("values", "limits", "verdict"),
    [
        ([2.01, 2.02, 2.03, 2.1, 2.3, 9.0], Limits(lower=2), "holds"),  # from 2.01 to 9
        ([1.70, 1.98, 1.99, 1.99, 1.99, 1.99], Limits(lower=2), "fails"),
        ([1.99, 2.02, 2.03, 2.1, 2.3, 9.0], Limits(lower=2), "not decided"),
        ([1.0, *[3.0] * 9], Limits(lower=2), "holds"),  # one of ten may say otherwise
        ([1.0, 1.0, *[3.0] * 8], Limits(lower=2), "not decided"),  # two may not
        ([9.0, *[3.0] * 9], Limits(lower=4, upper=5), "fails"),
        ([3.0] * 5 + [9.0] * 5, Limits(lower=4, upper=5), "not decided"),  # on both sides of them
        ([2.0] * 6, Limits(lower=2, is_above=True), "fails"),
        ([2.0] * 5 + [3.0], Limits(lower=2, is_above=True), "not decided"),
        ([5.0, *[INF] * 9], Limits(upper=9), "fails"),
        ([INF, *[5.0] * 9], Limits(upper=9), "holds"),
        ([0.0] * 6, Limits(upper=0), "holds"),
    ],
)
def test_the_interval_of_many_seeds_decides(
    values: list[float], limits: Limits, verdict: str
) -> None:
    assert decide(median(values), values, limits).verdict == verdict


def test_numbers_that_each_leave_a_seed_out_have_no_interval_of_the_median() -> None:
    values = [2.01, 2.02, 2.03, 2.1, 2.3, 9.0]
    decision = decide(median(values), values, Limits(lower=2), is_pooled=True)
    assert (decision.verdict, decision.interval) == ("not decided", None)


@pytest.mark.parametrize("draws", [6, 10, 20])
@pytest.mark.parametrize("shape", ["normal", "lognormal"])
def test_a_median_on_a_bound_is_rarely_called_inside_or_outside(draws: int, shape: str) -> None:
    seeds = getattr(np.random.default_rng(1), shape)(size=(4000, draws))
    bound = Limits(lower=0 if shape == "normal" else 1)
    made = [decide(median(one), one, bound).verdict for one in seeds.tolist()]
    assert 0 < made.count("holds") < 0.035 * len(made)
    assert 0 < made.count("fails") < 0.035 * len(made)


def test_infinite_numbers_have_a_margin() -> None:
    assert Limits(upper=9).margin(-INF) == Limits(lower=2).margin(INF) == INF
    assert Limits(lower=2).margin(-INF) == -INF
    assert Limits(lower=2, upper=9).margin(5) == 3
    assert Limits(lower=2, upper=9).margin(10) == -1


def test_without_repetitions_the_value_decides() -> None:
    assert decide(2.01, [], Limits(lower=2)).verdict == "holds"
    assert decide(1.99, [], Limits(lower=2)).verdict == "fails"


def test_the_worst_of_several_fails_rather_than_decides_nothing() -> None:
    limits = Limits(lower=2)
    fails, open_, holds = (
        decide(median(one), one, limits) for one in ([1.0, 1.1], [1.0, 9.0], [9.0, 9.1])
    )
    assert sorted([holds, fails, open_], key=lambda one: one.rank) == [fails, open_, holds]


def experiment(seeds: Sequence[int] = (1, 2, 3), **claim: Any) -> Experiment:
    """An experiment with one claim and two points."""
    return Experiment.model_validate(
        {
            "id": "x/y",
            "title": "t",
            "source": "s",
            "shows": "w",
            "scenario": "quickstart",
            "scales": {"quick": {"seeds": list(seeds)}},
            "sweeps": [{"axes": [{"name": "load", "key": "load", "values": [0.1, 0.2]}]}],
            "claims": [{"claim": "c", "reported": "r", **claim}],
        }
    )


def judged(drops: Mapping[float, Sequence[float | None]], **claim: Any) -> Judgement:
    """The judgement on runs that drop so many packets: load -> seed by seed; None was not run."""
    grid = []
    for load, many in drops.items():
        at = {"sweep": Point(name="main"), "load": Point(value=load)}
        for seed, count in enumerate(many, 1):
            made = synthetic_run("bfc", flows=20)
            made.summary["drops"] = count
            made.summary["deadlock"] = {"time_ps": 1} if count == 7 else None
            grid.append(Cell(at, seed, {}, run=None if count is None else made))
    (judgement,) = judge(experiment(**claim), grid, "quick")
    return judgement


def test_each_seed_is_judged_by_itself() -> None:
    made = judged({0.1: [10, 14, 11]}, measure=TOTAL, at_least=5)
    assert (made.measured, made.repetitions, made.verdict) == (11.0, [10.0, 14.0, 11.0], "holds")
    assert made.spread_text == "10–14 over 3 seeds"
    made = judged({0.1: [10, 14, 11]}, measure=TOTAL, at_least=9, unit="pkt")
    assert (made.verdict, made.reason) == ("not decided", "")
    assert made.remark == (
        "The value lies 2 pkt inside the nearest bound; the seeds spread over 4 pkt."
    )


def test_many_seeds_are_told_with_the_interval_of_their_median() -> None:
    made = judged({0.1: [10, 14, 11, 12, 13, 30]}, measure=TOTAL, at_least=10, unit="pkt")
    assert made.spread_text == "10–30 pkt over 6 seeds, so is their median (95 %)"
    assert made.verdict == "holds"
    made = judged({0.1: [10, 14, 11, 12, 13, 30]}, measure=TOTAL, at_least=11, unit="pkt")
    assert made.remark == "A bound lies in the interval of the median."
    made = judged({0.1: [*range(10, 19), 30]}, measure=TOTAL, at_least=11, unit="pkt")
    assert made.spread_text == "10–30 pkt over 10 seeds; their median 11–18 pkt (95 %)"
    assert made.verdict == "holds"


def test_the_worst_point_is_the_one_that_fails() -> None:
    drops = {0.1: [5, 30, 5], 0.2: [8, 8, 8]}
    made = judged(drops, measure=TOTAL, at_least=9, over=["load"])
    assert (made.verdict, made.measured) == ("fails", 8.0)
    assert made.remark == "Decided at load = 0.2."
    made = judged(drops, measure=TOTAL, at_least=6, over=["load"])
    assert made.verdict == "not decided"
    assert made.remark.startswith("Decided at load = 0.1. The value lies 1 outside")


def test_no_point_decides_where_all_have_one_value() -> None:
    made = judged({0.1: [3, 3, 3], 0.2: [3, 3, 3]}, measure=TOTAL, at_least=2, over=["load"])
    assert (made.verdict, made.measured, made.remark) == ("holds", 3.0, "")


def test_of_two_points_with_one_verdict_the_one_nearer_to_a_bound_is_told() -> None:
    drops = {0.1: [9, 9, 9], 0.2: [7, 7, 7], 0.3: [8, 8, 8]}
    made = judged(drops, measure=TOTAL, at_least=5, over=["load"])
    assert (made.verdict, made.measured) == ("holds", 7.0)
    made = judged(drops, measure=TOTAL, at_most=5, over=["load"])
    assert (made.verdict, made.measured) == ("fails", 9.0)


def test_a_claim_knows_only_the_points_that_it_is_about() -> None:
    drops = {0.1: [9, 9, 9], 0.2: [1, 1, 1]}
    made = judged(drops, measure=TOTAL, at_least=5, over=["load"], where={"load": 0.1})
    assert (made.verdict, made.measured) == ("holds", 9.0)


def test_a_number_that_bounds_follow_is_in_the_unit_of_the_claim() -> None:
    made = judged({0.1: [10, 10, 10]}, measure=f"{TOTAL} / 100", near="0.1", within=1, unit="%")
    assert (made.measured, made.verdict) == (10.0, "holds")
    made = judged({0.1: [10, 10, 10]}, measure=TOTAL, near="1 / 0", within=1)
    assert (made.measured, made.verdict) == (None, "not decided")


@pytest.mark.parametrize(("late_us", "verdict"), [(12.0, "holds"), (12.1, "not decided")])
def test_a_claim_that_rests_on_frames_that_were_too_late_is_not_judged(
    late_us: float, verdict: str
) -> None:
    made = synthetic_run("bfc", flows=20)
    # Four packets of 3 us are the most by which a frame in a hundred may be late.
    lateness = {"frames": {"p99_us": late_us}, "timers": {"p99_us": 0.1}}
    made.summary["emulation"] = {"packet_us": 3.0, "lateness": lateness}
    cell = Cell({"sweep": Point(name="main"), "load": Point(value=0.1)}, 1, {}, run=made)
    (judgement,) = judge(experiment(seeds=[1], measure=TOTAL, at_least=0), [cell], "quick")
    assert judgement.verdict == verdict
    assert ("real frames were too late" in judgement.measured_text) == (verdict != "holds")
    # A figure shows the number all the same.
    assert Evaluator([cell], ["load"]).value(TOTAL) == 0


def test_numbers_that_are_all_infinite_do_not_spread() -> None:
    assert spread_of([math.inf, math.inf]) == 0
    assert spread_of([1, math.inf]) == math.inf
    assert spread_of([4, 1, 3]) == 3


def test_the_narrowest_of_several_bounds_counts() -> None:
    assert Claim(**BASE, at_least=1, above=1).limits() == Limits(1, is_above=True)
    assert Claim(**BASE, at_most=2, below=2).limits() == Limits(upper=2, is_below=True)
    assert Claim(**BASE, at_least=1, above=2).limits() == Limits(2, is_above=True)
    assert Claim(**BASE, at_most=5, below=3).limits() == Limits(upper=3, is_below=True)
    assert Claim(**BASE, at_most=3, below=5).limits() == Limits(upper=3)
    both = Claim(**BASE, at_least=1, at_most=9, near=5, within=1, margin="m").limits()
    assert both == Limits(4, 6)
    # A tenth of a negative number is a distance, too.
    assert Claim(**BASE, near=-10, within=0.1, relative=True, margin="m").limits() == Limits(
        -11, -9
    )


def test_pooled_claims_spread_when_a_seed_is_left_out() -> None:
    made = judged({0.1: [1, 2, 4]}, measure=TOTAL, at_least=3, pooled=True)
    assert (made.measured, made.repetitions, made.verdict) == (7.0, [6.0, 5.0, 3.0], "holds")
    assert made.spread_text == "3–6 over 3 seeds, each left out once"
    made = judged({0.1: [1, 2, 4]}, measure=TOTAL, at_least=5, pooled=True)
    assert made.verdict == "not decided"  # without the third seed it is 3


def test_a_share_of_runs_is_always_pooled() -> None:
    made = judged({0.1: [7, 7, 7, 0]}, measure="deadlocked()", unit="%", above=0)
    assert (made.measured, made.verdict) == (75.0, "holds")
    assert made.spread_text == "66.7–100 % over 4 seeds, each left out once"
    made = judged({0.1: [7, 0, 0, 0]}, measure="deadlocked()", unit="%", above=0)
    assert made.verdict == "not decided"


def test_bounds_that_follow_a_measured_number_do_so_seed_by_seed() -> None:
    drops = {0.1: [100, 200, 300], 0.2: [105, 206, 304]}
    other = "total(load=0.1, of='drops')"
    made = judged(
        drops, measure="total(load=0.2, of='drops')", near=other, within=0.05, relative=True
    )
    assert (made.measured, made.tolerance, made.verdict) == (206.0, "200 ± 5 %", "holds")
    assert made.repetitions == [105.0, 206.0, 304.0]


def test_a_seed_without_a_number_is_named_and_two_are_needed() -> None:
    made = judged({0.1: [10, None, 11]}, measure=TOTAL, at_least=5)
    assert (made.verdict, made.measured) == ("holds", 10.5)
    assert made.remark == "no run at scale quick (seed 2)"
    made = judged({0.1: [10, None, None]}, measure=TOTAL, at_least=5)
    assert (made.verdict, made.measured) == ("not decided", None)


def test_a_number_does_not_read_like_a_bound_that_it_is_not() -> None:
    assert apart_text(1.0004, (1.0, float("inf")), "") == "1.0004"
    assert apart_text(0.99951, (1.0,), "µs") == "0.9995 µs"
    assert apart_text(1.0, (1.0,), "") == "1"
    assert apart_text(2.04, (1.0,), "") == "2.04"
    made = judged({0.1: [10_004]}, seeds=[1], measure=f"{TOTAL} / 10000", above=1)
    assert made.measured_text == "1.0004"


def test_one_seed_says_so() -> None:
    made = judged({0.1: [10]}, seeds=[1], measure=TOTAL, at_least=5)
    assert (made.verdict, made.spread_text) == ("holds", "no spread: one seed")


def test_a_reason_is_shown_only_where_a_claim_fails() -> None:
    why = {"reason": "scale", "because": "It is short."}
    fails = judged({0.1: [1, 1, 1]}, measure=TOTAL, at_least=5, **why).row()
    assert (fails.told, fails.remark) == ("fails: scale", "It is short.")
    holds = judged({0.1: [9, 9, 9]}, measure=TOTAL, at_least=5, **why).row()
    assert (holds.told, holds.remark) == ("holds", "")
    open_ = judged({0.1: [4, 9, 9]}, measure=TOTAL, at_least=5, **why).row()
    assert open_.told == "not decided" and open_.remark.endswith("It is short.")
    bare = judged({0.1: [1, 1, 1]}, measure=TOTAL, at_least=5).row()
    assert bare.told == "fails, reason not stated"


BASE: dict[str, Any] = {"claim": "c", "reported": "2 times", "measure": "1"}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"at_least": 1, "reason": "bad luck"}, "reason"),
        ({"at_least": 3, "at_most": 4, "number": 2, "margin": "m"}, "the paper's own number"),
        ({"above": 2, "at_most": 4, "number": 2, "margin": "m"}, "the paper's own number"),
        ({"at_least": 1, "at_most": 4, "number": [2, 5], "margin": "m"}, "the paper's own number"),
        ({"at_least": 1, "number": 2, "margin": "m"}, "a bound on one side only"),
        ({"at_most": 3, "number": 2, "margin": "m"}, "a bound on one side only"),
        ({"at_least": 1, "at_most": 3, "number": 2}, "the bounds are not the paper's number"),
        ({"at_least": 1, "at_most": 9, "number": [5, 2], "margin": "m"}, "ends before it begins"),
        ({"near": 2}, "near and within come together"),
    ],
)
def test_what_a_claim_cannot_say(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Claim(**BASE, **wrong)


def test_what_a_complete_claim_says() -> None:
    exact = Claim(**BASE, at_least=2, at_most=5, number=(2, 5))
    assert exact.reported_range == (2.0, 5.0)
    assert Claim(**BASE, near=2, within=0.5).reported_range == (2.0, 2.0)
    assert Claim(**BASE, above=1).reported_range is None
    assert Claim(**BASE, near=1, within=0.5, number="none").reported_range is None
    lenient = Claim(**BASE, at_least=1.6, number=2, margin="a fifth", one_sided="at least")
    (row,) = [judged({0.1: [9, 9, 9]}, **lenient.model_dump(exclude_defaults=True)).row()]
    assert (row.number, row.margin) == ("2", "a fifth at least")


def test_a_wrong_reason_names_file_field_value_and_what_is_allowed(tmp_path: Path) -> None:
    text = catalogue.source_file("bfc/fig2").read_text("utf-8")
    file = tmp_path / "wrong.toml"
    file.write_text(f'{text}\nreason = "bad luck"\n')
    with pytest.raises(ScenarioError) as refused:
        catalogue.read(file)
    for part in ("wrong.toml", "reason", "bad luck", "refuted"):
        assert part in str(refused.value)


def test_seeds_are_three_unless_an_experiment_says_otherwise() -> None:
    def seeds(**changes: Any) -> list[int]:
        scale = {"quick": changes.pop("scale", {})}
        page = experiment(measure="1", above=0).model_dump() | changes | {"scales": scale}
        made = Experiment.model_validate(page)
        grid = cells(made, made.scales["quick"])
        found = {cell.seed for cell in grid}
        assert len(grid) == 2 * len(found)
        return sorted(found)

    assert seeds() == list(range(1, SEEDS + 1)) == [1, 2, 3]
    assert seeds(scale={"seeds": 5}) == [1, 2, 3, 4, 5]
    assert seeds(scale={"seeds": [4, 9]}) == [4, 9]
    assert seeds(deterministic="Two flows at fixed times.") == [1]
    for wrong in ({"seeds": 0}, {"seeds": []}):
        with pytest.raises(ValueError, match="seeds"):
            seeds(scale=wrong)
    with pytest.raises(ValueError, match="several seeds give the same run"):
        seeds(deterministic="Two flows at fixed times.", scale={"seeds": 3})


def test_what_is_not_random_says_so() -> None:
    page = experiment(measure="1", above=0).model_dump()
    page["scales"] = {"quick": {}}
    fixed = Experiment.model_validate(page | {"deterministic": "Two flows at fixed times."})
    (made,) = judge(fixed, cells(fixed, fixed.scales["quick"]), "quick")
    assert (made.verdict, made.spread_text) == ("holds", "no spread: nothing is random")


IDS = catalogue.identifiers()


def lacking(identifier: str) -> list[str]:
    """What an experiment's claims and scales still owe their readers."""
    made = catalogue.load(identifier)
    quick = made.scales["quick"]
    found = []
    if made.is_random and len(made.seeds(quick)) < SEEDS and not quick.few_seeds:
        found.append("few seeds at quick scale, and few_seeds does not say why")
    for claim in made.claims:
        words = f"{claim.claim!r}: "
        has_digits = re.search(r"\d", claim.reported) and claim.number != "none"
        if has_digits and claim.reported_range is None:
            found.append(words + "the paper gives a number, and number does not say it")
        own = {claim.at_least, claim.at_most, claim.above, claim.below} - {None, 0, 1, 100}
        plain = set(claim.reported_range or ())
        if (own - plain or claim.near is not None) and not claim.margin:
            found.append(words + "no margin says whose the bounds are")
    return found


@pytest.mark.parametrize("identifier", IDS)
def test_every_claim_has_its_number_and_its_margin(identifier: str) -> None:
    assert lacking(identifier) == []


@pytest.mark.parametrize("identifier", [one for one in IDS if catalogue.load(one).deterministic])
def test_where_nothing_is_random_a_seed_changes_nothing(identifier: str) -> None:
    made = catalogue.load(identifier)
    grid = cells(made, made.scales["quick"])
    for cell in grid[:: max(len(grid) // 3, 1)]:
        first, second = (run(Scenario.model_validate(cell.table | {"seed": s})) for s in (1, 2))
        assert first.flows.height
        for table in ("flows", "links", "series"):
            assert getattr(first, table).equals(getattr(second, table)), (cell.name, table)
