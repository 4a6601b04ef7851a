"""Cumulative distributions: switch buffers, active flows, bytes by flow size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from penstock.analysis import (
    RunInput,
    active_flows_cdf,
    buffer_cdf,
    bytes_by_size,
    group_runs,
    slowdown_cdf,
)
from penstock.look import looks
from penstock.plot.format import plain, plain_log_ticks, size_axis
from penstock.plot.style import INK, QUIET, EndLabel, caption, label_ends, name_axes, new_axes
from penstock.readable import bytes_text


def buffer(runs: RunInput, *, size: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the distribution of the buffer in use at a switch, over time and switches.

    The y axis stretches the tail: 50 %, 90 %, 99 %, 99.9 % are evenly spaced.

    Parameters
    ----------
    size:
        Buffer of a switch [bytes]; drawn as a line when given and within reach of the data.
    """
    groups = group_runs(runs)
    table = buffer_cdf(groups)
    own = ax is None
    ax = new_axes(ax)
    high = _tail_lines(ax, table, "buffer_bytes")
    ax.set_xlim(0, high * 1.04 or 1)
    if size is not None and size <= high * 1.5:
        ax.set_xlim(0, size * 1.08)
        _upright(ax, size, f"buffer {bytes_text(size)}")
    size_axis(ax.xaxis)
    name_axes(ax, title="Buffer in use at a switch", x="Buffer", y="Share of time and switches")
    _name_lines(ax, table, "buffer_bytes")
    if own:
        caption(ax, groups)
    return ax


def active_flows(
    runs: RunInput,
    *,
    queues: int | None = None,
    layers: Sequence[str] | None = None,
    link: tuple[int, int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the distribution over time of flows with packets queued at a port (BFC Fig. 4, 10c).

    Parameters
    ----------
    queues:
        Queues of a port, drawn as an upright line.
    layers, link:
        Ports to count, see `penstock.analysis.active_flows_cdf`; by default all switch ports.
    """
    groups = group_runs(runs)
    table = active_flows_cdf(groups, layers=layers, link=link)
    own = ax is None
    ax = new_axes(ax)
    high = _tail_lines(ax, table, "flows")
    ax.set_xscale("symlog", linthresh=10, linscale=1.2)
    ax.set_xlim(0, max(high, queues or 0) * 1.15)
    steps = (1, 2, 5) if high <= 500 else (1,)  # so that the numbers do not run into each other
    ticks = [0, 2, 4, 6, 8, *(s * 10**e for e in range(1, 6) for s in steps)]
    ax.xaxis.set_major_locator(FixedLocator([t for t in ticks if t <= max(high, 10) * 1.15]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    if queues is not None:
        _upright(ax, queues, f"{queues} queues")
    name_axes(ax, title="Active flows at a port", x="Flows with packets queued", y="Share of time")
    _name_lines(ax, table, "flows")
    if own:
        caption(ax, groups)
    return ax


def slowdown_distribution(
    runs: RunInput,
    *,
    labels: Sequence[str] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the distribution of the slowdown over flows (BFC Fig. 29); x is logarithmic.

    Parameters
    ----------
    labels:
        Traffic entries to include; by default all but incasts.
    """
    groups = group_runs(runs)
    table = slowdown_cdf(groups, labels=labels)
    own = ax is None
    ax = new_axes(ax)
    high = _tail_lines(ax, table, "slowdown")
    ax.set_xscale("log")
    low, high = float(table["slowdown"].min() or 1) / 1.1, max(high, 2.0) * 1.15  # type: ignore[arg-type]
    ax.set_xlim(low, high)
    plain_log_ticks(ax.xaxis, low, high)
    name_axes(ax, title=title or "Slowdown", x="FCT / FCT alone", y="Share of flows")
    _name_lines(ax, table, "slowdown")
    if own:
        caption(ax, groups)
    return ax


def workload_bytes(
    workloads: Mapping[str, tuple[Sequence[Sequence[float]], str]],
    *,
    marks: Mapping[str, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of all bytes in flows up to each size (BFC Fig. 2).

    Parameters
    ----------
    workloads:
        Name -> (points of the CDF, convention "linear" or "step").
    marks:
        Label -> size [bytes] of upright lines, for instance bandwidth-delay products.
    """
    ax = new_axes(ax)
    styles = looks(list(workloads))
    ax.set_xscale("log")
    for rank, (name, (points, convention)) in enumerate(workloads.items()):
        table = bytes_by_size(points, "step" if convention == "step" else "linear")
        style = styles[name]
        ax.plot(
            table["size_bytes"],
            table["byte_share"],
            color=style.colour,
            linewidth=1.9,
            linestyle=style.dash,
        )
        height = 0.60 - 0.15 * rank
        place = int(np.searchsorted(table["byte_share"].to_numpy(), height))
        ax.annotate(
            plain(name),
            (float(table["size_bytes"][place]), height),
            xytext=(7, -4),
            textcoords="offset points",
            color=style.colour,
            fontsize=8.5,
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.85},
        )
    ax.set_ylim(0, 1.02)
    largest = max(float(points[-1][0]) for points, _ in workloads.values())
    ax.set_xlim(100, max(5e7, 1.2 * largest))  # at least the range of BFC fig. 2
    percent_axis(ax)
    size_axis(ax.xaxis)
    for rank, (label, size) in enumerate((marks or {}).items()):
        _upright(ax, size, label, height=0.97 - 0.075 * rank)
    name_axes(
        ax, title="Bytes by flow size", x="Flow size", y="Share of bytes in flows up to this size"
    )
    return ax


def percent_axis(ax: Axes) -> None:
    """Write the ticks of a y axis of shares in percent."""
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * 100:.4g} %"))


_TAIL = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999)
_TAIL_END = 0.99995


def _tail_lines(ax: Axes, table: pl.DataFrame, column: str) -> float:
    """Draw distributions on an axis of 1 - share, log, upside down; return the largest value.

    They are steps, as in reports: between two values nothing was measured.
    """
    names = table["name"].unique(maintain_order=True).to_list()
    styles = looks(names)
    for name in names:
        rows = table.filter(pl.col("name") == name)
        style = styles[name]
        height = _tail_height(rows["share"].to_numpy())
        ax.plot(
            rows[column],
            height,
            color=style.colour,
            linestyle=style.dash,
            linewidth=1.8,
            drawstyle="steps-post",
            zorder=5 if name == "bfc" else 3,
        )
    ax.set_ylim(0, _tail_height(np.array([_TAIL_END]))[0])
    ax.yaxis.set_major_locator(FixedLocator(list(_tail_height(np.array(_TAIL)))))
    ax.yaxis.set_major_formatter(
        FuncFormatter(lambda height, _: f"{100 * (1 - 10.0**-height):.6g} %")
    )
    ax.yaxis.set_minor_locator(NullLocator())
    return float(table[column].max() or 0)  # type: ignore[arg-type]


def _tail_height(share: np.ndarray) -> np.ndarray:
    return -np.log10(np.clip(1.0 - share, 1.0 - _TAIL_END, 1.0))


def _name_lines(ax: Axes, table: pl.DataFrame, column: str) -> None:
    """Name distributions at the right; the order of the names is that of their 99th percentile."""
    names = table["name"].unique(maintain_order=True).to_list()
    styles = looks(names)
    tail = {}
    for name in names:
        rows = table.filter(pl.col("name") == name)
        place = int(np.searchsorted(rows["share"].to_numpy(), 0.99))
        tail[name] = float(rows[column][min(place, rows.height - 1)])
    top = ax.get_ylim()[1]
    ordered = sorted(names, key=lambda name: tail[name])
    label_ends(
        ax,
        [
            EndLabel(name, styles[name].colour, top * (0.97 - 0.072 * rank))
            for rank, name in enumerate(ordered)
        ],
    )


def _upright(ax: Axes, x: float, label: str, *, height: float = 0.04) -> None:
    """Draw a dotted line with its name, on its left where there is no room on its right."""
    ax.axvline(x, color=INK, linewidth=1.0, linestyle=(0, (2, 2)), zorder=2)
    to_axes = ax.transData + ax.transAxes.inverted()
    is_right = float(to_axes.transform((x, 0.0))[0]) > 0.8
    ax.annotate(
        plain(label),
        (x, height),
        xycoords=("data", "axes fraction"),
        xytext=(-4 if is_right else 4, 0),
        textcoords="offset points",
        fontsize=8,
        color=QUIET,
        ha="right" if is_right else "left",
        va="center",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.8},
    )
