"""htsim's connection matrices, with triggers.

The format is that of ``sim/datacenter/connection_matrix.cpp`` of Broadcom/csg-htsim: a head with
``Nodes``, ``Connections`` and perhaps ``Triggers``; connections ``1->2 start 0 size 9``, where
``trigger 5`` stands in place of a start; triggers ``trigger id 5 oneshot``. A connection fires a
trigger when its sender has the last acknowledgement (``send_done_trigger``), or when its receiver
has the last byte (``recv_done_trigger``). Other words of a connection, such as ``prio``, are not
used.

``gen_allreduce_butterfly.py`` there counts its last trigger and writes no line for it. So a trigger
may lack its line if it is counted, fired and waited for, and all others are oneshot, as it is then.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.dependency import SIZE, SIZE_MAX, Event, Row
from penstock.lines import Line
from penstock.topology_file import NODE_MAX

FIRED: dict[str, Event] = {"send_done_trigger": "acknowledged", "recv_done_trigger": "received"}
"""The words with which a connection fires a trigger, and when it does."""


@dataclass(slots=True)
class _Trigger:
    line: Line
    kind: str
    count: int = 1
    """Of a barrier: how many firings it waits for."""
    fired_by: list[tuple[int, Event]] = field(default_factory=list)
    """Rows of the connections that fire it."""
    starts: list[int] = field(default_factory=list)
    """Rows of the connections that it starts, in the order of the file."""


def read_connection_matrix(lines: list[Line]) -> list[Row]:
    """The connections of a file, in its order.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names the line and the remedy.
    """
    heads = {"Nodes": -1, "Connections": -1, "Triggers": 0}
    connections: list[tuple[Line, dict[str, str]]] = []
    triggers: dict[int, _Trigger] = {}
    for line in lines:
        words = line.text.split()
        if words[0] in heads:
            if len(words) != 2:
                raise line.refuse(f"has {len(words)} words", f"write {words[0]} and a number")
            heads[words[0]] = line.whole(words[1], f"the number of {words[0].lower()}")
        elif "->" in words[0]:
            connections.append((line, _pairs(line, words[1:])))
        elif words[0] == "trigger":
            _add_trigger(triggers, line, words)
        else:
            raise line.refuse(
                "is neither a connection nor a trigger", "write 1->2 … or trigger id …", words[0]
            )
    _add_unwritten(triggers, connections, heads["Triggers"])
    for name, found in (("Connections", len(connections)), ("Triggers", len(triggers))):
        if heads[name] != found:
            written = f"{heads[name]}" if heads[name] >= 0 else "no number of"
            raise lines[0].refuse(
                f"announces {written} {name.lower()}, but {found} follow",
                f"the file is truncated, or its line {name} is wrong",
            )
    rows = [
        _row(place, line, values, triggers, heads["Nodes"])
        for place, (line, values) in enumerate(connections)
    ]
    for number, trigger in triggers.items():
        _connect(number, trigger, rows)
    return rows


def _pairs(line: Line, words: list[str]) -> dict[str, str]:
    if len(words) % 2:
        raise line.refuse("has a word without a value", "write pairs such as size 9", words[-1])
    values = dict(zip(words[::2], words[1::2], strict=True))
    if 2 * len(values) < len(words):
        twice = next(word for word in values if words[::2].count(word) > 1)
        raise line.refuse("stands there twice", "write it once", twice)
    return values


def _add_trigger(triggers: dict[int, _Trigger], line: Line, words: list[str]) -> None:
    kind = words[3] if len(words) > 3 and words[1] == "id" else ""
    if kind == "barrier" and len(words) == 6 and words[4] == "count":
        found = _Trigger(line, kind, line.whole(words[5], "the count", NODE_MAX))
    elif kind in ("oneshot", "multishot") and len(words) == 4:
        found = _Trigger(line, kind)
    else:
        raise line.refuse(
            "is no trigger", "write trigger id 5 oneshot, … multishot, or … barrier count 3"
        )
    number = line.whole(words[2], "the trigger's id")
    if number in triggers:
        above = triggers[number].line.number
        raise line.refuse(f"repeats trigger {number} of line {above}", "give it another id")
    triggers[number] = found


def _add_unwritten(
    triggers: dict[int, _Trigger], connections: list[tuple[Line, dict[str, str]]], count: int
) -> None:
    """Adds a trigger that a file counts and uses but has no line for, if it has `count` with it."""
    used: dict[str, dict[int, Line]] = {word: {} for word in ("trigger", *FIRED)}
    for line, values in connections:
        for word, lines in used.items():
            if word in values:
                lines.setdefault(line.whole(values[word], "the trigger's id"), line)
    waited = used["trigger"]
    fired = {number for word in FIRED for number in used[word]}
    unwritten = (fired & waited.keys()) - triggers.keys()
    are_oneshot = all(trigger.kind == "oneshot" for trigger in triggers.values())
    if len(unwritten) == 1 and are_oneshot and len(triggers) + 1 == count:
        (number,) = unwritten
        triggers[number] = _Trigger(waited[number], "oneshot")


def _row(
    place: int, line: Line, values: dict[str, str], triggers: dict[int, _Trigger], nodes: int
) -> Row:
    """The connection at `place`, entered at the triggers that it has to do with."""
    if "size" not in values or ("start" in values) == ("trigger" in values):
        raise line.refuse(
            "has no size, or not one of start and trigger",
            "give each connection a size, and a start or a trigger",
        )
    ends = [
        line.whole(word, what, NODE_MAX)
        for word, what in zip(
            line.text.split()[0].split("->", 1), ("the source", "the destination"), strict=True
        )
    ]
    if max(ends) >= nodes >= 0:
        raise line.refuse(
            f"has node {max(ends)}", f"the file has {nodes} nodes, 0 to {nodes - 1}; name these"
        )

    def trigger(word: str) -> _Trigger:
        number = line.whole(values[word], "the trigger's id")
        if number not in triggers:
            raise line.refuse(
                f"names trigger {number}", f"there is none; write a line trigger id {number} …"
            )
        return triggers[number]

    for word, event in FIRED.items():
        if word in values:
            trigger(word).fired_by.append((place, event))
    if "trigger" in values:
        trigger("trigger").starts.append(place)
    start = line.time(values["start"], "ps") if "start" in values else 0
    size = line.whole(values["size"], SIZE, SIZE_MAX, least=1)
    return Row(line, (ends[0], ends[1], size, start))


def _connect(number: int, trigger: _Trigger, rows: list[Row]) -> None:
    """Lets the connections that wait for a trigger wait for what fires it."""
    fired, waiting = len(trigger.fired_by), len(trigger.starts)
    if trigger.kind == "barrier" and trigger.count != fired:
        raise trigger.line.refuse(
            f"waits for {trigger.count} completions, but {fired} connections fire trigger {number}",
            "write as many as there are",
        )
    if waiting and not fired:
        raise trigger.line.refuse(
            f"is never fired, and {waiting} connections wait for trigger {number}",
            "let a connection fire it, or give these a start",
        )
    if trigger.kind == "multishot" and waiting > fired:
        raise rows[trigger.starts[fired]].line.refuse(
            f"waits for trigger {number}, which is fired {fired} times for {waiting} connections",
            "let it be fired once for each",
        )
    for place, start in enumerate(trigger.starts):
        rows[start].after = list(trigger.fired_by)
        # A barrier needs all; of a multishot, each firing starts the next one that waits.
        rows[start].needed = {"barrier": 0, "oneshot": 1}.get(trigger.kind, place + 1)
