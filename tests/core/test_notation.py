"""Numbers are written so that readers can tell them apart."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.pages.notation import find_heat_class, format_hundredths, format_number


def parse_number(text: str) -> float:
    """Return the number that a text states."""
    mantissa, _, power = text.replace("−", "-").replace(",", "").partition("×10")
    digits = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(f"{mantissa}e{digits or 0}")


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e200, max_value=1e200))
def test_numbers_have_four_decimals_and_large_ones_one(value: float) -> None:
    size = abs(value)
    tolerance = (
        5.1e-4 * size if size >= 1e9 or size < 1e-9 else min(5.1e-5, 0.051 * size) if size < 1e3 else 0.051
    )
    assert abs(parse_number(format_number(value)) - value) <= max(tolerance, 1e-290)


def test_missing_and_infinite_numbers_are_shown_as_a_dash() -> None:
    assert {format_number(None), format_number(math.nan), format_number(math.inf)} == {"–"}


@pytest.mark.parametrize(
    ("rate", "text", "heat_class"),
    [
        (0.0, "0", "heat-0"),
        (0.004, "<0.01", "heat-0"),
        (0.04, "0.04", "heat-0"),
        (0.06, "0.06", "heat-1"),
        (0.949, "0.95", "heat-9"),
        (0.996, ">0.99", "heat-10"),
        (1.0, "1", "heat-10"),
        (7.0, "1", "heat-10"),
        (-0.1, "0", "heat-0"),
        (None, "—", "vacant"),
    ],
)
def test_cell_shows_its_rate_and_the_colour_of_its_tenth(
    rate: float | None, text: str, heat_class: str
) -> None:
    assert (format_hundredths(rate), find_heat_class(rate)) == (text, heat_class)
