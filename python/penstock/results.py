"""A run's results: tables, summary, scenario; kept in memory or in a directory.

A directory holds ``scenario.toml`` (complete), a Parquet file per table, ``summary.json`` and,
from the command line, ``report.html``. Every file is written beside its place and moved there, the
summary last: a directory with a summary is whole, whatever was killed when.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import polars as pl
from matplotlib.axes import Axes

from penstock.errors import refuse
from penstock.scenario import Scenario
from penstock.tables import COLUMNS, FILES

SCENARIO_FILE = "scenario.toml"
SUMMARY_FILE = "summary.json"
KEPT_BYTES = 128 * 2**20
"""Largest table that stays in memory once it is stored [B]; our choice: the flows of 5 ms of BFC's
fabric are 75 MB, those of an experiment's 32 runs of 50 ms would be 24 GB."""


class Run:
    """What one simulation left behind.

    Parameters
    ----------
    scenario
        The resolved scenario.
    summary
        Totals, names and provenance; the keys of ``summary.json``.
    frames
        The tables in memory; those that are missing are read from `directory` when asked for.
    directory
        Where the run is stored, if it is.
    """

    def __init__(
        self,
        scenario: Scenario,
        summary: dict[str, Any],
        frames: Mapping[str, pl.DataFrame],
        directory: Path | None = None,
    ) -> None:
        self.scenario = scenario
        self.summary = summary
        self.directory = directory
        self._frames = dict(frames)

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow; an endless one has size 0 and does not finish."""
        return self._frame("flows")

    @property
    def links(self) -> pl.DataFrame:
        """One row per directed link, totals over the run."""
        return self._frame("links")

    @property
    def buffers(self) -> pl.DataFrame:
        """One row per sample and switch."""
        return self._frame("buffers")

    @property
    def series(self) -> pl.DataFrame:
        """One row per sample and link of ``measure.series``."""
        return self._frame("series")

    @property
    def flow_packets(self) -> pl.DataFrame:
        """How many active flows had how many packets at a link, summed over the samples."""
        return self._frame("flow_packets")

    @property
    def active_flows(self) -> pl.DataFrame:
        """Per link, the time spent with each number of active flows."""
        return self._frame("active_flows")

    @property
    def queue_delays(self) -> pl.DataFrame:
        """Waiting times of data packets at switches, per group of links."""
        return self._frame("queue_delays")

    @property
    def events(self) -> pl.DataFrame:
        """One row per pause, resume and drop."""
        return self._frame("events")

    @property
    def packets(self) -> pl.DataFrame:
        """One row per event of a packet at a traced node."""
        return self._frame("packets")

    @property
    def is_cancelled(self) -> bool:
        """Whether the run was stopped before its end."""
        return bool(self.summary["cancelled"])

    @property
    def plot(self) -> RunPlot:
        """The figures of :mod:`penstock.plot` for this run, e.g. ``run.plot.slowdown()``."""
        return RunPlot(self)

    def slowdown(self, by: Literal["size", "label"] = "size", **choice: Any) -> pl.DataFrame:
        """Slowdown statistics per size bin or per traffic label.

        Parameters
        ----------
        choice
            `bins` and `labels` of :func:`penstock.analysis.slowdown_by_size`.
        """
        from penstock import analysis

        if by == "size":
            return analysis.slowdown_by_size(self, **choice)
        labels = self.summary["labels"]
        rows = [{"label": one, **analysis.slowdown_summary([self], labels=[one])} for one in labels]
        return pl.DataFrame(rows)

    def save(self, directory: str | Path) -> Path:
        """Writes the run into a directory, in place of an earlier one there."""
        target = Path(directory)
        target.mkdir(parents=True, exist_ok=True)
        (target / SUMMARY_FILE).unlink(missing_ok=True)
        write_whole(target / SCENARIO_FILE, lambda path: path.write_text(self.scenario.to_toml()))
        for table, file in FILES.items():
            write_whole(target / file, self._frame(table).write_parquet)
        text = json.dumps(self.summary, indent=2) + "\n"
        write_whole(target / SUMMARY_FILE, lambda path: path.write_text(text))
        self.directory = target
        self._frames = {name: one for name, one in self._frames.items() if _is_small(one)}
        return target

    @classmethod
    def load(cls, directory: str | Path) -> Run:
        """The run in a directory; tables are read when they are asked for.

        Raises
        ------
        ScenarioError
            When there is no complete run.
        """
        source = Path(directory)
        try:
            summary = json.loads((source / SUMMARY_FILE).read_text())
        except (OSError, ValueError):
            raise refuse(
                "run", f"there is no complete run: {SUMMARY_FILE} is missing or damaged",
                "name a directory that `penstock run` wrote", str(source),
            ) from None  # fmt: skip
        return cls(Scenario.from_toml(source / SCENARIO_FILE), summary, {}, source)

    def _frame(self, table: str) -> pl.DataFrame:
        """The table, from memory or from its file; large ones are read anew each time."""
        if table in self._frames:
            return self._frames[table]
        path = self.directory / FILES[table] if self.directory else None
        if path is None or not path.is_file():
            return pl.DataFrame(schema=COLUMNS[table])
        frame = pl.read_parquet(path)
        if _is_small(frame):
            self._frames[table] = frame
        return frame


def _is_small(frame: pl.DataFrame) -> bool:
    return frame.estimated_size() <= KEPT_BYTES


class RunPlot:
    """The functions of :mod:`penstock.plot`, with the run filled in."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __getattr__(self, name: str) -> Callable[..., Axes]:
        from penstock import plot

        return partial(getattr(plot, name), self._run)

    def __dir__(self) -> Iterable[str]:
        from penstock import plot

        return plot.__all__


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Lets `write` fill a file beside `path` and moves it there, so that it is never half there."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
