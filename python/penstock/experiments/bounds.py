"""The bounds and the numbers of a claim in words."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.experiments.claim import Claim
from penstock.readable import number_text

DIGITS, DIGITS_MAX = 3, 6
"""Digits of a number in tables, and the most where it would read like its bound; our choice."""


def bounds_text(claim: Claim, near: str = "") -> str:
    """The bounds of a claim in words: "36–40 %", "≥ 2", "0.2 ± 0.03".

    `near` is the value of `claim.near`, where that is an expression and its value is known.
    """
    unit = claim.unit
    if claim.near is not None and claim.within is not None:
        if not near:
            near = claim.near if isinstance(claim.near, str) else number_text(claim.near)
        within = f"{claim.within * 100:g} %" if claim.relative else with_unit(claim.within, unit)
        return f"{near} ± {within}"
    if claim.at_least is not None and claim.at_most is not None:
        return range_text(claim.at_least, claim.at_most, unit)
    told = (
        (claim.at_least, "≥"),
        (claim.above, ">"),
        (claim.at_most, "≤"),
        (claim.below, "<"),
    )
    return ", ".join(
        f"{sign} {with_unit(bound, unit)}" for bound, sign in told if bound is not None
    )


def with_unit(value: float, unit: str) -> str:
    """A number with its unit."""
    return f"{number_text(value)} {unit}".strip()


def apart_text(value: float, bounds: Iterable[float], unit: str) -> str:
    """A number with its unit, with as many digits as it takes to tell it from its bounds."""
    others = [bound for bound in bounds if bound != value]
    digits = DIGITS
    while digits < DIGITS_MAX and number_text(value, digits) in {
        number_text(bound, digits) for bound in others
    }:
        digits += 1
    return f"{number_text(value, digits)} {unit}".strip()


def range_text(lowest: float, highest: float, unit: str = "") -> str:
    """From one number to another, with their unit: "27–30 %"; one number where both are written
    alike.
    """
    low, high = number_text(lowest), number_text(highest)
    joint = " to " if "-" in low + high else "–"
    return f"{low if low == high else joint.join([low, high])} {unit}".strip()
