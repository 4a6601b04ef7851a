"""One page about many experiments: what the papers report, what was measured, what holds.

The page is self-contained: it has every experiment's main figure. A JSON file beside the page has
the same content. Both are made from the experiments' directories, so they can be written again at
any time, also while some experiments still run.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from penstock.experiments.campaign import Campaign
from penstock.experiments.claim import Reason
from penstock.experiments.decision import VERDICTS
from penstock.experiments.model import Experiment
from penstock.experiments.outcome import Outcome
from penstock.provenance import package_version, source_commit
from penstock.report.frame import line_names, looks_of, render
from penstock.report.verdict import NOT_STATED
from penstock.storage.draft import write_whole

LEGEND_FROM = 4
"""In how many figures a scheme of the legend is, at least (our choice: about twelve are)."""

REASONS = (*get_args(Reason), NOT_STATED)
"""All reasons for which claims fail."""


@dataclass(frozen=True)
class Total:
    """How the experiments of a paper came out, or those of all."""

    paper: str
    experiments: int
    failed: int
    unfinished: int
    hold: int
    """Claims with this verdict, here and below."""
    fail: int
    not_decided: int
    reasons: dict[str, int]
    """Why claims fail -> how many."""
    cpu_seconds: float


@dataclass(frozen=True)
class Entry:
    """An experiment on the page."""

    experiment: Experiment
    outcome: Outcome | None
    link: str
    """Its report, seen from the page; empty when there is none."""
    figure: dict[str, Any] | None
    """Its main figure, as the page reads it."""

    @property
    def paper(self) -> str:
        """The paper, as the id names it."""
        return self.experiment.id.partition("/")[0]

    @property
    def verdicts(self) -> str:
        """The verdicts of its claims, each once, with a bar between two."""
        claims = self.outcome.claims if self.outcome else []
        return "|".join(dict.fromkeys(one.verdict for one in claims))

    @property
    def state(self) -> str:
        """ "done", "failed" or "not finished"."""
        if self.outcome is None:
            return "not finished"
        return "failed" if self.outcome.failure else "done"


def write_overview(campaign: Campaign, directory: str | Path, command: str) -> Path:
    """Write `summary-<scale>.html` and `.json` into a directory; returns the page.

    Parameters
    ----------
    command:
        The exact command that made the campaign.
    """
    target = Path(directory) / overview_file(campaign.scale)
    target.parent.mkdir(parents=True, exist_ok=True)
    entries = [_entry(campaign, name, target.parent) for name in campaign.directories]
    papers = list(dict.fromkeys(entry.paper for entry in entries))
    totals = [_total(one, [e for e in entries if e.paper == one]) for one in papers]
    every = _total("all", entries)
    figures = [entry.figure for entry in entries if entry.figure]
    page = render(
        "overview.html.j2",
        figures,
        f"scale {campaign.scale}",
        legend_from=LEGEND_FROM,
        title="The papers' figures and tables, run again",
        command=command,
        scale=campaign.scale,
        version=package_version(),
        commit=source_commit(),
        totals=totals,
        every=every,
        entries=entries,
        reasons=REASONS,
        verdicts=VERDICTS,
    )
    facts = {
        "command": command,
        "scale": campaign.scale,
        "version": package_version(),
        "commit": source_commit(),
        "totals": {total.paper: _fields(total) for total in [*totals, every]},
        "experiments": [_facts(entry) for entry in entries],
    }
    text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    write_whole(target, page)
    write_whole(json_beside(target), text.encode())
    return target


def overview_file(scale: str) -> str:
    """The name of the page about experiments of a scale."""
    return f"summary-{scale}.html"


def json_beside(page: Path) -> Path:
    """The JSON of a page."""
    return page.with_suffix(".json")


def _entry(campaign: Campaign, name: str, root: Path) -> Entry:
    outcome, directory = campaign.outcomes.get(name), campaign.directories[name]
    if outcome is None or outcome.failure:
        return Entry(campaign.experiments[name], outcome, "", None)
    link = os.path.relpath(directory / "report.html", root)
    figure = None
    if outcome.figure:
        text = (directory / "figures" / f"{outcome.figure}.json").read_text("utf-8")
        figure = json.loads(text)
        # Points of different experiments have the same names, so each figure has looks of its own.
        figure |= {"name": name, "looks": looks_of(line_names(figure))}
    return Entry(campaign.experiments[name], outcome, link, figure)


def _total(paper: str, entries: list[Entry]) -> Total:
    ended = [entry.outcome for entry in entries if entry.outcome is not None]
    reasons = [claim.reason for one in ended for claim in one.claims]
    return Total(
        paper=paper,
        experiments=len(entries),
        failed=sum(bool(one.failure) for one in ended),
        unfinished=len(entries) - len(ended),
        hold=sum(one.count("holds") for one in ended),
        fail=sum(one.count("fails") for one in ended),
        not_decided=sum(one.count("not decided") for one in ended),
        reasons={reason: reasons.count(reason) for reason in REASONS},
        cpu_seconds=sum(one.cpu_seconds for one in ended),
    )


def _fields(total: Total) -> dict[str, Any]:
    return {key: value for key, value in asdict(total).items() if key != "paper"}


def _facts(entry: Entry) -> dict[str, Any]:
    """An experiment in the JSON."""
    facts: dict[str, Any] = {
        "id": entry.experiment.id,
        "title": entry.experiment.title,
        "covers": entry.experiment.covers,
        "state": entry.state,
        "report": entry.link,
    }
    if entry.outcome is None:
        return facts
    left_out = {"id", "title", "scale", "inputs", "trace", "is_wide"}
    return facts | entry.outcome.model_dump(exclude=left_out)
