"""How much the published scores of a release reveal about its secret: the figures of docs/publication.md."""

from pathlib import Path

import numpy as np
import pytest

from anoncup.rules.settings import OVERALL_DIGITS, Publication
from tests.scoring import subset_sums

DOCS = Path("docs/publication.md").read_text(encoding="utf-8")
Row = tuple[float, float, float]


def published(utility: float, security: float, digits: int) -> Row:
    """The board's row of a release as other teams see it."""
    overall = (utility + security) / 2
    return round(overall, OVERALL_DIGITS), round(utility, digits), round(security, digits)


def count_rows(digits: int, *, overall_digits: int = OVERALL_DIGITS) -> int:
    """Return how many different rows a board can show of a release.

    Counted in units of half a decimal of ``overall``: U and E rounded to ``digits`` lie in an interval each,
    so ``overall`` lies in the sum of both.
    """
    unit = 2 * 10**overall_digits
    step = unit // 10**digits
    value = np.arange(0, unit + 1, step)
    least, most = np.maximum(0, value - step // 2), np.minimum(unit, value + step // 2)
    return sum(
        int(((u_most + most + 2) // 4 - (u_least + least + 2) // 4 + 1).sum())
        for u_least, u_most in zip(least, most, strict=True)
    )


@pytest.mark.parametrize("digits", [0, 1])
def test_there_are_as_many_rows_as_are_seen_when_all_scores_are_tried(digits: int) -> None:
    """Tried on a fine grid; a score exactly between two roundings is counted for both and seen as one."""
    grid = np.linspace(0, 1, 1201)
    u, e = (axis.ravel() for axis in np.meshgrid(grid, grid))
    rows = np.stack([np.round((u + e) / 2, 2), np.round(u, digits), np.round(e, digits)])
    counted, seen = count_rows(digits, overall_digits=2), len(np.unique(rows, axis=1).T)
    assert 0.9 * counted <= seen <= counted


def test_exact_scores_reveal_a_secret_and_what_is_published_leaves_thousands() -> None:
    for seed in range(3):
        one = subset_sums.puzzle(30, seed)
        assert subset_sums.solved(one, None) == (1, 1.0)
        left, right = subset_sums.solved(one, Publication().digits)
        assert left > 1000
        assert right < 0.75


def test_all_ways_of_a_small_secret_are_counted() -> None:
    """The same by trying all of them."""
    for seed in range(5):
        one = subset_sums.puzzle(8, seed)
        for digits in (0, 2, 4):
            ways, u, hits = subset_sums.half(one, slice(None))
            row = published(one.utility, one.correct / one.rows, digits)
            tried = [
                published(loss, correct / one.rows, digits) == row
                for loss, correct in zip((u + subset_sums.KNOWN).tolist(), hits.tolist(), strict=True)
            ]
            assert subset_sums.solved(one, digits)[0] == sum(tried)
            assert len(ways) == len(tried)


@pytest.mark.parametrize("digits", range(5))
def test_the_document_has_the_bits_of_a_row(digits: int) -> None:
    assert f"| {digits} | {np.log2(count_rows(digits)):.1f} |" in DOCS


@pytest.mark.full
@pytest.mark.parametrize("pairs", [20, 30])
def test_the_document_has_the_bits_that_an_attack_reads(pairs: int) -> None:
    for digits in (None, 4, 2, 0):
        found = [subset_sums.solved(subset_sums.puzzle(pairs, seed), digits) for seed in range(10)]
        left = float(np.mean([np.log2(count) for count, _ in found]))
        right = float(np.mean([share for _, share in found]))
        shown = "exact" if digits is None else str(digits)
        assert f"| {pairs} | {shown} | {pairs - left:.1f} | {left:.1f} | {right:.0%} |" in DOCS
