"""Odds of fixed points when individuals are permuted, all together or within groups."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import comb, factorial, prod

import numpy as np
import pandas as pd
import pytest

from anoncup.excessive import fixed_point_odds
from anoncup.excessive.fixed_point_odds import (
    PROVED_BITS,
    find_smallest_fixed_count,
    find_smallest_group_fixed_count,
    fixed_point_probability,
    group_tail_probability,
    log2,
    tail_probability,
)
from tests.support.reference_data import get_reference_folder, needs_reference_data

pytestmark = pytest.mark.full

SMALL_GROUP_SIZES = [
    (),
    (1,),
    (2,),
    (1, 1, 1),
    (2, 2),
    (3, 1),
    (4, 3),
    (2, 1, 3, 2),
    (5,),
    (7,),
    (5, 2, 1),
    (0, 3),
]


def count_permutations(sizes: tuple[int, ...]) -> Counter[int]:
    """Count all permutations within groups by their number of fixed points."""
    counts_by_group = [
        [sum(i == p for i, p in enumerate(permutation)) for permutation in permutations(range(size))]
        for size in sizes
    ]
    return Counter(sum(fixed) for fixed in product(*counts_by_group))


def compute_pairs_tail(pairs: int, limit: int) -> Fraction:
    """Return the tail for groups of two from a binomial: both members are fixed or neither is."""
    return Fraction(
        sum(comb(pairs, fixed_pairs) for fixed_pairs in range(limit // 2 + 1, pairs + 1)), 2**pairs
    )


@pytest.mark.parametrize("sizes", SMALL_GROUP_SIZES)
def test_tails_equal_counts_over_all_permutations(sizes: tuple[int, ...]) -> None:
    counts = count_permutations(sizes)
    for limit in range(sum(sizes) + 2):
        above = sum(number for fixed, number in counts.items() if fixed > limit)
        assert group_tail_probability(sizes, limit) == Fraction(above, counts.total())
        if len(sizes) == 1:
            assert tail_probability(*sizes, limit) == Fraction(above, counts.total())
            assert fixed_point_probability(*sizes, limit) == Fraction(counts[limit], counts.total())


@pytest.mark.parametrize("sizes", SMALL_GROUP_SIZES)
def test_rounding_error_stays_below_the_proved_limit(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    full_precision = [group_tail_probability(sizes, limit) for limit in range(sum(sizes))]
    smallest = find_smallest_group_fixed_count(sizes, bits=3)
    monkeypatch.setattr(fixed_point_odds, "MAX_EXACT_SIZE", -1)
    monkeypatch.setattr(fixed_point_odds, "INITIAL_PRECISION", 2)
    for limit, exact in enumerate(full_precision):
        assert abs(group_tail_probability(sizes, limit) - exact) <= exact / 2**PROVED_BITS
    assert find_smallest_group_fixed_count(sizes, bits=3) == smallest


@pytest.mark.parametrize("rows", [5, 100, 400, 8333])
def test_single_group_has_the_tail_of_all_permutations(rows: int) -> None:
    for limit in (0, 19, rows - 1) if rows < 400 else (0, 19, 150):
        exact = tail_probability(rows, limit)
        assert abs(group_tail_probability([rows], limit) - exact) <= exact / 2 ** (PROVED_BITS - 1)


def test_singleton_groups_only_shift_the_tail() -> None:
    sizes = [3, 2, 7]
    assert group_tail_probability([1] * 5000 + sizes, 5004) == group_tail_probability(sizes, 4)
    assert group_tail_probability([1] * 5000, 4999) == 1
    assert group_tail_probability([1] * 5000, 5000) == 0
    assert find_smallest_group_fixed_count([1] * 5000) == 5000


def test_last_tail_is_the_chance_of_the_identity() -> None:
    sizes = [3, 9, 2, 30]
    assert group_tail_probability(sizes, 43) == Fraction(1, prod(map(factorial, sizes)))


@pytest.mark.parametrize("limit", [800, 1001, 1300])
def test_pairs_have_a_binomial_tail(limit: int) -> None:
    exact = compute_pairs_tail(1000, limit)
    assert abs(group_tail_probability([2] * 1000, limit) - exact) <= exact / 2**PROVED_BITS


def test_smallest_fixed_count_is_minimal() -> None:
    sizes = [1] * 3000 + [2] * 1000 + [5] * 400 + [333]
    smallest_count = find_smallest_group_fixed_count(sizes)
    assert (
        group_tail_probability(sizes, smallest_count)
        < Fraction(1, 2**50)
        <= group_tail_probability(sizes, smallest_count - 1)
    )
    assert find_smallest_group_fixed_count([]) == 0
    limit = find_smallest_fixed_count(8333)
    assert tail_probability(8333, limit) < Fraction(1, 2**50) <= tail_probability(8333, limit - 1)
    assert find_smallest_fixed_count(3) == 3


def test_contests_threshold_has_the_papers_tail_without_groups() -> None:
    assert log2(tail_probability(400, 19)) == pytest.approx(-62.4499, abs=5e-5)


def test_logarithms_of_tiny_tails_are_computed() -> None:
    assert float(tail_probability(8333, 400)) == 0.0
    first = -np.sum(np.log2(np.arange(1, 402))) - 1 / np.log(2)
    assert log2(tail_probability(8333, 400)) == pytest.approx(float(first), abs=0.01)


@needs_reference_data
def test_contests_threshold_has_the_papers_tail() -> None:
    customers = pd.read_csv(get_reference_folder() / "Master-Customer400.csv", header=None, dtype=str)
    sizes = [int(size) for size in customers.groupby([1, 3]).size()]
    assert (len(sizes), sizes.count(1)) == (47, 16)
    assert log2(group_tail_probability(sizes, 99)) == pytest.approx(-51.008, abs=5e-4)
    assert find_smallest_group_fixed_count(sizes) == 99
