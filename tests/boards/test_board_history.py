"""The history of the anonymization board, and the ranks of a day before."""

from datetime import timedelta

import pytest

from anoncup.rules.toml_text import replace_tables
from tests.support.arena import Arena, build_noisy_release
from tests.support.page_requests import get_page
from tests.support.standings import move_times_back
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

HISTORY = "/competitions/small/boards/history"


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


def test_the_past_is_shown_as_the_present_rules_allow(arena: Arena) -> None:
    for seed, income_factor in ((3, 2.0), (4, 1.5), (5, 1.0)):
        submit_release(arena, "red", seed=seed, income_factor=income_factor)
        move_times_back(timedelta(days=1))
    (exact,) = arena.get(HISTORY).json()["teams"]
    assert len(exact["steps"]) == 3
    path = "/competitions/small/competition.toml"
    for digits in (2, 1):
        file = replace_tables(arena.get(path).text, "publication", f"[publication]\ndigits = {digits}\n")
        assert arena.put(path, content=file).status_code == 200
        (timeline,) = arena.get(HISTORY, team="blue").json()["teams"]
        assert [(step["at"], step["utility"], step["overall"]) for step in timeline["steps"]] == [
            (step["at"], round(step["utility"], digits), round(step["overall"], 4)) for step in exact["steps"]
        ]
        assert arena.get_board()["compared_with"] is not None
    assert arena.get(HISTORY).json()["teams"] == [exact]
