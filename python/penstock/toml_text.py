"""TOML that a user wrote, read within bounds.

Python's reader follows every level with a call, keeps a record for every key, and takes time with
the square of a dotted key's parts. So a text is counted before it is read.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from penstock.text_file import read_text
from penstock.units import refusal

NESTING_MAX = 32
"""Most levels of tables and lists, and most parts of a dotted key; our choice: the deepest field of
a scenario has seven."""

KEYS_MAX = 2**19
"""Most parts of keys and headers of tables; our choice: four keys for each of 131,072 cables, and a
record of a key takes up to a kilobyte."""

TOKENS_MAX = 2**23
"""Most words, texts, brackets, commas, equals signs and ends of lines; our choice: half a million
flows have twelve each. A list takes three and some 130 bytes."""

WORD_MAX = 256
"""Most characters of a number or a bare key; our choice: a whole number in base 2 takes 66."""

_TOKEN = re.compile(
    r"""
      (?P<text>"{3} (?: [^"\\]++ | \\. | "(?!"") )*+ "{3,5} | '{3} (?: [^']++ | '(?!'') )*+ '{3,5}
        | "(?: [^"\\\n]++ | \\. )*+" | '[^'\n]*+')
    | (?P<comment>\#[^\n]*+)
    | (?P<opens>[\[{])
    | (?P<closes>[\]}])
    | (?P<word>[^\s\[\]{}=,"'\#]++)
    | (?P<ends>[=,\n])
    """,
    re.VERBOSE | re.DOTALL,
)


def parse_toml(text: str) -> dict[str, Any]:
    """The table of a TOML text.

    Raises
    ------
    tomllib.TOMLDecodeError
        It is no TOML.
    PydanticCustomError
        A `ValueError`: it is beyond a bound of this module.
    """
    _count(text)
    return tomllib.loads(text)


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
    depth = keys = parts = 0
    for count, token in enumerate(_TOKEN.finditer(text)):
        match token.lastgroup:
            case "word":
                word = token.group()
                parts += word.count(".")
                if len(word) > WORD_MAX and max(map(len, word.split("."))) > WORD_MAX:
                    raise _refusal(text, token, f"a word of more than {WORD_MAX} characters")
            case "ends":
                keys += 1 + parts if token.group() == "=" else 0
                parts = 0
            case "opens":
                keys += depth == 0
                depth, parts = depth + 1, 0
            case "closes":
                keys += parts
                depth, parts = max(depth - 1, 0), 0
        if max(depth, parts + 1) > NESTING_MAX:
            raise _refusal(text, token, f"more than {NESTING_MAX} levels of tables and lists")
        if keys > KEYS_MAX:
            raise _refusal(text, token, f"more than {KEYS_MAX:,} keys")
        if count > TOKENS_MAX:
            raise _refusal(text, token, f"more than {TOKENS_MAX:,} words and signs")


def _refusal(text: str, token: re.Match[str], what: str) -> PydanticCustomError:
    line = text.count("\n", 0, token.start()) + 1
    return refusal(f"the TOML has {what} (at line {line})", "write less")
