"""Chances of fixed points when individuals are permuted inside groups."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import comb, factorial, prod
from pathlib import Path

import pandas as pd
import pytest

from anoncup.excessive import fixed_point_odds
from anoncup.excessive.fixed_point_odds import (
    PROVED,
    expected_fixed_points,
    group_tail,
    log2,
    smallest_group_bound,
    tail,
)

pytestmark = pytest.mark.full

SMALL = [(), (1,), (2,), (1, 1, 1), (2, 2), (3, 1), (4, 3), (2, 1, 3, 2), (5,), (5, 2, 1), (0, 3)]


def counted(sizes: tuple[int, ...]) -> Counter[int]:
    """Permutations inside groups by their number of fixed points, one by one."""
    each = [[sum(i == p for i, p in enumerate(way)) for way in permutations(range(size))] for size in sizes]
    return Counter(sum(fixed) for fixed in product(*each))


def pairs_tail(pairs: int, most: int) -> Fraction:
    """A pair keeps both or none: binomial."""
    return Fraction(sum(comb(pairs, kept) for kept in range(most // 2 + 1, pairs + 1)), 2**pairs)


@pytest.mark.parametrize("sizes", SMALL)
def test_tails_are_those_counted_over_all_permutations(sizes: tuple[int, ...]) -> None:
    ways = counted(sizes)
    for most in range(sum(sizes) + 2):
        more = sum(number for fixed, number in ways.items() if fixed > most)
        assert group_tail(sizes, most) == Fraction(more, ways.total())


@pytest.mark.parametrize("sizes", SMALL)
def test_cutting_digits_costs_less_than_claimed(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    true = [group_tail(sizes, most) for most in range(sum(sizes))]
    smallest = smallest_group_bound(sizes, bits=3)
    monkeypatch.setattr(fixed_point_odds, "EXACT", -1)
    monkeypatch.setattr(fixed_point_odds, "PRECISION", 2)
    for most, exact in enumerate(true):
        assert abs(group_tail(sizes, most) - exact) <= exact / 2**PROVED
    assert smallest_group_bound(sizes, bits=3) == smallest


@pytest.mark.parametrize("sizes", SMALL)
def test_the_mean_is_the_number_of_groups(sizes: tuple[int, ...]) -> None:
    ways = counted(sizes)
    mean = Fraction(sum(fixed * number for fixed, number in ways.items()), ways.total())
    assert expected_fixed_points(sizes) == mean


@pytest.mark.parametrize("rows", [5, 100, 400, 8333])
def test_one_group_is_everybody(rows: int) -> None:
    for most in (0, 19, rows - 1) if rows < 400 else (0, 19, 150):
        exact = tail(rows, most)
        assert abs(group_tail([rows], most) - exact) <= exact / 2 ** (PROVED - 1)


def test_singletons_only_shift() -> None:
    sizes = [3, 2, 7]
    assert group_tail([1] * 5000 + sizes, 5004) == group_tail(sizes, 4)
    assert group_tail([1] * 5000, 4999) == 1
    assert group_tail([1] * 5000, 5000) == 0
    assert smallest_group_bound([1] * 5000) == 5000


def test_the_last_tail_has_one_permutation() -> None:
    sizes = [3, 9, 2, 30]
    assert group_tail(sizes, 43) == Fraction(1, prod(map(factorial, sizes)))


@pytest.mark.parametrize("most", [800, 1001, 1300])
def test_a_thousand_pairs_are_a_binomial(most: int) -> None:
    exact = pairs_tail(1000, most)
    assert abs(group_tail([2] * 1000, most) - exact) <= exact / 2**PROVED


def test_the_smallest_bound_is_smallest() -> None:
    sizes = [1] * 3000 + [2] * 1000 + [5] * 400 + [333]
    most = smallest_group_bound(sizes)
    assert group_tail(sizes, most) < Fraction(1, 2**50) <= group_tail(sizes, most - 1)
    assert smallest_group_bound([]) == 0


def test_the_order_of_groups_does_not_matter() -> None:
    assert group_tail([7, 1, 30, 4], 6) == group_tail([30, 4, 1, 7], 6)


def test_the_tail_behind_the_contests_threshold(reference_data: Path) -> None:
    customers = pd.read_csv(reference_data / "Master-Customer400.csv", header=None, dtype=str)
    sizes = [int(size) for size in customers.groupby([1, 3]).size()]
    assert (len(sizes), sizes.count(1), expected_fixed_points(sizes)) == (47, 16, 47)
    assert log2(group_tail(sizes, 99)) == pytest.approx(-51.008, abs=5e-4)
    assert smallest_group_bound(sizes) == 99
