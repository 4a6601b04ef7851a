"""Names of nodes where a scenario takes their numbers: ``failed_links = [["T1", "S0"]]``.

Names are those of the topology (`node_names`). In a plain list of nodes, ``"H0..H7"`` is the nodes
from the first to the last. Names become numbers before the parts of a scenario
are read, so nothing behind this module knows names. Invariant: a table without names comes back as
it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from penstock.errors import Problem, ScenarioError, nearest
from penstock.scenario.table import Table
from penstock.scenario.topology import Topology


class NodeField(NamedTuple):
    """A field that takes numbers of nodes."""

    path: tuple[str, ...]
    """Where it is; ``*`` for every entry of a list."""
    depth: int
    """How many lists are around a number."""
    columns: int | None = None
    """In a list of rows: the first columns that are nodes; none: all are."""


RANGE = ".."
"""Between the first and the last node of a range."""

NODE_FIELDS = (
    NodeField(("topology", "failed_links"), 2),
    NodeField(("scheme", "switch", "backpressure", "elide"), 2),
    NodeField(("traffic", "*", "pairs", "sources"), 1),
    NodeField(("traffic", "*", "pairs", "destinations"), 1),
    NodeField(("traffic", "*", "pairs", "receiver"), 0),
    NodeField(("traffic", "*", "pairs", "rows"), 2, columns=2),
    NodeField(("traffic", "*", "pairs"), 2),
    NodeField(("traffic", "*", "load_on", "links"), 2),
    NodeField(("traffic", "*", "receiver"), 0),
    NodeField(("traffic", "*", "senders"), 1),
    NodeField(("traffic", "*", "receivers"), 1),
    NodeField(("traffic", "*", "ranks"), 1),
    NodeField(("traffic", "*", "clients"), 1),
    NodeField(("traffic", "*", "servers"), 1),
    NodeField(("traffic", "*", "flows"), 2, columns=2),
    NodeField(("faults", "outages", "*", "link"), 1),
    NodeField(("faults", "corruption", "*", "link"), 1),
    NodeField(("measure", "series"), 2),
    NodeField(("measure", "trace", "nodes"), 1),
    NodeField(("emulation", "other_hosts"), 1),
    NodeField(("emulation", "programs", "*", "host"), 0),
)
"""Every field that takes numbers of nodes, but for the cables of a graph, which make the nodes."""


def numbered(table: Table, context: Mapping[str, Any]) -> Table:
    """A scenario's table with numbers in place of names.

    Parameters
    ----------
    context
        Of pydantic's validation: the directory that paths are relative to.

    Raises
    ------
    ScenarioError
        The topology has no node of such a name.
    """
    named = [field for field in NODE_FIELDS if _has_names(table, field)]
    if not named:
        return table
    numbers = node_numbers(table, context)
    problems: list[Problem] = []
    for field in named:
        table = _replaced(table, field.path, field, numbers, "", problems)
    if problems:
        raise ScenarioError(problems)
    return table


def _has_names(table: Any, field: NodeField) -> bool:
    for value in _values(table, field.path):
        rows = value if isinstance(value, list) else []
        if field.depth == 0:
            found = isinstance(value, str)
        elif field.depth == 1:
            found = any(isinstance(one, str) for one in rows)
        else:
            rows = [row[: field.columns] for row in rows if isinstance(row, list)]
            found = any(isinstance(one, str) for row in rows for one in row)
        if found:
            return True
    return False


def _values(value: Any, path: Sequence[str]) -> Iterator[Any]:
    """Everything that stands at a path."""
    if not path:
        yield value
    elif path[0] == "*":
        for one in value if isinstance(value, list) else []:
            yield from _values(one, path[1:])
    elif isinstance(value, dict) and path[0] in value:
        yield from _values(value[path[0]], path[1:])


class _AnyName(dict[str, int]):
    """Names of a network that is wrong: each may be right, and what is wrong is told later."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def get(self, name: str, default: Any = None) -> int:
        return 0


def node_numbers(table: Table, context: Mapping[str, Any]) -> dict[str, int]:
    """Name to number of every node; where the topology itself is wrong, any name has one."""
    written = table.get("topology", {"kind": "leaf-spine"})
    if isinstance(written, dict):
        written = {key: one for key, one in written.items() if key != "failed_links"}
    try:
        topology = TypeAdapter(Topology).validate_python(written, context=context)
    except ValidationError:
        return _AnyName()
    return {name: number for number, name in enumerate(topology.node_names())}


def _replaced(
    value: Any,
    path: Sequence[str],
    field: NodeField,
    numbers: Mapping[str, int],
    place: str,
    problems: list[Problem],
) -> Any:
    """A copy of `value` with numbers at the rest of a path; wrong names go to `problems`."""
    if not path:
        if field.depth == 1 and isinstance(value, list):
            value = [node for one in value for node in _range(one, numbers, place, problems)]
        return _of_lists(value, field.depth, field.columns, numbers, place, problems)
    if path[0] == "*" and isinstance(value, list):
        return [
            _replaced(one, path[1:], field, numbers, f"{place}[{index}]", problems)
            for index, one in enumerate(value)
        ]
    if not isinstance(value, dict) or path[0] not in value:
        return value
    inside = f"{place}.{path[0]}" if place else path[0]
    return value | {path[0]: _replaced(value[path[0]], path[1:], field, numbers, inside, problems)}


def _of_lists(
    value: Any,
    depth: int,
    columns: int | None,
    numbers: Mapping[str, int],
    place: str,
    problems: list[Problem],
) -> Any:
    """The value of a field with numbers in place of names, in as many lists."""
    if depth:
        if not isinstance(value, list):
            return value
        last = columns if depth == 1 else None
        named = [
            _of_lists(one, depth - 1, columns, numbers, f"{place}[{index}]", problems)
            for index, one in enumerate(value[:last])
        ]
        return named + value[len(named) :]
    if isinstance(value, str) and value not in numbers:
        names = list(numbers)
        remedy = f"{nearest(value, names)}; or a number of 0 to {len(names) - 1}"
        problems.append(Problem(place, "there is no such node", remedy, value))
    return numbers.get(value, value) if isinstance(value, str) else value


def _range(
    value: Any, numbers: Mapping[str, int], place: str, problems: list[Problem]
) -> Sequence[Any]:
    """The nodes of a range such as ``"H0..H7"``; what is none comes back alone."""
    if not isinstance(value, str) or RANGE not in value or value in numbers:
        return [value]
    names = [name.strip() for name in value.split(RANGE)]
    if len(names) != 2 or any(name not in numbers for name in names):
        remedy = 'write the first and the last node, such as "H0..H7"'
        problems.append(Problem(place, "no range of nodes", remedy, value))
        return []
    first, last = (numbers[name] for name in names)
    if first > last:
        remedy = f'write "{names[1]}{RANGE}{names[0]}"'
        problems.append(Problem(place, "the range ends before it begins", remedy, value))
    return range(first, last + 1)
