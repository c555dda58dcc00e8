"""Odds of fixed points when individuals are permuted, all together or within groups."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest

from anoncup.excessive.fixed_point_odds import find_fixed_limit, log2, tail_probability
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


def check_close(probability: Fraction, exact: Fraction) -> None:
    assert abs(probability - exact) <= exact / 2**80


@pytest.mark.parametrize("sizes", SMALL_GROUP_SIZES)
def test_tails_equal_counts_over_all_permutations(sizes: tuple[int, ...]) -> None:
    counts = count_permutations(sizes)
    for limit in range(sum(sizes) + 2):
        above = sum(number for fixed, number in counts.items() if fixed > limit)
        check_close(tail_probability(sizes, limit), Fraction(above, counts.total()))


def test_singleton_groups_only_shift_the_tail() -> None:
    sizes = [3, 2, 7]
    assert tail_probability([1] * 5000 + sizes, 5004) == tail_probability(sizes, 4)
    assert tail_probability([1] * 5000, 4999) == 1
    assert tail_probability([1] * 5000, 5000) == 0
    assert find_fixed_limit([1] * 5000) == (5000, Fraction(0))


@pytest.mark.parametrize("bits", [1, 50, 300])
@pytest.mark.parametrize("sizes", [[1] * 300 + [2] * 100 + [5] * 40 + [333], [8333], [3]])
def test_fixed_limit_is_the_smallest(sizes: list[int], bits: int) -> None:
    limit, tail = find_fixed_limit(sizes, bits=bits)
    assert tail < Fraction(1, 2**bits) <= tail_probability(sizes, limit - 1, precision=500)
    check_close(tail_probability(sizes, limit, precision=500), tail)


def test_contests_threshold_has_the_papers_tail_without_groups() -> None:
    assert log2(tail_probability([400], 19)) == pytest.approx(-62.4499, abs=5e-5)


def test_logarithms_of_tiny_tails_are_computed() -> None:
    tail = tail_probability([8333], 400, precision=3200)
    assert float(tail) == 0.0
    first = -np.sum(np.log2(np.arange(1, 402))) - 1 / np.log(2)
    assert log2(tail) == pytest.approx(float(first), abs=0.01)


@needs_reference_data
def test_contests_threshold_has_the_papers_tail() -> None:
    customers = pd.read_csv(get_reference_folder() / "Master-Customer400.csv", header=None, dtype=str)
    sizes = [int(size) for size in customers.groupby([1, 3]).size()]
    assert (len(sizes), sizes.count(1)) == (47, 16)
    assert log2(tail_probability(sizes, 99)) == pytest.approx(-51.008, abs=5e-4)
    assert find_fixed_limit(sizes)[0] == 99
