"""Pydantic's errors in the words of this project.

An unknown key gets the nearest right key. A wrong ``kind`` is one error and not one for each
alternative. A value that fits no member of a union is one error, too. A path reads as the user
wrote it (pydantic puts the ``kind`` or the type of a union's member into the path).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from penstock.errors import PROBLEMS_MAX, Problem, ScenarioError, nearest
from penstock.scenario.base import note

WRONG_TYPE, NO_CHOICE = "this is of the wrong type", "no such choice"
"""What is said of a value that is none of those that may be written."""

KEY = "[key]"
"""What pydantic puts behind the key of a table, where the key itself is wrong."""

_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
    "greater_than": ("more than", "gt"),
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


@dataclass(frozen=True)
class _Place:
    """Where an error is."""

    path: str
    """As a user would write it."""
    name: int | str
    """The last step of the path."""
    owners: list[type[BaseModel]]
    """The models that may hold that step."""
    types: list[Any]
    """The annotations of what may stand there."""
    union: int
    """Steps of the error's location up to the first union without a ``kind``; 0 without one."""

    @property
    def models(self) -> list[type[BaseModel]]:
        """Every model that what stands there may mention."""
        return [model for one in self.types for model in models_in(one)]

    @property
    def kinds(self) -> list[str]:
        """The kinds of these models."""
        return [kind for one in self.models for kind in _kinds(one)]


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
    placed = ((details, locate(details["loc"], model)) for details in kept)
    problems = (
        problem
        for _, members in groupby(placed, lambda one: one[0]["loc"][: one[1].union or None])
        for problem in _of_union(list(members))
    )
    return ScenarioError(dict.fromkeys(islice(problems, PROBLEMS_MAX + 2)))


def locate(location: Sequence[int | str], model: type[BaseModel]) -> _Place:
    """The place in a user's file that pydantic calls `location`.

    Of a union, `location` has the ``kind`` of the member, or a name that pydantic makes of its
    type. Neither is written in the path.
    """
    owners, types = [model], list[Any]([model])
    path, name, union, is_member = "", location[-1] if location else "", 0, False
    for number, step in enumerate(location, 1):
        models = [one for one in types if _is_model(one)]
        chosen = [one for one in models if step in _kinds(one)] if len(models) > 1 else []
        if step == KEY:
            continue
        if chosen:
            types = chosen
        elif isinstance(step, str) and len(types) > 1 and not is_member:
            is_member, union = True, union or number - 1
        else:
            dotted = f".{step}" if path else str(step)
            shown = f"[{step}]" if isinstance(step, int) else dotted
            path, name, owners, is_member = path + shown, step, models, False
            types = [inner for one in types for inner in _inside(one, step)]
    return _Place(path, name, owners, types, union)


def _inside(annotation: Any, step: int | str) -> list[Any]:
    """The members of what stands at a step into a model, a table or a list."""
    if _is_model(annotation):
        fields = annotation.model_fields.items()
        found = [one.annotation for key, one in fields if step in (key, one.alias)]
    elif get_origin(annotation) is dict:
        found = [get_args(annotation)[1]]
    else:
        entries = [one for one in get_args(annotation) if one is not Ellipsis]
        place = step if isinstance(step, int) and step < len(entries) else 0
        found = entries[place : place + 1]
    return [one for whole in found for one in _members(whole)]


def _members(annotation: Any) -> Iterator[Any]:
    """The members of a union, whatever is noted beside them, or the annotation itself."""
    if get_origin(annotation) is Annotated:
        yield from _members(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for one in get_args(annotation):
            yield from _members(one)
    elif annotation is not NoneType:
        yield annotation


def _of_union(found: Sequence[tuple[ErrorDetails, _Place]]) -> list[Problem]:
    """The problems of one field; of a union, pydantic has errors for each of its members.

    What is wrong in a member of the right type says more than that it is no other member.
    """
    problems = [_problem(*one) for one in found]
    if not found[0][1].union:
        return problems
    depth = min(len(place.path) for _, place in found)
    told = [
        problem
        for problem, (_, place) in zip(problems, found, strict=True)
        if len(place.path) > depth or problem.message not in (WRONG_TYPE, NO_CHOICE)
    ]
    if told:
        return told
    remedies = dict.fromkeys(one.remedy.removeprefix("write ") for one in problems)
    return [replace(problems[0], message=WRONG_TYPE, remedy=f"write {', or '.join(remedies)}")]


def _problem(details: ErrorDetails, place: _Place) -> Problem:
    context, path = details.get("ctx") or {}, place.path
    value = details["input"] if isinstance(details["input"], str | int | float) else None
    match details["type"]:
        case "refused":
            return Problem(path, context["problem"], context["remedy"], value)
        case "extra_forbidden":
            names = [name for table in place.owners for name in _names(table)]
            return Problem(path, "no such field", nearest(str(place.name), names), value)
        case "missing":
            written = _begun(place)
            return Problem(path, "this field is missing", f"write {written}; it has no default")
        case "union_tag_invalid":
            tag = str(context["tag"])
            return Problem(f"{path}.kind", "no such kind", nearest(tag, place.kinds), tag)
        case "union_tag_not_found":
            remedy = f"write one of {', '.join(place.kinds)}"
            return Problem(f"{path}.kind", "it is missing", remedy)
        case "literal_error":
            return Problem(path, NO_CHOICE, f"write {context['expected']}", value)
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
            remedy = _range(place) or f"{words} {context[key]:,}"
            if key == "le" and remedy.endswith("or more"):
                remedy += f", at most {context[key]:,}"
            return Problem(path, "out of range", f"write {remedy}", value)
        case "model_type" | "model_attributes_type" if _is_list_of_tables(details["input"]):
            header = _INDEX.sub("", path)
            remedy = f"write [{header}] and not [[{header}]]"
            return Problem(path, "this is a list of tables, and one table is wanted", remedy)
        case "model_attributes_type" if place.kinds:
            remedy = f'write {{kind = "..."}} with one of {", ".join(place.kinds)}'
            return Problem(path, "this is no table", remedy, value)
        case "tuple_type" | "list_type" if place.models and isinstance(details["input"], dict):
            header = _INDEX.sub("", path)
            remedy = f"write [[{header}]] and not [{header}], once for each table"
            return Problem(path, "this is one table, and a list of tables is wanted", remedy)
        case "tuple_type" if place.name == "flows" and isinstance(value, str):
            remedy = 'write kind = "trace" and file = "..." for the flows of a file'
            return Problem(path, "this is no list of flows", remedy, value)
        case kind:
            return Problem(path, *_wrong_type(kind, details["msg"]), value)


def _is_list_of_tables(value: object) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(one, dict) for one in value)


def _begun(place: _Place) -> str:
    """How a field is begun: with the header of its table or tables, or "it"."""
    header = _INDEX.sub("", place.path)
    for info in _fields(place):
        if any(models_in(info.annotation)):
            headers: dict[Any, str] = {tuple: f"[[{header}]]", list: f"[[{header}]]", dict: "it"}
            return headers.get(get_origin(info.annotation), f"[{header}]")
    return "it"


def _range(place: _Place) -> str:
    """What the core accepts in a field, in words: less than its type does. Empty where no field is
    declared there, or any value of the type will do."""
    return next((note(info, "range") for info in _fields(place)), "")


def _fields(place: _Place) -> Iterator[FieldInfo]:
    """The declarations of the field at a place."""
    for table in place.owners:
        for name, info in table.model_fields.items():
            if place.name in (name, info.alias):
                yield info


def _wrong_type(kind: str, message: str) -> tuple[str, str]:
    """Message and remedy of pydantic's checks on the types of numbers, texts and lists."""
    for prefix, remedy in _EXPECTED.items():
        if kind.startswith(prefix):
            return WRONG_TYPE, remedy
    return message, ""


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _kinds(model: type[BaseModel]) -> tuple[str, ...]:
    field = model.model_fields.get("kind")
    return get_args(field.annotation) if field else ()


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Every model that an annotation such as ``tuple[A | B, ...] | None`` mentions."""
    if _is_model(annotation):
        yield annotation
    for argument in get_args(annotation):
        yield from models_in(argument)
