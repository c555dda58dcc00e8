"""Two organizers edit the same step: the second save is refused until it is confirmed."""

import pytest

from app.web.organizer.setup_steps import SAVED_BY_ANOTHER
from tests.support.arena import Arena
from tests.support.contest import load_competition
from tests.support.organizer_pages import extract_hidden_fields
from tests.support.page_requests import get_page, post_form
from tests.support.setup_pages import BASIC_FIELDS, ORGANIZE_PATH, PUBLICATION_FIELDS
from tests.support.translations import translate_problem

pytestmark = pytest.mark.full

THRESHOLD_FIELDS = {"approach": "II", "distance": "gower", "rule": "average", "threshold": "0.25"}
FORMS = {
    "basics": (BASIC_FIELDS, {"title_en": "Another"}),
    "measures": ({"weight_mean_mae": "2", "min_rows_kept": "0.5"}, {"weight_mean_mae": "5"}),
    "threshold": (THRESHOLD_FIELDS, {"threshold": "0.125"}),
    "publication": (PUBLICATION_FIELDS, {"finals": "2"}),
}


def save_step(arena: Arena, step: str, fields: dict[str, str]) -> int:
    return post_form(arena, f"{ORGANIZE_PATH}/{step}", fields, organizer=True).status_code


def open_step(arena: Arena, step: str) -> dict[str, str]:
    return extract_hidden_fields(get_page(arena, f"{ORGANIZE_PATH}/{step}", organizer=True).text)


@pytest.mark.parametrize("step", FORMS)
def test_second_save_needs_confirmation(arena: Arena, step: str) -> None:
    fields, changes = FORMS[step]
    hidden_fields = open_step(arena, step)
    assert save_step(arena, step, fields | changes | hidden_fields) == 303
    file_between = load_competition().file
    response = post_form(arena, f"{ORGANIZE_PATH}/{step}", fields | hidden_fields, organizer=True)
    assert (response.status_code, load_competition().file) == (409, file_between)
    assert translate_problem(SAVED_BY_ANOTHER, "en") in response.text
    assert save_step(arena, step, fields | extract_hidden_fields(response.text)) == 303
    assert load_competition().file != file_between


def test_edits_of_different_steps_and_forms_without_a_version_do_not_conflict(arena: Arena) -> None:
    hidden_fields = {step: open_step(arena, step) for step in FORMS}
    no_versions: dict[str, dict[str, str]] = {step: {} for step in FORMS}
    for versions in (hidden_fields, no_versions):
        assert {save_step(arena, step, FORMS[step][0] | versions[step]) for step in FORMS} == {303}


def test_changing_the_title_keeps_an_end_that_was_moved(arena: Arena) -> None:
    hidden_fields = open_step(arena, "basics")
    moved_fields = BASIC_FIELDS | {"reidentification_end": "2031-03-08T09:00"}
    assert save_step(arena, "basics", moved_fields) == 303
    assert save_step(arena, "basics", BASIC_FIELDS | {"title_en": "Typed"} | hidden_fields) == 409
    assert "2031-03-08" in load_competition().file
