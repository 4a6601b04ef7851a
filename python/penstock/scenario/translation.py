"""Pydantic's errors in the words of this project.

An unknown key gets the nearest right key. A wrong ``kind`` is one error and not one for each
alternative. A path reads as the user wrote it (pydantic puts the ``kind`` of a union into the
path).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from penstock.errors import PROBLEMS_MAX, Problem, ScenarioError, nearest
from penstock.scenario.base import note

_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
}

_EXPECTED = {
    "int_": "write a whole number",
    "float_": "write a number",
    "finite_": "write a finite number",
    "bool_": "write true or false",
    "string_": "write a text in quotes",
    "tuple_": "write a list in square brackets",
    "list_": "write a list in square brackets",
    "dict_": "write a table",
    "model_": "write a table",
}

_INDEX = re.compile(r"\[[0-9]+\]")
"""The number of an entry in a path."""


def translate(error: ValidationError, model: type[BaseModel]) -> ScenarioError:
    """The error that pydantic found while reading a `model`, as ours."""
    found = error.errors(include_url=False)
    wrong = [details["loc"] for details in found if details["type"] != "too_short"]
    # Pydantic does not count wrong entries, so a list of them is "too short" as well.
    kept = [
        details
        for details in found
        if details["type"] != "too_short"
        or not any(place[: len(details["loc"])] == details["loc"] for place in wrong)
    ]
    problems = (_problem(details, model) for details in kept)
    return ScenarioError(dict.fromkeys(islice(problems, PROBLEMS_MAX + 2)))


def locate(
    location: Sequence[int | str], model: type[BaseModel]
) -> tuple[str, list[type[BaseModel]]]:
    """The path that a user would write, and the models that may stand there."""
    path, models = "", [model]
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
            continue
        chosen = [one for one in models if step in _kinds(one)] if len(models) > 1 else []
        if chosen:
            models = chosen
            continue
        path = f"{path}.{step}" if path else step
        models = [inner for one in models for inner in _field_models(one, step)]
    return path, models


def _problem(details: ErrorDetails, model: type[BaseModel]) -> Problem:
    location, context = details["loc"], details.get("ctx") or {}
    path, models = locate(location, model)
    value = details["input"] if isinstance(details["input"], str | int | float) else None
    match details["type"]:
        case "refused":
            return Problem(path, context["problem"], context["remedy"], value)
        case "extra_forbidden":
            _, tables = locate(location[:-1], model)
            names = [name for table in tables for name in _names(table)]
            return Problem(path, "no such field", nearest(str(location[-1]), names), value)
        case "missing":
            written = _begun(location, model)
            return Problem(path, "this field is missing", f"write {written}; it has no default")
        case "union_tag_invalid":
            kinds = [kind for one in models for kind in _kinds(one)]
            tag = str(context["tag"])
            return Problem(f"{path}.kind", "no such kind", nearest(tag, kinds), tag)
        case "union_tag_not_found":
            kinds = [kind for one in models for kind in _kinds(one)]
            return Problem(f"{path}.kind", "it is missing", f"write one of {', '.join(kinds)}")
        case "literal_error":
            return Problem(path, "no such choice", f"write {context['expected']}", value)
        case "too_short":
            least = context["min_length"]
            return Problem(path, "the list is too short", f"write at least {least}")
        case "too_long":
            most = context["max_length"]
            return Problem(path, "the list is too long", f"write at most {most} entries")
        case "string_too_short":
            return Problem(path, "it is empty", "write a text that is not empty", value)
        case kind if kind in _BOUNDS:
            words, key = _BOUNDS[kind]
            remedy = _range(location, model) or f"{words} {context[key]:,}"
            if key == "le" and remedy.endswith("or more"):
                remedy += f", at most {context[key]:,}"
            return Problem(path, "out of range", f"write {remedy}", value)
        case "model_type" | "model_attributes_type" if _is_list_of_tables(details["input"]):
            header = _INDEX.sub("", path)
            remedy = f"write [{header}] and not [[{header}]]"
            return Problem(path, "this is a list of tables, and one table is wanted", remedy)
        case "model_attributes_type" if any(_kinds(one) for one in models):
            kinds = [kind for one in models for kind in _kinds(one)]
            remedy = f'write {{kind = "..."}} with one of {", ".join(kinds)}'
            return Problem(path, "this is no table", remedy, value)
        case "tuple_type" | "list_type" if models and isinstance(details["input"], dict):
            header = _INDEX.sub("", path)
            remedy = f"write [[{header}]] and not [{header}], once for each table"
            return Problem(path, "this is one table, and a list of tables is wanted", remedy)
        case "tuple_type" if location[-1] == "flows" and isinstance(value, str):
            remedy = 'write kind = "trace" and file = "..." for the flows of a file'
            return Problem(path, "this is no list of flows", remedy, value)
        case kind:
            return Problem(path, *_wrong_type(kind, details["msg"]), value)


def _is_list_of_tables(value: object) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(one, dict) for one in value)


def _begun(location: Sequence[int | str], model: type[BaseModel]) -> str:
    """How a field is begun: with the header of its table or tables, or "it"."""
    path, tables = locate(location, model)[0], locate(location[:-1], model)[1]
    header = _INDEX.sub("", path)
    for table in tables:
        for name, info in table.model_fields.items():
            if location[-1] in (name, info.alias) and any(models_in(info.annotation)):
                headers: dict[Any, str] = {
                    tuple: f"[[{header}]]",
                    list: f"[[{header}]]",
                    dict: "it",
                }
                return headers.get(get_origin(info.annotation), f"[{header}]")
    return "it"


def _range(location: Sequence[int | str], model: type[BaseModel]) -> str:
    """What the core accepts in a field, in words: less than its type does. Empty where no field is
    declared there, or any value of the type will do."""
    _, tables = locate(location[:-1], model)
    found = (
        note(info, "range")
        for table in tables
        for name, info in table.model_fields.items()
        if location[-1] in (name, info.alias)
    )
    return next(found, "")


def _wrong_type(kind: str, message: str) -> tuple[str, str]:
    """Message and remedy of pydantic's checks on the types of numbers, texts and lists."""
    for prefix, remedy in _EXPECTED.items():
        if kind.startswith(prefix):
            return "this is of the wrong type", remedy
    return message, ""


def _names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _kinds(model: type[BaseModel]) -> tuple[str, ...]:
    field = model.model_fields.get("kind")
    return get_args(field.annotation) if field else ()


def _field_models(model: type[BaseModel], name: str) -> Iterator[type[BaseModel]]:
    for key, field in model.model_fields.items():
        if name in (key, field.alias):
            yield from models_in(field.annotation)


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Every model that an annotation such as ``tuple[A | B, ...] | None`` mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from models_in(argument)
