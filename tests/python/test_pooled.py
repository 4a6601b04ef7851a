"""The cells of a sweep pooled over their seeds, on a dataset that is written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from penstock.sweep import pooled
from penstock.sweep.pooled import Pooled, lacking, pool
from penstock.sweep.work import LOSSES

DROPS, BUSY, TAIL = "total(of='drops')", "busy(link=[0, 1])", "slowdown(statistic='p99')"
NAN = float("nan")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Pooled:
    """Three seeds with 8 queues, eight with 16; the seeds come back in any order."""
    few = [(2, 0.0, 0.6, NAN), (3, 11.0, 1.0, NAN), (1, 0.0, 0.5, 7.0)]
    tails = [1.0, 1.0, 2.0, 2.0, 3.0, 5.0, 8.0, 20.0]
    many = [(seed, 3.0, 0.5, 1 + tail) for seed, tail in enumerate(tails, 1)]
    cells = [("16", *one) for one in many] + [("8", *one) for one in few]
    table = pl.DataFrame(cells, schema=["q", "seed", DROPS, BUSY, TAIL], orient="row")
    drops = pl.col(DROPS).cast(pl.Int64).alias("drops")
    lost = pl.when(pl.col("seed") == 3).then(pl.format("lost {}", "drops")).otherwise(pl.lit(""))
    table = table.with_columns(drops).with_columns(lost.alias(LOSSES))
    page: dict[str, Any] = {"order": ["q"], "metrics": [DROPS, BUSY, TAIL]}
    page["scenario"] = {"name": "hand"}
    monkeypatch.setattr(pooled, "read_sweep", lambda directory: page)
    monkeypatch.setattr(pooled, "rows", lambda directory, keys: table)
    return pool(Path())


def test_each_point_has_the_mean_of_its_own_seeds(made: Pooled) -> None:
    assert made.of(DROPS).select("q", "mean", "cells").rows() == [("8", 11 / 3, 3), ("16", 3, 8)]
    assert made.of(TAIL).select("q", "mean", "seeds", "cells").rows() == [
        ("8", 7, 1, 3),
        ("16", 6.25, 8, 8),
    ]
    assert made.is_repeated and made.cells == 11
    assert lacking(made) == ["1 means leave out cells that gave no number, e.g. for lack of flows."]


def test_an_interval_ends_where_a_metric_can_be_no_more(made: Pooled) -> None:
    # Student's intervals of these three are -12.1 to 19.4 and 0.04 to 1.36 (`test_analysis`).
    low, high = made.of(DROPS).row(0, named=True)["low"], made.of(BUSY).row(0, named=True)["high"]
    assert (low, high) == (0, 1)


def test_a_percentile_of_eight_seeds_has_the_interval_of_the_bootstrap(made: Pooled) -> None:
    row = made.of(TAIL).row(1, named=True)
    assert (row["low"], row["high"]) == (pytest.approx(2.625), pytest.approx(12.5))


def test_the_cell_with_most_drops_tells_of_lost_packets(made: Pooled) -> None:
    assert made.losses == (
        "packets were lost, or could have been, in 2 of 11 cells; at q = 8, seed = 3: lost 11"
    )


def test_one_seed_of_each_point_is_no_repetition(made: Pooled) -> None:
    single = made.table.with_columns(cells=pl.lit(1))
    assert not Pooled("hand", made.axes, made.metrics, single, cells=2).is_repeated
