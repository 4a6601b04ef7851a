"""The charts of a search's page: the objective trial by trial, and along each field.

What it is: tables of trials, and how the page's scripts read them. What it is not: a drawing (see
`penstock.plot.search`, which draws the same for a paper).
"""

from __future__ import annotations

import polars as pl

from penstock.analysis.interval import CONFIDENCE
from penstock.experiments.measured import axis_title
from penstock.look import MEETS, MISSES, VERMILION, Look
from penstock.report.chart import Axis, Chart, View, measured_axis, quantity_axis
from penstock.report.figure import ReportFigure
from penstock.tune.field import Field
from penstock.tune.outcome import Outcome, short_keys
from penstock.tune.trial import State

STEP = 0.01
"""Width of a step of the best so far, in trials (our choice: less than a pixel)."""

LOOKS = {
    State.MEETS.value: MEETS,
    State.VIOLATES.value: MISSES,
    State.NO_NUMBER.value: Look(VERMILION, "x"),
}
"""State of a trial that has a mean -> how the page draws it; no trial is told by colour alone."""

_BAND = f"{CONFIDENCE:.0%} interval of the mean over seeds"


def charts(outcome: Outcome, table: pl.DataFrame) -> list[ReportFigure]:
    """The charts of a search.

    Parameters
    ----------
    table
        A row per trial, as `penstock.tune.outcome.table_of` makes it; some trial has a number.
    """
    known = table.filter(pl.col("mean").is_finite()).with_columns(name=pl.col("state"))
    about = f"Mean over seeds of {outcome.plan.objective.expression} and its {CONFIDENCE:.0%}"
    figures = [_course(outcome, known, f"{about} interval; the line is the best so far.")]
    keys = [one.key for one in outcome.plan.fields]
    for one, short in zip(outcome.plan.fields, short_keys(keys), strict=True):
        share = outcome.importance.get(one.key)
        words = f"{about} interval: each trial once."
        words += "" if share is None else f" The importance of {short} is {share:.0%}."
        figures.append(_slice(outcome, known, one, short, words))
    return figures


def _course(outcome: Outcome, known: pl.DataFrame, words: str) -> ReportFigure:
    met = known.filter(pl.col("state") == "meets")
    best = met["mean"].cum_min() if outcome.plan.objective.is_minimized else met["mean"].cum_max()
    reference = None
    if met.height:
        # A value holds until the next: a step ends right before each trial.
        trials = [one for trial in met["trial"].to_list()[1:] for one in (trial - STEP, trial)]
        x = [met["trial"][0], *trials, len(outcome.found.trials)]
        y = [value for value in best.to_list() for _ in range(2)]
        reference = ("best so far", x, y)
    title = "How did the objective come down?"
    if not outcome.plan.objective.is_minimized:
        title = "How did the objective go up?"
    chart = Chart(
        title=title,
        table=known.select("trial", "name", "mean", "low", "high"),
        x=Axis("trial", "count"),
        y=_objective(outcome),
        along="trial",
        views=[View("Mean", "mean", ("low", "high"))],
        form="points",
        band_words=_BAND,
        reference=reference,
        looks=LOOKS,
    )
    return ReportFigure("course", words, chart, wide=True)


def _slice(
    outcome: Outcome, known: pl.DataFrame, one: Field, short: str, words: str
) -> ReportFigure:
    number = outcome.plan.fields.index(one)
    if one.choices:
        at: list[float] | list[str] = [trial.values[number].label for trial in outcome.found.trials]
        axis = Axis(short, scale="named", names=[value.label for value in one.choices])
    else:
        axis, factor = quantity_axis(short, one.unit, "log" if one.is_log else "linear")
        at = [(trial.values[number].number or 0.0) * factor for trial in outcome.found.trials]
    places = pl.DataFrame({"trial": [trial.number for trial in outcome.found.trials], one.key: at})
    chart = Chart(
        title=f"Which {short} is good?",
        table=known.select("trial", "name", "mean", "low", "high").join(places, on="trial"),
        x=axis,
        y=_objective(outcome),
        along=one.key,
        views=[View("Mean", "mean", ("low", "high"))],
        form="points",
        band_words=_BAND,
        looks=LOOKS,
    )
    return ReportFigure(f"slice-{number + 1}", words, chart)


def _objective(outcome: Outcome) -> Axis:
    return measured_axis(axis_title(outcome.plan.objective.expression))
