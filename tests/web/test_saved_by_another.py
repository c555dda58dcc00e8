"""Two organizers at the same step: who saves second is told, and replaces nothing unasked."""

import pytest

from app.web.organizer.setup_steps import SAVED_BY_ANOTHER
from tests.support.arena import Arena
from tests.support.organizer_pages import fields_of
from tests.support.setup_pages import BASICS, ORGANIZE, PUBLICATION, stored
from tests.web.reader import page, send
from tests.web.spoken import refused as said_of

pytestmark = pytest.mark.full

RULE = {"approach": "II", "distance": "gower", "rule": "average", "threshold": "0.25"}
FORMS = {
    "basics": (BASICS, {"title_en": "Another"}),
    "measures": ({"weight_mean_mae": "2", "min_rows_kept": "0.5"}, {"weight_mean_mae": "5"}),
    "threshold": (RULE, {"threshold": "0.125"}),
    "publication": (PUBLICATION, {"finals": "2"}),
}


def save(arena: Arena, place: str, fields: dict[str, str]) -> int:
    return send(arena, f"{ORGANIZE}/{place}", fields, organizer=True).status_code


def opened(arena: Arena, place: str) -> dict[str, str]:
    return fields_of(page(arena, f"{ORGANIZE}/{place}", organizer=True).text)


@pytest.mark.parametrize("place", FORMS)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_who_saves_second_is_told_and_replaces_it_only_by_saving_again(
    arena: Arena, place: str, language: str
) -> None:
    fields, other = FORMS[place]
    hidden = opened(arena, place)
    assert save(arena, place, fields | other | hidden) == 303
    between = stored().file
    answer = send(arena, f"{ORGANIZE}/{place}", fields | hidden, organizer=True, language=language)
    assert (answer.status_code, stored().file) == (409, between)
    assert said_of(SAVED_BY_ANOTHER, language) in answer.text
    assert save(arena, place, fields | fields_of(answer.text)) == 303
    assert stored().file != between


def test_two_organizers_at_different_steps_do_not_meet(arena: Arena) -> None:
    hidden = {place: opened(arena, place) for place in FORMS}
    assert [save(arena, place, FORMS[place][0] | hidden[place]) for place in FORMS] == [303] * len(FORMS)


def test_an_end_that_was_moved_meanwhile_is_not_moved_back_by_a_title(arena: Arena) -> None:
    hidden = opened(arena, "basics")
    later = BASICS | {"reidentification_end": "2031-03-08T09:00"}
    assert save(arena, "basics", later) == 303
    assert save(arena, "basics", BASICS | {"title_en": "Typed"} | hidden) == 409
    assert "2031-03-08" in stored().file


def test_a_form_of_an_older_page_that_does_not_say_is_saved(arena: Arena) -> None:
    assert save(arena, "measures", FORMS["measures"][0]) == 303
