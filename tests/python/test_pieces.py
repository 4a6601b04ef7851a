"""Rows that leave a run while it goes on: the saved run is the same, and nothing is left over."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import penstock.runner
from penstock import Run, Scenario, StorageError, run, run_many
from penstock.storage.pieces import Pieces
from penstock.tables import FILES

FEW_ROWS = 100
"""Rows that a run holds here; each of the tables below has several times as many."""
GROWING = ("flows", "buffers", "series", "events", "packets")


@pytest.fixture
def scenario(monkeypatch: pytest.MonkeyPatch) -> Scenario:
    """A scenario with every table, in whose runs rows leave early."""
    monkeypatch.setattr(penstock.runner, "MOST_ROWS", FEW_ROWS)
    return measured("100 us")


def measured(duration: str) -> Scenario:
    every = {"sample_interval": "500 ns", "series": [(8, 0)], "events": True, "trace": {}}
    return Scenario.from_name("quickstart", {"duration": duration, "measure": every})


def test_a_run_that_hands_out_its_rows_is_saved_as_any_other(
    scenario: Scenario, tmp_path: Path
) -> None:
    whole = run(scenario)
    written: list[Path] = []
    pieces_before = Pieces.before

    def before(self: Pieces, table: str, last: pl.DataFrame) -> pl.DataFrame | pl.LazyFrame:
        written.extend(self.paths(table))
        return pieces_before(self, table, last)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pieces, "before", before)
        saved = run_many({"one": scenario}, out=tmp_path)["one"]
    assert {path.name.split("-")[0] for path in written} == set(GROWING)
    assert len(written) > 2 * len(GROWING)
    again = Run.load(tmp_path / "one")
    assert again.summary["digest"] == whole.summary["digest"]
    for table in FILES:
        expected = getattr(whole, table)
        assert table not in GROWING or expected.height > 2 * FEW_ROWS
        assert getattr(saved, table).equals(expected), table
        assert getattr(again, table).equals(expected), table
    names = {path.name for path in (tmp_path / "one").iterdir()}
    assert names == {"scenario.toml", "summary.json", *FILES.values()}
    assert {path.name for path in tmp_path.iterdir()} == {"one"}


def test_a_stopped_run_that_is_not_saved_still_has_its_rows(
    scenario: Scenario, tmp_path: Path
) -> None:
    run_many({"one": scenario}, out=tmp_path)
    long = measured("20 ms")
    with penstock.results.claim(tmp_path / "one", scenario) as place:
        stopped = penstock.runner.run_kept(
            long, False, True, 1, False, None, lambda: True, place.checkpoints()
        )
        assert stopped.is_cancelled
        stopped.save_at(place)
    assert stopped.flows.height == stopped.summary["flows_started"] > FEW_ROWS
    assert not Run.load(tmp_path / "one").is_cancelled


def test_a_disk_that_takes_no_rows_ends_the_run(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(frame: pl.DataFrame, path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(pl.DataFrame, "write_parquet", refuse)
    with pytest.raises(StorageError, match=r"disk is full.*make room"):
        run_many({"one": scenario}, out=tmp_path)
    assert not list(tmp_path.iterdir())
