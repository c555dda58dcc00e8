"""The form for the formulas of the ranking, on the page of the publication rules."""

import re
from html import unescape

import pytest

from anoncup.formulas.syntax import MAX_CHARACTERS
from tests.support.arena import Arena
from tests.support.contest import load_competition
from tests.support.page_requests import assert_refused, get_page, post_form, send_form
from tests.support.setup_pages import ORGANIZE_PATH, PUBLICATION_FIELDS, load_rules
from tests.support.translations import translate

pytestmark = pytest.mark.full

PATH = f"{ORGANIZE_PATH}/publication"
FIELDS = PUBLICATION_FIELDS | {
    "rule": "formula",
    "order": "descending",
    "defence": "min(utility, 1 - strongest('link')) - penalty",
    "utility": "1 - max(mean_mae, cross_count / 40)",
    "attack": "mean_per_target",
}


def read_field(html: str, name: str) -> str:
    """Return the text in a field for a formula."""
    match = re.search(rf'<textarea id="{name}".*?>\n(.*?)</textarea>', html, re.DOTALL)
    assert match is not None
    return unescape(match[1])


def read_error(html: str, name: str) -> str | None:
    match = re.search(rf'<span class="error" id="{name}-error">(.*?)</span>', html)
    return unescape(match[1]) if match else None


def test_formulas_are_saved_and_shown(arena: Arena) -> None:
    assert 'id="rule-score" name="rule" value="score" checked' in get_page(arena, PATH, organizer=True).text
    send_form(arena, PATH, FIELDS, organizer=True)
    ranking = load_rules().ranking
    assert (ranking.rule, ranking.order, ranking.finals) == ("formula", "descending", 3)
    html = get_page(arena, PATH, organizer=True).text
    for name in ("defence", "utility", "attack"):
        assert getattr(ranking, name).text == FIELDS[name] == read_field(html, name)
    assert 'name="order" value="descending" checked' in html
    assert "<code>mean_mae</code>" in html


def test_a_named_rule_replaces_the_formulas_of_releases(arena: Arena) -> None:
    send_form(arena, PATH, FIELDS, organizer=True)
    send_form(arena, PATH, FIELDS | {"rule": "score"}, organizer=True)
    ranking = load_rules().ranking
    values = (ranking.rule, ranking.order, ranking.defence, ranking.utility)
    assert values == ("score", "ascending", None, None)
    assert ranking.attack is not None
    assert ranking.attack.text == FIELDS["attack"]
    named_only = {"rule": "score"} | dict.fromkeys(("defence", "utility", "attack"), "")
    send_form(arena, PATH, FIELDS | named_only, organizer=True)
    assert load_rules().ranking.attack is None


@pytest.mark.parametrize(
    ("name", "typed", "position"),
    [
        ("defence", "utility + (1", 11),
        ("utility", "1 - mean_mae[0]", 13),
        ("attack", "best_per_target()", 1),
        ("utility", "1 / (mean_mae - mean_mae)", 1),
        ("defence", "1 - " * MAX_CHARACTERS, MAX_CHARACTERS + 1),
        ("defence", "utility - secrity", 11),
    ],
)
def test_a_wrong_formula_is_shown_at_its_field(arena: Arena, name: str, typed: str, position: int) -> None:
    file_before = load_competition().file
    response = post_form(arena, PATH, FIELDS | {name: typed}, organizer=True)
    assert response.status_code == 422
    error = read_error(response.text, name)
    assert error is not None
    assert error.startswith(f"At character {position:,}: ")
    assert read_field(response.text, name) == typed
    for valid_name in {"defence", "utility", "attack"} - {name}:
        assert read_field(response.text, valid_name) == FIELDS[valid_name]
        assert read_error(response.text, valid_name) is None
    assert load_competition().file == file_before


@pytest.mark.parametrize(
    ("changes", "name", "label"),
    [
        ({"defence": " "}, "defence", "missing_formula"),
        ({"rule": "rank_sum"}, "defence", "unused_formula"),
        ({"rule": "score", "defence": ""}, "utility", "unused_formula"),
    ],
)
def test_formulas_and_the_choice_of_the_ranking_agree(
    arena: Arena, changes: dict[str, str], name: str, label: str
) -> None:
    response = post_form(arena, PATH, FIELDS | changes, organizer=True)
    assert_refused(response, 422, translate(label))
    assert read_error(response.text, name) == translate(label)


def test_formulas_change_after_the_first_submission_with_the_password_only(arena: Arena) -> None:
    send_form(arena, PATH, FIELDS, organizer=True)
    arena.submit("red")
    changed = FIELDS | {"defence": "utility + security"}
    refused = post_form(arena, PATH, changed | {"password": ""}, organizer=True)
    assert refused.status_code == 403
    assert load_rules().ranking.order == "descending"
    assert read_field(refused.text, "defence") == "utility + security"
    send_form(arena, PATH, changed, organizer=True)
    defence = load_rules().ranking.defence
    assert defence is not None
    assert defence.text == "utility + security"
