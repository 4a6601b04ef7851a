"""The standard figures of a report: each is a function from runs to a figure or to a reason.

Invariant: a section whose data are missing returns the reason in words and no figure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from penstock.analysis import (
    MeasuredRun,
    active_flows_cdf,
    buffer_cdf,
    layer_summary,
    leaves_out_incasts,
    link_series,
    slowdown_by_size,
)
from penstock.analysis.runs import caption_text, lazy_table
from penstock.readable import bytes_text
from penstock.report import kinds
from penstock.report.chart import Axis, Chart
from penstock.report.figure import ReportFigure, unfinished_words

Groups = dict[str, list[MeasuredRun]]
Section = Callable[[Groups], ReportFigure | str]


SERIES_LINKS_MAX = 12
"""Links whose throughput a figure shows (our choice: more lines cannot be told apart)."""
NAMES_MAX = 3
"""Schemes that a mark in a figure names (our choice: more do not fit beside it)."""


def slowdown(groups: Groups) -> ReportFigure | str:
    """Slowdown by flow size: mean, median, 95th, 99th and 99.9th percentile."""
    data = slowdown_by_size(groups)
    if not data["flows"].sum():
        return "Slowdown: no flow of the background traffic finished."
    has_enough = bool((data["flows"] >= kinds.FLOWS_MIN).any())
    flows = f"at least {kinds.FLOWS_MIN} flows each" if has_enough else "none with many flows"
    words = (
        "Flow completion time over that of the same flow alone on its path at line rate. "
        f"A point is the flows of one size bin (three bins per decade, {flows})."
    )
    if leaves_out_incasts(groups):
        words += " Incast flows are not in it."
    words += unfinished_words(int(data["unfinished"].sum()))
    return ReportFigure("slowdown", words, kinds.slowdown(data), wide=True)


def buffer(groups: Groups) -> ReportFigure | str:
    """Distribution of the buffer in use."""
    sampled = _with_rows(groups, "buffers")
    if not sampled:
        return "Buffer: not sampled (measure.sample_interval is 0)."
    words = (
        "Bytes stored at a switch, over all switches and samples of the traffic period. "
        "The upper part of the axis is stretched to show the tail."
    )
    return ReportFigure("buffer", words, buffer_chart(sampled))


def buffer_chart(groups: Groups) -> Chart:
    """Distribution of the buffer in use, of runs with samples."""
    size = buffer_size(groups)
    return kinds.distribution(
        buffer_cdf(groups),
        "buffer_bytes",
        Axis("Buffer in use", "bytes", zero=True),
        title="How full do switches get?",
        share="Share of time and switches",
        marks={f"buffer {bytes_text(size)}": float(size)} if size else {},
    )


def active_flows(groups: Groups) -> ReportFigure | str:
    """Distribution of active flows at switch ports."""
    counted = _with_rows(groups, "active_flows")
    if not counted:
        return "Active flows: not counted (measure.active_flows is off)."
    words = (
        "Flows with packets queued at a switch port, over time and ports. Where a line stays left "
        "of the number of queues, every flow can have a queue of its own."
    )
    queues, names = _queues(counted)
    own = ""
    if queues and len(names) < len(counted):
        more = f" and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else ""
        own = ", ".join(names[:NAMES_MAX]) + more
        words += f" The number is that of {own}; the others have no fixed number for flows."
    chart = active_flows_chart(active_flows_cdf(counted), queues, own)
    return ReportFigure("active-flows", words, chart)


def active_flows_chart(table: pl.DataFrame, queues: int | None, own: str = "") -> Chart:
    """Distribution of active flows beside the queues of a port; `own` says whose number that is."""
    whose = f": {own}" if own else ""
    return kinds.distribution(
        table,
        "flows",
        Axis("Flows with packets queued", scale="near-zero", zero=True),
        title="How many flows share a port?",
        share="Share of time",
        marks={f"{queues} queues{whose}": float(queues)} if queues else {},
    )


def pause_time(groups: Groups) -> ReportFigure | str:
    """Share of time in which pauses hold links."""
    data = layer_summary(groups)
    if not (data["port_paused"] > 0).any():
        peaks = [f"{name}: {_ingress_peak(members)}" for name, members in groups.items()]
        return "PFC pauses: no link was paused. Fullest ingress: " + "; ".join(peaks) + "."
    words = (
        "Share of the run in which a pause, PFC's or a timed one of FAFC's, keeps a link from "
        "sending data, mean over classes and links."
    )
    return ReportFigure("pause-time", words, pause_chart(data))


def pause_chart(data: pl.DataFrame) -> Chart:
    """Share of time in which pauses hold links, of the table `layer_summary`."""
    axis = Axis("Share of time, mean over links", "share", zero=True)
    return kinds.layer_bars(data, "port_paused", axis, title="Where are links paused?")


def paused_queues(groups: Groups) -> ReportFigure | str:
    """Queues that BFC holds paused."""
    data = layer_summary(groups)
    if not (data["queues_paused"] > 0).any():
        return "Queue pauses: no scheme paused a single queue."
    words = "Queues at the sending end of a link that BFC holds paused, mean over time and links."
    return ReportFigure("paused-queues", words, paused_queues_chart(data))


def paused_queues_chart(data: pl.DataFrame) -> Chart:
    """Queues that BFC holds paused, for the schemes that pause any; table `layer_summary`."""
    pausing = data.filter((pl.col("queues_paused") > 0).any().over("name"))
    axis = Axis("Paused queues of a link", zero=True)
    title = "Where does BFC pause queues?"
    shown = pausing if pausing.height else data
    return kinds.layer_bars(shown, "queues_paused", axis, title=title)


def utilization(groups: Groups) -> ReportFigure | str:
    """Share of the traffic's time in which links are busy."""
    words = (
        "Share of the traffic's time in which a link carries bits, headers and control frames "
        "included, mean over links. The time after the end of the traffic, in which flows finish, "
        "is left out, and so is what links carry then."
    )
    return ReportFigure("utilization", words, utilization_chart(layer_summary(groups)))


def utilization_chart(data: pl.DataFrame) -> Chart:
    """Share of the traffic's time in which links are busy, of the table `layer_summary`."""
    axis = Axis("Share of time, mean over links", "share", zero=True)
    return kinds.layer_bars(data, "utilization", axis, title="How busy are links?")


def throughput(groups: Groups) -> ReportFigure | str:
    """Throughput and queue of sampled links over time."""
    sampled = _with_rows(groups, "series")
    if not sampled:
        return "Throughput over time: no link is listed in measure.series."
    links = max(run.series["link"].n_unique() for members in sampled.values() for run in members)
    if links > SERIES_LINKS_MAX:
        return (
            f"Throughput over time: {links:,} links are listed in measure.series, more than a "
            "figure can show. `penstock watch` shows all of them."
        )
    words = (
        "Sampled links over time, of the first run of each scheme: bits sent per second, and bytes "
        "queued for the link. Samples are averaged over windows; queues.parquet has all of them. A "
        "packet counts as a whole when its transmission begins, so a window of a few packets can "
        "hold more than the link carries in it."
    )
    chart = kinds.over_time(link_series(sampled))
    note = caption_text({name: members[:1] for name, members in sampled.items()})
    return ReportFigure("throughput", words, chart, wide=True, note=note)


STANDARD: dict[str, Section] = {
    "slowdown": slowdown,
    "buffer": buffer,
    "active-flows": active_flows,
    "pause-time": pause_time,
    "paused-queues": paused_queues,
    "utilization": utilization,
    "throughput": throughput,
}
"""The figures of a report, in the order of the page."""


def _with_rows(groups: Groups, table: str) -> Groups:
    return {
        name: members
        for name, members in groups.items()
        if all(lazy_table(run, table).head(1).collect().height for run in members)
    }


def _ingress_peak(members: list[MeasuredRun]) -> str:
    peaks = [run.summary.get("ingress_peak_fraction_of_xoff") for run in members]
    known = [float(peak) for peak in peaks if peak is not None]
    return f"{max(known) * 100:.0f} % of XOFF" if known else "has no XOFF threshold"


def _queues(groups: Groups) -> tuple[int | None, list[str]]:
    """Data queues of a port where all schemes with a fixed number have the same, and who has it."""
    counts, names = set(), []
    for name, members in groups.items():
        assignment: Any = getattr(
            getattr(members[0].scenario.scheme, "switch", None), "assignment", None
        )
        if getattr(assignment, "kind", "") in ("dynamic", "stochastic"):
            counts.add(int(assignment.queues) - 1)  # one is that of control frames
            names.append(name)
    return (counts.pop() if len(counts) == 1 else None), names


def buffer_size(groups: Groups) -> int | None:
    """Shared buffer of a switch [bytes] where all schemes with one have the same."""
    sizes = set()
    for members in groups.values():
        admission: Any = getattr(
            getattr(members[0].scenario.scheme, "switch", None), "admission", None
        )
        if getattr(admission, "kind", "") == "shared":
            sizes.add(int(admission.buffer))
    return sizes.pop() if len(sizes) == 1 else None
