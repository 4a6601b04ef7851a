"""What the core declares of a scenario, read from its JSON schema into plain objects.

A :class:`Table` is an object with fields. A :class:`Union` is one of several tables, told apart by
``kind``. A :class:`Choice` is one of several words. Names are those of Rust without ``Config``. A
table of a union is named after its kind and the union: ``ecn`` of ``MarkingConfig`` is
``EcnMarking``. A name that Python uses for a quantity is written in the plural.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.units import RATE, SIZE, TIME, Quantity

Schema = dict[str, Any]

ROOT = "Scenario"
QUANTITIES = {"time": TIME, "size": SIZE, "rate": RATE}
BITS = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}

_RUST_LINK = re.compile(r"\[(`[^`]+`)\](?:\([^)]*\))?")


@dataclass(frozen=True)
class Plain:
    """The type of a value: a quantity, a whole number of some bits, "number", "boolean", "text"."""

    name: str
    quantity: Quantity | None = None
    is_narrow: bool = False
    """Whether the core keeps the quantity in 32 bits."""


@dataclass(frozen=True)
class Named:
    """A table, a union or a choice, by its name."""

    name: str


@dataclass(frozen=True)
class Row:
    """A list of values of fixed types."""

    entries: tuple[Type, ...]


@dataclass(frozen=True)
class Many:
    """A list of any length."""

    entry: Type


Type = Plain | Named | Row | Many


@dataclass(frozen=True)
class Field:
    """A field of a table, as it is declared."""

    name: str
    meaning: str
    type: Type
    is_optional: bool
    """Whether it may be null."""
    schema: Schema
    """Its default, source, unit and bounds."""

    @property
    def has_default(self) -> bool:
        """Whether a user may leave it out."""
        return "default" in self.schema

    def note(self, name: str) -> str:
        """Its `source` or `unit`."""
        return str(self.schema.get(name, ""))

    def range(self) -> str:
        """The values that the core accepts, in words; empty where its type says all."""
        if isinstance(self.type, Many):
            return _lengths(self.schema, "Items", "entry", "entries")
        if isinstance(self.type, Plain) and self.type.name == "text":
            return _lengths(self.schema, "Length", "character", "characters")
        return _numbers(self.schema, self.type)


@dataclass(frozen=True)
class Table:
    """An object: its fields, and its kind where it is one of a union."""

    name: str
    meaning: str
    fields: tuple[Field, ...]
    kind: str = ""

    def mentioned(self) -> Iterator[str]:
        """The names that its fields mention."""
        for field in self.fields:
            yield from _names_in(field.type)


@dataclass(frozen=True)
class Union:
    """One of several tables."""

    name: str
    meaning: str
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class Choice:
    """One of several words, each with its meaning."""

    name: str
    words: tuple[tuple[str, str], ...]


Declared = dict[str, Table | Union | Choice]


def read(schema: Schema) -> Declared:
    """Everything that a schema declares, by name."""
    return {ROOT: _table(ROOT, schema)} | {
        _own_name(name): _named(_own_name(name), one) for name, one in schema["$defs"].items()
    }


def first_paragraph(text: str) -> str:
    """The meaning of something, without what else its comment explains."""
    return _RUST_LINK.sub(r"\1", " ".join(text.partition("\n\n")[0].split()))


def _named(name: str, schema: Schema) -> Table | Union | Choice:
    meaning = first_paragraph(schema.get("description", ""))
    alternatives = schema.get("oneOf")
    if alternatives is None and "enum" in schema:
        return Choice(name, tuple((word, "") for word in schema["enum"]))
    if alternatives is None:
        return _table(name, schema)
    if all("properties" in one for one in alternatives):
        kinds = [one["properties"]["kind"]["const"] for one in alternatives]
        pairs = zip(kinds, alternatives, strict=True)
        tables = tuple(_table(_class_name(kind) + name, one, kind) for kind, one in pairs)
        return Union(name, meaning, tables)
    words = [
        (word, first_paragraph(one.get("description", "")))
        for one in alternatives
        for word in one.get("enum", [one.get("const")])
    ]
    return Choice(name, tuple(words))


def _table(name: str, schema: Schema, kind: str = "") -> Table:
    properties = schema.get("properties", {}).items()
    fields = tuple(_field(key, one) for key, one in properties if not (kind and key == "kind"))
    return Table(name, first_paragraph(schema.get("description", "")), fields, kind)


def _field(name: str, schema: Schema) -> Field:
    meaning = first_paragraph(schema.get("description", ""))
    kept, is_optional = _without_null(schema)
    return Field(name, meaning, _type(kept), is_optional, schema)


def _without_null(schema: Schema) -> tuple[Schema, bool]:
    """A schema and whether it allows null; a default of null allows it, too."""
    is_null = "default" in schema and schema["default"] is None
    if "anyOf" in schema:
        [kept] = [one for one in schema["anyOf"] if one.get("type") != "null"]
        return kept, True
    if isinstance(schema.get("type"), list):
        [kept] = [one for one in schema["type"] if one != "null"]
        return schema | {"type": kept}, True
    return schema, is_null


def _type(schema: Schema) -> Type:
    if "$ref" in schema:
        return Named(_own_name(schema["$ref"].rpartition("/")[2]))
    if "quantity" in schema:
        name, is_narrow = schema["quantity"], schema.get("format") == "uint32"
        return Plain(name, QUANTITIES[name], is_narrow)
    match schema["type"]:
        case "array" if "prefixItems" in schema:
            return Row(tuple(_type(one) for one in schema["prefixItems"]))
        case "array":
            return Many(_type(schema["items"]))
        case "integer":
            return Plain(schema["format"])
        case "string":
            return Plain("text")
        case name:
            return Plain(name)


def _own_name(name: str) -> str:
    own = name.removesuffix("Config")
    return f"{own}s" if own.lower() in QUANTITIES else own


def _class_name(kind: str) -> str:
    return "".join(word.capitalize() for word in kind.split("-"))


def _names_in(one: Type) -> Iterator[str]:
    match one:
        case Named(name):
            yield name
        case Row(entries):
            for entry in entries:
                yield from _names_in(entry)
        case Many(entry):
            yield from _names_in(entry)


def _numbers(schema: Schema, one: Type) -> str:
    quantity = one.quantity if isinstance(one, Plain) else None

    def bound(name: str) -> str | None:
        value = schema.get(name)
        if value is None:
            return None
        if quantity:
            return quantity.format(int(value))
        return f"{value:g}" if value % 1 else f"{value:,.0f}"

    least, most = bound("minimum"), bound("maximum")
    if isinstance(one, Plain) and one.name in BITS:
        is_widest = schema.get("maximum") == 2 ** BITS[one.name] - 1
        most = None if is_widest else most
    if least is not None and schema.get("format") in BITS and schema["minimum"] == 0:
        least = None if most is None else least
    above, below = bound("exclusiveMinimum"), bound("exclusiveMaximum")
    if least and most:
        return f"{least} to {most}"
    parts = [
        f"{least} or more" if least else "",
        f"above {above}" if above else "",
        f"at most {most}" if most else "",
        f"below {below}" if below else "",
    ]
    return ", ".join(part for part in parts if part)


def _lengths(schema: Schema, what: str, one: str, several: str) -> str:
    least, most = schema.get(f"min{what}", 0), schema.get(f"max{what}")
    if most is None:
        return f"{least} {one if least == 1 else several} or more" if least else ""
    return f"{least} to {most:,} {several}" if least else f"at most {most:,} {several}"
