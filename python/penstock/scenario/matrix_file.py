"""Traffic matrices in files: ``pairs = { kind = "matrix", file = "matrix.csv" }``.

A file becomes the ``rows`` of the same pairs before the parts of a scenario are read, so nothing
behind this module knows files of matrices. What is wrong with one of the rows is told of its line,
for which the file is read again. A file is one of two tables. A list has a header with
``src``, ``dst`` and ``weight``, and a row for each pair of nodes. A square has the receivers in its
header, behind a first cell that is not read, and a row for each sender, which begins with the
sender. Nodes are numbers or names; a switch stands for the hosts below it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from penstock.errors import Problem, ScenarioError, nearest, problem_of
from penstock.lines import Line, read_lines, unseparated
from penstock.scenario.base import path_beside
from penstock.scenario.node_names import node_numbers
from penstock.scenario.table import Table
from penstock.topology_file import NODE_MAX

SOURCES, DESTINATIONS = ("src", "source", "from"), ("dst", "destination", "to")
"""Names of the columns of a list."""
WEIGHTS = ("weight", "share", "bytes")
"""Names of its third column: all are in proportion."""

_ROWS = re.compile(
    r"traffic\[(?P<entry>\d+)\]\.pairs\.rows(\[(?P<row>\d+)\](\[(?P<column>\d)\])?)?"
)

Row = list[int | float]
"""From, to, weight."""
Read = tuple[Line, int, int, float]
"""Where a row was read, from, to, weight."""


def with_rows(table: Table, directory: Path) -> Table:
    """A scenario's table with rows in place of files of matrices.

    Parameters
    ----------
    directory
        That paths are relative to.

    Raises
    ------
    ScenarioError
        A file cannot be read; it names the line and the remedy.
    """
    traffic = table.get("traffic")
    if not isinstance(traffic, list) or not any(map(_file_of, traffic)):
        return table
    numbers = node_numbers(table, {"directory": directory})
    read = [_read(entry, f"traffic[{at}].pairs.file", directory, numbers)
            for at, entry in enumerate(traffic)]  # fmt: skip
    return table | {"traffic": read}


def of_files(problems: Iterable[Problem], table: Table, directory: Path) -> Iterator[Problem]:
    """Problems of rows, told of the lines of the files from which :func:`with_rows` has read them.

    Parameters
    ----------
    table, directory
        Those that it got.
    """

    @cache
    def weighted(file: str) -> tuple[list[Read], dict[int, str]]:
        numbers = node_numbers(table, {"directory": directory})
        names = {number: name for name, number in numbers.items()}
        return _weighted(path_beside(file, directory, ""), numbers), names

    for problem in problems:
        found = _ROWS.fullmatch(problem.field)
        file = _file_of(table["traffic"][int(found["entry"])]) if found else ""
        if not found or not file:
            yield problem
            continue
        place = f"traffic[{found['entry']}].pairs.file"
        if found["row"] is None:
            yield replace(problem, field=place, message=f"{file}: {problem.message}")
            continue
        rows, names = weighted(file)
        line, *ends, _ = rows[int(found["row"])]
        sender, receiver = (names.get(node, str(node)) for node in ends)
        what = {None: f"{sender} to {receiver}", "0": f"{sender} for the sender"}
        wrong = what.get(found["column"], f"{receiver} for the receiver")
        yield problem_of(line.refuse(f"has {wrong}", problem.remedy), place)


def _file_of(entry: Any) -> str:
    """The file of an entry's matrix; empty where it has none, or `rows` beside it."""
    pairs = entry.get("pairs") if isinstance(entry, dict) else None
    if not isinstance(pairs, dict) or pairs.get("kind") != "matrix" or "rows" in pairs:
        return ""
    file = pairs.get("file")
    return file if isinstance(file, str) else ""


def _read(entry: Any, field: str, directory: Path, numbers: Mapping[str, int]) -> Any:
    if not (file := _file_of(entry)):
        return entry
    try:
        path = path_beside(file, directory, "write a path relative to the scenario's file")
        rows = read_matrix(path, numbers)
    except PydanticCustomError as error:
        raise ScenarioError([problem_of(error, field)]) from None
    others = {key: one for key, one in entry["pairs"].items() if key != "file"}
    return entry | {"pairs": others | {"rows": rows}}


def read_matrix(path: Path, numbers: Mapping[str, int]) -> list[Row]:
    """The rows of a file; those of a weight of 0 are left out.

    Parameters
    ----------
    numbers
        Name to number of every node.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names the line and the remedy.
    """
    return [[sender, receiver, weight] for _, sender, receiver, weight in _weighted(path, numbers)]


def _weighted(path: Path, numbers: Mapping[str, int]) -> list[Read]:
    """The rows with a weight, each with its line."""
    header, *lines = read_lines(path)
    names = [cell.strip() for cell in header.text.split(",")]
    if len(names) < 2:
        remedy = "write src,dst,weight, or a first cell and the nodes that receive"
        raise header.refuse(f"has one column{unseparated(header)}", remedy)
    columns = [_column(header, names, known) for known in (SOURCES, DESTINATIONS, WEIGHTS)]
    if None not in columns[:2]:
        if columns[2] is None:
            raise header.refuse("has no weight column", f"name it one of {', '.join(WEIGHTS)}")
        rows = _list(lines, len(names), [one for one in columns if one is not None], numbers)
    else:
        receivers = [_node(header, name, numbers) for name in names[1:]]
        for node, count in Counter(receivers).items():
            if count > 1:
                remedy = "name each receiver once; the header of a list is src,dst,weight"
                raise header.refuse(
                    "names a receiver twice", remedy, names[1 + receivers.index(node)]
                )
        rows = _square(lines, receivers, numbers)
    found = [row for row in _once(rows, numbers) if row[3]]
    if not found:
        raise header.refuse("begins a matrix without a weight", "give some pair a weight above 0")
    return found


def _column(header: Line, names: list[str], known: tuple[str, ...]) -> int | None:
    found = [at for at, name in enumerate(names) if name.lower() in known]
    if len(found) > 1:
        several = " and ".join(names[at] for at in found)
        raise header.refuse(f"has several columns for one: {several}", "keep one of them")
    return found[0] if found else None


def _list(
    lines: list[Line], width: int, columns: list[int], numbers: Mapping[str, int]
) -> Iterator[Read]:
    source, destination, weight = columns
    for line in lines:
        cells = _cells(line, width)
        sender, receiver = (_node(line, cells[at], numbers) for at in (source, destination))
        yield line, sender, receiver, line.decimal(cells[weight], "the weight")


def _square(lines: list[Line], receivers: list[int], numbers: Mapping[str, int]) -> Iterator[Read]:
    for line in lines:
        sender, *weights = _cells(line, len(receivers) + 1)
        node = _node(line, sender, numbers)
        for receiver, weight in zip(receivers, weights, strict=True):
            yield line, node, receiver, line.decimal(weight, "the weight")


def _once(rows: Iterator[Read], numbers: Mapping[str, int]) -> Iterator[Read]:
    """The rows, none of which may repeat the pair of another, whatever its weight."""
    names = {number: name for name, number in numbers.items()}
    seen: dict[tuple[int, int], int] = {}
    for line, sender, receiver, weight in rows:
        if (sender, receiver) in seen:
            pair = f"{names.get(sender, sender)} to {names.get(receiver, receiver)}"
            problem = f"has {pair} again, which line {seen[sender, receiver]} has"
            raise line.refuse(problem, "write each pair once")
        seen[sender, receiver] = line.number
        yield line, sender, receiver, weight


def _cells(line: Line, width: int) -> list[str]:
    cells = [cell.strip() for cell in line.text.split(",")]
    if len(cells) != width:
        remedy = "write as many, and no comma within a column"
        raise line.refuse(f"has {len(cells)} columns, and the header {width}", remedy)
    return cells


def _node(line: Line, text: str, numbers: Mapping[str, int]) -> int:
    if text in numbers and not text[:1].isdigit():
        return numbers.get(text, 0)
    if text[:1].isdigit():
        return line.whole(text, "a node", NODE_MAX)
    remedy = f"{nearest(text, list(numbers))}; or a number of 0 to {len(numbers) - 1}"
    raise line.refuse("is no node", remedy, text)
