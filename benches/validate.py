"""Holds Penstock against the reference runs of two other simulators, flow by flow.

Run it as ``make validate``. It runs every config of ``tests/data/ns3-hpcc/conf`` and every run of
``tests/data/pyrrha-bfc``, once in that simulator's arithmetic and once in the exact one, and writes
``docs/validation-tables.md`` and the figures of ``docs/validation.md``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

from pyrrha.tables import tables as bfc_tables

from penstock import _core
from penstock.hpcc.case import Case, case_of_config
from penstock.hpcc.compare import PERCENTILES, Comparison, compare, draw
from penstock.hpcc.output import read_fct, read_pfc, write_results
from penstock.results import Run
from penstock.runner import run

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "data" / "ns3-hpcc"
TABLES = ROOT / "docs" / "validation-tables.md"
IMAGES = ROOT / "docs" / "images"
DRAWN = {"hpcc__fb60_s1", "dcqcn__fb55_incast5_s1"}
"""Runs whose exact arithmetic is drawn over the reference in the documentation."""
ENOUGH = 500
"""Flows of a bin from which on its percentiles are compared."""
REFERENCE_CPU = tomllib.loads((DATA / "cpu_seconds.toml").read_text())
"""CPU seconds of the reference on fb60_s1 and fb55_incast5_s1."""


@dataclass(frozen=True)
class Outcome:
    """One run beside its reference."""

    name: str
    comparison: Comparison
    is_same_fct: bool
    is_same_pfc: bool
    packet_hops: int
    cpu_seconds: float
    bare_seconds: float
    """CPU time of the bare event loop on the same network and flows, just before."""


def outcome(name: str, fidelity: str, directory: Path) -> Outcome:
    """Runs one config."""
    case = case_of_config(DATA / "conf" / f"{name}.txt", fidelity, {})
    bare_seconds = bare(case)
    finished = run(case.scenario, progress=None)
    assert isinstance(finished, Run)
    directory.mkdir(parents=True, exist_ok=True)
    fct, pfc = write_results(case, finished, directory)
    fct_file = DATA / "fct" / f"fct_{name}.txt.gz"
    pfc_file = DATA / "fct" / f"pfc_{name}.txt.gz"
    pfc_text = gzip.decompress(pfc_file.read_bytes()) if pfc_file.exists() else b""
    found = compare(
        fct, read_fct(fct_file), pfc, read_pfc(pfc_file) if pfc_file.exists() else pfc.clear()
    )
    if fidelity == "exact" and name in DRAWN:
        draw(found, IMAGES / f"validation-{name}.png", f"{name}, exact arithmetic")
    return Outcome(
        name,
        found,
        (directory / "fct.txt").read_bytes() == gzip.decompress(fct_file.read_bytes()),
        (directory / "pfc.txt").read_bytes() == pfc_text,
        int(finished.summary["packet_hops"]),
        float(finished.summary["cpu_seconds"]),
        bare_seconds,
    )


def bare(case: Case) -> float:
    """CPU time of the bare loop [s]."""
    start = time.process_time()
    _core.run_bare(case.scenario.to_json())
    return time.process_time() - start


def equality_table(outcomes: list[Outcome]) -> list[str]:
    """Whether the files are the same, run by run."""
    lines = [
        "| run | flows | equal to the ns | `fct.txt` | `pfc.txt` | pauses | reference | hops |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in outcomes:
        found = one.comparison
        same = {True: "same bytes", False: "differs"}
        lines.append(
            f"| {one.name} | {found.flows:,} | {found.equal:,} | {same[one.is_same_fct]} | "
            f"{same[one.is_same_pfc]} | {found.pauses:,} | {found.pauses_reference:,} | "
            f"{one.packet_hops:,} |"
        )
    return lines


def slowdown_table(one: Outcome) -> list[str]:
    """Percentiles bin by bin: ours / reference and the difference in percent."""
    lines = [
        f"| {one.name} | n | p50 | | p95 | | p99 | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for part in one.comparison.bins:
        row = part.row()
        cells = [part.name + ("" if row["n"] >= ENOUGH else " (few)"), f"{row['n']:,}"]
        for percent in PERCENTILES:
            value = row[f"p{percent}"]
            cells.append(f"{value['ours']:.3f} / {value['reference']:.3f}")
            cells.append(f"{100 * (value['ratio'] - 1):+.1f} %")
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def speed_table(ours: list[Outcome], exact: list[Outcome]) -> list[str]:
    """CPU seconds beside the reference's and the bare loop's."""
    lines = [
        "| run | ns3-hpcc [CPU s] | exact [CPU s] | bare loop [CPU s] | reference [CPU s] |",
        "|---|---|---|---|---|",
    ]
    for one, other in zip(ours, exact, strict=True):
        scheme, trace = one.name.split("__")
        reference = REFERENCE_CPU[scheme][0 if trace == "fb60_s1" else 1]
        bare_seconds = min(one.bare_seconds, other.bare_seconds)
        lines.append(
            f"| {one.name} | {one.cpu_seconds:.2f} | {other.cpu_seconds:.2f} | "
            f"{bare_seconds:.2f} | {reference:.1f} |"
        )
    return lines


def page(ours: list[Outcome], exact: list[Outcome], bfc: list[str]) -> str:
    """The page of tables; `bfc` has those of the simulator with BFC."""
    lines = [
        "# Tables of the validation",
        "",
        "Written by `make validate`; [validation.md](validation.md) explains them.",
        "",
        "## In the arithmetic of the ns-3 HPCC simulator",
        "",
        *equality_table(ours),
        "",
        "## In exact arithmetic",
        "",
        "Slowdown, ours / reference and the difference. Bins with fewer than "
        f"{ENOUGH} flows are marked.",
        "",
        *(line for one in exact for line in slowdown_table(one)),
        *equality_table(exact),
        "",
        "## Speed",
        "",
        *speed_table(ours, exact),
        "",
        *bfc,
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Runs all configs, or those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "validation")
    parser.add_argument("names", nargs="*", help="configs such as hpcc__fb60_s1; default: all")
    arguments = parser.parse_args()
    names = arguments.names or sorted(path.stem for path in (DATA / "conf").glob("*.txt"))
    found: dict[str, list[Outcome]] = {"ns3-hpcc": [], "exact": []}
    for name in names:
        for fidelity, outcomes in found.items():
            one = outcome(name, fidelity, arguments.out / fidelity / name)
            outcomes.append(one)
            shown = one.comparison
            print(
                f"{name} {fidelity}: {shown.equal:,} of {shown.flows:,} flows equal, "
                f"pauses {shown.pauses:,} and {shown.pauses_reference:,}, "
                f"{one.cpu_seconds:.2f} CPU s, bare loop {one.bare_seconds:.2f}",
                flush=True,
            )
    (arguments.out / "comparison.json").write_text(
        json.dumps(
            {
                key: {one.name: one.comparison.to_json() for one in outcomes}
                for key, outcomes in found.items()
            },
            indent=1,
        )
    )
    if not arguments.names:
        TABLES.write_text(page(found["ns3-hpcc"], found["exact"], bfc_tables()))
        print(f"tables: {TABLES}")


if __name__ == "__main__":
    main()
