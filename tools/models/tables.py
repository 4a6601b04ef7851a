"""Tables of the declared fields, for ``docs/files.md``.

A table stands between a line ``<!-- fields of NAME -->`` and a line ``<!-- end of fields -->``.
"""

from __future__ import annotations

import re
from typing import Any

from declaration import Choice, Declared, Field, Many, Named, Plain, Row, Table, Type, Union

PLACE = re.compile(
    r"^<!-- fields of (\w+) -->\n(?:.*?\n)??<!-- end of fields -->$", re.MULTILINE | re.DOTALL
)
HEADING = re.compile(r"^(#+) ", re.MULTILINE)

_WORDS = {
    "number": "number",
    "boolean": "`true` or `false`",
    "text": "text",
}


def filled(page: str, declared: Declared) -> str:
    """`page` with each of its tables as the declarations have it now."""

    def table(match: re.Match[str]) -> str:
        name = match.group(1)
        by_hand = PLACE.sub("", page[: match.start()])
        heading = HEADING.findall(by_hand)[-1] + "#"
        tables = _tables(declared, name, heading)
        return f"<!-- fields of {name} -->\n\n{tables}\n<!-- end of fields -->"

    return PLACE.sub(table, page)


def missing(page: str, declared: Declared) -> list[str]:
    """Tables and unions that a page does not have."""
    shown = PLACE.findall(page)
    return [
        name for name, one in declared.items() if name not in shown and not isinstance(one, Choice)
    ]


def _tables(declared: Declared, name: str, heading: str) -> str:
    thing = declared[name]
    if isinstance(thing, Union):
        return "\n".join(f"{heading} {_kind(declared, table)}" for table in thing.tables)
    assert isinstance(thing, Table)
    return _fields(declared, thing)


def _kind(declared: Declared, table: Table) -> str:
    head = f"`{table.kind}`\n\n{table.meaning}\n"
    return head if not table.fields else f"{head}\n{_fields(declared, table)}"


def _fields(declared: Declared, table: Table) -> str:
    rows = ["| field | value | default | meaning | source |", "|---|---|---|---|---|"]
    rows += [_row(declared, field) for field in table.fields]
    return "\n".join(rows) + "\n"


def _row(declared: Declared, field: Field) -> str:
    cells = (
        f"`{field.name}`",
        _value(declared, field),
        _default(field) if field.has_default else "required",
        field.meaning.removesuffix("."),
        field.note("source"),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _value(declared: Declared, field: Field) -> str:
    words = _type(declared, field.type)
    unit = field.note("unit")
    parts = [f"{words} of {unit}" if unit else words, field.range()]
    return ", ".join(part for part in parts if part)


def _type(declared: Declared, one: Type) -> str:
    match one:
        case Plain(name, quantity):
            return quantity.name if quantity else _WORDS.get(name, "whole number")
        case Row(entries):
            return f"[{', '.join(_type(declared, entry) for entry in entries)}]"
        case Many(entry):
            words = _type(declared, entry)
            if isinstance(entry, Named):
                return f"list of {words.replace('table', 'tables', 1)}"
            return f"list of {words}{'s' if isinstance(entry, Plain) else ''}"
        case Named(name):
            thing = declared[name]
            if isinstance(thing, Choice):
                return " or ".join(f'`"{word}"`' for word, _ in thing.words)
            if isinstance(thing, Union):
                return "table: " + ", ".join(f"`{table.kind}`" for table in thing.tables)
            return "table"


def _default(field: Field) -> str:
    value = field.schema["default"]
    if value is None:
        return "none"
    return "none" if value == [] else f"`{_toml(value)}`"


def _toml(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case dict():
            inner = ", ".join(f"{key} = {_toml(one)}" for key, one in value.items())
            return f"{{ {inner} }}" if inner else "{}"
        case list():
            return f"[{', '.join(_toml(one) for one in value)}]"
        case _:
            return str(value)
