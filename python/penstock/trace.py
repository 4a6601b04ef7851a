"""Lists of flows in the files that users already have.

Three formats, told apart by their first line:

* CSV with a header: source, destination, size in bytes, start in s, ms, us, ns or ps; flows may
  wait for others (``id``, ``after``, ``delay``, ``needed``) and be a job (``iteration``, ``step``,
  ``rank``);
* the HPCC simulator's flow file: a count, then ``src dst pg [dport] size start_s``, and words
  below the flows, which are not read;
* htsim's connection matrix (``.cm``, :mod:`penstock.connection_matrix`).

Files may be gzipped. A bad line is refused with its number: truncated files, starts that go back
in time, texts where a number belongs, a flow from a host to itself, flows that wait for each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, get_args

from penstock.connection_matrix import read_connection_matrix
from penstock.dependency import (
    FLOWS_MAX,
    SIZE,
    SIZE_MAX,
    Event,
    Flow,
    Row,
    check_reach,
    checked_flows,
)
from penstock.errors import nearest
from penstock.hpcc.flow_file import SECOND_NS, base_second, read_hpcc_flows
from penstock.lines import QUOTES, Line, numbered_lines, read_lines, unseparated
from penstock.text_file import read_text
from penstock.toml_text import ROWS_LONG
from penstock.topology_file import NODE_MAX
from penstock.units import whole_number

PLACE_MAX = 2**32 - 1
"""Largest iteration, and largest rank, of a job: the core keeps them in 32 bits."""

STEP_WIDTH = 200
"""Most characters of a step's name, as of every name in results."""

HEAD_WIDTH = 2**16
"""Characters in which the header of a CSV file is looked for; our choice: a page of comments may
stand above it."""

COUNT = re.compile("[0-9]+")
"""The first line of the HPCC simulator's flow file."""

HEADER = "begin with a header such as src,dst,size_bytes,start_ns, separated by commas"


@dataclass(frozen=True)
class FlowTrace:
    """The flows of a file."""

    flows: Sequence[Flow]
    """In the order of the file."""
    destination_ports: Sequence[int] = field(default_factory=list)
    """UDP port of each flow at its destination; empty when the format has none."""
    after: list[tuple[int, int, Event]] = field(default_factory=list)
    """Rows [waiting flow, awaited flow, event]; empty when no flow waits for another."""
    delays: list[int] = field(default_factory=list)
    """How long after the others each flow starts [ps]; empty when all start at once."""
    needed: list[int] = field(default_factory=list)
    """For how many of the others each flow waits, 0: all; empty when all wait for all."""
    lags: list[int] = field(default_factory=list)
    """How much later each row of `after` takes effect [ps]; empty when all do at once."""
    places: list[tuple[int, int, int]] = field(default_factory=list)
    """Iteration, step and rank of each flow; empty when the flows are no job."""
    steps: list[str] = field(default_factory=list)
    """The names of the steps, by number."""


_COLUMNS = {
    "source": ("src", "source", "source_host"),
    "destination": ("dst", "dest", "destination", "destination_host"),
    "size": ("size_bytes", "size", "bytes"),
}
_PLACE = ("iteration", "step", "rank")
_STARTS = {f"start_{unit}": unit for unit in ("s", "ms", "us", "ns", "ps")}
_EVENTS = ("", *(event for event in get_args(Event) if event != "natural"))


def read_trace(path: Path) -> FlowTrace:
    """The flows of a file; those of the HPCC simulator begin at a whole second, taken off here.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names the line and the remedy.
    """
    text = read_text(path)
    return _plain(text, path) or _by_line(text, path)


def _plain(text: str, path: Path) -> FlowTrace | None:
    """The flows of a file as most are; none of another file, and of one with something wrong.

    These are then read line by line, which takes six times as long.
    """
    if text.count("\n") < ROWS_LONG:
        return None  # no lines that are worth the import of Polars
    head = numbered_lines(text[:HEAD_WIDTH], path, may_be_empty=True)
    if len(head) < 2:
        return None
    if COUNT.fullmatch(head[0].text):
        from penstock.plain_trace import plain_hpcc_flows

        count = whole_number(head[0].text, FLOWS_MAX)
        has_words = len(head[1].text.split(maxsplit=1)) > 1  # a list of numbers is no list of flows
        found = plain_hpcc_flows(text, count) if count and has_words else None
        return FlowTrace(*found) if found else None
    if "," not in head[0].text or "," not in head[1].text:
        return None
    columns = _columns(head[0])
    if columns.after >= 0 or columns.job:
        return None
    from penstock.plain_trace import plain_flows

    places = dict(zip(_COLUMNS, columns.flow, strict=True))
    flows = plain_flows(text, len(_header(head[0])), places, columns.start)
    return FlowTrace(flows) if flows else None


def _by_line(text: str, path: Path) -> FlowTrace:
    """The flows of any file, or the refusal of a line."""
    lines = numbered_lines(text, path)
    if COUNT.fullmatch(lines[0].text):
        found = read_hpcc_flows(lines)
        base = base_second(found) * SECOND_NS
        listed = [
            (flow.source, flow.destination, flow.size, 1000 * (flow.start_ns - base))
            for flow in found
        ]
        return FlowTrace(listed, [flow.destination_port for flow in found])
    if lines[0].text.startswith("Nodes"):
        rows = read_connection_matrix(lines)
        return _trace(lines[0], rows, [row.line.text.split()[0] for row in rows])
    return _trace(lines[0], *_csv(lines, _columns(lines[0])))


def flow_lines(path: Path) -> list[Line]:
    """The line of each flow of a file that :func:`read_trace` has read."""
    lines = read_lines(path)
    if lines[0].text.startswith("Nodes"):
        return [row.line for row in read_connection_matrix(lines)]
    return lines[1:]


def _trace(header: Line, rows: list[Row], words: list[str]) -> FlowTrace:
    """The flows of checked rows below a `header`; `words` are their names in the file."""
    after = [(place, *one) for place, row in enumerate(rows) for one in row.after]
    # Where flows wait for others, a flow's number is its row, whenever it starts.
    flows = list(checked_flows(header, ((row.line, row.flow) for row in rows), in_order=not after))
    steps = {name: number for number, name in enumerate(dict.fromkeys(row.step for row in rows))}
    places = [(row.iteration, steps[row.step], row.rank) for row in rows if row.step]
    if after:
        check_reach(rows, words)
    delays, needed = [row.delay for row in rows], [row.needed for row in rows]
    lags = [lag for row in rows for lag in row.lags or [0] * len(row.after)]
    return FlowTrace(
        flows,
        after=after,
        delays=delays if any(delays) else [],
        needed=needed if any(needed) else [],
        lags=lags if any(lags) else [],
        places=places,
        steps=list(steps) if places else [],
    )


def _header(line: Line) -> list[str]:
    return [name.strip().lower() for name in line.text.split(",")]


def _csv(lines: list[Line], places: _Columns) -> tuple[list[Row], list[str]]:
    """The rows of a CSV file, and the names of their flows."""
    header = _header(lines[0])
    (start, unit), (delay, delay_unit) = places.start, places.delay
    rows, words = [], []
    for line in lines[1:]:
        cells = [cell.strip() for cell in line.text.split(",")]
        if len(cells) != len(header):
            raise line.refuse(
                f"has {len(cells)} columns, and the header {len(header)}",
                _width_remedy(line, len(cells) < len(header)),
            )
        is_waiting = places.after >= 0 and bool(cells[places.after])
        source, destination, size = places.flow
        row = Row(
            line,
            (
                line.whole(cells[source], "the source", NODE_MAX),
                line.whole(cells[destination], "the destination", NODE_MAX),
                line.whole(cells[size], SIZE, SIZE_MAX, least=1),
                # A flow that waits needs no start of its own.
                0 if is_waiting and not cells[start] else line.time(cells[start], unit),
            ),
        )
        if places.needed >= 0 and cells[places.needed]:
            row.needed = line.whole(cells[places.needed], "the number of flows needed")
        if delay >= 0 and cells[delay]:
            row.delay = line.time(cells[delay], delay_unit, "the delay")
        if row.delay and not is_waiting:
            raise line.refuse("has a delay and waits for no flow", "change its start instead")
        if places.job:
            iteration, step, rank = (cells[place] for place in places.job)
            if not step or not step.isprintable() or len(step) > STEP_WIDTH:
                remedy = f"write a name of 1 to {STEP_WIDTH} characters, such as 0 or forward"
                raise line.refuse("has no name for its step", remedy)
            row.iteration = line.whole(iteration, "the iteration", PLACE_MAX)
            row.step = step
            row.rank = line.whole(rank, "the rank", PLACE_MAX)
        rows.append(row)
        words.append(cells[places.name] if places.name >= 0 else "")
    if places.after >= 0:
        _connect(rows, words, places.after, delay_unit or unit)
    return rows, words


@dataclass(frozen=True, slots=True)
class _Columns:
    """The places of columns; -1 for one that is not there."""

    flow: tuple[int, int, int]
    start: tuple[int, str]
    name: int
    after: int
    needed: int
    delay: tuple[int, str]
    job: tuple[int, ...]
    """Those of iteration, step and rank; empty without them."""


def _columns(line: Line) -> _Columns:
    header, places = _header(line), {}
    for column, names in _COLUMNS.items():
        found = [place for place, name in enumerate(header) if name in names]
        if len(found) > 1:
            several = " and ".join(header[place] for place in found)
            raise line.refuse(f"has several {column} columns: {several}", "keep one of them")
        if not found:
            raise line.refuse(f"has no {column} column{unseparated(line)}", HEADER)
        places[column] = found[0]
    starts = [(place, _STARTS[name]) for place, name in enumerate(header) if name in _STARTS]
    if len(starts) > 1:
        several = " and ".join(header[place] for place, _ in starts)
        raise line.refuse(f"has several start columns: {several}", "keep one of them")
    if not starts:
        raise line.refuse("has no start column", f"name it one of {', '.join(_STARTS)}")
    units = {"delay": starts[0][1]} | {f"delay_{unit}": unit for unit in _STARTS.values()}
    delays = [(place, units[name]) for place, name in enumerate(header) if name in units]
    own = {name: header.index(name) if name in header else -1 for name in ("id", "after", "needed")}
    if own["after"] >= 0 > own["id"]:
        raise line.refuse("has an after column and no id column", "give each flow an id")
    if len(delays) > 1:
        raise line.refuse("has two delay columns", "keep one")
    if own["after"] < 0 and (delays or own["needed"] >= 0):
        raise line.refuse("has a delay or needed column and no after column", "say after what")
    job = [header.index(name) for name in _PLACE if name in header]
    if job and len(job) < len(_PLACE):
        raise line.refuse(f"has not all of {', '.join(_PLACE)}", "write all three, or none of them")
    return _Columns(
        (places["source"], places["destination"], places["size"]),
        starts[0],
        own["id"],
        own["after"],
        own["needed"],
        delays[0] if delays else (-1, ""),
        tuple(job),
    )


def _width_remedy(line: Line, is_short: bool) -> str:
    """What to do about a line of another width than the header."""
    if any(mark in line.text for mark in QUOTES):
        return "write no comma and no line break within a column; quotes are not read"
    if is_short:
        return "write all columns of the header; the file may be truncated here"
    return "write no comma within a column, nor in a number"


def _connect(rows: list[Row], words: list[str], column: int, unit: str) -> None:
    """Lets each flow wait for those that its `column` names; lags are in `unit`."""
    places: dict[str, int] = {}
    for place, (row, word) in enumerate(zip(rows, words, strict=True)):
        if not word:
            raise row.line.refuse("has no id", "give each flow an id")
        first = places.setdefault(word, place)
        if first != place:
            raise row.line.refuse(
                f"is the id of line {rows[first].line.number} already",
                "give each flow an id of its own",
                word,
            )
    for place, row in enumerate(rows):
        awaited = row.line.text.split(",")[column].replace(";", " ").split()
        for one in awaited:
            word, _, rest = one.partition(":")
            event, _, lag = rest.partition(":")
            if word not in places:
                remedy = nearest(word, list(places))
                raise row.line.refuse("is an id that no flow has", remedy, word)
            if event not in _EVENTS:
                known = ", ".join(_EVENTS[1:])
                raise row.line.refuse("names no event", f"write ID, or ID: and one of {known}", one)
            entry = (places[word], cast(Event, event or "natural"))
            if places[word] == place:
                raise row.line.refuse("is the flow itself", "name flows before it", word)
            if entry in row.after:
                raise row.line.refuse("stands there twice", "name each event once", one)
            row.after.append(entry)
            row.lags.append(row.line.time(lag, unit, "the delay behind an event") if lag else 0)
        if row.needed > len(row.after):
            raise row.line.refuse(
                f"needs {row.needed} flows of {len(row.after)}", "need at most those it waits for"
            )
