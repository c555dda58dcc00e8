"""Clamp numbers to a range that can be drawn, and format them for people."""

import math
from collections.abc import Iterable

_MAX_MAGNITUDE = 1e300
"""Larger numbers are clamped to this value, so that the difference of any two is finite."""
_DECIMAL_RANGE = (1e-9, 1e9)
"""Numbers from the first to below the second are written without a power of ten."""
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def clamp_finite(value: float | None) -> float | None:
    """Return the number, clamped to a range that can be drawn; None if it is missing or not finite."""
    if value is None or not math.isfinite(value):
        return None
    return 0.0 if abs(value) < 1 / _MAX_MAGNITUDE else min(max(float(value), -_MAX_MAGNITUDE), _MAX_MAGNITUDE)


def keep_finite(values: Iterable[float | None]) -> list[float]:
    """Return the finite numbers among the values, each clamped to a range that can be drawn."""
    return [finite_value for value in values if (finite_value := clamp_finite(value)) is not None]


def format_number(value: float | None) -> str:
    """Format a number for people, the same on pages and in pictures.

    Numbers from 1,000 on have one decimal, smaller ones four, and those below 0.001 two significant digits;
    trailing zeros are removed. From 10⁹ on and below 10⁻⁹ a power of ten is used. Missing or infinite values
    give "–".
    """
    finite_value = clamp_finite(value)
    if finite_value is None:
        return "–"
    size = abs(finite_value)
    if size and not _DECIMAL_RANGE[0] <= size < _DECIMAL_RANGE[1]:
        mantissa, power = f"{finite_value:.3e}".split("e")
        return format_power(_trim_zeros(mantissa), int(power))
    decimal_places = 1 if size >= 1e3 else 4 if size >= 1e-3 or not size else 1 - math.floor(math.log10(size))
    return replace_minus(_trim_zeros(f"{finite_value:,.{decimal_places}f}"))


def _trim_zeros(digits: str) -> str:
    """Remove trailing zeros after the decimal point, and the point if no digit follows."""
    return digits.rstrip("0").rstrip(".")


def format_power(mantissa: str, power: int) -> str:
    """Format a mantissa in digits, times a power of ten."""
    return f"{replace_minus(mantissa)}×10{str(power).translate(_SUPERSCRIPTS)}"


def replace_minus(digits: str) -> str:
    """Replace hyphens by minus signs, which are as wide as a digit."""
    return digits.replace("-", "−")
