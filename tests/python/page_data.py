"""What the scripts of a page read, for tests."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any


def data_of(page: str) -> dict[str, Any]:
    """The data that are embedded in a page."""
    found = re.search(
        r'<script id="page-data"[^>]*data-form="(\w+)">(.*?)</script>', page, re.DOTALL
    )
    assert found
    form, text = found.groups()
    if form == "deflate":
        text = zlib.decompress(base64.b64decode(text)).decode()
    read: dict[str, Any] = json.loads(text)
    return read
