"""Writes a page of ``docs/results`` from what ``penstock reproduce`` has left in a directory.

``.venv/bin/python tools/results summary-paper.json ... docs/results``: the page says how many
claims hold, and has every claim of every experiment. ``paper.json`` keeps the claims of the page,
so that one experiment can be run alone, which leaves an ``outcome.json`` in place of a summary.
Those of the files replace their earlier ones; an experiment that is in several files is taken from
the last. At paper scale a folder for each experiment of minutes keeps the data of its figures.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]

PAPERS = {"bfc": "BFC", "pcn": "PCN", "fafc": "FAFC", "afq": "AFQ", "beyond": "Beyond the papers"}
FIELDS = ("id", "title", "source", "runs", "cpu_seconds", "commit")
"""What is kept of an experiment, besides its claims."""
CLAIM_FIELDS = (
    "claim",
    "reported",
    "measured",
    "spread",
    "tolerance",
    "verdict",
    "reason",
    "remark",
)
"""What is kept of a claim."""
WITH_FIGURES = "paper"
"""The scale whose figures' data are kept."""
COSTLY_SECONDS = 300
"""Processor time of an experiment from which they are kept [s] (our choice: others are sooner done
again than found)."""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([str(cell).replace("|", "\\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def counted(claims: Sequence[Row], verdict: str) -> int:
    """How many claims have a verdict."""
    return sum(claim["verdict"] == verdict for claim in claims)


def reasons(claims: Sequence[Row]) -> str:
    """Why claims fail, with numbers: "2 scale, 1 refuted"."""
    failed = [claim["reason"] for claim in claims if claim["verdict"] == "fails"]
    return ", ".join(f"{failed.count(reason)} {reason}" for reason in sorted(set(failed)))


def total(name: str, experiments: Sequence[Row]) -> list[object]:
    """A row of the totals."""
    claims = [claim for experiment in experiments for claim in experiment["claims"]]
    minutes = sum(experiment["cpu_seconds"] for experiment in experiments) / 60
    numbers = [counted(claims, verdict) for verdict in ("holds", "fails", "not decided")]
    return [name, len(experiments), len(claims), *numbers, reasons(claims), f"{minutes:.0f} min"]


def totals(experiments: Sequence[Row]) -> str:
    """How the claims of each paper came out."""
    verdicts = ["Hold", "Fail", "Not decided"]
    head = ["", "Experiments", "Claims", *verdicts, "Why they fail", "Processor time"]
    by_paper = {
        name: [one for one in experiments if one["id"].startswith(f"{paper}/")]
        for paper, name in PAPERS.items()
    }
    rows = [total(name, found) for name, found in by_paper.items() if found]
    return table(head, [*rows, total("All", experiments)])


def section(experiment: Row, files: Sequence[Path]) -> str:
    """An experiment: where it is from, its claims, and the data of its figures."""
    claims = (
        [
            claim["claim"],
            claim["reported"],
            claim["measured"],
            claim["spread"],
            claim["tolerance"],
            claim["verdict"] + (f": {claim['reason']}" if claim["verdict"] == "fails" else ""),
            claim["remark"],
        ]
        for claim in experiment["claims"]
    )
    head = ["Claim", "Paper", "Measured", "Spread", "Accepted", "Verdict", "Remark"]
    links = ", ".join(f"[{file.stem}]({file.parent.name}/{file.name})" for file in files)
    return (
        f"\n## {experiment['id']}: {experiment['title']}\n\n"
        f"{experiment['source']}. {experiment['runs']} runs, "
        f"{experiment['cpu_seconds']:,.0f} s of processor time, commit "
        f"`{experiment['commit'][:7]}`.\n\n"
        + table(head, claims)
        + (f"\nData of the figures: {links}.\n" if links else "")
    )


def folder_of(experiment: Row) -> str:
    """The name of the folder that keeps an experiment."""
    return str(experiment["id"]).replace("/", "-")


def place(experiment: Row) -> tuple[int, list[tuple[str, int]]]:
    """The order on the page: by paper, then by name, with fig9 before fig10."""
    paper, _, name = experiment["id"].partition("/")
    parts = re.findall(r"(\D*)(\d*)", name)
    return list(PAPERS).index(paper), [(word, int(number or 0)) for word, number in parts]


def shown(experiment: Row) -> Row:
    """What the page shows of an experiment."""
    claims = [{field: claim[field] for field in CLAIM_FIELDS} for claim in experiment["claims"]]
    return {field: experiment[field] for field in FIELDS} | {"claims": claims}


def keep_figures(experiment: Row, figures: Path, destination: Path) -> None:
    """Puts the data of a costly experiment's figures into its folder."""
    folder = destination / folder_of(experiment)
    shutil.rmtree(folder, ignore_errors=True)
    if experiment["cpu_seconds"] < COSTLY_SECONDS:
        return
    folder.mkdir(parents=True)
    for file in sorted(figures.glob("*.csv")):
        shutil.copy(file, folder)


def done(file: Path, page: Row) -> list[tuple[Row, Path]]:
    """The experiments of a summary, or of one outcome, that have ended, and their directories."""
    if "experiments" not in page:
        return [] if page["failure"] else [(page, file.parent)]
    ended = (one for one in page["experiments"] if one["state"] == "done")
    return [(one, (file.parent / one["report"]).parent) for one in ended]


def main(arguments: Sequence[str]) -> int:
    """Writes one page from summaries and outcomes of one scale; the exit code."""
    *files, destination = map(Path, arguments)
    if not files:
        sys.exit("usage: tools/results SUMMARY.json|OUTCOME.json ... DIRECTORY")
    pages = [(file, json.loads(file.read_text("utf-8"))) for file in files]
    scale = pages[0][1]["scale"]
    kept = destination / f"{scale}.json"
    found: dict[str, Row] = {}
    if kept.exists():
        found = {one["id"]: one for one in json.loads(kept.read_text("utf-8"))}
    for file, page in pages:
        for experiment, directory in done(file, page):
            found[experiment["id"]] = shown(experiment)
            if scale == WITH_FIGURES:
                keep_figures(experiment, directory / "figures", destination)
    ordered = sorted(found.values(), key=place)
    kept.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", "utf-8")
    text = (
        f"# What holds at scale {scale}\n\nWritten by `tools/results` after `penstock reproduce "
        f"EXPERIMENT --scale {scale}`. How a claim is judged: [the verdict on a "
        "claim](../decisions/claims-and-seeds.md).\n\n" + totals(ordered)
    )
    for experiment in ordered:
        data = (destination / folder_of(experiment)).glob("*.csv")
        text += section(experiment, sorted(data) if scale == WITH_FIGURES else [])
    (destination / f"{scale}.md").write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
