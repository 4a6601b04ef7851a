"""Who waits for whom in a scenario: as a table, as a picture, and as a trace that can be run again.

What it is: the flows of lists and collectives before they run. What it is not: the flows of closed
loops, which have no end; and what a run does, which is in its table ``dependents``.
Invariant: a trace that was saved gives the same flows under the same numbers.
"""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from penstock import _core
from penstock.dependency import FLOWS_MAX
from penstock.errors import core_refusals, refuse
from penstock.scenario import Scenario
from penstock.scenario.declared.traffic import CollectiveTraffic, ListedTraffic
from penstock.storage.draft import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EVENTS = ("received", "acknowledged", "started")
"""The events of :func:`penstock._core.planned`, by number."""

SHOWN = 64
"""Most flows of a printed table and of a picture; our choice: more fill neither with sense."""

LOOPS = ("rpc", "on-off")
"""Kinds of traffic whose flows follow from what happens in a run."""


class DependencyGraph:
    """The flows of a scenario that depend on others.

    Parameters
    ----------
    scenario
        The scenario.
    most
        Flows beyond so many are left out.

    Raises
    ------
    ScenarioError
        The core refuses the scenario.
    """

    def __init__(self, scenario: Scenario, most: int = SHOWN) -> None:
        with core_refusals(scenario.file):
            found = _core.planned(scenario.handed_over(), most)
        self.scenario = scenario
        self.flows = pl.DataFrame(dict(found["flows"]))
        """One row per flow; see :func:`penstock._core.planned`."""
        names = dict(enumerate(EVENTS))
        event = pl.col("event").replace_strict(names, return_dtype=pl.String)
        self.edges = pl.DataFrame(dict(found["edges"])).with_columns(event)
        """One row per event for which a flow waits."""

    def rows(self) -> list[list[str]]:
        """A row of text per flow: number, hosts, size, and what it waits for."""
        waits: dict[int, list[str]] = {}
        for flow, awaited, event, delay in self.edges.iter_rows():
            later = f" + {delay / 1e3:,g} ns" if delay else ""
            waits.setdefault(flow, []).append(f"{awaited} {event}{later}")
        kept = self.flows.select("flow", "src", "dst", "size_bytes", "start_ps", "needed")
        return [
            [
                str(flow),
                f"{source} -> {destination}",
                f"{size:,} B",
                self._words(waits.get(flow, []), start, needed),
            ]
            for flow, source, destination, size, start, needed in kept.iter_rows()
        ]

    @staticmethod
    def _words(waits: list[str], start: int, needed: int) -> str:
        if not waits:
            return f"nothing: starts at {start / 1e3:,g} ns"
        some = f"{needed} of: " if needed < len(waits) else ""
        return some + ", ".join(waits)

    def save_trace(self, path: Path) -> int:
        """Writes the flows as a CSV trace (docs/files.md), and returns their number.

        A trace whose name ends in ``.gz`` is gzipped.

        Raises
        ------
        ScenarioError
            There are none, or too many, or a trace cannot say what they do.
        StorageError
            The disk does not take the file.
        """
        entries = self.scenario.resolve().traffic
        loops = [entry.kind for entry in entries if entry.kind in LOOPS]
        if loops:
            raise refuse(
                "traffic",
                f'flows of kind "{loops[0]}" follow from what happens in a run',
                "save a scenario of lists and collectives",
            )
        if self.flows.is_empty():
            raise refuse(
                "traffic", "no flow waits for another", "save a scenario with dependent flows"
            )
        if len(self.flows) > FLOWS_MAX:
            raise refuse(
                "traffic",
                f"there are more than {FLOWS_MAX:,} flows",
                "save fewer iterations, chunks or ranks; a collective itself needs no list",
            )
        classes = {entry.traffic_class for entry in entries if _is_drawn(entry)}
        if len(classes) > 1:
            raise refuse(
                "traffic",
                "its flows have several classes, and all flows of a trace have one",
                "save scenarios with a class each",
            )
        text = self._csv().encode()
        _put(path, gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
        return len(self.flows)

    def _csv(self) -> str:
        after: dict[int, list[tuple[str, int]]] = {}
        for flow, awaited, event, delay in self.edges.iter_rows():
            after.setdefault(flow, []).append((f"{awaited}:{event}", delay))
        text = io.StringIO()
        sheet = csv.writer(text, lineterminator="\n")
        sheet.writerow(
            ["id", "src", "dst", "size_bytes", "start_ps", "after", "delay_ps", "needed"]
        )
        kept = self.flows.select("flow", "src", "dst", "size_bytes", "start_ps", "needed")
        for flow, source, destination, size, start, needed in kept.iter_rows():
            waits = after.get(flow, [])
            some = needed if needed < len(waits) else ""
            words, delay = after_cells(waits)
            sheet.writerow([flow, source, destination, size, start, words, delay, some])
        return text.getvalue()

    def save_picture(self, path: Path) -> None:
        """Writes the picture of :meth:`draw`; the ending of the name is its format.

        Raises
        ------
        ScenarioError
            No flow waits for another.
        StorageError
            The disk does not take the file.
        """
        from matplotlib.figure import Figure

        if self.flows.is_empty():
            raise refuse(
                "traffic", "no flow waits for another", "draw a scenario with dependent flows"
            )
        hosts = len({*self.flows["src"].to_list(), *self.flows["dst"].to_list()})
        width, height = 1.5 + 1.2 * (1 + max(self.levels().values(), default=0)), 1.5 + 0.45 * hosts
        figure = Figure(figsize=(max(width, 7), max(height, 3)), layout="constrained")
        self.draw(figure.subplots())
        image = io.BytesIO()
        figure.savefig(image, format=path.suffix[1:], dpi=130)
        _put(path, image.getvalue())

    def draw(self, axes: Axes | None = None) -> Axes:
        """Draws the flows as arrows between hosts, a column for each level of waiting.

        Each row is a host. An arrow is a flow; its column says how many flows, one after the other,
        it waits for at least. So what is in one column may happen at the same time.
        """
        import matplotlib.pyplot as plt

        axes = plt.subplots(layout="constrained")[1] if axes is None else axes
        hosts = sorted({*self.flows["src"].to_list(), *self.flows["dst"].to_list()})
        row = {host: place for place, host in enumerate(hosts)}
        levels = self.levels()
        shades = plt.get_cmap("viridis")
        last = max(max(levels.values(), default=0), 1)
        for flow, source, destination in self.flows.select("flow", "src", "dst").iter_rows():
            level = levels[flow]
            axes.annotate(
                "",
                (level + 0.85, row[destination]),
                (level + 0.15, row[source]),
                arrowprops={"arrowstyle": "->", "color": shades(0.85 * level / last), "lw": 1.4},
            )
        for level in range(last + 1):
            axes.axvline(level, color="0.85", lw=0.8, zorder=0)
        axes.set(
            xlim=(0, last + 1), ylim=(len(hosts) - 0.5, -0.5),
            xlabel="flows that an arrow waits for, one after the other", ylabel="host",
            title="Which flow waits for which: an arrow waits for those to its left",
        )  # fmt: skip
        axes.set_yticks(range(len(hosts)), [str(host) for host in hosts])
        columns = range(last + 1)
        axes.set_xticks([one + 0.5 for one in columns], [str(one) for one in columns])
        return axes

    def levels(self) -> dict[int, int]:
        """By flow: the longest chain of flows before it that it waits for."""
        awaited: dict[int, list[int]] = {flow: [] for flow in self.flows["flow"]}
        for flow, before in self.edges.select("flow", "awaited").iter_rows():
            awaited[flow].append(before)
        # A flow may wait for one of any number, so chains are followed until nothing moves. Without
        # a cycle no chain is longer than there are flows.
        levels = dict.fromkeys(awaited, 0)
        for _ in awaited:
            before = dict(levels)
            for flow, flows in awaited.items():
                levels[flow] = max((levels[one] + 1 for one in flows), default=0)
            if levels == before:
                break
        return levels


def after_cells(waits: list[tuple[str, int]]) -> tuple[str, int]:
    """The cells `after` and `delay` of a flow in a trace.

    Parameters
    ----------
    waits
        The events that the flow waits for, ``ID:event``, and how long after each it starts, in
        the unit of the trace.
    """
    delay = min((later for _, later in waits), default=0)
    words = (f"{word}:{later - delay}" if later > delay else word for word, later in waits)
    return ";".join(words), delay


def _put(path: Path, data: bytes) -> None:
    """Writes a file, in a folder that is made if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, data)


def _is_drawn(entry: object) -> bool:
    """Whether the flows of a resolved entry are among those of the graph."""
    if isinstance(entry, ListedTraffic):
        return bool(entry.after or entry.places)
    return isinstance(entry, CollectiveTraffic)
