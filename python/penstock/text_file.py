"""The text of a file that a user names, read within bounds.

Every reader of a user's file begins here. Only regular files are opened: a pipe or a device may
never end. A gzipped file is inflated no further than its text may be long.
"""

from __future__ import annotations

import os
import stat
import zlib
from pathlib import Path
from typing import BinaryIO

from penstock.units import refusal

TEXT_MAX = 128 * 2**20
"""Most bytes of a file, and of its text once inflated; our choice: two million lines of a flow
file take 60 MB, a resolved scenario of as many flows 60 MB."""

MEMBERS_MAX = 2**14
"""Most gzipped members in a file; our choice: bgzip writes one for each 64 KiB of text, so 2,048 at
:data:`TEXT_MAX`."""

CHUNK = 2**16
"""Bytes that are inflated at a time; our choice: what is left of them is copied for each member."""

GZIP = 16 + zlib.MAX_WBITS
"""Has zlib expect the header of gzip (zlib's manual, ``inflateInit2``)."""

TEXT_REMEDY = "name a text file, or one gzipped"

_KINDS = (
    (stat.S_ISDIR, "a directory", "name a file in it"),
    (stat.S_ISFIFO, "a pipe", "write what comes out of it to a file, and name that"),
    (stat.S_ISSOCK, "a socket", "name a file"),
    (stat.S_ISCHR, "a device", "write what comes out of it to a file, and name that"),
    (stat.S_ISBLK, "a device", "name a file"),
)

_OTHERS = (
    (b"\x1f\x8b", "gzipped", "let its name end in .gz, and gzip it once"),
    (b"PAR1", "a Parquet file", "write its rows as text"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "write its rows as text"),
    (b"\xff\xfe", "in UTF-16", "save it in UTF-8"),
    (b"\xfe\xff", "in UTF-16", "save it in UTF-8"),
)
"""How files begin that are no text in UTF-8, what they are, and what to do."""


def read_text(path: Path, remedy: str = TEXT_REMEDY) -> str:
    """The text of a regular file in UTF-8; a file whose name ends in ``.gz`` is inflated.

    Parameters
    ----------
    remedy
        What to name instead of a file that cannot be read.

    Raises
    ------
    PydanticCustomError
        A `ValueError`: the file is none, is too large, or is no text.
    """
    try:
        with _open_regular(path, remedy) as file:
            # Some files of /proc are regular and have nothing to read yet.
            raw = file.read(TEXT_MAX + 1) or b""
        if path.suffix == ".gz" and len(raw) <= TEXT_MAX:
            raw = _inflated(raw)
        if len(raw) > TEXT_MAX:
            most = f"more than {TEXT_MAX // 2**20} MiB"
            raise refusal(f"{path} cannot be read: it has {most}", "name a smaller file")
        # A byte order mark, which some editors write, says nothing in UTF-8.
        return raw.decode("utf-8-sig")
    except OSError as error:
        reason = str(error.strerror)
    except (EOFError, zlib.error):
        reason = "it is not gzipped, or damaged"
    except UnicodeDecodeError:
        kinds = ((kind, instead) for start, kind, instead in _OTHERS if raw.startswith(start))
        kind, remedy = next(kinds, ("no text file in UTF-8", remedy))
        reason = f"it is {kind}"
    raise refusal(f"{path} cannot be read: {reason}", remedy)


def check_regular(path: Path, remedy: str) -> None:
    """Refuses a path that names no regular file; opens nothing.

    Raises
    ------
    PydanticCustomError
        A `ValueError`: there is none of this name, or it is something else.
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise refusal(f"{path} cannot be read: {error.strerror}", remedy) from None
    except ValueError:  # a null character, or half of a surrogate pair
        raise refusal(f"{path} cannot be read: no file has such a name", remedy) from None
    for is_kind, kind, instead in _KINDS:
        if is_kind(mode):
            raise refusal(f"{path} cannot be read: it is {kind}", instead)


def exists(path: Path) -> bool:
    """Whether something has this name, whatever it is; never raises."""
    try:
        path.stat()
    except (OSError, ValueError):
        return False
    return True


def _open_regular(path: Path, remedy: str) -> BinaryIO:
    check_regular(path, remedy)
    # Should a pipe have taken the file's place by now, nothing waits for its other end.
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")


def _inflated(raw: bytes) -> bytes:
    """The text of gzipped members, one after the other; or a little more than it may have."""
    text, place, members = bytearray(), 0, 0
    # Zeros behind the last member are padding, as for gzip itself.
    while place < len(raw) and raw[place] and members < MEMBERS_MAX:
        inflater, members = zlib.decompressobj(wbits=GZIP), members + 1
        while not inflater.eof:
            chunk = raw[place : place + CHUNK]
            if not chunk:
                raise EOFError
            text += inflater.decompress(chunk, TEXT_MAX + 1 - len(text))
            if len(text) > TEXT_MAX:
                return bytes(text)
            place += len(chunk) - len(inflater.unused_data) - len(inflater.unconsumed_tail)
    if place < len(raw) and raw[place]:
        raise EOFError
    return bytes(text)
