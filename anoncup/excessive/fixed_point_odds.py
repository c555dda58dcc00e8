"""Probability that a random permutation leaves more than l individuals in place (P2 §4.2).

Pr[Re(p) = k] = (1/k!) sum over i <= n - k of (-1)^i / i!. Tails are sums of positive terms, never 1 - q*.

Within groups of sizes N_1..N_c the numbers of fixed points add up: their probabilities are the coefficients
of the product of the groups' generating functions (P2 §4.3).
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

SERIES_TERMS = 200
"""Number of terms after which both series are cut; the remainder is below 1/200! < 2^-1200 of the result."""

INITIAL_PRECISION = 320
"""Initial number of binary digits of group probabilities: 200, the default of 50 bits, and the rounding."""

MAX_EXACT_SIZE = 2_000_000
"""Maximum size of exact group probabilities: individuals times binary digits of the product of all N!."""

PROVED_BITS = 200
"""Group tails that are not exact have a relative error below 2^-200."""


def fixed_point_probability(rows: int, fixed: int) -> Fraction:
    """Return Pr[Re(p) = fixed] for a uniformly random permutation of ``rows`` individuals."""
    return _derangement_probability(min(rows - fixed, SERIES_TERMS)) / math.factorial(fixed)


def tail_probability(rows: int, max_fixed: int) -> Fraction:
    """Return 1 - q*(l), the probability of more than ``max_fixed`` fixed points.

    Exact up to SERIES_TERMS rows.

    >>> round(log2(tail_probability(400, 19)), 4)
    -62.4499
    """
    last = min(rows, max_fixed + SERIES_TERMS)
    return sum(
        (fixed_point_probability(rows, fixed) for fixed in range(max_fixed + 1, last + 1)), Fraction(0)
    )


def smallest_fixed_count(rows: int, *, bits: int = 50) -> int:
    """Return the smallest l with 1 - q*(l) < 2^-bits."""
    limit = Fraction(1, 2**bits)
    return next(max_fixed for max_fixed in range(rows + 1) if tail_probability(rows, max_fixed) < limit)


def log2(chance: Fraction) -> float:
    """Return the binary logarithm of a positive fraction, even if it is too small for a float."""
    shift = chance.denominator.bit_length() - chance.numerator.bit_length()
    return math.log2(chance * Fraction(2) ** shift) - shift


@dataclass(frozen=True, slots=True)
class _Distribution:
    """Pr[j fixed points] = weights[j] / total; the total absolute error is at most error / total."""

    weights: tuple[int, ...]
    total: int
    error: int


def group_tail_probability(sizes: Iterable[int], max_fixed: int) -> Fraction:
    """Return the probability of more than ``max_fixed`` fixed points if each group is permuted within itself.

    Exact up to some hundred individuals (MAX_EXACT_SIZE). Beyond that, probabilities are rounded to
    INITIAL_PRECISION binary digits and the rounding errors are added up; the digits are doubled until the
    total error is below 2^-200 of the result. A group of one is always a fixed point and only shifts
    ``max_fixed``.

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
        Fraction(hits, distribution.total)
        for hits, distribution in refinements
        if distribution.error << PROVED_BITS < max(hits - distribution.error, 1)
    )


def smallest_group_fixed_count(sizes: Iterable[int], *, bits: int = 50) -> int:
    """Return the smallest l with a probability below 2^-bits of more than l fixed points within groups."""
    group_sizes = tuple(sizes)
    return bisect_left(
        range(sum(group_sizes)), True, key=lambda max_fixed: _is_rare(group_sizes, max_fixed, bits)
    )


def expected_fixed_points(sizes: Iterable[int]) -> int:
    """Return the mean number of fixed points within groups of ``sizes``: one for each non-empty group."""
    return sum(size > 0 for size in sizes)


def _is_rare(sizes: tuple[int, ...], max_fixed: int, bits: int) -> bool:
    """Return whether more than ``max_fixed`` fixed points have a probability below 2^-bits.

    This needs less precision than the probability itself.
    """
    group_sizes, max_fixed = _drop_singletons(sizes, max_fixed)
    if max_fixed < 0:
        return False
    for distribution in _refine_distribution(group_sizes):
        hits = sum(distribution.weights[max_fixed + 1 :])
        if (hits + distribution.error) << bits < distribution.total:
            return True
        if (hits - distribution.error) << bits >= distribution.total:
            return False
    return True


def _refine_distribution(sizes: tuple[int, ...]) -> Iterator[_Distribution]:
    """Yield the distribution in groups of two or more: exact if cheap, else with ever more digits."""
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
    """Return the distribution of the sum of independent groups' fixed points, adding short ones first."""
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
    """Return probabilities rounded down to ``precision`` digits, up to the first that is 0.

    The rest adds up to less than 6 units: each term is at most 1/k!, the first at least 1/3 of that.
    """
    weights: list[int] = []
    while not weights or weights[-1]:
        weights.append(math.floor(fixed_point_probability(size, len(weights)) * 2**precision))
    series = 1 + (2**precision >> 1200)
    return _Distribution(tuple(weights), 2**precision, (len(weights) + 6) * series)


def _count_derangements(max_size: int) -> list[int]:
    """Return the numbers of permutations without a fixed point of 0..max_size individuals."""
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
def _derangement_probability(rows: int) -> Fraction:
    return sum((Fraction((-1) ** i, math.factorial(i)) for i in range(rows + 1)), Fraction(0))
