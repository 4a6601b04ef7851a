"""Tables in memory: as many as fit stay, of all runs together."""

from __future__ import annotations

import gc
from pathlib import Path

import polars as pl
import pytest

from penstock import Run, Scenario, run
from penstock.held import HeldTables

TABLE = pl.DataFrame({"value": range(100)})
SIZE = int(TABLE.estimated_size())


def test_a_new_table_displaces_no_other() -> None:
    held = HeldTables(table_bytes=SIZE, all_bytes=2 * SIZE)
    held.put("run", "flows", TABLE)
    held.put("run", "links", TABLE)
    held.put("other", "flows", TABLE)
    assert held.get("run", "flows") is held.get("run", "links") is TABLE
    assert held.get("other", "flows") is None


def test_a_table_is_counted_once() -> None:
    held = HeldTables(table_bytes=SIZE, all_bytes=2 * SIZE)
    for _ in range(3):
        held.put("run", "flows", TABLE)
    held.put("run", "links", TABLE)
    assert held.get("run", "links") is TABLE


def test_what_is_forgotten_makes_room() -> None:
    held = HeldTables(table_bytes=SIZE, all_bytes=SIZE)
    held.put("run", "flows", TABLE)
    held.forget("run")
    assert held.get("run", "flows") is None
    held.put("other", "flows", TABLE)
    assert held.get("other", "flows") is TABLE


def test_a_large_table_is_not_held() -> None:
    held = HeldTables(table_bytes=SIZE - 1, all_bytes=10 * SIZE)
    held.put("run", "flows", TABLE)
    assert held.get("run", "flows") is None


def test_many_runs_share_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(Scenario.from_name("quickstart", {"duration": "20 us"})).save(tmp_path / "run")
    size = int(Run.load(tmp_path / "run").flows.estimated_size())
    held = HeldTables(all_bytes=2 * size)
    monkeypatch.setattr("penstock.results.HELD", held)
    runs = [Run.load(tmp_path / "run") for _ in range(4)]
    tables = [one.flows for one in runs]
    assert tables[0].equals(runs[3].flows)
    assert runs[0].flows is tables[0]
    assert runs[1].flows is tables[1]
    assert runs[2].flows is not tables[2]  # there was no room
    del runs
    gc.collect()
    assert not held._tables
