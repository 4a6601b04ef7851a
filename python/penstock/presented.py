"""How a scenario and a run show themselves: a line at a prompt, a small table in a notebook.

Texts of users are escaped, and the tables have neither scripts nor styles from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from penstock.readable import bytes_text, counted, number_text, rate_text, time_text

if TYPE_CHECKING:
    from penstock.results import Run
    from penstock.scenario import Scenario

Rows = list[tuple[str, str]]
"""What is shown, and its value in words."""

TRAFFIC_SHOWN = 6
"""Entries of traffic that a table lists (our choice: a glance)."""


def scenario_line(scenario: Scenario) -> str:
    """A scenario in a line."""
    network, duration = _network(scenario), time_text(scenario.duration / 1_000)
    scheme, seed = scenario.scheme.name, scenario.seed
    return f"<Scenario {scenario.name}: {network}, {scheme}, {duration}, seed {seed}>"


def scenario_rows(scenario: Scenario) -> Rows:
    """What decides what a scenario is."""
    rate = getattr(scenario.topology, "rate", None)
    rows = [("network", _network(scenario))]
    rows += [("rate of hosts", rate_text(rate))] if rate else []
    rows += [
        ("scheme", scenario.scheme.name),
        ("controller", scenario.scheme.host.controller.kind),
        ("backpressure", scenario.scheme.switch.backpressure.kind),
    ]
    for number, entry in enumerate(scenario.traffic[:TRAFFIC_SHOWN]):
        load = getattr(entry, "load", None)
        words = entry.kind if load is None else f"{entry.kind}, load {number_text(100 * load)} %"
        rows.append((f"traffic[{number}]", words))
    more = len(scenario.traffic) - TRAFFIC_SHOWN
    rows += [("traffic", f"{more} more")] if more > 0 else []
    return [
        *rows,
        ("duration", time_text(scenario.duration / 1_000)),
        ("seed", str(scenario.seed)),
    ]


def run_line(run: Run) -> str:
    """A run in a line."""
    summary = run.summary
    flows = f"{summary['flows_finished']:,} of {summary['flows_started']:,} flows"
    end = time_text(summary["sim_end_ps"] / 1_000)
    stopped = ", stopped early" if run.is_cancelled else ""
    name, scheme, seed = run.scenario.name, run.scenario.scheme.name, run.scenario.seed
    return f"<Run {name} under {scheme}, seed {seed}: {flows} in {end}{stopped}>"


def application_lines(run: Run) -> list[str]:
    """A sentence for each collective and each entry of requests."""
    found = run.summary.get("applications") or {"jobs": {}, "requests": {}}
    words = []
    for label, job in found["jobs"].items():
        times = f"{time_text(job['least_ns'])} to {time_text(job['most_ns'])}"
        took = f", {time_text(job['mean_ns'])} on average ({times})" if job["finished"] else ""
        bus = job["bus_bandwidth_bps"]
        used = f", bus bandwidth {rate_text(bus)}" if bus else ""
        over = f"{job['finished']} of {job['iterations']} iterations are over"
        words.append(f"{label}: {over}{took}{used}")
    for label, asked in found["requests"].items():
        latency, rate = asked["latency_ns"], number_text(asked["rate_per_s"])
        took = f", latency p50 {time_text(latency['p50'])}, p99 {time_text(latency['p99'])}"
        words.append(f"{label}: {rate} requests a second{took if latency['count'] else ''}")
    return words


def run_rows(run: Run) -> Rows:
    """What came out of a run."""
    summary = run.summary
    slowdowns = run.scan("flows").select("slowdown").collect().to_series().drop_nulls()
    peak = max(summary["buffer_peak_bytes"], default=0)
    pauses = sum(summary.get(key) or 0 for key in ("pfc_pauses", "queue_pauses", "timed_pauses"))
    rows = [
        ("scheme", run.scenario.scheme.name),
        ("seed", str(run.scenario.seed)),
        ("simulated", time_text(summary["sim_end_ps"] / 1_000)),
        ("flows finished", f"{summary['flows_finished']:,} of {summary['flows_started']:,}"),
        ("slowdown, median", number_text(slowdowns.median())),  # type: ignore[arg-type]
        ("slowdown, p99", number_text(slowdowns.quantile(0.99))),
        ("fullest buffer", bytes_text(peak)),
        ("drops", f"{summary['drops']:,}"),
        ("pauses sent", f"{pauses:,}"),
    ]
    return [*rows, ("ended", "stopped early")] if run.is_cancelled else rows


def html_table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A small table for a notebook.

    Examples
    --------
    >>> html_table("a < b", [("rate", "1 Gb/s")])
    '<table><caption>a &lt; b</caption><tr><th>rate</th><td>1 Gb/s</td></tr></table>'
    """
    lines = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in rows)
    return f"<table><caption>{escape(title)}</caption>{lines}</table>"


def _network(scenario: Scenario) -> str:
    """The network in words."""
    topology = scenario.topology
    switches = topology.switch_count()
    told = counted(switches, "switch", "switches")
    return f"{topology.host_count():,} hosts, {told} ({topology.kind})"
