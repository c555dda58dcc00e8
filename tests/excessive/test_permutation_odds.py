"""Odds of fixed points in random permutations, nearest distances and the recommended threshold."""

from fractions import Fraction
from itertools import permutations
from math import factorial

import numpy as np
import pytest

from anoncup.excessive.fixed_point_odds import (
    find_smallest_fixed_count,
    fixed_point_probability,
    log2,
    tail_probability,
)
from anoncup.excessive.threshold_advisor import find_largest_round_number
from anoncup.tracks.microdata.distances import gower_nearest_other
from anoncup.tracks.microdata.example import generate_households, get_household_columns
from anoncup.tracks.microdata.pairwise_distances import gower_matrix
from anoncup.tracks.microdata.release import MicrodataOriginal


@pytest.mark.parametrize("rows", range(1, 8))
def test_tail_and_chance_equal_counts_over_all_permutations(rows: int) -> None:
    fixed = [sum(i == p for i, p in enumerate(permutation)) for permutation in permutations(range(rows))]
    for limit in range(rows + 1):
        expected = Fraction(sum(number > limit for number in fixed), factorial(rows))
        assert tail_probability(rows, limit) == expected
        assert fixed_point_probability(rows, limit) == Fraction(fixed.count(limit), factorial(rows))


def test_contests_threshold_has_the_papers_tail() -> None:
    assert log2(tail_probability(400, 19)) == pytest.approx(-62.4499, abs=5e-5)


def test_logarithms_of_tiny_tails_are_computed() -> None:
    assert float(tail_probability(8333, 400)) == 0.0
    first = -np.sum(np.log2(np.arange(1, 402))) - 1 / np.log(2)
    assert log2(tail_probability(8333, 400)) == pytest.approx(float(first), abs=0.01)


def test_smallest_fixed_count_is_minimal() -> None:
    limit = find_smallest_fixed_count(8333)
    assert tail_probability(8333, limit) < Fraction(1, 2**50) <= tail_probability(8333, limit - 1)
    assert find_smallest_fixed_count(3) == 3


def test_nearest_other_distances_equal_those_of_the_full_matrix() -> None:
    original = MicrodataOriginal(generate_households(300), get_household_columns())
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
def test_largest_round_number_lies_inside_the_interval(low: float, high: float, number: float | None) -> None:
    assert find_largest_round_number(low, high) == number
