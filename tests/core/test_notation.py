"""Numbers are written so that readers can tell them apart."""

import math

import pytest

from app.core.pages.notation import find_heat_class, format_hundredths, format_number


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "–"),
        (0.0, "0"),
        (1e-16, "1×10⁻¹⁶"),
        (40.0, "40"),
        (0.2, "0.2"),
        (0.12345678, "0.1235"),
        (12.345678, "12.3457"),
        (1234.5678, "1,234.6"),
        (1234567.0, "1,234,567"),
        (999_999_999.4, "999,999,999.4"),
        (1.5e9, "1.5×10⁹"),
        (0.000123456, "0.00012"),
        (0.00000001, "0.00000001"),
    ],
)
def test_numbers_have_the_same_format_on_all_pages(number: float | None, text: str) -> None:
    assert format_number(number) == text


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
