"""Makes bad inputs out of good ones: bytes, words, numbers, lines, nesting, compression."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from random import Random

from nasty import NUMBERS, WORDS

_NUMBER = re.compile(rb"[0-9]+(?:\.[0-9]+)?")
_WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9-]*|[0-9.]+|\"[^\"\n]*\"|[^\sA-Za-z0-9]")
_NUMBER_VALUES, _WORD_VALUES = tuple(NUMBERS.values()), tuple(WORDS.values())


def mutated(good: bytes, random: Random) -> bytes:
    """A bad input, most of the time: one to four changes of a good one."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 4))):
        good = random.choice(_CHANGES)(good, random)
    return good


def zipped(text: bytes, random: Random) -> bytes:
    """A text gzipped; half of the time truncated, or with bytes that are wrong."""
    packed = gzip.compress(text, 1, mtime=0)
    if random.random() < 0.5:
        return packed
    return random.choice((_bytes, _cut, _tail))(packed, random)


def _bytes(good: bytes, random: Random) -> bytes:
    bad = bytearray(good)
    for _ in range(random.randint(1, 4)):
        if bad:
            bad[random.randrange(len(bad))] = random.randrange(256)
    return bytes(bad)


def _cut(good: bytes, random: Random) -> bytes:
    return good[: random.randint(0, len(good))]


def _tail(good: bytes, random: Random) -> bytes:
    return good + random.randbytes(random.randint(1, 20))


def _without(good: bytes, random: Random) -> bytes:
    start = random.randint(0, len(good))
    return good[:start] + good[start + random.randint(1, 20) :]


def _replaced(pattern: re.Pattern[bytes], values: tuple[bytes, ...] | None) -> Callable:
    """Puts one of `values`, or another word of the input, in the place of a match."""

    def change(good: bytes, random: Random) -> bytes:
        found = list(pattern.finditer(good))
        if not found:
            return good + random.choice(values or (b"x",))
        place = random.choice(found)
        new = random.choice(values) if values else random.choice(found).group()
        return good[: place.start()] + new + good[place.end() :]

    return change


def _inserted(good: bytes, random: Random) -> bytes:
    place = random.randint(0, len(good))
    return good[:place] + random.choice(_WORD_VALUES + _NUMBER_VALUES) + good[place:]


def _lines(good: bytes, random: Random) -> bytes:
    """A line twice, gone, moved, or a hundred times."""
    lines = good.splitlines(keepends=True) or [b"\n"]
    place = random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            del lines[place]
        case 1:
            lines.insert(random.randint(0, len(lines)), lines[place])
        case 2:
            lines[place : place + 1] = [lines[place]] * random.choice((2, 3, 100))
        case 3:
            random.shuffle(lines)
    return b"".join(lines)


def _encoded(good: bytes, random: Random) -> bytes:
    match random.randrange(5):
        case 0:
            return good.replace(b"\n", b"\r\n")
        case 1:
            return good.replace(b"\n", b"\r")
        case 2:
            return b"\xef\xbb\xbf" + good
        case 3:
            return good.decode(errors="replace").encode("utf-16")
        case _:
            return good.replace(b" ", random.choice((b"\t", b"\0", b"\xc2\xa0", b"  ")))


_CHANGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    _bytes,
    _cut,
    _without,
    _replaced(_NUMBER, _NUMBER_VALUES),
    _replaced(_NUMBER, _NUMBER_VALUES),
    _replaced(_NUMBER, None),
    _replaced(_WORD, _WORD_VALUES),
    _replaced(_WORD, _WORD_VALUES + _NUMBER_VALUES),
    _replaced(_WORD, None),
    _inserted,
    _lines,
    _encoded,
)
