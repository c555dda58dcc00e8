"""Axis ticks are round numbers or hours, and their labels state their values."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.charts.axes import build_axis
from app.charts.numbers import format_number


def parse_tick_text(text: str) -> float:
    """Return the number that a tick's text states."""
    plain = text.replace("−", "-").replace(",", "")
    mantissa, _, power = plain.partition("×10")
    digits = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(f"{mantissa}e{digits or 0}")


FLOATS = st.floats(min_value=-1e15, max_value=1e15, allow_subnormal=False)


@given(st.lists(FLOATS, max_size=20), st.integers(2, 9), st.booleans(), st.booleans())
def test_ticks_cover_the_values_in_few_round_steps(
    values: list[float], max_ticks: int, includes_zero: bool, whole_numbers: bool
) -> None:
    result = build_axis(values, max_steps=max_ticks, from_zero=includes_zero, is_integer=whole_numbers)
    assert 2 <= len(result.ticks) <= max_ticks + 3
    steps = {
        round((upper - lower) / (result.ticks[1] - result.ticks[0]), 6)
        for lower, upper in pairwise(result.ticks)
    }
    assert steps == {1.0}
    mantissa = float(f"{result.ticks[1] - result.ticks[0]:.6e}".split("e")[0])
    assert mantissa in {1.0, 2.0, 2.5, 5.0}
    tolerance = 1e-8 * (result.high - result.low)
    assert all(result.low - tolerance <= value <= result.high + tolerance for value in values)
    assert not includes_zero or result.low <= 0 <= result.high
    assert not whole_numbers or all(tick == round(tick) for tick in result.ticks)


@given(st.lists(FLOATS, min_size=1, max_size=20))
def test_each_tick_has_a_distinct_label_that_states_its_value(values: list[float]) -> None:
    result = build_axis(values)
    assert len(set(result.labels)) == len(result.labels)
    for tick, text in zip(result.ticks, result.labels, strict=True):
        assert parse_tick_text(text) == pytest.approx(tick, rel=1e-9, abs=1e-9 * (result.high - result.low))


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((0.0, 1.0), ("0", "0.2", "0.4", "0.6", "0.8", "1.0")),
        ((3.0, 7.0), ("0", "2", "4", "6", "8")),
        ((1e-9, 3e-9), ("0", "0.5×10⁻⁹", "1.0×10⁻⁹", "1.5×10⁻⁹", "2.0×10⁻⁹", "2.5×10⁻⁹", "3.0×10⁻⁹")),
        ((1e12, 4e12), ("0", "1×10¹²", "2×10¹²", "3×10¹²", "4×10¹²")),
        ((-2.0, 2.0), ("−2", "−1", "0", "1", "2")),
        ((0.5,), ("0", "0.2", "0.4", "0.6", "0.8", "1.0")),
        ((0.52, 0.549), ("0.520", "0.525", "0.530", "0.535", "0.540", "0.545", "0.550")),
        ((), ("0", "0.2", "0.4", "0.6", "0.8", "1.0")),
    ],
)
def test_tick_labels_use_common_notation(values: tuple[float, ...], texts: tuple[str, ...]) -> None:
    assert build_axis(values).labels == texts


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e200, max_value=1e200))
def test_numbers_have_four_decimals_and_large_ones_one(value: float) -> None:
    size = abs(value)
    tolerance = (
        5.1e-4 * size if size >= 1e9 or size < 1e-9 else min(5.1e-5, 0.051 * size) if size < 1e3 else 0.051
    )
    assert abs(parse_tick_text(format_number(value)) - value) <= max(tolerance, 1e-290)


def test_missing_and_infinite_numbers_are_shown_as_a_dash() -> None:
    assert {format_number(None), format_number(math.nan), format_number(math.inf)} == {"–"}
