"""Formulas in the competition file of a running contest."""

from anoncup.rules.toml_text import replace_tables
from tests.support.arena import Arena
from tests.support.contest import load_round


def test_what_formulas_name_is_fixed_once_there_are_submissions(arena: Arena) -> None:
    arena.submit("red")
    for formula, status in (("utility + security", 200), ("k_min + security", 409)):
        ranking = f'[ranking]\ndefence = "{formula}"'
        file = replace_tables(load_round().file, "ranking", ranking)
        response = arena.put(f"/competitions/{arena.slug}/competition.toml", content=file)
        assert response.status_code == status, response.text


def test_a_wrong_formula_is_refused_with_its_place(arena: Arena) -> None:
    file = replace_tables(load_round().file, "ranking", '[ranking]\ndefence = "utility + zz"')
    response = arena.put(f"/competitions/{arena.slug}/competition.toml", content=file)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_formula")
    values = response.json()["values"]
    assert file.splitlines()[values["line"] - 1][values["column"] - 1 :].startswith("zz")
