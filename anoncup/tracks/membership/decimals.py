"""Compare numbers as the decimals that were written, because binary rounding must not decide."""

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from anoncup.geometry.arrays import FloatArray


def exact_decimal(value: float) -> Fraction:
    """Return the shortest decimal that parses to this float64, which is the number as it was written."""
    return Fraction(repr(float(value)))


def list_exact_decimals(values: FloatArray) -> list[Fraction]:
    return [exact_decimal(value) for value in values.tolist()]


def find_midpoints(levels: Iterable[Fraction]) -> list[Fraction]:
    """Return the middle between each number and the next."""
    return [(lower + upper) / 2 for lower, upper in pairwise(levels)]


def smallest_float_from(limit: Fraction) -> float:
    """Return the smallest float64 that is not below the limit."""
    value = float(limit)
    while exact_decimal(value) < limit:
        value = math.nextafter(value, math.inf)
    return value


def largest_float_up_to(limit: Fraction) -> float:
    """Return the largest float64 that is not above the limit."""
    return -smallest_float_from(-limit)
