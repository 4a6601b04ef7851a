"""Random values of a scheme's parameters: of the choices that a preset makes, a few are made
otherwise. What goes together is asked of the validator.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Literal, get_args, get_origin

from penstock.scenario.base import Part
from penstock.scenario.scheme import Scheme
from swarm.network import Table

MOST = 4
"""The most parameters of a scheme that get other values (our choice: with more, nearly all schemes
are refused)."""
EDGES = (0, 1, 2**32 - 1, 2**62)
"""Whole numbers at which arithmetic ends: nothing, the least, and what no longer fits."""
NARROW = (0.0, 1e-9, 1.0)
"""The same for fractions."""
SPREAD = 2.0
"""How many powers of ten another number is away at most (our choice)."""
UNGIVEN = (0, 1, 1_000, 100_000, 10_000_000)
"""Values of what the preset leaves out (our choice: any unit)."""


def draw_parameters(rng: Random, scheme: Scheme) -> Table:
    """Overrides of one to :data:`MOST` parameters of the switches and hosts of `scheme`."""
    fields = [
        ((section, *path), value, annotation)
        for section in ("switch", "host")
        for path, value, annotation in _parameters(getattr(scheme, section))
    ]
    overrides: Table = {}
    for path, value, annotation in rng.sample(fields, min(len(fields), rng.randint(1, MOST))):
        table = overrides
        for name in path[:-1]:
            table = table.setdefault(name, {})
        table[path[-1]] = _other(rng, value, annotation)
    return overrides


def _parameters(part: Part) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Path, value and type of the numbers and choices below a part; lists are left alone."""
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        if isinstance(value, Part):
            for path, inner, annotation in _parameters(value):
                yield (name, *path), inner, annotation
            continue
        is_choice = get_origin(field.annotation) is Literal and len(get_args(field.annotation)) > 1
        if is_choice or not isinstance(value, str | tuple):
            yield (name,), value, field.annotation


def _other(rng: Random, value: Any, annotation: Any) -> Any:
    """Another value in place of `value`, often one that is refused."""
    match value:
        case bool():
            return not value
        case str():
            return rng.choice(get_args(annotation))
        case None:
            return rng.choice(UNGIVEN)
    times = 10 ** rng.uniform(-SPREAD, SPREAD)
    if isinstance(value, float):
        return rng.choice(NARROW) if rng.random() < 0.2 else (value or 1.0) * times
    return rng.choice(EDGES) if rng.random() < 0.2 else round((value or 1) * times)
