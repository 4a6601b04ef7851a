"""Quantities read and print as the Rust crate penstock-units does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.units import RATE, SIZE, TIME, U64_MAX, Quantity, whole_number

u64 = st.integers(min_value=0, max_value=U64_MAX)


@pytest.mark.parametrize(
    ("quantity", "text", "value"),
    [
        (TIME, "1.5 us", 1_500_000),
        (TIME, "80ps", 80),
        (TIME, "12 µs", 12_000_000),
        (TIME, "12 \u03bcs", 12_000_000),  # the Greek letter, and not the micro sign
        (TIME, " 1_000 ns ", 1_000_000),
        (RATE, "100 Gb/s", 100_000_000_000),
        (RATE, "25Gbps", 25_000_000_000),
        (SIZE, "12 MiB", 12_582_912),
        (SIZE, "37.5 kB", 37_500),
        (SIZE, ".5 KB", 500),
    ],
)
def test_quantities_parse_exactly(quantity: Quantity, text: str, value: int) -> None:
    assert quantity.parse(text) == value


def test_every_unit_is_what_it_is_called() -> None:
    of_ten = {"ps": 0, "ns": 3, "us": 6, "µs": 6, "μs": 6, "ms": 9, "s": 12}
    assert {unit: TIME.parse(f"1 {unit}") for unit in TIME.units} == {
        unit: 10**power for unit, power in of_ten.items()
    }
    of_ten = {"b/s": 0, "kb/s": 3, "Mb/s": 6, "Gb/s": 9, "Tb/s": 12, "Mbps": 6, "Gbps": 9}
    assert {unit: RATE.parse(f"1 {unit}") for unit in RATE.units} == {
        unit: 10**power for unit, power in of_ten.items()
    }
    of_ten = {"B": 0, "kB": 3, "KB": 3, "MB": 6, "GB": 9}
    of_two = {"KiB": 10, "MiB": 20, "GiB": 30}
    assert {unit: SIZE.parse(f"1 {unit}") for unit in SIZE.units} == {
        unit: 10**power for unit, power in of_ten.items()
    } | {unit: 2**power for unit, power in of_two.items()}


def test_the_largest_quantity_is_one() -> None:
    assert TIME.parse("18446744073709551615 ps") == TIME.validate(U64_MAX) == 2**64 - 1
    assert whole_number("18446744073709551615") == 2**64 - 1
    assert whole_number("18446744073709551616") is None
    with pytest.raises(ValueError, match="it is too large or too fine"):
        TIME.parse("18446744073709551616 ps")


@pytest.mark.parametrize(
    ("quantity", "text", "reason"),
    [
        (TIME, "12 parsecs", "its unit is unknown"),
        (TIME, "12", "its unit is unknown"),
        (TIME, "-3 us", "it is negative"),
        (TIME, "1,000 us", "a comma is no part of a number"),
        (TIME, "0.3 ps", "it is too large or too fine"),
        (TIME, "1.2.3 us", "it has two decimal points"),
        (TIME, "99999999999999 s", "it is too large or too fine"),
        (SIZE, "", "its unit is unknown"),
        (SIZE, "kB", "it has no number"),
        (RATE, "100 GB/s", "its unit is unknown"),
    ],
)
def test_a_refused_text_is_named_with_the_reason(
    quantity: Quantity, text: str, reason: str
) -> None:
    with pytest.raises(ValueError, match="is not a") as refused:
        quantity.parse(text)
    assert f'"{text}"' in str(refused.value)
    assert reason in str(refused.value)


@pytest.mark.parametrize("value", [1.5, True, None, -1, U64_MAX + 1, [1]])
def test_only_whole_numbers_and_texts_are_quantities(value: object) -> None:
    with pytest.raises(ValueError, match="time"):
        TIME.validate(value)


def test_printing_is_short() -> None:
    assert TIME.format(1_500_000) == "1.5 us"
    assert TIME.format(0) == "0 ps"
    assert TIME.format(10**12) == "1 s"
    assert SIZE.format(12_582_912) == "12 MiB"
    assert SIZE.format(2_048_000) == "2.048 MB"  # and 2,000 KiB
    assert RATE.format(100_000_000_000) == "100 Gb/s"


@given(value=u64, quantity=st.sampled_from([TIME, SIZE, RATE]))
def test_what_is_printed_reads_back_exactly(value: int, quantity: Quantity) -> None:
    assert quantity.parse(quantity.format(value)) == value
