"""What an experiment leaves in its directory, in short: verdicts, main figure, cost.

Invariant: `outcome.json` is removed before the first run and written after the report. So a
directory whose outcome has the inputs of today is whole; any other experiment is judged again, by
the runs that are there (`kept`) and those that are missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from penstock.experiments.catalogue import is_built_in
from penstock.experiments.decision import Verdict
from penstock.experiments.grid import Cell
from penstock.experiments.model import Experiment
from penstock.provenance import code_digest, package_version, source_commit
from penstock.report.verdict import ClaimRow
from penstock.storage.draft import write_whole

OUTCOME_FILE = "outcome.json"


class Outcome(BaseModel):
    """An experiment that has ended, well or not."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    title: str
    source: str
    """Paper, section, figure or table."""
    scale: str
    inputs: str
    """Digest of what it was made from, see `inputs_digest`."""
    version: str
    commit: str | None
    failure: str = ""
    """What went wrong; empty when nothing did."""
    trace: str = ""
    """Where in the code it did."""
    claims: list[ClaimRow] = []
    figure: str = ""
    """Name of the main figure, the first that could be drawn; empty when there is none."""
    is_wide: bool = False
    """Whether that figure takes the full width of a page."""
    notes: list[str] = []
    """What could not be drawn, and schemes that do not exist yet."""
    runs: int = 0
    """Simulations made."""
    wall_seconds: float = 0.0
    """From the beginning of the first run to the report [s]; other experiments may run beside."""
    cpu_seconds: float = 0.0
    """Processor time of the threads that simulated, judged and drew [s]."""

    def count(self, verdict: Verdict) -> int:
        """How many claims have this verdict."""
        return sum(one.verdict == verdict for one in self.claims)

    def save(self, directory: Path) -> None:
        """Writes it into the experiment's directory."""
        text = self.model_dump_json(indent=2) + "\n"
        write_whole(directory / OUTCOME_FILE, text.encode())


def failed(experiment: Experiment, scale: str, failure: str, trace: str) -> Outcome:
    """The outcome of an experiment that an error has ended; without inputs, it is judged anew."""
    return Outcome(
        id=experiment.id,
        title=experiment.title,
        source=experiment.source,
        scale=scale,
        inputs="",
        version=package_version(),
        commit=source_commit(),
        failure=failure,
        trace=trace,
    )


def inputs_digest(experiment: Experiment, scale: str, grid: Sequence[Cell]) -> str:
    """Digest of all that decides an experiment's results: this package, its file, scale and seeds.

    A user's file may name other files. What they say is in the scenarios of the grid.

    Raises
    ------
    ScenarioError
        A scenario of a user's experiment cannot be run.
    """
    seeds = list(dict.fromkeys(cell.seed for cell in grid))
    digest = hashlib.sha256(f"{code_digest()}\0{scale}\0{seeds}\0".encode())
    if experiment.file is not None:
        digest.update(experiment.file.read_bytes())
    if not is_built_in(experiment):
        for cell in grid:
            digest.update(b"" if cell.missing else cell.scenario().content_hash().encode())
    return digest.hexdigest()


def finished(directory: Path, inputs: str) -> Outcome | None:
    """The outcome in a directory, if it was made from these inputs and nothing failed."""
    try:
        outcome = Outcome.model_validate_json((directory / OUTCOME_FILE).read_text("utf-8"))
    except (OSError, ValueError):  # a page of another version, or a damaged one
        return None
    return outcome if outcome.inputs == inputs and not outcome.failure else None
