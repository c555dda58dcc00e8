"""Tied ranks, and the distance to the next one."""

import pytest

from app.boards import standing_pages as standings
from tests.support.visitor_pages import build_board_from_rows, build_row

pytestmark = pytest.mark.full


def test_distance_to_the_next_rank_is_that_of_shown_scores() -> None:
    own = build_row(3, own=True, overall=0.25004, score=7.0)
    rows = [
        build_row(1, overall=0.1),
        build_row(2, overall=0.2, score=9.5),
        build_row(2, overall=0.2, score=9.5),
    ]
    board = build_board_from_rows(*rows, own, build_row(4, overall=0.3), build_row(None, baseline=True))
    assert standings.compute_distance_to_next(board, own, by_formula=False) == pytest.approx(0.05, abs=1e-12)
    assert standings.compute_distance_to_next(board, own, by_formula=True) == 2.5


def test_first_unranked_and_hidden_scores_have_no_distance() -> None:
    first, own = build_row(1, score=None), build_row(2, own=True, score=7.0)
    unranked = build_row(None, own=True, overall=None)
    board = build_board_from_rows(first, own, unranked)
    assert standings.compute_distance_to_next(board, first, by_formula=False) is None
    assert standings.compute_distance_to_next(board, unranked, by_formula=False) is None
    assert standings.compute_distance_to_next(board, own, by_formula=True) is None
