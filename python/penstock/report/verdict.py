"""A claim of a paper beside what was measured, as reports and JSON show it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

NOT_STATED = "not stated"
"""The reason of a claim that fails and has none in its file."""


class ClaimRow(BaseModel):
    """One judged claim, in words and in numbers; numbers are in the claim's unit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    claim: str
    reported: str
    """The paper's words."""
    number: str = ""
    """The paper's number with its unit; empty when it has none."""
    measured: str
    """The measured number with its unit, or why there is none."""
    value: float | None = None
    """The measured number, the median over seeds; None when there is none."""
    spread: str = ""
    """The smallest and the largest of the seeds and, of many, the interval of their median; or why
    there is no spread."""
    by_seed: list[float | None] = []
    """The number from each seed, or with each left out; empty without repetitions."""
    tolerance: str
    """The accepted values."""
    margin: str = ""
    """Why they are these."""
    verdict: Literal["holds", "fails", "not decided"]
    reason: str = ""
    """Why it fails, or `NOT_STATED`; empty where it does not fail."""
    remark: str = ""
    """What the number is, and where it does not hold the likely cause."""

    figure: str = ""
    """Name of the figure that shows it; empty when there is none."""

    @property
    def told(self) -> str:
        """The verdict with its reason."""
        if not self.reason:
            return self.verdict
        return f"{self.verdict}{', reason ' if self.reason == NOT_STATED else ': '}{self.reason}"

    @property
    def mark(self) -> str:
        """Name of the verdict's style."""
        return "open" if self.verdict == "not decided" else self.verdict
