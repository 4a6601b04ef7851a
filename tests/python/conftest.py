"""Fixtures that several tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import chromium
from fake_core import FakeCore

from penstock import _core
from penstock.report import figure


@pytest.fixture(autouse=True)
def one_format(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawings are saved as SVG only: all formats take a second each, which one test in ten needs.

    Commands in processes of their own save all.
    """
    if request.node.get_closest_marker("every_format") is None:
        monkeypatch.setattr(figure, "FORMATS", ("svg",))


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
