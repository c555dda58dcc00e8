"""How likely a random permutation leaves more than l individuals in place (P2 §4.2).

Pr[Re(p) = k] = (1/k!) sum over i <= n - k of (-1)^i / i!. Tails are sums of positive terms, never 1 - q*.

Inside groups of sizes N_1..N_c the numbers of fixed points add up: their chances are the coefficients of the
product of the groups' generating functions (P2 §4.3).
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

ENOUGH = 200
"""Terms after which both series are cut: what is left out is below 1/200! < 2^-1200 of the result."""

PRECISION = 320
"""Binary digits that groups' chances are cut to at first: 200, the default of 50 bits, and the rounding."""

EXACT = 2_000_000
"""Size up to which groups' chances stay exact: individuals times binary digits of the product of all N!."""

PROVED = 200
"""A group tail that is not exact is right to 2^-200 of itself."""


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


@dataclass(frozen=True, slots=True)
class _Distribution:
    """Pr[j fixed points] = weights[j] / total; together these miss the truth by at most lost / total."""

    weights: tuple[int, ...]
    total: int
    lost: int


def group_tail(sizes: Iterable[int], most: int) -> Fraction:
    """The chance of more than ``most`` fixed points if each group of ``sizes`` is permuted within itself.

    Exact up to some hundred individuals (EXACT). Beyond that, chances are cut to PRECISION binary digits and
    the rounding is added up; the digits are doubled until all of it is below 2^-200 of the result. A group
    of one is always a fixed point and only shifts ``most``.

    >>> group_tail([2, 3], 3), group_tail([2, 3, 1], 3)
    (Fraction(1, 12), Fraction(5, 12))
    """
    shuffled, most = _without_singletons(sizes, most)
    if most < 0:
        return Fraction(1)
    if most >= sum(shuffled):
        return Fraction(0)
    finer = ((sum(chances.weights[most + 1 :]), chances) for chances in _ever_finer(shuffled))
    return next(
        Fraction(hits, chances.total)
        for hits, chances in finer
        if chances.lost << PROVED < max(hits - chances.lost, 1)
    )


def smallest_group_bound(sizes: Iterable[int], *, bits: int = 50) -> int:
    """The smallest l with a chance below 2^-bits of more than l fixed points inside groups of ``sizes``."""
    groups = tuple(sizes)
    return bisect_left(range(sum(groups)), True, key=lambda most: _is_rare(groups, most, bits))


def expected_fixed_points(sizes: Iterable[int]) -> int:
    """Mean number of fixed points inside groups of ``sizes``: one for each group that has anybody."""
    return sum(size > 0 for size in sizes)


def _is_rare(sizes: tuple[int, ...], most: int, bits: int) -> bool:
    """Whether more than ``most`` fixed points have a chance below 2^-bits; no need to know how far below."""
    shuffled, most = _without_singletons(sizes, most)
    if most < 0:
        return False
    for chances in _ever_finer(shuffled):
        hits = sum(chances.weights[most + 1 :])
        if (hits + chances.lost) << bits < chances.total:
            return True
        if (hits - chances.lost) << bits >= chances.total:
            return False
    return True


def _ever_finer(sizes: tuple[int, ...]) -> Iterator[_Distribution]:
    """Fixed points inside groups of two and more: exact if that is cheap, else to ever more digits."""
    digits = sum(math.factorial(size).bit_length() for size in sizes)
    precision = digits if digits * sum(sizes) <= EXACT else PRECISION
    while sizes:
        yield _convolved(sizes, precision)
        precision *= 2


def _without_singletons(sizes: Iterable[int], most: int) -> tuple[tuple[int, ...], int]:
    ordered = sorted(sizes)
    return tuple(size for size in ordered if size > 1), most - ordered.count(1)


@lru_cache(maxsize=4)
def _convolved(sizes: tuple[int, ...], precision: int) -> _Distribution:
    """The sum of independent groups' fixed points, the shortest distributions first."""
    parts = [_of_group(size, precision) for size in sizes]
    while len(parts) > 1:
        parts.sort(key=lambda part: len(part.weights))
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [_sum_of(first, second, precision) for first, second in pairs] + parts[len(parts) // 2 * 2 :]
    return parts[0]


def _of_group(size: int, precision: int) -> _Distribution:
    if math.factorial(size).bit_length() <= precision:
        moved = _derangements(size)
        weights = tuple(math.comb(size, fixed) * moved[size - fixed] for fixed in range(size + 1))
        return _Distribution(weights, math.factorial(size), 0)
    return _of_large_group(size, precision)


def _of_large_group(size: int, precision: int) -> _Distribution:
    """Chances cut to ``precision`` digits, up to the first that vanishes.

    From that k on they add up to less than 6 units: each is at most 1/k!, the first at least 1/3 of that.
    """
    weights: list[int] = []
    while not weights or weights[-1]:
        weights.append(math.floor(fixed_point_chance(size, len(weights)) * 2**precision))
    series = 1 + (2**precision >> 1200)
    return _Distribution(tuple(weights), 2**precision, (len(weights) + 6) * series)


def _derangements(most: int) -> list[int]:
    """Permutations without a fixed point of 0..most individuals."""
    numbers = [1]
    for size in range(1, most + 1):
        numbers.append(size * numbers[-1] + (-1) ** size)
    return numbers


def _sum_of(first: _Distribution, second: _Distribution, precision: int) -> _Distribution:
    weights, total = _product(first.weights, second.weights), first.total * second.total
    lost = first.lost * second.total + second.lost * first.total + first.lost * second.lost
    if total.bit_length() <= precision:
        return _Distribution(tuple(weights), total, lost)
    cut = [(weight << precision) // total for weight in weights]
    while len(cut) > 1 and cut[-1] == 0:
        cut.pop()
    return _Distribution(tuple(cut), 2**precision, (lost << precision) // total + 1 + len(weights))


def _product(first: tuple[int, ...], second: tuple[int, ...]) -> list[int]:
    """Product of two polynomials with coefficients >= 0 as one of two long numbers (Kronecker)."""
    most = max(first) * max(second) * min(len(first), len(second))
    width, size = most.bit_length() // 8 + 1, len(first) + len(second) - 1
    digits = (_packed(first, width) * _packed(second, width)).to_bytes(width * size, "little")
    return [int.from_bytes(digits[at : at + width], "little") for at in range(0, width * size, width)]


def _packed(numbers: tuple[int, ...], width: int) -> int:
    return int.from_bytes(b"".join(number.to_bytes(width, "little") for number in numbers), "little")


@lru_cache(maxsize=ENOUGH + 1)
def _no_fixed_point(rows: int) -> Fraction:
    return sum((Fraction((-1) ** i, math.factorial(i)) for i in range(rows + 1)), Fraction(0))
