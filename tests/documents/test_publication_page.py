"""The figures in docs/publication.md on how much published scores reveal about a secret."""

from pathlib import Path

import numpy as np
import pytest

from anoncup.rules.settings import OVERALL_DIGITS

pytestmark = pytest.mark.full


PAGE = Path("docs/publication.md").read_text(encoding="utf-8")


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


@pytest.mark.parametrize("digits", range(5))
def test_page_states_the_bits_of_a_row(digits: int) -> None:
    assert f"| {digits} | {np.log2(count_rows(digits)):.1f} |" in PAGE
