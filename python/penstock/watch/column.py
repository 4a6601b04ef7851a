"""Columns of whole numbers, packed for the page.

What it is: the way of a table into the HTML file. `page/columns.js` is the way out. What it is not:
a format for files of its own. Invariant: every value comes out as it went in, up to 2^53.

A column becomes planes: all lowest bytes, then all second bytes, and so on, as many as its largest
value needs. Columns that grow are stored as differences. Both make the bytes of a plane alike, so
that deflate finds more (the shuffle filter of HDF5 and Blosc does the same).
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

PLAIN_BYTES = 2**20
"""Most bytes that are not compressed (our choice: a browser decodes a megabyte at once)."""
VALUE_MAX = 2**53
"""Values are below this: a number of JavaScript holds every smaller whole number."""
LEVEL = 6
"""Effort of deflate (our choice: level 9 takes three times as long for 1 % less)."""

Numbers = NDArray[np.uint64]


class Columns:
    """Named columns of unsigned whole numbers."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []
        self._planes: list[bytes] = []

    def add(self, name: str, values: NDArray[Any], *, ascending: bool = False) -> None:
        """Adds a column.

        Parameters
        ----------
        values
            [row], whole numbers from 0 to :data:`VALUE_MAX`.
        ascending
            No value is below the one before it.
        """
        if values.size and (int(values.min()) < 0 or int(values.max()) >= VALUE_MAX):
            raise ValueError(f"{name}: a value is below 0, or 2^53 and more")
        wide: Numbers = np.ascontiguousarray(values, dtype="<u8")
        stored = np.diff(wide, prepend=np.uint64(0)) if ascending else wide
        count = byte_count(stored)
        planes = stored.view(np.uint8).reshape(-1, 8)[:, :count].T
        self._planes.append(planes.tobytes())
        self._entries.append(
            {
                "name": name,
                "rows": int(values.size),
                "planes": count,
                "ascending": ascending,
                "bytes": byte_count(wide),
            }
        )

    def pack(self) -> dict[str, Any]:
        """All columns: `columns` (what they are), `deflated`, and `text` in base64."""
        data = b"".join(self._planes)
        deflated = len(data) > PLAIN_BYTES
        stored = zlib.compress(data, LEVEL) if deflated else data
        return {
            "columns": self._entries,
            "deflated": deflated,
            "text": base64.b64encode(stored).decode(),
        }


def byte_count(values: Numbers) -> int:
    """Bytes that the largest value needs, at least 1."""
    largest = int(values.max()) if values.size else 0
    return max(1, (largest.bit_length() + 7) // 8)
