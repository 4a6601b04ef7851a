"""The fields of a scenario by their paths, each with what the core's schema declares of it.

What it is: a walk through a resolved scenario beside the schema. What it is not: a check of values,
which the core does. Invariant: a path names a field as ``--set`` does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from penstock import _core
from penstock.errors import nearest, refuse
from penstock.scenario import Scenario
from penstock.scenario.settings import full_path
from penstock.units import RATE, SIZE, TIME, Quantity

_QUANTITIES = {"time": TIME, "size": SIZE, "rate": RATE}
"""The word of the schema -> the kind of quantity."""

_INDEX = re.compile(r"\.([0-9]+)(?=\.|$)")
"""A step into a list that is written like one into a table."""

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Leaf:
    """A field that holds one value."""

    path: str
    """Its path; steps into lists are numbers in brackets."""
    value: Any
    """What the scenario has there, in base units; none where it has nothing."""
    schema: Schema
    """What the core declares of it."""

    @property
    def quantity(self) -> Quantity | None:
        """The kind of quantity that it holds, if it holds one."""
        return _QUANTITIES.get(str(self.schema.get("quantity")))

    @property
    def is_whole(self) -> bool:
        """Whether it holds a whole number; a quantity does."""
        return "integer" in self._types

    @property
    def is_number(self) -> bool:
        """Whether it holds a number."""
        return self.is_whole or "number" in self._types

    @property
    def words(self) -> tuple[Any, ...]:
        """Everything that it may hold, where that is a list; else nothing."""
        if "boolean" in self._types:
            return (False, True)
        listed = [*self.schema.get("enum", ())]
        for one in self.schema.get("oneOf", ()):
            listed += one.get("enum", [one["const"]] if "const" in one else [])
        return tuple(listed)

    @property
    def _types(self) -> list[str]:
        found = self.schema.get("type", [])
        return [found] if isinstance(found, str) else list(found)


class Tree:
    """The fields of a scenario.

    Parameters
    ----------
    scenario
        Any that is checked; the schemes and kinds of traffic that it names decide its fields.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._table: dict[str, Any] = json.loads(scenario.to_json())
        self._root: Schema = json.loads(_core.schema())
        walked = self._walk("", self._root, self._table)
        self.leaves = {leaf.path: leaf for leaf in walked}

    def find(self, path: str, option: str) -> Leaf:
        """The field at a path as a user writes it.

        Raises
        ------
        ScenarioError
            The scenario has no such field; the message names the nearest ones.
        """
        written = _INDEX.sub(r"[\1]", full_path(path, self._table))
        for index, entry in enumerate(self._table["traffic"]):
            labelled = f"traffic.{entry['label']}."
            if written.startswith(labelled):
                written = f"traffic[{index}].{written.removeprefix(labelled)}"
                break
        if written not in self.leaves:
            message = "the scenario has no such field"
            raise refuse(option, message, nearest(written, self.leaves), path)
        return self.leaves[written]

    def _walk(self, path: str, schema: Schema, value: Any) -> Iterator[Leaf]:
        chosen = self._chosen(schema, value)
        if isinstance(value, list):
            for index, entry in enumerate(value):
                if not isinstance(entry, dict):
                    return  # rows of numbers, perhaps a million
                yield from self._walk(f"{path}[{index}]", chosen.get("items", {}), entry)
        elif isinstance(value, dict):
            properties = chosen.get("properties", {})
            for name, one in properties.items():
                inner = f"{path}.{name}" if path else name
                yield from self._walk(inner, one, value.get(name))
        else:
            yield Leaf(path, value, chosen)

    def _chosen(self, schema: Schema, value: Any) -> Schema:
        """The schema without references, and of its alternatives the one that a value belongs to.

        What is said beside a reference counts more than what the reference says.
        """
        if "$ref" in schema:
            target: Any = self._root
            for step in schema["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            beside = {key: one for key, one in schema.items() if key != "$ref"}
            return {**self._chosen(target, value), **beside}
        for alternative in [*schema.get("oneOf", ()), *schema.get("anyOf", ())]:
            resolved = self._chosen(alternative, value) if "$ref" in alternative else alternative
            properties = resolved.get("properties")
            if properties is None or not isinstance(value, dict):
                continue
            kind = properties.get("kind", {}).get("const")
            if kind is None or kind == value.get("kind"):
                return resolved
        return schema
