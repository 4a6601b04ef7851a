"""BFC beside an independent simulator, NASA-NJU/Pyrrha-NS3, in that simulator's arithmetic."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyrrha.outcome import compare
from pyrrha.reference import Reference, references

LARGE = "d_"
"""The names of the two traces of 128 hosts begin so; `make validate` runs them."""
SMALL = [one for one in references() if not one.name.startswith(LARGE)]


@pytest.mark.parametrize("reference", SMALL, ids=lambda one: one.name)
def test_flows_choices_and_pauses_are_those_of_the_reference(reference: Reference) -> None:
    found = compare(reference)
    assert found.flows == found.equal_flows
    assert set(found.tallies) == {"choices", "pauses", "arrivals"}
    for kind, (ours, theirs) in found.tallies.items():
        assert ours == theirs, kind


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("b_paused_empty__q3_rr", "letter"),
        ("b_paused_empty__q8_rr", "rot"),
        ("a_incast16_stagger__q32_rr", "strict"),
    ],
)
def test_another_variant_is_told_apart(name: str, variant: str) -> None:
    (reference,) = [one for one in SMALL if one.name == name]
    assert not compare(replace(reference, variant=variant)).is_equal
