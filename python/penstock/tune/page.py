"""What a search is shown as: two figures, tables, and one HTML page; all made of its trials."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from penstock.analysis.interval import CONFIDENCE
from penstock.experiments.measured import axis_title
from penstock.plot.search import Slice, course, slices
from penstock.readable import bytes_text, counted, rate_text, time_text
from penstock.report.figure import figure_of, save_drawing
from penstock.report.frame import render
from penstock.storage.draft import write_whole
from penstock.sweep.page import FIGURES, PAGE
from penstock.tune.chart import charts
from penstock.tune.field import Field
from penstock.tune.outcome import Outcome, short_keys, shown, table_of, texts, told, warnings
from penstock.units import RATE, SIZE, TIME

_TEXTS = {
    TIME.base: lambda value: time_text(value / 1e3),
    SIZE.base: bytes_text,
    RATE.base: rate_text,
}
"""How a number of a base unit is written on an axis."""


def write_page(outcome: Outcome, directory: Path, command: str) -> Path:
    """Writes figures and page of a search into its directory; returns the page."""
    table = table_of(outcome)
    has_numbers = bool(table.filter(pl.col("mean").is_finite()).height)
    folder = directory / FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    for name, drawing in draw(outcome, table).items() if has_numbers else ():
        save_drawing(drawing, folder, name)
    plan = outcome.plan
    titles, rows = texts(outcome, shown(outcome))
    lines = told(outcome)
    seeds = counted(len(plan.seeds), "seed", "seeds")
    subtitle = f"{len(outcome.found.trials)} of {plan.trials} trials, {seeds} each"
    page = render(
        "tune.html.j2",
        [one.as_json() for one in charts(outcome, table)] if has_numbers else [],
        f"{Path(plan.reference).stem} · {subtitle}",
        title=f"Search over {Path(plan.reference).stem}",
        subtitle=subtitle,
        command=command,
        lines=lines[: len(lines) - len(warnings(outcome))],
        requirements=[str(one) for one in plan.requirements],
        titles=titles,
        rows=rows,
        fields=[_field_row(outcome, one) for one in plan.fields],
        has_importance=bool(outcome.importance),
        confidence=f"{CONFIDENCE:.0%}",
        notes=warnings(outcome),
    )
    write_whole(directory / PAGE, page)
    return directory / PAGE


def draw(outcome: Outcome, table: pl.DataFrame) -> dict[str, Figure]:
    """The figures of a search for a paper, by their names.

    Parameters
    ----------
    table
        A row per trial, as `penstock.tune.outcome.table_of` makes it; some trial has a number.
    """
    table = table.with_columns(meets=pl.col("state") == "meets")
    plan, best, start = outcome.plan, outcome.best, outcome.start
    words = "filled: does as required; hollow: does not" if plan.requirements else ""
    note = " · ".join(
        filter(None, [Path(plan.reference).stem, f"bars: {CONFIDENCE:.0%} intervals", words])
    )
    y = axis_title(plan.objective.expression)
    over_trials = course(
        table,
        is_minimized=plan.objective.is_minimized,
        start=start.objective.mean if start else None,
        title="The objective, trial by trial",
        y=y,
        note=note,
    )
    along = slices(
        table,
        [_slice(outcome, number, one) for number, one in enumerate(plan.fields)],
        best=best.number if best else None,
        title="The objective along each field",
        y=y,
        note=note,
    )
    return {"course": figure_of(over_trials), "slices": along}


def _slice(outcome: Outcome, number: int, one: Field) -> Slice:
    values = [trial.values[number] for trial in outcome.found.trials]
    share = outcome.importance.get(one.key)
    name = short_keys([field.key for field in outcome.plan.fields])[number]
    title = name if share is None else f"{name} (importance {share:.0%})"
    if one.choices:
        at = [float(one.choices.index(value)) for value in values]
        return Slice(title, at, [value.label for value in one.choices])
    at = [value.number or 0.0 for value in values]
    return Slice(title, at, (), one.is_log, _TEXTS.get(one.unit))


def _field_row(outcome: Outcome, one: Field) -> Sequence[str]:
    """Name, values, the scenario's own value, the best value and the importance of a field."""
    number = outcome.plan.fields.index(one)
    own = one.leaf.value if one.leaf else None
    quantity = one.leaf.quantity if one.leaf else None
    written = "–" if own is None else quantity.format(own) if quantity else str(own)
    best = outcome.best.values[number].label if outcome.best else "–"
    share = outcome.importance.get(one.key)
    return [one.key, one.words(), written, best, "–" if share is None else f"{share:.0%}"]
