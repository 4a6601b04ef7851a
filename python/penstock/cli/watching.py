"""The live table of a run in real time: `penstock emulate --watch`.

It shows what each host sends and receives, what switches hold, and what was dropped and paused.
Rates are on the scenario's scale, over the time since the glance before.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from rich.box import SIMPLE_HEAD
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from penstock.cli.display import Terminal
from penstock.emulation.glance import Glance
from penstock.readable import bytes_text, rate_text, time_text
from penstock.scenario import Scenario

ROWS = 16
"""Hosts and switches that are shown, the busiest (our choice: a terminal of 24 lines)."""


class Watching(Terminal):
    """The bars of all runs, below the live table of the one under way.

    Parameters
    ----------
    scenarios
        All runs by name.
    """

    def __init__(self, scenarios: Mapping[str, Scenario]) -> None:
        super().__init__(list(scenarios))
        self._scenarios = scenarios
        self._seen: dict[str, Glance] = {}
        self._table: RenderableType = Text("the hosts are being made")
        console = Console(stderr=True)
        self._live = Live(console=console, get_renderable=self._render, transient=True)

    def __enter__(self) -> Watching:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def look(self, name: str, glance: Glance) -> None:
        """A run looks like that now."""
        before = self._seen.get(name)
        self._seen[name] = glance
        self._table = live_table(name, self._scenarios[name], before, glance)

    def _render(self) -> RenderableType:
        return Group(self._table, self._bars.get_renderable())


def live_table(name: str, scenario: Scenario, before: Glance | None, now: Glance) -> RenderableType:
    """The table of one run at one moment.

    Parameters
    ----------
    before
        The glance before, from which rates follow; rates are over the whole run without it.
    """
    late = f"{time_text(now.late_p50_us * 1e3)} (median), {time_text(now.late_p99_us * 1e3)} (p99)"
    lines = [
        f"{name} at {now.now_ps / 1e9:.3f} ms of the scenario; rates are the scenario's",
        f"drops {now.drops:,}  PFC pauses {now.pfc_pauses:,}  "
        f"queue pauses {now.queue_pauses:,}  timed pauses {now.timed_pauses:,}",
        f"frames late by {late}",
    ]
    tables = Columns([_hosts(scenario, before, now), _switches(scenario, now)], padding=(0, 4))
    return Group(tables, *(Text(line) for line in lines))


def _hosts(scenario: Scenario, before: Glance | None, now: Glance) -> Table:
    """The hosts that have sent and received most since the glance before, in their order."""
    names = scenario.topology.node_names()
    emulation = scenario.emulation
    kernels = emulation.kernels(scenario.topology.host_count()) if emulation else []
    nics = dict(zip(kernels, now.stored_bytes[_switch_count(scenario) :], strict=False))
    earlier = {one.host: one for one in before.hosts} if before else {}
    seconds = (now.now_ps - (before.now_ps if before else 0)) / 1e12
    rows = []
    for one in now.hosts:
        old = earlier.get(one.host)
        sent = one.sent_bytes - (old.sent_bytes if old else 0)
        received = one.received_bytes - (old.received_bytes if old else 0)
        rates = [_rate(bytes_, seconds) for bytes_ in (sent, received)]
        held = bytes_text(nics[one.host]) if one.host in nics else "–"
        rows.append((sent + received, one.host, [*rates, held, f"{one.refused:,}"]))
    table = _table("Host", "sends", "receives", "NIC holds", "not let in")
    for _, host, cells in _busiest(rows):
        table.add_row(names[host], *cells)
    return table


def _switches(scenario: Scenario, now: Glance) -> Table:
    """The switches that hold most, in their order."""
    names = scenario.topology.node_names()[scenario.topology.host_count() :]
    rows = [
        (stored, number, [bytes_text(stored)])
        for number, stored in enumerate(now.stored_bytes[: len(names)])
    ]
    table = _table("Switch", "holds")
    for _, number, cells in _busiest(rows):
        table.add_row(names[number], *cells)
    return table


def _busiest(rows: list[tuple[int, int, list[str]]]) -> list[tuple[int, int, list[str]]]:
    """The rows with the largest first entry, at most :data:`ROWS`, in the order of their second."""
    return sorted(sorted(rows, key=lambda row: -row[0])[:ROWS], key=lambda row: row[1])


def _switch_count(scenario: Scenario) -> int:
    return len(scenario.topology.node_names()) - scenario.topology.host_count()


def _rate(bytes_: int, seconds: float) -> str:
    return rate_text(8 * bytes_ / seconds) if seconds > 0 else "–"


def _table(first: str, *others: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(first)
    for title in others:
        table.add_column(title, justify="right", min_width=9)
    return table
