"""The history of the anonymization board, and the ranks of a day before."""

from datetime import timedelta

import pytest

from tests.support.arena import Arena, build_noisy_release
from tests.support.page_requests import get_page
from tests.support.standings import move_times_back
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


def submit_release(arena: Arena, team: str, *, seed: int, income_factor: float = 1.0) -> None:
    """Submit and score a release whose incomes are multiplied by ``income_factor``."""
    table = arena.table.assign(income=arena.table["income"] * income_factor)
    anonymized, secret = build_noisy_release(seed, table)
    assert arena.submit(team, anonymized=anonymized, secret=secret).status_code == 202
    score_everything()


def test_rank_changes_refer_to_the_board_of_a_day_before(arena: Arena) -> None:
    submit_release(arena, "red", seed=3, income_factor=1.5)
    submit_release(arena, "blue", seed=4, income_factor=2.0)
    assert arena.get_board()["compared_with"] is None
    move_times_back(timedelta(days=2))
    assert arena.get_board()["compared_with"] is not None
    assert [row["rank_before"] for row in arena.get_board()["rows"]] == [1, 2]
    submit_release(arena, "blue", seed=5)
    submit_release(arena, "green", seed=6, income_factor=2.0)
    rows = arena.get_board()["rows"]
    assert {row["team"]: row["rank_before"] for row in rows} == {"red": 1, "blue": 2, "green": None}
    assert {row["team"]: row["rank"] for row in rows} == {"blue": 1, "red": 2, "green": 3}
    html = get_page(arena, "/competitions/small/boards/anonymization").text
    for label in ("1 rank up within a day", "1 rank down within a day", "New in the ranking within a day"):
        assert html.count(f'aria-label="{label}"') == 1
