"""What a claim of an experiment's file says.

A complete claim has the paper's words, the paper's number, bounds, and why the bounds are as far
from that number as they are. Invariant: the paper's own number is always accepted, and a number has
bounds on both sides unless the claim says why it has not, so that a claim with a number can fail.
"""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field, model_validator

from penstock.experiments.decision import Limits
from penstock.experiments.declared import Declared
from penstock.units import refusal

Reason = Literal["paper ambiguous", "paper contradicts itself", "scale", "refuted"]
"""Why a claim fails: the paper leaves open what would decide it; it says two things that cannot
both be so; what is simulated is too short or too small; or none of these, and it is not so here."""


class Claim(Declared):
    """Something the paper says, as a number and the bounds within which it is taken to hold."""

    claim: str
    reported: str
    """What the paper prints, in its words; empty when it only says it in words."""
    number: float | tuple[float, float] | Literal["none"] | None = None
    """The number that the paper prints, in `unit`, or the two ends of its range; `near` by default.

    "none" says that the paper has none, where its words have numbers of something else.
    """
    margin: str = ""
    """Why the bounds are as far from the paper's number as they are, or whose they are."""
    one_sided: str = ""
    """Why there is a bound on one side only, where the paper has a number."""
    measure: str
    """Expression that gives the number, see `penstock.experiments.expression`."""
    unit: str = ""
    """Unit of the number; "%" shows a share times 100."""
    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    below: float | None = None
    near: float | str | None = None
    """Number or expression that the measured number must be `within` of."""
    within: float | None = None
    relative: bool = False
    """Whether `within` is a share of `near`."""
    over: list[str] = Field(default_factory=list)
    """Axes at whose points the expression is evaluated; the worst verdict is the claim's."""
    where: dict[str, str | float] = Field(default_factory=dict)
    """Points to which `over` and all selections are restricted."""
    pooled: bool = False
    """Whether the runs of all seeds give one number together: a deviation over runs, drops.

    Its spread is then that of the same number with each seed left out.
    """
    scales: list[str] = Field(default_factory=lambda: ["quick", "paper"])
    """Scales at which the claim can be judged."""
    remark: str = ""
    """What the number is, or else what a reader has to know."""
    reason: Reason | None = None
    """Why the claim fails; shown only where it does."""
    because: str = ""
    """The reason in words; shown only where the claim does not hold."""

    @model_validator(mode="after")
    def _bounded(self) -> Claim:
        bounds = (self.at_least, self.at_most, self.above, self.below, self.near)
        if all(bound is None for bound in bounds):
            raise refusal(
                "a claim needs at_least, at_most, above, below, or near and within", "write one"
            )
        if (self.near is None) != (self.within is None):
            raise refusal("near and within come together", "write both, or neither")
        self._check_limits()
        if self.number not in (None, "none") and not isinstance(self.near, str):
            self._check_number(self.limits())
        return self

    def _check_limits(self) -> None:
        """Refuses bounds that no number keeps."""
        if self.within is not None and self.within < 0:
            raise refusal("within is negative", "write the distance from near that is accepted")
        limits = self.limits()
        lower, upper = limits.lower, limits.upper
        if lower > upper or (lower == upper and not limits.accept(lower)):
            raise refusal(f"no number is within the bounds, {lower:g} to {upper:g}", "widen them")

    def _check_number(self, limits: Limits) -> None:
        """Refuses bounds that the paper's own number breaks, or that are not explained."""
        low, high = self.reported_range or (math.nan, math.nan)
        if low > high:
            raise refusal("the paper's range ends before it begins", "write the smaller end first")
        if not (limits.accept(low) and limits.accept(high)):
            raise refusal("the bounds do not accept the paper's own number", "widen them")
        is_open = math.inf in (-limits.lower, limits.upper)
        if is_open and not self.one_sided:
            raise refusal(
                "the paper has a number, and there is a bound on one side only",
                "write the other bound, or in one_sided why there is none",
            )
        if not self.margin and not {limits.lower, limits.upper} <= {low, high, math.inf, -math.inf}:
            raise refusal(
                "the bounds are not the paper's number", "write in margin why they are apart"
            )

    @property
    def reported_range(self) -> tuple[float, float] | None:
        """The paper's number as a range, in the claim's unit; None when it has none."""
        number = self.near if self.number is None else self.number
        if number is None or isinstance(number, str):
            return None  # words, or an expression
        return number if isinstance(number, tuple) else (number, number)

    def limits(self, near: float | None = None) -> Limits:
        """What the claim accepts, in its unit.

        Parameters
        ----------
        near:
            The value of the claim's `near`, where that is an expression.
        """
        lower: list[tuple[float, bool]] = []
        upper: list[tuple[float, bool]] = []
        for bound, is_open, side in (
            (self.at_least, False, lower),
            (self.above, True, lower),
            (self.at_most, False, upper),
            (self.below, True, upper),
        ):
            if bound is not None:
                side.append((bound, is_open))
        centre = near if isinstance(self.near, str) else self.near
        if centre is not None and self.within is not None:
            within = self.within * abs(centre) if self.relative else self.within
            lower.append((centre - within, False))
            upper.append((centre + within, False))
        # Of two equal bounds the one that refuses the bound itself counts.
        lowest, is_above = max(lower, default=(-math.inf, False))
        highest, is_below = min(
            upper, key=lambda one: (one[0], not one[1]), default=(math.inf, False)
        )
        return Limits(lowest, highest, is_above, is_below)
