"""Fixtures that several tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
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
