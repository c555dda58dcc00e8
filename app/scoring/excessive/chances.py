"""How likely a random permutation leaves more than l individuals in place (P2 §4.2).

Pr[Re(p) = k] = (1/k!) sum over i <= n - k of (-1)^i / i!. Tails are sums of positive terms, never 1 - q*.
"""

import math
from fractions import Fraction
from functools import lru_cache

ENOUGH = 200
"""Terms after which both series are cut: what is left out is below 1/200! of the result."""


def fixed_point_chance(rows: int, fixed: int) -> Fraction:
    """Pr[Re(p) = fixed] for a uniformly random permutation of ``rows`` individuals."""
    return _no_fixed_point(min(rows - fixed, ENOUGH)) / math.factorial(fixed)


def tail(rows: int, most: int) -> Fraction:
    """1 - q*(l), the chance of more than ``most`` fixed points; exact up to ENOUGH individuals.

    >>> round(log2(tail(400, 19)), 4)
    -62.4499
    """
    last = min(rows, most + ENOUGH)
    return sum((fixed_point_chance(rows, fixed) for fixed in range(most + 1, last + 1)), Fraction(0))


def smallest_bound(rows: int, *, bits: int = 50) -> int:
    """The smallest l with 1 - q*(l) < 2^-bits."""
    limit = Fraction(1, 2**bits)
    return next(most for most in range(rows + 1) if tail(rows, most) < limit)


def log2(chance: Fraction) -> float:
    """Binary logarithm of a positive fraction, also where it is too small for a float."""
    shift = chance.denominator.bit_length() - chance.numerator.bit_length()
    return math.log2(chance * Fraction(2) ** shift) - shift


@lru_cache(maxsize=ENOUGH + 1)
def _no_fixed_point(rows: int) -> Fraction:
    return sum((Fraction((-1) ** i, math.factorial(i)) for i in range(rows + 1)), Fraction(0))
