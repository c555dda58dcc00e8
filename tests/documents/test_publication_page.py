"""The figures in docs/publication.md on how much published scores reveal about a secret."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.rules.settings import OVERALL_DIGITS, Publication
from anoncup.tracks.microdata.example import generate_households, get_household_columns
from anoncup.tracks.microdata.release import MicrodataOriginal, build_release
from anoncup.tracks.microdata.utility import information_loss

pytestmark = pytest.mark.full


LOSS_SCALE = 0.066
"""Scale of information_loss as in docs/scoring.md; it is a sixth of U, and the rest of U is known."""
LOSS_WEIGHT, KNOWN_UTILITY = 1 / 6, 0.1
TOLERANCE = 1e-13


@dataclass(frozen=True)
class Puzzle:
    """Contributions of each pair, straight and crossed, and the secret that tells which are crossed.

    The rows of the release come in pairs: two rows of Y belong to two rows of X, and the attacker knows the
    pairs. The attacker computes what each pair adds to the loss and to the hits, straight and crossed.

    ``losses`` (pairs, 2): what a pair adds to U. ``hits`` (pairs, 2): correct rows of the attacker's guess.
    ``secret`` (pairs,): 1 if the pair is crossed.
    """

    losses: FloatArray
    hits: IntArray
    secret: IntArray
    rows: int

    @property
    def utility(self) -> float:
        return KNOWN_UTILITY + float(self.losses[np.arange(len(self.secret)), self.secret].sum())

    @property
    def correct(self) -> int:
        return int(self.hits[np.arange(len(self.secret)), self.secret].sum())

    @property
    def overall(self) -> float:
        return (self.utility + self.correct / self.rows) / 2


def build_puzzle(pairs: int, seed: int) -> Puzzle:
    """Build a puzzle from the household table; both rows of a pair get cells of either row."""
    rng = np.random.default_rng(seed)
    original = MicrodataOriginal(generate_households(2 * pairs, seed=seed), get_household_columns())
    names = list(get_household_columns().sensitive)
    x = original.table[names].to_numpy(float)
    mixed_cells = rng.permuted(x.reshape(pairs, 2, -1), axis=1).reshape(x.shape)
    release_table = original.table.assign(**{name: mixed_cells[:, index] for index, name in enumerate(names)})
    straight = np.arange(2 * pairs)
    base = information_loss(build_release(original, release_table, straight))
    losses = np.zeros((pairs, 2))
    for pair in range(pairs):
        crossed = straight.copy()
        crossed[2 * pair : 2 * pair + 2] = crossed[2 * pair : 2 * pair + 2][::-1]
        losses[pair, 1] = information_loss(build_release(original, release_table, crossed)) - base
    losses = losses * LOSS_WEIGHT / LOSS_SCALE
    losses[0] += base * LOSS_WEIGHT / LOSS_SCALE
    guess = straight.reshape(pairs, 2) ^ (rng.random((pairs, 2)) < 0.5)
    hits = np.stack([(guess == straight.reshape(-1, 2)).sum(1), (guess != straight.reshape(-1, 2)).sum(1)], 1)
    return Puzzle(losses, hits, rng.integers(0, 2, pairs), 2 * pairs)


def enumerate_half(puzzle: Puzzle, pairs: slice) -> tuple[BoolArray, FloatArray, IntArray]:
    """Return all patterns (patterns, pairs) of crossed pairs and what they add to U and to the hits."""
    losses, hits = puzzle.losses[pairs], puzzle.hits[pairs]
    patterns = (np.arange(1 << len(losses))[:, None] >> np.arange(len(losses)) & 1).astype(bool)
    u = losses[:, 0].sum() + patterns @ (losses[:, 1] - losses[:, 0])
    return patterns, u, hits[:, 0].sum() + patterns @ (hits[:, 1] - hits[:, 0])


def list_windows(puzzle: Puzzle, digits: int | None) -> Iterator[tuple[int, float, float]]:
    """Yield each number of hits that the published scores allow, with the range of U; None: all digits."""
    if digits is None:
        yield puzzle.correct, puzzle.utility - TOLERANCE, puzzle.utility + TOLERANCE
        return
    u = round(puzzle.utility, digits)
    e = round(puzzle.correct / puzzle.rows, digits)
    overall = round(puzzle.overall, OVERALL_DIGITS)
    half_unit, overall_unit = 0.5 * 10.0**-digits, 10.0**-OVERALL_DIGITS
    for hits in range(puzzle.rows + 1):
        rate = hits / puzzle.rows
        low = max(u - half_unit, 2 * overall - overall_unit - rate)
        high = min(u + half_unit, 2 * overall + overall_unit - rate)
        if abs(rate - e) <= half_unit + TOLERANCE and low <= high:
            yield hits, low - TOLERANCE, high + TOLERANCE


def solve(puzzle: Puzzle, digits: int | None) -> tuple[int, float]:
    """Return how many secrets fit the published scores and the share of pairs the majority gets right."""
    middle = len(puzzle.secret) // 2
    sides = enumerate_half(puzzle, slice(0, middle)), enumerate_half(puzzle, slice(middle, None))
    solutions, crossed_shares = 0, []
    for (patterns, u, hits), (_, other_u, other_hits) in (sides, sides[::-1]):
        order = np.lexsort((other_u, other_hits))
        fits = np.zeros(len(u), dtype=np.int64)
        for allowed_hits, low, high in list_windows(puzzle, digits):
            for other_count in np.unique(other_hits):
                matching = np.flatnonzero(hits == allowed_hits - other_count)
                values = other_u[order][other_hits[order] == other_count]
                fits[matching] += np.searchsorted(
                    values, high - KNOWN_UTILITY - u[matching], "right"
                ) - np.searchsorted(values, low - KNOWN_UTILITY - u[matching])
        solutions = int(fits.sum())
        crossed_shares += list((fits @ patterns) / max(solutions, 1))
    is_right = (np.array(crossed_shares) > 0.5) == puzzle.secret.astype(bool)
    return solutions, float(is_right.mean())


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
        puzzle = build_puzzle(30, seed)
        assert solve(puzzle, None) == (1, 1.0)
        solution_count, known_share = solve(puzzle, Publication().digits)
        assert solution_count > 1000
        assert known_share < 0.75


def test_number_of_solutions_equals_brute_force() -> None:
    for seed in range(5):
        puzzle = build_puzzle(8, seed)
        for digits in (0, 2, 4):
            choices, u, hits = enumerate_half(puzzle, slice(None))
            row = round_scores(puzzle.utility, puzzle.correct / puzzle.rows, digits)
            is_solution = [
                round_scores(loss, correct / puzzle.rows, digits) == row
                for loss, correct in zip((u + KNOWN_UTILITY).tolist(), hits.tolist(), strict=True)
            ]
            assert solve(puzzle, digits)[0] == sum(is_solution)
            assert len(choices) == len(is_solution)


@pytest.mark.parametrize("digits", range(5))
def test_page_states_the_bits_of_a_row(digits: int) -> None:
    assert f"| {digits} | {np.log2(count_rows(digits)):.1f} |" in PAGE


@pytest.mark.full
@pytest.mark.parametrize("pairs", [20, 30])
def test_page_states_the_bits_of_an_attack(pairs: int) -> None:
    for digits in (None, 4, 2, 0):
        solutions = [solve(build_puzzle(pairs, seed), digits) for seed in range(10)]
        remaining_bits = float(np.mean([np.log2(count) for count, _ in solutions]))
        known_share = float(np.mean([share for _, share in solutions]))
        digits_text = "exact" if digits is None else str(digits)
        assert (
            f"| {pairs} | {digits_text} | {pairs - remaining_bits:.1f} | {remaining_bits:.1f} "
            f"| {known_share:.0%} |" in PAGE
        )
