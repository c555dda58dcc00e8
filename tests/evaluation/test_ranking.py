"""Scores, ranks and rates."""

import math
from typing import Any

import numpy as np
import pytest

from anoncup.errors import InvalidInput
from anoncup.evaluation.ranking import (
    compute_overall_loss,
    compute_utility_loss,
    find_pareto_front,
    normalize_loss,
)
from anoncup.formulas.ranks import compute_ranks, sort_for_board
from anoncup.tracks.linkage.attack_rates import GroupGuess, count_answered, rate_guess
from anoncup.tracks.outcomes import wilson_interval


@pytest.mark.parametrize(
    ("value", "scale", "rounding", "score"),
    [
        (1.0, 4.0, 1e-12, 0.25),
        (9.0, 4.0, 1e-12, 1.0),
        (0.0, 0.0, 0.0, 0.0),
        (1.0, 0.0, 0.0, 1.0),
        (1e-12, 0.5, 1e-12, 0.0),
        (1.1e-12, 2.2e-12, 1e-12, 0.5),
        (1e-12, 1e-12, 1e-12, 0.0),
        (1e-300, 2e-300, 0.0, 0.5),
    ],
)
def test_losses_are_divided_by_their_scale(value: float, scale: float, rounding: float, score: float) -> None:
    assert normalize_loss(value, scale, rounding=rounding) == score


def test_utility_is_the_weighted_mean_of_losses_above_rounding() -> None:
    values, scales = {"mean_mae": 1e-4, "cor_mae": 0.1}, {"mean_mae": 1e-3, "cor_mae": 0.2}
    losses = [
        compute_utility_loss(
            values,
            weights={"mean_mae": 1.0, "cor_mae": 3.0},
            scales=scales,
            rounding={"mean_mae": limit, "cor_mae": 1e-12},
        )
        for limit in (1e-12, 1e-4)
    ]
    assert losses == pytest.approx([(0.1 + 3 * 0.5) / 4, 3 * 0.5 / 4])
    assert compute_utility_loss({}, weights={}, scales={}, rounding={}) == 0.0


def test_overall_score_is_the_mean_of_utility_and_security() -> None:
    assert compute_overall_loss(0.2, 0.6) == 0.4


def test_ties_share_a_rank_and_the_earlier_is_listed_first() -> None:
    scores = [0.3, 0.1, None, 0.2, 0.2, None, 0.3]
    assert compute_ranks(scores) == [4, 1, None, 2, 2, None, 4]
    assert sort_for_board(scores) == [1, 3, 4, 0, 6, 2, 5]
    assert compute_ranks([]) == []


def test_scores_within_the_tolerance_of_the_lowest_of_a_rank_are_ties() -> None:
    """A chain of small steps ends where it has left the first score of its rank behind."""
    assert compute_ranks([124.0, 123.99999999999999, 1.0, 1.0 + 9e-10, 1.0 + 1.8e-9]) == [4, 4, 1, 1, 3]
    assert sort_for_board([124.0, 123.99999999999999, None, 1.0 + 9e-10, 1.0]) == [3, 4, 0, 1, 2]


def test_abstentions_are_never_correct() -> None:
    guess = np.array([0, -1, 2])
    assert count_answered(guess) == 2
    rate = rate_guess(guess, np.array([0, 1, 1]), rows=4)
    assert (rate.value, rate.correct, rate.trials, rate.shown_baseline) == (1 / 3, 1, 3, 0.25)
    assert type(rate.correct) is int


@pytest.mark.parametrize(
    ("guess", "source", "named"),
    [
        (["1", "2"], [0, 1], "guess"),
        ([0, 1], ["1", "2"], "source"),
        ([0, 1], [1, 2], "source"),
        ([0, 2], [0, 1], "guess"),
        ([0, -2], [0, 1], "guess"),
        ([0, 1], [0, -1], "source"),
        ([0, 1, 1], [0, 1], "guess"),
        ([[0, 1]], [[0, 1]], "source"),
    ],
)
def test_guesses_that_are_no_row_numbers_from_0_are_refused(guess: Any, source: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{named}: a row number from .* released row$"):
        rate_guess(guess, source, rows=2)


def test_expected_rates_have_the_deviation_of_independent_choices() -> None:
    group_of, sizes = np.array([0, 0, 1, 2]), np.array([2, 1, 1])
    rate = rate_guess(GroupGuess(np.array([0, 0, 1, -1]), group_of, sizes), np.array([0, 1, 2, 3]), rows=4)
    assert (rate.value, rate.correct) == (0.5, 2.0)
    assert rate.sd == pytest.approx(math.sqrt(2 * 0.25) / 4)
    assert rate.interval is None


def test_wilsons_interval_solves_its_equation() -> None:
    z = 1.959963984540054
    for correct, trials in ((3, 10), (50, 8333), (9, 10)):
        for limit in wilson_interval(correct, trials):
            assert abs(correct / trials - limit) == pytest.approx(z * math.sqrt(limit * (1 - limit) / trials))
    assert wilson_interval(0, 10)[0] == 0.0
    assert wilson_interval(10, 10)[1] == 1.0


def test_pareto_front_has_all_undominated_points() -> None:
    rng = np.random.default_rng(0)
    points = [(float(u), float(e)) for u, e in rng.integers(0, 6, (40, 2))]

    def is_dominated(point: tuple[float, float]) -> bool:
        return any(
            other_point != point and other_point[0] <= point[0] and other_point[1] <= point[1]
            for other_point in points
        )

    assert find_pareto_front(points) == [not is_dominated(point) for point in points]
    assert find_pareto_front([None, (0.5, 0.5)]) == [False, True]
