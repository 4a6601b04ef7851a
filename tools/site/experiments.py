"""The page of all experiments: what each shows, and how its claims came out.

The experiments are the files of ``experiments/``, the verdicts those of ``docs/results/quick.md``,
the pictures those that ``docs/findings.md`` shows beside a command. An experiment that was not
part of that run has no verdicts.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from pymdownx.slugs import slugify

PAPERS = {
    "bfc": "BFC: Goyal et al., NSDI 2022",
    "pcn": "PCN: Cheng et al., NSDI 2020",
    "fafc": "FAFC: Lu et al.",
    "afq": "AFQ: Sharma et al., NSDI 2018",
    "beyond": "Beyond the papers",
}
"""The folders of ``experiments/`` in the order of the page."""
VERDICTS = {"holds": "hold", "fails": "fail", "not decided": "not decided"}
"""The verdicts of a claim, and how several of them are told."""
VERDICT = 5
"""The column of the verdict in the tables of a page of results."""
RESULTS = "results/quick.md"
FINDINGS = "findings.md"

HEAD = """# All experiments

Every figure and table that Penstock reproduces, and some questions of its own. The bars count the
claims of [the last run of all experiments at scale quick](results/quick.md):
<span class="verdict holds">hold</span>, <span class="verdict fails">fail</span>,
<span class="verdict not-decided">not decided</span>. A claim that fails may be the paper's fault,
ours, or that of the short run; the page of the claims says which. [What came out](findings.md) has
the findings in words.
"""


def page(root: Path) -> str:
    """The page in Markdown, from the files below `root`, the repository."""
    judged = sections((root / "docs" / RESULTS).read_text("utf-8"))
    shown = pictures((root / "docs" / FINDINGS).read_text("utf-8"))
    parts = [HEAD]
    for paper, heading in PAPERS.items():
        found = [read(path) for path in sorted((root / "experiments" / paper).glob("*.toml"))]
        found.sort(key=lambda one: natural(one["id"]))
        cards = "\n".join(card(one, judged.get(one["id"]), shown.get(one["id"])) for one in found)
        parts.append(f'\n## {heading}\n\n<div class="grid cards" markdown>\n\n{cards}\n</div>\n')
    return "".join(parts)


def read(path: Path) -> dict[str, Any]:
    """An experiment's file."""
    return tomllib.loads(path.read_text("utf-8"))


def natural(identifier: str) -> list[tuple[str, int]]:
    """A key that sorts fig9 before fig10."""
    return [(word, int(number or 0)) for word, number in re.findall(r"(\D+)(\d*)", identifier)]


def sections(results: str) -> dict[str, tuple[str, Counter[str]]]:
    """The heading and the count of each verdict, by the id of the experiment."""
    found = {}
    for part in re.split(r"^## ", results, flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        rows = [re.split(r"(?<!\\)\|", line)[1:] for line in text.splitlines() if line[:1] == "|"]
        verdicts = (row[VERDICT].partition(":")[0].strip() for row in rows[2:])
        found[heading.partition(":")[0]] = heading, Counter(verdicts)
    return found


def pictures(findings: str) -> dict[str, tuple[str, str]]:
    """Words and file of the picture of an experiment; each command has one picture, in order."""
    found = {}
    for part in re.split(r"^## ", findings, flags=re.MULTILINE)[1:]:
        commands = re.findall(r"^penstock reproduce (\S+)", part, re.MULTILINE)
        images = re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", part)
        found.update(zip(commands, images, strict=True))
    return found


def card(
    experiment: dict[str, Any],
    judged: tuple[str, Counter[str]] | None,
    picture: tuple[str, str] | None,
) -> str:
    """An experiment: picture, title, what it shows, how its claims came out, the command."""
    name = experiment["id"]
    parts = [f"**{name}** {experiment['title']}", experiment["shows"]]
    if picture:
        parts.insert(0, f"[![{picture[0]}]({picture[1]}){{ loading=lazy }}]({picture[1]})")
    if judged:
        heading, verdicts = judged
        anchor = slugify(case="lower")(heading, "-")
        parts.append(f"{bar(verdicts)} [{told(verdicts)}]({RESULTS}#{anchor})")
    else:
        parts.append("Not part of that run.")
    parts.append(f"`penstock reproduce {name}`")
    return "-   " + "\n\n    ".join(parts) + "\n"


def told(verdicts: Counter[str]) -> str:
    """The verdicts in words: "5 hold, 1 fail"."""
    return ", ".join(
        f"{verdicts[verdict]} {word}" for verdict, word in VERDICTS.items() if verdicts[verdict]
    )


def bar(verdicts: Counter[str]) -> str:
    """The verdicts as a bar; the words beside it say the same."""
    parts = "".join(
        f'<i class="{verdict.replace(" ", "-")}" style="flex: {verdicts[verdict]}"></i>'
        for verdict in VERDICTS
        if verdicts[verdict]
    )
    return f'<span class="verdicts" aria-hidden="true">{parts}</span>'
