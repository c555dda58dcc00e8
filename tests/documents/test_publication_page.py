"""The figures in docs/publication.md on how much published scores reveal about a secret."""

from pathlib import Path

import numpy as np
import pytest

from anoncup.rules.settings import OVERALL_DIGITS, Publication
from tests.support import subset_sum_attack

pytestmark = pytest.mark.full

PAGE = Path("docs/publication.md").read_text(encoding="utf-8")
BoardRow = tuple[float, float, float]


def round_scores(utility: float, security: float, digits: int) -> BoardRow:
    """Return the rounded scores of a release, as other teams see them on the board."""
    overall = (utility + security) / 2
    return round(overall, OVERALL_DIGITS), round(utility, digits), round(security, digits)


def count_rows(digits: int, *, overall_digits: int = OVERALL_DIGITS) -> int:
    """Return the number of different board rows that a release can have.

    The count is in units of half a decimal of ``overall``. U and E, rounded to ``digits``, each lie in an
    interval, so ``overall`` lies in the sum of both intervals.
    """
    unit = 2 * 10**overall_digits
    step = unit // 10**digits
    value = np.arange(0, unit + 1, step)
    lower, upper = np.maximum(0, value - step // 2), np.minimum(unit, value + step // 2)
    return sum(
        int(((u_upper + upper + 2) // 4 - (u_lower + lower + 2) // 4 + 1).sum())
        for u_lower, u_upper in zip(lower, upper, strict=True)
    )


@pytest.mark.parametrize("digits", [0, 1])
def test_row_count_agrees_with_a_grid_of_scores(digits: int) -> None:
    """A score exactly between two roundings is counted for both but occurs on the grid only once."""
    grid = np.linspace(0, 1, 1201)
    u, e = (axis.ravel() for axis in np.meshgrid(grid, grid))
    rows = np.stack([np.round((u + e) / 2, 2), np.round(u, digits), np.round(e, digits)])
    computed_count, grid_count = count_rows(digits, overall_digits=2), len(np.unique(rows, axis=1).T)
    assert 0.9 * computed_count <= grid_count <= computed_count


def test_exact_scores_reveal_a_secret_and_rounded_ones_do_not() -> None:
    for seed in range(3):
        puzzle = subset_sum_attack.build_puzzle(30, seed)
        assert subset_sum_attack.solve(puzzle, None) == (1, 1.0)
        solution_count, known_share = subset_sum_attack.solve(puzzle, Publication().digits)
        assert solution_count > 1000
        assert known_share < 0.75


def test_number_of_solutions_equals_brute_force() -> None:
    for seed in range(5):
        puzzle = subset_sum_attack.build_puzzle(8, seed)
        for digits in (0, 2, 4):
            choices, u, hits = subset_sum_attack.enumerate_half(puzzle, slice(None))
            row = round_scores(puzzle.utility, puzzle.correct / puzzle.rows, digits)
            is_solution = [
                round_scores(loss, correct / puzzle.rows, digits) == row
                for loss, correct in zip(
                    (u + subset_sum_attack.KNOWN_UTILITY).tolist(), hits.tolist(), strict=True
                )
            ]
            assert subset_sum_attack.solve(puzzle, digits)[0] == sum(is_solution)
            assert len(choices) == len(is_solution)


@pytest.mark.parametrize("digits", range(5))
def test_page_states_the_bits_of_a_row(digits: int) -> None:
    assert f"| {digits} | {np.log2(count_rows(digits)):.1f} |" in PAGE


@pytest.mark.full
@pytest.mark.parametrize("pairs", [20, 30])
def test_page_states_the_bits_of_an_attack(pairs: int) -> None:
    for digits in (None, 4, 2, 0):
        solutions = [
            subset_sum_attack.solve(subset_sum_attack.build_puzzle(pairs, seed), digits) for seed in range(10)
        ]
        remaining_bits = float(np.mean([np.log2(count) for count, _ in solutions]))
        known_share = float(np.mean([share for _, share in solutions]))
        digits_text = "exact" if digits is None else str(digits)
        assert (
            f"| {pairs} | {digits_text} | {pairs - remaining_bits:.1f} | {remaining_bits:.1f} "
            f"| {known_share:.0%} |" in PAGE
        )
