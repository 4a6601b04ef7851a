"""A claim of a paper beside what was measured, as the report shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClaimRow:
    """One line of the table of claims; all values are in words."""

    claim: str
    reported: str
    measured: str
    tolerance: str
    holds: bool | None
    """None when it could not be judged; `measured` says why."""
    remark: str = ""
    """Likely reason when it does not hold, or what the number is."""

    @property
    def verdict(self) -> str:
        """The verdict in a word or two."""
        if self.holds is None:
            return "not judged"
        return "holds" if self.holds else "does not hold"
