"""What Rust declares of a field is what Python, the documents and the core's refusals go by."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import good_scenarios
import pytest

from penstock import _core

ROOT = Path(__file__).resolve().parents[2]
SCHEMA: dict[str, Any] = json.loads(_core.schema())
WIDEST = {"uint8": 2**8 - 1, "uint16": 2**16 - 1, "uint32": 2**32 - 1, "uint64": 2**64 - 1}


def test_models_and_tables_are_those_that_make_models_writes() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "models", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"these are stale; run make models:\n{done.stdout}{done.stderr}"


LEAST_PERIOD = 100_000
"""The shortest period of a timer [ps], `Time::LEAST_PERIOD`."""

NO_TIMERS = {
    "AssignmentConfig.rounds.horizon": "a choice",
    "ControllerConfig.timely.weighs_interval": "a choice",
    "BfcConfig.bitmap_interval": "0 is never; test_rules.py has what is too short",
    "BackpressureConfig.bfc.bitmap_interval": "as above",
    "MeasureConfig.sample_interval": "as above",
    "ControllerConfig.dcqcn.notification_interval": "only a limit at marks; at ticks see its file",
    "RecoveryConfig.go-back-n.nack_interval": "only a limit",
    "RecoveryConfig.timeout-only.timeout_rtts": "in round trips, and a packet leaves in each",
    "MarkingConfig.codel.interval": "looked at when a packet leaves",
}
"""Fields with the name of a timer's period and without its bound, and why."""


def test_no_timer_fires_without_end() -> None:
    """With 1 ps such a run takes a million times as long as with 1 us."""
    least = {
        f"{table}.{key}": field.get("minimum")
        for table, schema in tables()
        for key, field in schema["properties"].items()
        if re.search("interval|timeout|refresh|horizon", key)
    }
    assert least.keys() > NO_TIMERS.keys()
    assert {least[name] for name in least.keys() - NO_TIMERS.keys()} == {LEAST_PERIOD}


# -- every bound is one of the core's -------------------------------------------------------------

Schema = dict[str, Any]
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Value:
    """A value in a good scenario, and what is declared of it."""

    name: str
    """The table and the field, with a bracket for an entry of a list."""
    scenario: int
    place: Place
    value: Any
    schema: Schema


def tables() -> Iterator[tuple[str, Schema]]:
    """Every table that is declared, by its name."""
    yield "Scenario", SCHEMA
    for name, schema in SCHEMA["$defs"].items():
        if "properties" in schema:
            yield name, schema
        for one in schema.get("oneOf", []):
            if "properties" in one:
                yield f"{name}.{one['properties']['kind']['const']}", one


@cache
def bounded() -> frozenset[str]:
    """The names of all values with a bound."""

    def names(name: str, schema: Schema) -> Iterator[str]:
        if "$ref" not in schema:
            yield from [name] if list(wrong(schema, None)) else []
            items = [schema["items"]] if "items" in schema else []
            for entry in [*items, *schema.get("prefixItems", [])]:
                yield from names(f"{name}[]", entry)

    every = [(f"{table}.{key}", one) for table, schema in tables()
             for key, one in schema["properties"].items()]  # fmt: skip
    return frozenset(found for name, schema in every for found in names(name, schema))


def resolved(name: str, schema: Schema, value: Any) -> tuple[str, Schema]:
    """The table behind a reference and a kind."""
    if "anyOf" in schema:
        nulls = {one.get("type") == "null": one for one in schema["anyOf"]}
        schema = nulls[value is None]
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        schema = SCHEMA["$defs"][name]
    for one in schema.get("oneOf", []):
        if "properties" in one and one["properties"]["kind"]["const"] == value["kind"]:
            return f"{name}.{value['kind']}", one
    return name, schema


def values(scenario: int, name: str, schema: Schema, value: Any, place: Place) -> Iterator[Value]:
    """`value` and everything in it; of a list the first entry."""
    name, inner = resolved(name, schema, value)
    yield Value(name, scenario, place, value, inner)
    if isinstance(value, dict):
        for key, part in value.items():
            one = inner["properties"][key]
            yield from values(scenario, f"{name}.{key}", one, part, (*place, key))
    elif isinstance(value, list) and value:
        fixed = inner.get("prefixItems") or [inner["items"]]
        for index, (one, part) in enumerate(zip(fixed, value, strict=False)):
            yield from values(scenario, f"{name}[]", one, part, (*place, index))


@cache
def places() -> dict[str, Value]:
    """A value with a bound of each name, from the first scenario that has one."""
    found: dict[str, Value] = {}
    for number, scenario in enumerate(good_scenarios.every()):
        for one in values(number, "Scenario", SCHEMA, scenario, ()):
            if one.name in bounded() and one.value not in (None, []):
                found.setdefault(one.name, one)
    return found


def wrong(schema: Schema, value: Any) -> Iterator[Any]:
    """Values that are just outside of what is declared; of lists and texts without `value` any."""
    step = 1 if schema.get("format") in WIDEST else 1e-6
    if schema.get("minimum", 0) > 0 or (step != 1 and "minimum" in schema):
        yield schema["minimum"] - step
    if schema.get("maximum", WIDEST.get(schema.get("format", ""))) != WIDEST.get(
        schema.get("format", "")
    ):
        yield schema["maximum"] + step
    yield from [schema[key] for key in ("exclusiveMinimum", "exclusiveMaximum") if key in schema]
    if "prefixItems" not in schema:
        yield from [(value or [])[: schema["minItems"] - 1]] if schema.get("minItems") else []
        yield from [(value or []) * (schema["maxItems"] + 1)] if "maxItems" in schema else []
    yield from [""] if schema.get("minLength") else []
    yield from ["x" * (schema["maxLength"] + 1)] if "maxLength" in schema else []


def changed(one: Value, value: Any) -> dict[str, Any]:
    """The scenario with another value at its place."""
    table = copy.deepcopy(good_scenarios.every()[one.scenario])
    part: Any = table
    for key in one.place[:-1]:
        part = part[key]
    part[one.place[-1]] = value
    return table


def path(place: Place) -> str:
    """A place as messages name it."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in place]
    return "".join(steps).removeprefix(".")


def test_the_good_scenarios_have_every_field_with_a_bound() -> None:
    assert bounded() - set(places()) == frozenset()


@pytest.mark.parametrize("name", sorted(bounded()))
def test_the_core_refuses_what_is_outside_of_a_declared_bound(name: str) -> None:
    one = places()[name]
    for value in wrong(one.schema, one.value):
        with pytest.raises(_core.ScenarioError) as refused:
            _core.validate(json.dumps(changed(one, value)))
        assert path(one.place) in [field for field, _, _ in refused.value.args[0]]
        assert all(remedy for _, _, remedy in refused.value.args[0])
