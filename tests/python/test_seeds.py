"""Seeds of a sweep: how many more a precision asks for, and what ``--seeds`` means."""

from __future__ import annotations

import pytest

from penstock import ScenarioError
from penstock.sweep.seeds import Seeds, read_listed, read_seeds


def test_a_precision_asks_for_seeds_as_the_square_of_what_is_lacking() -> None:
    # The deviation of the ten values is 8 · sqrt(10 / 9). Student's quantile with 9 degrees of
    # freedom is 2.262157, so that the interval goes 6.032 to each side, where 5 are wanted:
    # 10 · (6.032 / 5)² = 14.6.
    values = [92.0] * 5 + [108.0] * 5
    assert Seeds(precision=0.05).more(values, is_percentile=False) == (11, 12, 13, 14, 15)
    assert Seeds(precision=0.05, most=12).more(values, is_percentile=False) == (11, 12)
    assert Seeds(precision=0.05, most=10).more(values, is_percentile=False) == ()
    assert Seeds(precision=0.061).more(values, is_percentile=False) == ()


def test_a_percentile_has_the_precision_of_its_own_interval() -> None:
    # Student's interval of these goes 11.8 to each side of 95, that of the bootstrap 15 up.
    values = [90.0] * 7 + [130.0]
    assert Seeds(precision=0.14).more(values, is_percentile=False) == ()
    assert Seeds(precision=0.14).more(values, is_percentile=True) == (9, 10, 11)  # 8 · (15 / 13.3)²


def test_a_seed_that_is_listed_twice_is_run_once() -> None:
    assert read_listed("3, 1..4, 1") == (3, 1, 2, 4)


def test_the_fewest_seeds_that_a_precision_may_have() -> None:
    assert read_seeds("auto..4", "5%") == Seeds(precision=0.05, most=4)
    with pytest.raises(ScenarioError, match="a point cannot have so many"):
        read_seeds("auto..3", "5%")
    for precision in ("100%", "0%", "1"):
        with pytest.raises(ScenarioError, match="it is no share of the mean"):
            read_seeds("auto", precision)
