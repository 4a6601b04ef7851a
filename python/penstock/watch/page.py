"""The page: all that is shown of a run, put together as one HTML file.

What it is: tables to columns, columns and scripts to a file. What it is not: a measurement; every
number stands in a table of the run. Invariant: the file asks no network for anything, and says of a
view without data which option records it.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from penstock.analysis.path import flow_paths
from penstock.analysis.pause import (
    ALL_CLASSES,
    CLASS_PAUSES,
    flow_paused_links,
    has_epochs,
    pause_causes,
    pause_intervals,
)
from penstock.results import Run
from penstock.storage.draft import write_whole
from penstock.storage.record import WATCH_FILE
from penstock.watch import overview
from penstock.watch.column import Columns
from penstock.watch.flows import FLOWS_MAX, LASTS, shown_flows
from penstock.watch.layout import positions
from penstock.watch.recording import check_size, what_is_missing
from penstock.watch.samples import Samples, link_samples, switch_samples
from penstock.watch.steps import EVENTS, drops, trace

XOFF = ("none", "pfc")
"""Kinds of backpressure whose threshold in the trace is that of an ingress (docs/files.md)."""
SCRIPTS = (
    "units.js",
    "columns.js",
    "search.js",
    "network.js",
    "samples.js",
    "pauses.js",
    "flows.js",
    "trace.js",
    "tree.js",
    "waiting.js",
    "words.js",
    "steps.js",
    "view.js",
    "drawing.js",
    "timeline.js",
    "panel.js",
    "details.js",
    "player.js",
    "main.js",
    "listen.js",
    "start.js",
)
"""The modules of the page, each after those whose names it uses when it is read."""


def write(run: Run, path: str | Path) -> Path:
    """Write one self-contained HTML page on which a run can be watched.

    Parameters
    ----------
    path
        The page, or a directory, in which case it is called ``watch.html``. An interrupted write
        leaves no half page.

    Raises
    ------
    ScenarioError
        The network has more nodes than a page draws.
    StorageError
        The disk does not take the page.
    """
    target = Path(path)
    if target.is_dir() or not target.suffix:
        target = target / WATCH_FILE
    columns = Columns()
    facts = _facts(run, columns)
    page = (
        _environment()
        .get_template("watch.html.j2")
        .render(
            title=facts["title"],
            style=Markup(_text("style.css")),
            script=Markup("\n".join(_text(name) for name in SCRIPTS)),
            facts=facts,
            packed=columns.pack(),
        )
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, page.encode())
    return target


def _facts(run: Run, columns: Columns) -> dict[str, Any]:
    """What the page knows beside the columns, which are added."""
    topology = run.scenario.topology
    names = run.summary["node_names"]
    check_size(len(names), "RUN")
    links = run.links.sort("link")
    pairs = zip(links["from"].to_list(), links["to"].to_list(), strict=True)
    place = positions(topology, [ends for ends in pairs if ends[0] < ends[1]])
    for name in ("from", "to", "rate_bps", "queue_bytes_max"):
        columns.add(f"link.{name}", links[name].to_numpy())
    columns.add("link.delay_ps", np.rint(links["delay_ns"].to_numpy() * 1_000).astype(np.uint64))
    _add_samples(columns, "samples", link_samples(run))
    buffers = switch_samples(run)
    _add_samples(columns, "buffers", buffers)
    notes = what_is_missing(run)
    end_ps = int(run.summary["sim_end_ps"])
    if run.is_cancelled:
        notes["cancelled"] = f"The run was stopped at {end_ps / 1e6:,.3f} µs; the page ends there."
    spans = {
        "flows": _add_flows(run, columns, notes, end_ps),
        "pauses": _add_pauses(run, columns, end_ps),
    }
    lost = drops(run)
    columns.add("drop.time_ps", lost["time_ps"].to_numpy(), ascending=True)
    for name in ("node", "link"):
        columns.add(f"drop.{name}", lost[name].to_numpy())
    _add_trace(run, columns, notes)
    _add_overview(columns, spans, buffers, lost, end_ps)
    scenario = run.scenario
    return {
        "title": f"{scenario.name}: {scenario.scheme.name}",
        "scenario": scenario.name,
        "scheme": scenario.scheme.name,
        "seed": scenario.seed,
        "host_count": topology.host_count(),
        "switch_count": topology.switch_count(),
        "names": names,
        "place": place.tolist(),
        "labels": run.summary["labels"],
        "end_ps": end_ps,
        "traffic_ps": int(scenario.duration),
        "buffer_peak_bytes": run.summary["buffer_peak_bytes"],
        "deadlock": run.summary["deadlock"],
        "flow_paused": sorted(flow_paused_links(run)),
        "has_epochs": has_epochs(run),
        "all_classes": ALL_CLASSES,
        "pauses_queues": scenario.scheme.switch.backpressure.kind not in CLASS_PAUSES,
        "threshold": "XOFF" if scenario.scheme.switch.backpressure.kind in XOFF else "Th",
        "queue_count": queue_count(scenario),
        "events": list(EVENTS),
        "levels": list(overview.LEVELS),
        "notes": notes,
        "version": run.summary["version"],
    }


def queue_count(scenario: Any) -> int:
    """Queues of a port that can be paused one by one; 1 where pauses stop a class or all."""
    switch = scenario.scheme.switch
    if switch.backpressure.kind in CLASS_PAUSES:
        return 1
    return max(1, int(getattr(switch.assignment, "queues", 1)))


def _add_samples(columns: Columns, name: str, samples: Samples) -> None:
    columns.add(f"{name}.time_ps", samples.time_ps, ascending=True)
    columns.add(f"{name}.number", samples.number)
    for quantity, matrix in samples.values.items():
        columns.add(f"{name}.{quantity}", matrix.ravel())


def _add_flows(run: Run, columns: Columns, notes: dict[str, str], end_ps: int) -> tuple[Any, Any]:
    """Adds flows and paths; returns begin and end of each [ps]."""
    flows = shown_flows(run)
    if run.flows.height > FLOWS_MAX:
        notes["flows"] = (
            f"Of {run.flows.height:,} flows, the {FLOWS_MAX:,} that lasted longest are shown."
        )
    columns.add("flow.number", flows["flow"].to_numpy())
    columns.add("flow.start_ps", flows["start_ps"].to_numpy(), ascending=True)
    columns.add("flow.length_ps", flows["length_ps"].to_numpy())
    for name in ("src", "dst", "size_bytes", "label", "class"):
        columns.add(f"flow.{name}", flows[name].to_numpy())
    ideal = np.rint(flows["ideal_fct_ns"].fill_null(0.0).to_numpy() * 1_000).astype(np.uint64)
    columns.add("flow.ideal_ps", ideal)
    paths = flow_paths(run, flows)
    if paths is None:
        notes["paths"] = (
            "Flows have no single path that is known beforehand: packets are sprayed, frames were "
            "real, or paths follow another simulator. A packet trace shows them: --trace packets."
        )
    else:
        columns.add("flow.path", paths.of_flow)
        columns.add("path.start", paths.starts, ascending=True)
        columns.add("path.link", paths.links)
    return _spans(flows["start_ps"], flows["length_ps"], end_ps)


def _add_pauses(run: Run, columns: Columns, end_ps: int) -> tuple[Any, Any]:
    """Adds pauses and their causes; returns begin and end of each [ps]."""
    found = pause_intervals(run)
    columns.add("pause.begin_ps", found["begin_ps"].to_numpy(), ascending=True)
    for name in ("length_ps", "link", "queue"):
        columns.add(f"pause.{name}", found[name].to_numpy())
    causes = pause_causes(run, found)
    for name in ("cause_port", "cause_queue", "cause_flow"):
        known = (causes[name].cast(pl.Int64) + 1).fill_null(0)
        columns.add(f"pause.{name}", known.to_numpy())
    return _spans(found["begin_ps"], found["length_ps"], end_ps)


def _spans(begin: pl.Series, length: pl.Series, end_ps: int) -> tuple[Any, Any]:
    """Begin and end of intervals [ps]; those that last end with the run."""
    first, lasted = begin.to_numpy().astype(np.uint64), length.to_numpy().astype(np.uint64)
    last = np.where(lasted == LASTS, np.uint64(end_ps + 1), first + lasted - np.uint64(1))
    return first, np.maximum(last, first)


def _add_trace(run: Run, columns: Columns, notes: dict[str, str]) -> None:
    found = trace(run)
    if found.left_out:
        notes["trace"] = (
            f"The trace has {found.left_out:,} rows more than a page has room for; the first are "
            "shown. Trace fewer switches: --trace packets:NODES."
        )
    rows = found.rows
    columns.add("trace.time_ps", rows["time_ps"].to_numpy(), ascending=True)
    plain = ("node", "event", "flow", "sequence", "size_bytes", "queue_bytes", "port_bytes")
    for name in (*plain, "active_queues"):
        columns.add(f"trace.{name}", rows[name].cast(pl.UInt64).to_numpy())
    for name in ("ingress", "egress", "queue", "upstream_queue", "threshold_bytes"):
        columns.add(f"trace.{name}", (rows[name].cast(pl.Int64) + 1).clip(0).to_numpy())
    columns.add("trace.decision", found.decisions, ascending=True)


def _add_overview(
    columns: Columns,
    spans: dict[str, tuple[Any, Any]],
    buffers: Samples,
    lost: pl.DataFrame,
    end_ps: int,
) -> None:
    stored = buffers.values["buffer_bytes"].sum(axis=0, dtype=np.uint64)
    for level in overview.LEVELS:
        for name, (begin, end) in spans.items():
            most = overview.most_open(begin, end, end_ps, level)
            columns.add(f"overview.{level}.{name}", most)
        sampled = overview.most_sampled(buffers.time_ps, stored, end_ps, level)
        columns.add(f"overview.{level}.stored", sampled)
        dropped = overview.count(lost["time_ps"].to_numpy(), end_ps, level)
        columns.add(f"overview.{level}.drops", dropped)


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("penstock.watch", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _text(name: str) -> str:
    return (files("penstock.watch") / "page" / name).read_text(encoding="utf-8")
