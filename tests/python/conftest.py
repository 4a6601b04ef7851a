"""Fixtures that several tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import chromium
from fake_core import FakeCore

from penstock import _core


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    """The Rust core, which checks and does not run: nothing is simulated."""
    fake = FakeCore()
    monkeypatch.setattr(_core, "run", fake.run)
    return fake


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium for the pages of a module; its tests are skipped where there is none."""
    with chromium() as one:
        yield one
