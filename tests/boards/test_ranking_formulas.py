"""Formulas in the competition file of a running contest."""

from fastapi.testclient import TestClient

from anoncup.rules.toml_text import replace_tables
from tests.support.arena import Arena
from tests.support.contest import Contest, load_round


def test_what_formulas_name_is_fixed_once_there_are_submissions(arena: Arena) -> None:
    arena.submit("red")
    for formula, status in (("utility + security", 200), ("k_min + security", 409)):
        ranking = f'[ranking]\ndefence = "{formula}"'
        file = replace_tables(load_round().file, "ranking", ranking)
        response = arena.put(f"/competitions/{arena.slug}/competition.toml", content=file)
        assert response.status_code == status, response.text


def test_the_clock_chooses_finals_by_the_formula(client: TestClient) -> None:
    """It runs in its own database role, which may read a few columns only."""
    ranking = '[ranking]\nfinals = 1\norder = "descending"\ndefence = "utility - penalty"\n'
    contest = Contest.create(client, extra_toml=ranking)
    for _ in range(3):
        contest.submit("red")
    (row_before,) = contest.get_board(organizer=True)["rows"]
    contest.open_attacks()
    (row,) = contest.get_board(organizer=True)["rows"]
    assert (row["score"], row["received_at"]) == (row_before["score"], row_before["received_at"])
    assert len(contest.list_targets("red")) == 1
