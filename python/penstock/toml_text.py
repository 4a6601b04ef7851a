"""TOML that a user wrote, read within bounds.

Long lists of rows of numbers are read as JSON: half a million rows take 0.3 s and not 7 s. The
flows of a trace are read into columns.

Python's reader makes a call for every level and keeps a record for every key. Its time grows with
the square of a dotted key's parts. So the parts of a text are counted before it is read.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from secrets import token_hex
from typing import Any

from penstock.flow_rows import FlowRows
from penstock.text_file import read_text
from penstock.units import refusal

NESTING_MAX = 32
"""Most levels of tables and lists, and most parts of a dotted key; our choice: the deepest field of
a scenario has seven."""

KEYS_MAX = 2**19
"""Most equals signs, headers and points outside texts; our choice: a resolved scenario has
six for each of 65,536 cables, and the record of a key takes up to a kilobyte."""

ENTRIES_MAX = 2**23
"""Most commas, brackets and ends of lines outside texts and long lists; our choice: half a million
flows have seven each. A list takes three and some 130 bytes."""

ROWS_LONG = 1_000
"""Fewest rows of a long list; our choice: nobody reads as many, so they need no units."""

ROWS_MAX = 2**22
"""Most rows of long lists; our choice: twice those of the longest list. A row takes 200 bytes."""

WORD_MAX = 256
"""Most characters of a number or a bare key; our choice: a whole number in base 2 takes 66."""

_BASIC = r'"""(?:[^"\\]++|\\.|"(?!""))*+"{3,5}|"(?:[^"\\\n]++|\\.)*+"'
_LITERAL = r"'''(?:[^']++|'(?!''))*+'{3,5}|'[^'\n]*+'"
_TEXT_OR_COMMENT = re.compile(rf"{_BASIC}|{_LITERAL}|#[^\n]*+", re.DOTALL)
_ROW = r"  \[[0-9]++(?:, [0-9]++)*+\]"
_LONG_LIST = re.compile(
    rf"^(\w++ = )\[\n((?:{_ROW},\n){{{ROWS_LONG - 1},}}+{_ROW})\n\]$", re.MULTILINE
)
"""As :func:`penstock.scenario.table.to_toml` writes a long list."""
_NO_BRACKETS = re.compile(r"[^\[\]{}]+")
_EMPTY_BRACKETS = re.compile(r"\[\]|\{\}")
_PART = r"[^\s.=,\[\]{}]"
_LONG_WORD = re.compile(rf"(?<!{_PART}){_PART}{{{WORD_MAX + 1}}}")
_LONG_KEY = re.compile(rf"(?<!{_PART})(?:[ \t]*+{_PART}*+[ \t]*+\.){{{NESTING_MAX}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """The table of a TOML text.

    Raises
    ------
    tomllib.TOMLDecodeError
        It is no TOML.
    PydanticCustomError
        A `ValueError`: it is beyond a bound of this module.
    """
    lists: dict[str, Any] = {}
    rows = 0

    def taken(match: re.Match[str]) -> str:
        nonlocal rows
        rows += match.group(2).count("\n")
        if rows > ROWS_MAX:
            return match.group()
        place = f"list {token_hex()}"
        try:
            lists[place] = _flows(match) or json.loads(f"[{match.group(2)}]")
        except ValueError:
            return match.group()
        return f'{match.group(1)}"{place}"'

    # What looks like a list may be part of a text over several lines.
    has_long_texts = '"""' in text or "'''" in text
    short = text if has_long_texts else _LONG_LIST.sub(taken, text)
    _count(short)
    try:
        return dict(_put_back(tomllib.loads(short), lists))
    except tomllib.TOMLDecodeError:
        return tomllib.loads(text)  # whose refusal names the line in the whole text


def _flows(match: re.Match[str]) -> FlowRows | None:
    """A long list as columns, if it is one of flows."""
    if match.group(1) != "flows = ":
        return None
    from penstock.plain_trace import recorded_flows

    return recorded_flows(match.group(2), ROWS_MAX)


def _put_back(value: Any, lists: dict[str, Any]) -> Any:
    match value:
        case dict():
            return {key: _put_back(one, lists) for key, one in value.items()}
        case list():
            return [_put_back(one, lists) for one in value]
        case str():
            return lists.get(value, value)
        case _:
            return value


def read_toml(path: Path, remedy: str) -> dict[str, Any]:
    """The table of a TOML file; `remedy` says what to name instead of one that cannot be read.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names the file, and the line where there is one.
    """
    try:
        return parse_toml(read_text(path, remedy))
    except tomllib.TOMLDecodeError as error:
        raise refusal(f"{path}: {error}", "mend the TOML there") from None


def _count(text: str) -> None:
    """Refuses a text beyond a bound; what is no TOML may pass."""
    bare = _TEXT_OR_COMMENT.sub("", text)
    brackets = _NO_BRACKETS.sub("", bare)
    entries = len(brackets) + bare.count(",") + bare.count("\n")
    keys = bare.count("=") + bare.count(".") + bare.count("\n[")
    if entries > ENTRIES_MAX or keys > KEYS_MAX:
        raise refusal(
            f"the TOML has {entries:,} entries and {keys:,} keys",
            f"write at most {ENTRIES_MAX:,} and {KEYS_MAX:,}",
        )
    for _ in range(NESTING_MAX):
        brackets = _EMPTY_BRACKETS.sub("", brackets)
    if brackets.count("[") + brackets.count("{") > NESTING_MAX or _LONG_KEY.search(bare):
        raise refusal(
            f"the TOML has more than {NESTING_MAX} levels of tables and lists",
            "nest them less, and close all brackets",
        )
    if _LONG_WORD.search(bare):
        raise refusal(
            f"the TOML has a word of more than {WORD_MAX} characters",
            "shorten it, or write it as a text in quotes",
        )
