"""Axes: round numbers and hours along them, and how they are written."""

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.charts.axes import axis, number
from app.charts.time_axis import time_axis


def numbers_read(text: str) -> float:
    """A tick's text read again."""
    plain = text.replace("−", "-").replace(",", "")
    mantissa, _, power = plain.partition("×10")
    digits = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(f"{mantissa}e{digits or 0}")


FLOATS = st.floats(min_value=-1e15, max_value=1e15, allow_subnormal=False)


@given(st.lists(FLOATS, max_size=20), st.integers(2, 9), st.booleans(), st.booleans())
def test_ticks_cover_the_values_in_few_round_and_equal_steps(
    values: list[float], most: int, zero: bool, whole: bool
) -> None:
    found = axis(values, most=most, zero=zero, whole=whole)
    assert 2 <= len(found.ticks) <= most + 3
    steps = {
        round((after - before) / (found.ticks[1] - found.ticks[0]), 6)
        for before, after in pairwise(found.ticks)
    }
    assert steps == {1.0}
    mantissa = float(f"{found.ticks[1] - found.ticks[0]:.6e}".split("e")[0])
    assert mantissa in {1.0, 2.0, 2.5, 5.0}
    dust = 1e-8 * (found.high - found.low)
    assert all(found.low - dust <= value <= found.high + dust for value in values)
    assert not zero or found.low <= 0 <= found.high
    assert not whole or all(tick == round(tick) for tick in found.ticks)


@given(st.lists(FLOATS, min_size=1, max_size=20))
def test_a_tick_says_its_value_and_no_other_says_the_same(values: list[float]) -> None:
    found = axis(values)
    assert len(set(found.texts)) == len(found.texts)
    for tick, text in zip(found.ticks, found.texts, strict=True):
        assert numbers_read(text) == pytest.approx(tick, rel=1e-9, abs=1e-9 * (found.high - found.low))


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
def test_ticks_are_written_as_people_write_numbers(values: tuple[float, ...], texts: tuple[str, ...]) -> None:
    assert axis(values).texts == texts


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e200, max_value=1e200))
def test_a_number_is_written_to_four_decimals_and_a_large_one_to_one(value: float) -> None:
    size = abs(value)
    most = 5.1e-4 * size if size >= 1e9 or size < 1e-9 else min(5.1e-5, 0.051 * size) if size < 1e3 else 0.051
    assert abs(numbers_read(number(value)) - value) <= max(most, 1e-290)


def test_what_is_no_number_is_a_dash() -> None:
    assert {number(None), number(math.nan), number(math.inf)} == {"–"}


def test_days_begin_at_midnight_of_the_competitions_zone() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    found = time_axis(
        [datetime(2026, 7, 1, 3, tzinfo=UTC), datetime(2026, 7, 7, 3, tzinfo=UTC)], "Asia/Tokyo"
    )
    assert found.texts == ("07-02", "07-03", "07-04", "07-05", "07-06", "07-07")
    assert [datetime.fromtimestamp(tick, tokyo).hour for tick in found.ticks] == [0] * 6


def test_an_hour_that_the_clock_skips_has_no_tick() -> None:
    """On 29 March 2026, Berlin goes from 02:00 to 03:00."""
    zone = ZoneInfo("Europe/Berlin")
    begin = datetime(2026, 3, 29, 0, 0, tzinfo=zone)
    found = time_axis([begin, begin + timedelta(hours=5)], "Europe/Berlin")
    assert found.texts == ("03-29", "01:00", "03:00", "04:00", "05:00")
    assert [after - before for before, after in pairwise(found.ticks)] == [3600.0] * 4


@given(
    st.integers(0, 14_000),
    st.integers(0, 1439),
    st.timedeltas(timedelta(0), timedelta(days=4000)),
    st.sampled_from(["Asia/Tokyo", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"]),
)
def test_time_ticks_are_few_inside_and_different(day: int, minute: int, span: timedelta, zone: str) -> None:
    begin = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(days=day, minutes=minute)
    moments = [begin, begin + span]
    found = time_axis(moments, zone)
    assert 1 <= len(found.ticks) <= 9
    assert list(found.ticks) == sorted(set(found.ticks))
    assert all(found.low <= tick <= found.high for tick in found.ticks)
    assert found.low <= moments[0].timestamp() <= moments[1].timestamp() <= found.high


def test_hours_have_the_day_below_the_first_of_them_and_one_moment_the_minutes_around_it() -> None:
    begin = datetime(2026, 7, 1, 3, 10, 20, tzinfo=UTC)
    assert time_axis([begin, begin + timedelta(hours=3)], "Asia/Tokyo").texts[:2] == ("12:30\n07-01", "13:00")
    found = time_axis([begin], "Asia/Tokyo")
    assert found.texts == ("12:09\n07-01", "12:10", "12:11", "12:12")
    assert (found.low, found.high) == (found.ticks[0], found.ticks[-1])


@given(st.lists(st.floats(-1e-3, 5), min_size=1, max_size=9))
def test_an_axis_of_distances_never_begins_below_zero(values: list[float]) -> None:
    found = axis(values, distance=True)
    assert 0 <= found.low < found.high
    assert found.high >= max(values)
    assert found.texts[0][0] != "−"
