"""Formulas in the competition file of a running contest."""

import pytest
from fastapi.testclient import TestClient

from anoncup.formulas.syntax import MAX_CHARACTERS, MAX_DEPTH
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


HOSTILE_FORMULAS = {
    "five thousand characters": ("1+" * 2_500 + "1", MAX_CHARACTERS),
    "a number that is too large": ("utility + 9**9**9", 10),
    "nested brackets": ("(" * 900 + "1" + ")" * 900, MAX_DEPTH),
    "nested signs": ("-" * 1_900 + "1", MAX_DEPTH),
    "nested powers": ("1" + "**1" * 600, 3 * MAX_DEPTH),
    "a long sum": ("1" + "+1" * 900, 2 * (901 - MAX_DEPTH)),
    "nested calls": ("abs(" * 300 + "1" + ")" * 300, 4 * MAX_DEPTH + 3),
    "an attribute of a constant": ("1 + ().__class__.__bases__", 4),
    "an import": ("1 + __import__('os').system('id')", 4),
    "a text as large as memory": ("'x' * 10**12", 0),
    "a lambda": ("(lambda: 1)()", 7),
}


@pytest.mark.parametrize(("formula", "position"), HOSTILE_FORMULAS.values(), ids=HOSTILE_FORMULAS)
def test_a_hostile_formula_is_refused_at_its_position(arena: Arena, formula: str, position: int) -> None:
    stored_file = load_round().file
    file = replace_tables(stored_file, "ranking", f'[ranking]\ndefence = "{formula}"')
    response = arena.put(f"/competitions/{arena.slug}/competition.toml", content=file)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_formula"), response.text
    values = response.json()["values"]
    assert (values["key"], values["position"]) == ("ranking.defence", position + 1)
    assert load_round().file == stored_file


def test_a_formula_of_a_million_characters_is_refused_before_it_is_read(arena: Arena) -> None:
    formula = "1+" * 500_000 + "1"
    file = replace_tables(load_round().file, "ranking", f'[ranking]\ndefence = "{formula}"')
    response = arena.put(f"/competitions/{arena.slug}/competition.toml", content=file)
    assert (response.status_code, response.json()["code"]) == (422, "too_large")
