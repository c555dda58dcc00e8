"""Probability that a random permutation leaves more than l individuals in place (P2 §4.3.2).

The probability of exactly k fixed points among n is (1/k!) times the sum of (-1)^i / i! over i <= n - k.
If individuals are permuted only within groups, the numbers of fixed points of the groups add up. The
probabilities of the total are the coefficients of the product of the groups' generating functions (§4.3.3).

Probabilities are whole numbers of 2^-``precision``. Tails are sums of these positive numbers, because
1 - q*(l) would lose all digits in floats.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

_GUARD_BITS = 128
"""Binary digits below the smallest probability of interest. Tails then have a relative error below 2^-90."""


def find_fixed_limit(group_sizes: Sequence[int], *, bits: int = 50) -> tuple[int, Fraction]:
    """Return the smallest l such that more than l fixed points have a probability below 2^-``bits``.

    The second value is that probability.
    """
    precision = bits + _GUARD_BITS
    odds = _list_odds(group_sizes, precision=precision)
    tails = list(accumulate(reversed(odds), initial=0))[-2::-1]  # of more than 0, 1, … fixed points
    limit = next(fixed for fixed, tail in enumerate(tails) if tail < 1 << _GUARD_BITS)
    return limit, Fraction(tails[limit], 1 << precision)


def tail_probability(group_sizes: Sequence[int], max_fixed: int, *, precision: int = 256) -> Fraction:
    """Return the probability of more than ``max_fixed`` fixed points, 1 - q*(l) in P2, in [0, 1].

    Permutations are drawn within groups of these sizes.

    >>> round(log2(tail_probability([400], 19)), 4)
    -62.4499
    >>> round(float(tail_probability([2, 3], 3)) * 12, 12)
    1.0
    """
    return Fraction(sum(_list_odds(group_sizes, precision=precision)[max_fixed + 1 :]), 1 << precision)


def _list_odds(group_sizes: Sequence[int], *, precision: int) -> list[int]:
    """Return the probability of k fixed points for k = 0, 1, …, rounded to whole numbers of 2^-``precision``.

    The list ends where probabilities round to 0. The member of a group of one is always a fixed point.
    """
    odds = [_list_group_odds(size, precision) for size in group_sizes if size > 1] or [[1 << precision]]
    while len(odds) > 1:  # multiply short lists first
        odds.sort(key=len)
        pairs = zip(odds[::2], odds[1::2], strict=False)
        odds = [_multiply(*pair, precision) for pair in pairs] + odds[len(odds) // 2 * 2 :]
    return [0] * sum(size == 1 for size in group_sizes) + odds[0]


def log2(probability: Fraction) -> float:
    """Return the binary logarithm of a positive fraction, even if it is too small for a float."""
    shift = probability.denominator.bit_length() - probability.numerator.bit_length()
    return math.log2(probability * Fraction(2) ** shift) - shift


def _list_group_odds(size: int, precision: int) -> list[int]:
    """Return the probability of each number of fixed points among ``size`` individuals."""
    unit, factorials = 1 << precision, [1]
    while len(factorials) <= size and factorials[-1] <= unit:
        factorials.append(factorials[-1] * len(factorials))
    terms = [(-1) ** i * (unit // factorial) for i, factorial in enumerate(factorials)]
    derangements = list(accumulate(terms))
    last = len(derangements) - 1
    odds = [derangements[min(size - fixed, last)] // factorials[fixed] for fixed in range(last + 1)]
    return _drop_trailing_zeros(odds)


def _multiply(first: list[int], second: list[int], precision: int) -> list[int]:
    """Multiply two polynomials as two long integers (Kronecker substitution)."""
    width, size = 2 * precision // 8 + 2, len(first) + len(second) - 1
    product = _pack(first, width) * _pack(second, width)
    digits = product.to_bytes(width * size, "little")
    coefficients = [digits[start : start + width] for start in range(0, width * size, width)]
    return _drop_trailing_zeros([int.from_bytes(part, "little") >> precision for part in coefficients])


def _pack(coefficients: list[int], width: int) -> int:
    return int.from_bytes(b"".join(number.to_bytes(width, "little") for number in coefficients), "little")


def _drop_trailing_zeros(numbers: list[int]) -> list[int]:
    return numbers[: max(index for index, number in enumerate(numbers) if number) + 1]
