"""A real browser for tests: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
REQUIRED = "PENSTOCK_REQUIRE_BROWSER"
"""Set where a missing browser is an error, as in the continuous integration."""


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless Chromium; the test is skipped where there is none."""
    if CHROMIUM is None:
        if os.environ.get(REQUIRED):
            pytest.fail(f"{REQUIRED} is set, and there is no chromium")
        pytest.skip("there is no chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Root has no sandbox; the pages are our own files.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watched:
    """A page in the browser, and what went wrong in it."""

    def __init__(self, browser: Any, file: Path, **context: Any) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        wanted = {"viewport": {"width": 1280, "height": 900}} | context
        self.context = browser.new_context(**wanted)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._said)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("html[data-ready]")

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def close(self) -> None:
        """Closes the page; nothing may have gone wrong, and nothing have left the page."""
        self.context.close()
        assert self.errors == []
        outside = [one for one in self.requests if not one.startswith(("file:", "data:", "blob:"))]
        assert outside == []
        assert sum(one.startswith("file:") for one in self.requests) == 1
