"""A run's ``fct.txt`` beside the simulator's: slowdowns by flow size, and pauses.

Bins and percentiles are those of the reference runs. A bin has flows of ``(lo, hi]`` bytes. Incast
flows (destination port 200) are apart. Percentile `p` is the value at ``floor(p n)`` of the sorted
list. A slowdown divides by the last column of its own file.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from penstock.hpcc.output import FLOW_KEY
from penstock.look import BLUE, VERMILION
from penstock.plot.format import plain
from penstock.plot.style import INK, QUIET, name_axes, style_axes
from penstock.readable import number_text
from penstock.storage.draft import write_whole

COMPARISON_FILE = "comparison.png"
INCAST_PORT = 200
"""Destination port of incast flows in the reference traces."""
BINS: tuple[tuple[str, float, float], ...] = (
    ("<=1KB", 0, 1e3),
    ("1-3KB", 1e3, 3e3),
    ("3-12KB", 3e3, 12e3),
    ("12-48KB", 12e3, 48e3),
    ("48-192KB", 48e3, 192e3),
    ("192-768KB", 192e3, 768e3),
    ("768KB-3MB", 768e3, 3072e3),
    (">3MB", 3072e3, float("inf")),
)
"""Name, lower and upper bound [B] of each bin."""
PERCENTILES = (50, 95, 99)


@dataclass(frozen=True)
class BinResult:
    """The slowdowns of one bin, sorted: ours and the reference's."""

    name: str
    ours: np.ndarray
    reference: np.ndarray

    def row(self) -> dict[str, Any]:
        """Counts and percentiles as plain numbers; None where a side has no flow."""
        row: dict[str, Any] = {
            "bin": self.name,
            "n": len(self.ours),
            "n_reference": len(self.reference),
        }
        for percent in PERCENTILES:
            ours, reference = (percentile(side, percent) for side in (self.ours, self.reference))
            both = ours is not None and reference is not None
            row[f"p{percent}"] = {
                "ours": ours,
                "reference": reference,
                "ratio": ours / reference if both else None,  # type: ignore[operator]
            }
        return row


@dataclass(frozen=True)
class Comparison:
    """Two result files, flow by flow and bin by bin."""

    bins: tuple[BinResult, ...]
    flows: int
    """Flows in both files: those with the same addresses, ports and size."""
    flows_ours: int
    """Flows of our run that finished."""
    flows_reference: int
    """Flows of the reference."""
    equal: int
    """Of these, how many took the same time, to the nanosecond."""
    pauses: int
    """Pause frames of our run."""
    pauses_reference: int | None
    """Those of the reference, where its file was given."""

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return {
            "flows": {"ours": self.flows_ours, "reference": self.flows_reference},
            "flows_in_both": self.flows,
            "equal_fct": self.equal,
            "pauses": {"ours": self.pauses, "reference": self.pauses_reference},
            "slowdown": [one.row() for one in self.bins],
        }


def percentile(ordered: np.ndarray, percent: int) -> float | None:
    """The value at ``floor(p n)`` of a sorted list; none of an empty one."""
    if not len(ordered):
        return None
    return float(ordered[len(ordered) * percent // 100])


def compare(
    ours: pl.DataFrame,
    reference: pl.DataFrame,
    pfc: pl.DataFrame,
    pfc_reference: pl.DataFrame | None = None,
) -> Comparison:
    """Compares two tables of :func:`penstock.hpcc.output.read_fct`, and pauses if there are any."""
    sides = [_sorted_bins(table) for table in (ours, reference)]
    bins = tuple(
        BinResult(name, sides[0][name], sides[1][name])
        for name in sides[0]
        if len(sides[0][name]) or len(sides[1][name])
    )
    both = ours.join(reference, on=FLOW_KEY, how="inner", suffix="_reference")
    equal = both.filter(pl.col("fct_ns") == pl.col("fct_ns_reference")).height
    counted = None if pfc_reference is None else _pauses(pfc_reference)
    heights = (both.height, ours.height, reference.height)
    return Comparison(bins, *heights, equal, _pauses(pfc), counted)


def _pauses(pfc: pl.DataFrame) -> int:
    return pfc.filter(pl.col("type") == 1).height


def _sorted_bins(table: pl.DataFrame) -> dict[str, np.ndarray]:
    slowdown = (pl.col("fct_ns") / pl.col("ideal_ns")).alias("slowdown")
    rows = table.select("dport", "size", slowdown).sort("slowdown")
    is_incast = pl.col("dport") == INCAST_PORT
    found = {
        name: rows.filter(~is_incast & (pl.col("size") > low) & (pl.col("size") <= high))
        for name, low, high in BINS
    }
    found["incast"] = rows.filter(is_incast)
    return {name: chosen["slowdown"].to_numpy() for name, chosen in found.items()}


def table_rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Titles and rows of the comparison as a table of texts."""
    titles = ["size", "n\nours", "n\nreference"]
    for percent in PERCENTILES:
        titles += [f"p{percent}\nours", f"p{percent}\nreference", f"p{percent}\nratio"]
    rows = []
    for one in comparison.bins:
        row = one.row()
        cells = [one.name, str(row["n"]), str(row["n_reference"])]
        for percent in PERCENTILES:
            values = row[f"p{percent}"]
            cells += [number_text(values[side], 4) for side in ("ours", "reference", "ratio")]
        rows.append(cells)
    return titles, rows


def draw(comparison: Comparison, path: Path, title: str) -> None:
    """Draws the distribution of slowdown in each bin, ours over the reference's, as a PNG."""
    columns = 3
    lines = -(-len(comparison.bins) // columns)
    figure = Figure(figsize=(10.5, 0.6 + 2.6 * lines), layout="constrained")
    for place, one in enumerate(comparison.bins, start=1):
        ax = style_axes(figure.add_subplot(lines, columns, place))
        _draw_bin(ax, one)
    exact = f"{comparison.equal:,} of {comparison.flows:,} flows equal to the nanosecond"
    figure.suptitle(plain(f"{title} · {exact}"), x=0.01, ha="left", fontsize=11, color=INK)
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=130)
    write_whole(path, image.getvalue())


def _draw_bin(ax: Axes, one: BinResult) -> None:
    for name, slowdowns, colour, width in (
        ("reference", one.reference, VERMILION, 3.2),
        ("Penstock", one.ours, BLUE, 1.3),
    ):
        ax.plot(slowdowns, _shares(slowdowns), color=colour, linewidth=width, label=name)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_ylim(0, 1.02)
    name_axes(ax, title=f"{one.name} · {len(one.ours):,} flows", x="Slowdown", y="Share")
    ax.legend(frameon=False, fontsize=8, labelcolor=QUIET, loc="lower right")


def _shares(ordered: Sequence[float] | np.ndarray) -> np.ndarray:
    """The share of flows up to each of a sorted list."""
    return np.arange(1, len(ordered) + 1) / max(len(ordered), 1)
