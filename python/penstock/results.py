"""A run's results: tables, summary, scenario; kept in memory or in a directory.

A directory holds ``scenario.toml`` (complete), a Parquet file per table, ``summary.json`` with the
checksums of all files, and, from the command line, ``report.html``. :mod:`penstock.storage` says
why a directory with a summary is whole, even when a writer was killed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from threading import Lock
from types import MethodType
from typing import IO, TYPE_CHECKING, Any, Literal, cast
from weakref import WeakSet

import polars as pl

from penstock.errors import Problem, ScenarioError, nearest, refuse
from penstock.forked import check_fork
from penstock.presented import html_table, run_line, run_rows
from penstock.provenance import package_version, source_commit
from penstock.scenario import Scenario
from penstock.storage.checkpoint import Resumable
from penstock.storage.claim import CLAIM_SECONDS
from penstock.storage.place import SAVE_SECONDS, Place, Writer
from penstock.storage.record import Checksum, damaged, read_record
from penstock.tables import COLUMNS, FILES, Frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCENARIO_FILE = "scenario.toml"
RUN_FILES = (SCENARIO_FILE, *FILES.values())
"""Files of a run directory, the summary aside."""
KEPT_BYTES = 128 * 2**20
"""Largest table that stays in memory once it is stored [B]; our choice: the flows of 5 ms of BFC's
fabric are 75 MB, those of an experiment's 32 runs of 50 ms would be 24 GB."""
ALL_KEPT_BYTES = 2 * 2**30
"""Tables of all stored runs that stay in memory together [B]; our choice: a laptop has 8 GB. The
flows of the 552 runs of bfc/fig4 would be 25 GB."""

VALUE_BYTES = 8
"""A value of a table in memory [B]; numbers take no more, the text of an event takes 16."""


class Run:
    """What one simulation left behind.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from penstock import Run, Scenario, run
    >>> done = run(Scenario.from_name("quickstart", {"duration": "20 us"}))
    >>> with TemporaryDirectory() as place:
    ...     saved = done.save(f"{place}/run")
    ...     again = Run.load(saved)
    ...     again.summary["digest"] == done.summary["digest"]
    True

    Parameters
    ----------
    scenario
        The resolved scenario.
    summary
        Totals, names and provenance; the keys of ``summary.json``.
    frames
        The tables; those that are missing are read from `directory` when asked for.
    directory
        Where the run is stored, if it is.
    """

    def __init__(
        self,
        scenario: Scenario,
        summary: dict[str, Any],
        frames: Mapping[str, Frame],
        directory: Path | None = None,
    ) -> None:
        self.scenario = scenario
        self.summary = summary
        self.directory = directory
        self._frames = dict(frames)
        self._kept_bytes = 0
        self._stamps: dict[str, Stamp] = {}

    def __repr__(self) -> str:
        return run_line(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return html_table(f"Run of {self.scenario.name}", run_rows(self))

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
    def dependents(self) -> pl.DataFrame:
        """One row per flow that has waited for others and has started."""
        return self._frame("dependents")

    @property
    def requests(self) -> pl.DataFrame:
        """One row per request that was answered."""
        return self._frame("requests")

    @property
    def jobs(self) -> pl.DataFrame:
        """One row per iteration of a job that is over; of a list, without bandwidths."""
        return self._frame("jobs")

    @property
    def steps(self) -> pl.DataFrame:
        """One row per step that is over, of jobs that a trace gives message by message."""
        return self._frame("steps")

    @property
    def is_cancelled(self) -> bool:
        """Whether the run was stopped before its end."""
        return bool(self.summary["cancelled"])

    @property
    def plot(self) -> RunPlot:
        """The figures of :mod:`penstock.plot` for this run, e.g. ``run.plot.slowdown()``."""
        return RunPlot(self)

    def slowdown(self, by: Literal["size", "label"] = "size", **choice: Any) -> pl.DataFrame:
        """Slowdown statistics per size bin, or with completion times per traffic label.

        Parameters
        ----------
        by
            ``"size"``: a row per size bin [bytes]; ``"label"``: a row per label, with completion
            times [ns].
        choice
            `bins` and `labels` of :func:`penstock.analysis.slowdown_by_size`; by size only.

        Raises
        ------
        ScenarioError
            There is no such grouping or label, or by label a choice was made.
        ValueError
            There are no bins of this name.

        Examples
        --------
        >>> from penstock import Scenario, run
        >>> done = run(Scenario.from_name("quickstart", {"duration": "20 us"}))
        >>> done.slowdown(by="label")["label"].to_list()
        ['background', 'incast']
        """
        from penstock import analysis

        if by == "size":
            return analysis.slowdown_by_size(self, **choice)
        if by != "label":
            raise refuse("by", "there is no such grouping", 'write "size" or "label"', by)
        if choice:
            remedy = 'leave it out, or write by="size"'
            raise refuse(next(iter(choice)), "by label there is no such choice", remedy)
        return analysis.slowdown_by_label(self).drop("name")

    def watch(self, path: str | Path) -> Path:
        """Writes one HTML page on which the run can be watched; returns its path.

        Parameters
        ----------
        path
            The page, or a directory, in which case it is called ``watch.html``.
        """
        from penstock.watch import write

        return write(self, path)

    def save(self, directory: str | Path, *, force: bool = False) -> Path:
        """Writes the run into a directory, in place of an earlier one of the same scenario.

        Parameters
        ----------
        force
            An earlier run of another scenario is replaced, too.

        Raises
        ------
        ScenarioError
            What stands there must not be replaced, or somebody else is writing there.
        StorageError
            The disk does not take the files; an earlier run is still there.
        """
        with claim(Path(directory), self.scenario, force=force, patience=SAVE_SECONDS) as place:
            return self.save_at(place)

    def save_at(self, place: Place) -> Path:
        """Writes the run to a place that was claimed for it; as :meth:`save`.

        A run that was stopped does not replace one that was not: that has all of it, and more.
        """
        if self.is_cancelled and place.earlier and not place.earlier.summary["cancelled"]:
            self._frames = {name: self._frame(name) for name in self._frames}
            return place.shown
        scenario = self.scenario.to_toml().encode()
        files: dict[str, Writer] = {SCENARIO_FILE: lambda sink: sink.write(scenario)}
        for table, file in FILES.items():
            frame = self._frames[table] if table in self._frames else self._frame(table)
            files[file] = partial(_write_table, frame)
        self.directory = place.put(self.summary, files)
        self._stamps = _stamps(self.directory)
        frames, self._frames, self._kept_bytes = self._frames, {}, 0
        for name, frame in frames.items():
            if isinstance(frame, pl.DataFrame):
                self._keep(name, frame)
        return self.directory

    @classmethod
    def load(cls, directory: str | Path) -> Run:
        """The run in a directory; tables are read when they are asked for.

        Raises
        ------
        ScenarioError
            There is no complete run, or one of its files is not as it was written.
        RuntimeError
            As :func:`penstock.run`.
        """
        check_fork()
        source = Path(directory)
        record = read_record(source)
        try:
            record.verify()
            scenario = Scenario.from_toml(source / SCENARIO_FILE, is_recorded=True)
            run = cls(scenario, record.summary, {}, source)
        except ScenarioError as error:
            if read_record(source) != record:  # it was replaced while it was read
                return cls.load(source)
            version = _of_another_version(source, record.summary)
            raise ScenarioError((*error.problems, *version)) from None
        run._stamps = _stamps(source)
        return run

    def scan(self, table: str) -> pl.LazyFrame:
        """A table of which only that is read which is used, so that it need not fit the memory.

        A small one is read whole, and kept in memory for the next time.

        Parameters
        ----------
        table
            A name of :data:`penstock.tables.FILES`.

        Raises
        ------
        ScenarioError
            A run has no such table, or its file has changed since the run was loaded.
        """
        if table not in FILES:
            raise refuse("table", "a run has no such table", nearest(table, FILES), table)
        if (found := self._frames.get(table)) is not None:
            return found.lazy()
        if self._is_absent(table):
            return pl.LazyFrame(schema=COLUMNS[table])
        found = pl.scan_parquet(self._unchanged(table))
        rows = found.select(pl.len()).collect().item()
        with _KEEPING:
            is_kept = _has_room(rows * len(COLUMNS[table]) * VALUE_BYTES)
        return self._frame(table).lazy() if is_kept else found

    def rows(self, table: str) -> int:
        """How many rows a table has; errors as of :meth:`scan`."""
        return int(self.scan(table).select(pl.len()).collect().item())

    def _is_absent(self, table: str) -> bool:
        """Whether a table has no file: nothing is saved, or the run is older than the table."""
        return self.directory is None or self._stamps[FILES[table]] is None

    def _unchanged(self, table: str) -> Path:
        """The file of a table, which is as it was when the run was loaded."""
        assert self.directory is not None
        path = self.directory / FILES[table]
        if _stamp(path) != self._stamps[FILES[table]]:
            raise damaged(path, "it has changed since the run was loaded")
        return path

    def _frame(self, table: str) -> pl.DataFrame:
        """The table, from memory or from its file; what memory does not hold is read anew."""
        if (found := self._frames.get(table)) is not None:
            return found if isinstance(found, pl.DataFrame) else found.collect()
        if self._is_absent(table):
            return pl.DataFrame(schema=COLUMNS[table])
        frame = pl.read_parquet(self._unchanged(table))
        self._keep(table, frame)
        return frame

    def _keep(self, table: str, frame: pl.DataFrame) -> None:
        """Keeps a stored table in memory, if there is room. It displaces no other: who judges many
        runs reads all of them again and again, and each would be gone when it is asked for.
        """
        size = int(frame.estimated_size())
        with _KEEPING:
            if table not in self._frames and _has_room(size):
                self._frames[table] = frame
                self._kept_bytes += size
                _KEEPERS.add(self)


_KEEPERS: WeakSet[Run] = WeakSet()
"""The runs that keep stored tables."""
_KEEPING = Lock()
"""Held while they change or are looked through."""


def _has_room(size: int) -> bool:
    """Whether memory keeps another stored table of so many bytes."""
    every = sum(run._kept_bytes for run in _KEEPERS)
    return size <= KEPT_BYTES and every + size <= ALL_KEPT_BYTES


def claim(
    directory: Path,
    scenario: Scenario,
    *,
    force: bool = False,
    patience: float = CLAIM_SECONDS,
    resumed: Resumable | None = None,
) -> Place:
    """Claims a directory for a run of a scenario; see :class:`penstock.storage.place.Place`."""
    scenario_hash = scenario.content_hash()
    return Place(
        directory, scenario_hash, RUN_FILES, force=force, patience=patience, resumed=resumed
    )


def _of_another_version(source: Path, summary: Mapping[str, Any]) -> list[Problem]:
    """That another version has made a run, which may be why the run cannot be read."""
    made, here = (
        f"Penstock {number}" + (f" of commit {commit[:10]}" if commit else "")
        for number, commit in [
            (summary.get("version"), summary.get("commit")),
            (package_version(), source_commit()),
        ]
    )
    if made == here:
        return []
    remedy = "read it with that one, or run the scenario again"
    words = f"the run was made by {made}, and this is {here}"
    return [Problem("", words, remedy, file=str(source))]


def _write_table(frame: Frame, sink: Checksum) -> None:
    if isinstance(frame, pl.DataFrame):
        frame.write_parquet(cast(IO[bytes], sink))
    else:
        frame.sink_parquet(cast(IO[bytes], sink))


Stamp = tuple[int, int, int] | None
"""Device, inode and time of change of a file [ns]; none where there is no file."""


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _stamps(directory: Path) -> dict[str, Stamp]:
    return {file: _stamp(directory / file) for file in FILES.values()}


class RunPlot:
    """The functions of :mod:`penstock.plot` that show runs, as methods of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __getattr__(self, name: str) -> Callable[..., Axes]:
        from penstock import plot

        if name not in dir(self):
            raise AttributeError(f"a run has no figure {name!r}; {nearest(name, dir(self))}")
        return MethodType(getattr(plot, name), self._run)

    def __repr__(self) -> str:
        return f"<figures of {self._run!r}: {', '.join(dir(self))}>"

    def __dir__(self) -> Iterable[str]:
        from penstock import plot

        return [name for name in plot.__all__ if name not in plot.OF_TABLES]
