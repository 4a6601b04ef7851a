"""The tables of BFC beside NASA-NJU/Pyrrha-NS3, for ``docs/validation-tables.md``."""

from __future__ import annotations

from pyrrha.exact import Figures, ours, theirs
from pyrrha.outcome import compare
from pyrrha.reference import Reference, references

CLOSEST = ("letter", "rot")
"""The variants nearest to the paper's words and to our search for a queue; with the large runs they
stand in the table of exact arithmetic."""
PAPERS_SCHEDULER = "drr"
"""The scheduler of BFC's paper, beside the one of that simulator."""


def tables() -> list[str]:
    """Runs everything; says each run as it ends."""
    every = references()
    large = [one for one in every if one.name.startswith("d_")]
    small = [one for one in every if one.variant in CLOSEST and one not in large]
    return [
        "## BFC in the arithmetic of NASA-NJU/Pyrrha-NS3",
        "",
        *_equality(every),
        "",
        "## BFC in exact arithmetic",
        "",
        "Slowdown of short background flows (at most 3 KB) and of incast flows: median, 95th and",
        "99th percentile. Pyrrha-NS3, ours with its scheduler, ours with DRR.",
        "",
        *_large(large),
        "",
        "Completion time of the small runs: mean and largest, in us.",
        "",
        *_small(small),
    ]


def _equality(every: list[Reference]) -> list[str]:
    lines = [
        "| run | flows | equal to the ns | choices of a queue | equal | pauses, resumes | equal |",
        "|---|---|---|---|---|---|---|",
    ]
    for reference in every:
        found = compare(reference)
        chosen, paused = found.tallies["choices"], found.tallies["arrivals"]
        print(f"{reference.name} ns3-bfc: everything equal: {found.is_equal}", flush=True)
        words = {True: "all", False: "no"}
        pauses = [pair for kind, pair in found.tallies.items() if kind != "choices"]
        lines.append(
            f"| {reference.name} | {found.flows:,} | {found.equal_flows:,} | {chosen[1].count:,} | "
            f"{words[chosen[0] == chosen[1]]} | {paused[1].count:,} | "
            f"{words[all(one == other for one, other in pauses)]} |"
        )
    return lines


def _large(references: list[Reference]) -> list[str]:
    lines = ["| run | | short p50, p95, p99 | incast p50, p95, p99 |", "|---|---|---|---|"]
    for reference in references:
        rows = {
            "Pyrrha-NS3": theirs(reference),
            "exact": ours(reference),
            "exact, DRR": ours(reference, PAPERS_SCHEDULER),
        }
        for name, found in rows.items():
            print(f"{reference.name} {name}: {found}", flush=True)
            lines.append(
                f"| {reference.name} | {name} | {_three(found.short)} | {_three(found.incast)} |"
            )
    return lines


def _small(references: list[Reference]) -> list[str]:
    lines = ["| run | Pyrrha-NS3 | exact | exact, DRR |", "|---|---|---|---|"]
    for reference in references:
        found = (theirs(reference), ours(reference), ours(reference, PAPERS_SCHEDULER))
        cells = " | ".join(_times(one) for one in found)
        lines.append(f"| {reference.name} | {cells} |")
    return lines


def _times(found: Figures) -> str:
    return f"{found.mean_us:.3f}, {found.largest_us:.3f}"


def _three(values: tuple[float, float, float]) -> str:
    return "–" if values[0] != values[0] else ", ".join(f"{value:.3f}" for value in values)
