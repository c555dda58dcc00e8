"""Chances of fixed points, bounds and the advice on a threshold."""

from fractions import Fraction
from itertools import permutations
from math import factorial

import numpy as np
import pytest

from anoncup.excessive.advisor import largest_round_number
from anoncup.excessive.fixed_point_odds import fixed_point_chance, log2, smallest_bound, tail
from anoncup.tracks.microdata.distances import gower_nearest_other
from anoncup.tracks.microdata.example import household_columns, household_table
from anoncup.tracks.microdata.pairwise_distances import gower_matrix
from anoncup.tracks.microdata.release import prepare


@pytest.mark.parametrize("rows", range(1, 8))
def test_the_chances_are_those_counted_over_all_permutations(rows: int) -> None:
    fixed = [sum(i == p for i, p in enumerate(each)) for each in permutations(range(rows))]
    for most in range(rows + 1):
        counted = Fraction(sum(number > most for number in fixed), factorial(rows))
        assert tail(rows, most) == counted
        assert fixed_point_chance(rows, most) == Fraction(fixed.count(most), factorial(rows))


def test_the_tail_behind_the_contests_threshold() -> None:
    assert log2(tail(400, 19)) == pytest.approx(-62.4499, abs=5e-5)


def test_tails_far_below_the_smallest_float_have_their_logarithm() -> None:
    assert float(tail(8333, 400)) == 0.0
    first = -np.sum(np.log2(np.arange(1, 402))) - 1 / np.log(2)
    assert log2(tail(8333, 400)) == pytest.approx(float(first), abs=0.01)


def test_the_smallest_bound_is_smallest() -> None:
    most = smallest_bound(8333)
    assert tail(8333, most) < Fraction(1, 2**50) <= tail(8333, most - 1)
    assert smallest_bound(3) == 3


def test_the_nearest_others_of_a_household_table_are_those_of_the_full_matrix() -> None:
    original = prepare(household_table(300), household_columns())
    matrix = gower_matrix(original)
    np.fill_diagonal(matrix, np.inf)
    assert gower_nearest_other(original) == pytest.approx(matrix.min(axis=1), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("low", "high", "number"),
    [
        (0.3567, 0.6435, 0.64),
        (0.1, 0.64, 0.63),
        (0.0401, 0.0499, 0.049),
        (0.2, 0.2, None),
        (0.3, 0.1, None),
        (0.0, 0.01, 0.009),
    ],
)
def test_the_recommendation_is_the_largest_round_number_inside(
    low: float, high: float, number: float | None
) -> None:
    assert largest_round_number(low, high) == number
