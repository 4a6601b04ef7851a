"""What came out of a search: the ranking of its trials, ``trials.csv`` and ``best.toml``.

Invariant: the files follow from the plan and the trials alone, so a search that was killed and one
that was not write the same bytes.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from penstock.readable import counted, number_text
from penstock.report.columns import as_csv
from penstock.report.table import interval_text
from penstock.storage.draft import write_whole
from penstock.tune.plan import Plan
from penstock.tune.sampler import importance
from penstock.tune.search import Found
from penstock.tune.trial import State, Trial, gain

TRIALS, BEST = "trials.csv", "best.toml"
"""Files of a search's directory that are made of its trials."""

SHOWN = 8
"""Trials in a table for people (our choice: a few that are as good, and what comes after)."""


@dataclass(frozen=True)
class Outcome:
    """A search and what follows from it."""

    plan: Plan
    found: Found
    ranking: tuple[Trial, ...]
    """All trials: those that do as required, the best first; then those that are near it."""
    importance: Mapping[str, float]
    """How much each field decides whether a trial is among the best; empty with few trials, and
    where none of them can be told from the best one."""

    @property
    def best(self) -> Trial | None:
        """The best trial that does as required; none where none does."""
        first = self.ranking[0] if self.ranking else None
        return first if first is not None and first.meets else None

    @property
    def start(self) -> Trial | None:
        """The trial of the scenario as it is; none where its values are not among those tried."""
        return self.found.trials[0] if self.found.starts_here and self.found.trials else None

    @property
    def reached(self) -> int:
        """The first trial that cannot be told from the best one: the interval of their difference,
        seed by seed, has 0 in it. 0 where no trial is best."""
        best = self.best
        if best is None:
            return 0
        same = (one for one in self.found.trials if _is_like(self.plan, one, best))
        return next((one.number for one in same), best.number)

    @property
    def is_of_equals(self) -> bool:
        """Whether there are several trials, and none of them can be told from the best one."""
        best, trials = self.best, self.found.trials
        return (
            best is not None
            and len(trials) > 1
            and all(_is_like(self.plan, one, best) for one in trials)
        )


def outcome_of(plan: Plan, found: Found) -> Outcome:
    """Ranks the trials of a search."""
    ranking = sorted(found.trials, key=lambda trial: _rank(plan, trial))
    place: dict[int, int] = {}
    for index, trial in enumerate(ranking):
        same = index > 0 and _rank(plan, ranking[index - 1])[:3] == _rank(plan, trial)[:3]
        place[trial.number] = place[ranking[index - 1].number] if same else index
    points = [(trial.values, float(place[trial.number])) for trial in found.trials]
    outcome = Outcome(plan, found, tuple(ranking), {})
    shares = {} if outcome.is_of_equals else importance(plan.fields, points)
    return replace(outcome, importance=shares)


def _is_like(plan: Plan, one: Trial, best: Trial) -> bool:
    """Whether a trial cannot be told from the best one."""
    more = gain(one, best, is_percentile=plan.objective.is_percentile)
    return one.meets and more.low <= 0 <= more.high


def _rank(plan: Plan, trial: Trial) -> tuple[bool, float, float, int]:
    """What trials are put in order by: less is better."""
    mean = trial.objective.mean
    value = math.inf if math.isnan(mean) else mean if plan.objective.is_minimized else -mean
    return not trial.meets, trial.excess, value, trial.number


def table_of(outcome: Outcome) -> pl.DataFrame:
    """A row per trial, in the order of their numbers.

    Columns: `trial`, a text of each field, `state`, `mean`, `low`, `high` of the objective, the
    value of each requirement that is the farthest from it, `unfinished` flows, `message`.
    """
    keys = [one.key for one in outcome.plan.fields]
    required = [str(one) for one in outcome.plan.requirements]
    rows: list[dict[str, Any]] = []
    for trial in outcome.found.trials:
        one = trial.objective
        rows.append(
            {"trial": trial.number}
            | dict(zip(keys, (value.label for value in trial.values), strict=True))
            | {"state": trial.state.value, "mean": one.mean, "low": one.low, "high": one.high}
            | dict(zip(required, trial.required, strict=True))
            | {"unfinished": trial.unfinished, "message": trial.message}
        )
    schema: dict[str, Any] = {"trial": pl.Int64} | dict.fromkeys([*keys, "state"], pl.String)
    schema |= dict.fromkeys(["mean", "low", "high", *required], pl.Float64)
    return pl.DataFrame(rows, schema=schema | {"unfinished": pl.Int64, "message": pl.String})


def trials_in(directory: Path) -> int:
    """Trials in the table of a directory; 0 where there is none."""
    try:
        with (directory / TRIALS).open(encoding="utf-8", newline="") as file:
            return max(sum(1 for _ in csv.reader(file)) - 1, 0)
    except (OSError, ValueError, csv.Error):
        return 0


def write_files(outcome: Outcome, directory: Path) -> None:
    """Writes the trials, and the scenario of the best one where there is one."""
    write_whole(directory / TRIALS, as_csv(table_of(outcome)))
    best = outcome.best
    if best is None:
        return
    plan = outcome.plan
    scenario = plan.point(best.values).scenario(plan.seeds[0])
    pairs = zip(plan.fields, best.values, strict=True)
    seeds = counted(len(plan.seeds), "seed", "seeds")
    lines = [
        f"Trial {best.number} of `penstock tune {plan.reference}`: {plan.objective}",
        f"{interval_text(best.objective, number_text)}, mean over {seeds}",
        *(f"required: {one}" for one in plan.requirements),
        *(f"{one.key} = {value.label}" for one, value in pairs),
    ]
    text = "".join(f"# {line}\n" for line in lines) + scenario.to_toml()
    write_whole(directory / BEST, text.encode())


def texts(outcome: Outcome, trials: Sequence[Trial]) -> tuple[list[str], list[list[str]]]:
    """Titles and rows of a table of trials for people."""
    plan = outcome.plan
    keys = short_keys([one.key for one in plan.fields])
    required = [str(one) for one in plan.requirements]
    rows = []
    for trial in trials:
        rows.append(
            [
                str(trial.number),
                *(value.label for value in trial.values),
                interval_text(trial.objective, number_text),
                *(number_text(value) for value in trial.required),
                _remark(outcome, trial),
            ]
        )
    return ["Trial", *keys, plan.objective.expression, *required, ""], rows


def short_keys(keys: Sequence[str]) -> list[str]:
    """The ends of some paths, as long as is needed to tell them apart.

    >>> short_keys(["scheme.switch.marking.kmin", "topology.delay"])
    ['kmin', 'delay']
    >>> short_keys(["traffic.a.load", "traffic.b.load"])
    ['a.load', 'b.load']
    """
    steps = [key.split(".") for key in keys]
    for count in range(1, max(map(len, steps))):
        short = [".".join(one[-count:]) for one in steps]
        if len(set(short)) == len(keys):
            return short
    return list(keys)


def shown(outcome: Outcome) -> list[Trial]:
    """The trials of a table for people: the best, and the scenario as it is."""
    first = list(outcome.ranking[:SHOWN])
    start = outcome.start
    return first if start is None or start in first else [*first, start]


def _remark(outcome: Outcome, trial: Trial) -> str:
    words = [] if trial.meets else [trial.state.value]
    if trial is outcome.best:
        words.append("best")
    if trial is outcome.start:
        words.append("the scenario as it is")
    return ", ".join(words)


def told(outcome: Outcome) -> list[str]:
    """What came out, in sentences."""
    plan, found, best = outcome.plan, outcome.found, outcome.best
    made, seeds = len(found.trials), len(plan.seeds)
    lines = []
    if best is None:
        lines.append(f"none of {made} trials does as required")
    else:
        text = interval_text(best.objective, number_text)
        lines.append(f"{plan.objective}: {text}, trial {best.number} of {made}")
        if outcome.start is not None and outcome.start.by_seed and outcome.start is not best:
            less = gain(best, outcome.start, is_percentile=plan.objective.is_percentile)
            words = (
                f"difference to trial {outcome.start.number}, the scenario as it is, seed by seed"
            )
            lines.append(f"{words}: {interval_text(less, number_text)}")
        if outcome.is_of_equals:
            words = "more seeds or longer runs may show which fields matter"
            lines.append(f"no trial can be told from it, seed by seed: {words}")
        elif outcome.reached < best.number:
            lines.append(
                f"trial {outcome.reached} was the first that cannot be told from it, seed by seed"
            )
    counts = {state: sum(one.state is state for one in found.trials) for state in State}
    named = [f"{count} {state.value}" for state, count in counts.items() if count]
    seeds_text = f"{seeds} seed{'s' if seeds > 1 else ''}"
    lines.append(
        f"trials: {', '.join(named) or 'none'}; {made} of {plan.trials}, {seeds_text} each"
    )
    if outcome.importance:
        names = dict(zip(outcome.importance, short_keys([*outcome.importance]), strict=True))
        order = sorted(outcome.importance.items(), key=lambda item: -item[1])
        words = ", ".join(f"{names[key]} {share:.0%}" for key, share in order)
        lines.append(f"importance: {words}")
    return lines + warnings(outcome)


def warnings(outcome: Outcome) -> list[str]:
    """What a reader of the results has to know."""
    plan, found, best = outcome.plan, outcome.found, outcome.best
    lines = []
    if found.refused:
        count = counted(found.refused, "point", "points")
        lines.append(f"{count} cannot be run and took nothing of the budget: {found.refusal}")
    if found.is_exhausted:
        lines.append("the search ended: too many points in a row could not be run")
    if best is not None and best.unfinished and plan.objective.is_of_finished:
        words = "the objective knows only those that finished; require 'unfinished() == 0'"
        flows = counted(best.unfinished, "flow", "flows")
        lines.append(f"{flows} of the best trial did not finish: {words}")
    if best is not None and best.losses:
        lines.append(f"the best trial: {best.losses}")
    if best is not None and len(plan.seeds) < 2:
        lines.append("one seed gives no interval; name several with --seeds")
    failed = [one for one in found.trials if one.state is State.FAILED]
    if failed:
        lines.append(f"trial {failed[0].number} failed: {failed[0].message}")
    return lines
