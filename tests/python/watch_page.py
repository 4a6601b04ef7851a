"""Reads the data of a watch page, independently of the page's scripts."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class PageData:
    """What a watch page holds: `facts`, and columns by name."""

    def __init__(self, path: Path) -> None:
        text = path.read_text()
        self.facts: dict[str, Any] = json.loads(_script(text, "facts"))
        packed = json.loads(_script(text, "columns"))
        data = base64.b64decode(packed["text"])
        self.columns = unpack(
            packed["columns"], zlib.decompress(data) if packed["deflated"] else data
        )

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        return self.columns[name]


def unpack(entries: list[dict[str, Any]], data: bytes) -> dict[str, NDArray[np.int64]]:
    """The columns of a page's bytes."""
    found, place = {}, 0
    for entry in entries:
        rows, planes = entry["rows"], entry["planes"]
        values = np.zeros(rows, np.int64)
        for plane in range(planes):
            part = np.frombuffer(data, np.uint8, rows, place + plane * rows)
            values += part.astype(np.int64) << (8 * plane)
        place += rows * planes
        found[entry["name"]] = np.cumsum(values) if entry["ascending"] else values
    assert place == len(data)
    return found


def _script(text: str, name: str) -> str:
    found = re.search(
        rf'<script type="application/json" id="{name}">(.*?)</script>', text, re.DOTALL
    )
    assert found is not None
    return found[1]
