"""Probability that a random permutation leaves more than l individuals in place (P2 §4.3.2).

The probability of exactly k fixed points among n is (1/k!) times the sum of (-1)^i / i! over i <= n - k.
Tails are computed as sums of these positive terms. Computing them as 1 - q*(l) would lose all precision.

If individuals are permuted only within groups, the numbers of fixed points of the groups add up. The
probabilities of the total are the coefficients of the product of the groups' generating functions (§4.3.3).
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

SERIES_TERMS = 200
"""Number of terms after which both series are cut. The relative error is below 1/200! < 2^-1200."""

INITIAL_PRECISION = 320
"""Initial number of binary digits of group probabilities: PROVED_BITS, 50 for the smallest probability of
interest, and a reserve for rounding."""

MAX_EXACT_SIZE = 2_000_000
"""Maximum size of exact group probabilities: the number of individuals times the number of binary digits of
the product of all N! over the group sizes N."""

PROVED_BITS = 200
"""Group tails that are not exact have a relative error below 2^-200."""


def fixed_point_probability(individuals: int, fixed: int) -> Fraction:
    """Return the probability of ``fixed`` fixed points in a random permutation of ``individuals``."""
    return _derangement_probability(min(individuals - fixed, SERIES_TERMS)) / math.factorial(fixed)


def tail_probability(individuals: int, max_fixed: int) -> Fraction:
    """Return the probability of more than ``max_fixed`` fixed points, 1 - q*(l) in P2.

    The result is exact for up to SERIES_TERMS individuals.

    >>> round(log2(tail_probability(400, 19)), 4)
    -62.4499
    """
    last = min(individuals, max_fixed + SERIES_TERMS)
    return sum(
        (fixed_point_probability(individuals, fixed) for fixed in range(max_fixed + 1, last + 1)), Fraction(0)
    )


def find_smallest_fixed_count(individuals: int, *, bits: int = 50) -> int:
    """Return the smallest l with 1 - q*(l) < 2^-bits."""
    limit = Fraction(1, 2**bits)
    return next(
        max_fixed for max_fixed in range(individuals + 1) if tail_probability(individuals, max_fixed) < limit
    )


def log2(probability: Fraction) -> float:
    """Return the binary logarithm of a positive fraction, even if it is too small for a float."""
    shift = probability.denominator.bit_length() - probability.numerator.bit_length()
    return math.log2(probability * Fraction(2) ** shift) - shift


@dataclass(frozen=True, slots=True)
class _Distribution:
    """Pr[j fixed points] = weights[j] / total; the total absolute error is at most error / total."""

    weights: tuple[int, ...]
    total: int
    error: int


def group_tail_probability(sizes: Iterable[int], max_fixed: int) -> Fraction:
    """Return the probability of more than ``max_fixed`` fixed points if groups are permuted separately.

    The result is exact for up to some hundred individuals (MAX_EXACT_SIZE). Beyond that, probabilities are
    rounded to INITIAL_PRECISION binary digits, and a bound of the rounding error is carried along. The number
    of digits is doubled until the error is below 2^-200 of the result. The member of a group of one is always
    a fixed point.

    >>> group_tail_probability([2, 3], 3), group_tail_probability([2, 3, 1], 3)
    (Fraction(1, 12), Fraction(5, 12))
    """
    group_sizes, max_fixed = _drop_singletons(sizes, max_fixed)
    if max_fixed < 0:
        return Fraction(1)
    if max_fixed >= sum(group_sizes):
        return Fraction(0)
    refinements = (
        (sum(distribution.weights[max_fixed + 1 :]), distribution)
        for distribution in _refine_distribution(group_sizes)
    )
    return next(
        Fraction(tail_weight, distribution.total)
        for tail_weight, distribution in refinements
        if distribution.error << PROVED_BITS < max(tail_weight - distribution.error, 1)
    )


def find_smallest_group_fixed_count(sizes: Iterable[int], *, bits: int = 50) -> int:
    """Return the smallest l such that more than l fixed points have a probability below 2^-bits."""
    group_sizes = tuple(sizes)
    return bisect_left(
        range(sum(group_sizes)), True, key=lambda max_fixed: _is_improbable(group_sizes, max_fixed, bits)
    )


def _is_improbable(sizes: tuple[int, ...], max_fixed: int, bits: int) -> bool:
    """Return whether more than ``max_fixed`` fixed points have a probability below 2^-bits.

    This needs less precision than the probability itself.
    """
    group_sizes, max_fixed = _drop_singletons(sizes, max_fixed)
    if max_fixed < 0:
        return False
    for distribution in _refine_distribution(group_sizes):
        tail_weight = sum(distribution.weights[max_fixed + 1 :])
        if (tail_weight + distribution.error) << bits < distribution.total:
            return True
        if (tail_weight - distribution.error) << bits >= distribution.total:
            return False
    return True


def _refine_distribution(sizes: tuple[int, ...]) -> Iterator[_Distribution]:
    """Yield the distribution of fixed points with more and more digits; exact at once if that is cheap.

    All groups have at least two members.
    """
    digits = sum(math.factorial(size).bit_length() for size in sizes)
    precision = digits if digits * sum(sizes) <= MAX_EXACT_SIZE else INITIAL_PRECISION
    while sizes:
        yield _convolve_groups(sizes, precision)
        precision *= 2


def _drop_singletons(sizes: Iterable[int], max_fixed: int) -> tuple[tuple[int, ...], int]:
    ascending = sorted(sizes)
    return tuple(size for size in ascending if size > 1), max_fixed - ascending.count(1)


@lru_cache(maxsize=4)
def _convolve_groups(sizes: tuple[int, ...], precision: int) -> _Distribution:
    """Return the distribution of the total number of fixed points, adding short distributions first."""
    distributions = [_group_distribution(size, precision) for size in sizes]
    while len(distributions) > 1:
        distributions.sort(key=lambda distribution: len(distribution.weights))
        pairs = zip(distributions[::2], distributions[1::2], strict=False)
        distributions = [
            _add_distributions(first, second, precision) for first, second in pairs
        ] + distributions[len(distributions) // 2 * 2 :]
    return distributions[0]


def _group_distribution(size: int, precision: int) -> _Distribution:
    if math.factorial(size).bit_length() <= precision:
        derangements = _count_derangements(size)
        weights = tuple(math.comb(size, fixed) * derangements[size - fixed] for fixed in range(size + 1))
        return _Distribution(weights, math.factorial(size), 0)
    return _large_group_distribution(size, precision)


def _large_group_distribution(size: int, precision: int) -> _Distribution:
    """Return probabilities rounded down to ``precision`` digits, up to the first that is rounded to 0.

    The omitted probabilities add up to less than 6 units of the last digit: the probability of k fixed points
    is at most 1/k!, and at least a third of that for the first omitted one.
    """
    weights: list[int] = []
    while not weights or weights[-1]:
        weights.append(math.floor(fixed_point_probability(size, len(weights)) * 2**precision))
    term_error = 1 + (2**precision >> 1200)
    return _Distribution(tuple(weights), 2**precision, (len(weights) + 6) * term_error)


def _count_derangements(max_size: int) -> list[int]:
    """Return the number of permutations without a fixed point for each size from 0 to ``max_size``."""
    numbers = [1]
    for size in range(1, max_size + 1):
        numbers.append(size * numbers[-1] + (-1) ** size)
    return numbers


def _add_distributions(first: _Distribution, second: _Distribution, precision: int) -> _Distribution:
    weights, total = _multiply_polynomials(first.weights, second.weights), first.total * second.total
    error = first.error * second.total + second.error * first.total + first.error * second.error
    if total.bit_length() <= precision:
        return _Distribution(tuple(weights), total, error)
    rounded = [(weight << precision) // total for weight in weights]
    while len(rounded) > 1 and rounded[-1] == 0:
        rounded.pop()
    return _Distribution(tuple(rounded), 2**precision, (error << precision) // total + 1 + len(weights))


def _multiply_polynomials(first: tuple[int, ...], second: tuple[int, ...]) -> list[int]:
    """Multiply two polynomials with coefficients >= 0 as two long integers (Kronecker substitution)."""
    largest_coefficient = max(first) * max(second) * min(len(first), len(second))
    width, size = largest_coefficient.bit_length() // 8 + 1, len(first) + len(second) - 1
    digits = (_pack_coefficients(first, width) * _pack_coefficients(second, width)).to_bytes(
        width * size, "little"
    )
    return [
        int.from_bytes(digits[start : start + width], "little") for start in range(0, width * size, width)
    ]


def _pack_coefficients(numbers: tuple[int, ...], width: int) -> int:
    return int.from_bytes(b"".join(number.to_bytes(width, "little") for number in numbers), "little")


@lru_cache(maxsize=SERIES_TERMS + 1)
def _derangement_probability(individuals: int) -> Fraction:
    return sum((Fraction((-1) ** i, math.factorial(i)) for i in range(individuals + 1)), Fraction(0))
