"""Two organizers edit the publication: the second save is refused until it is confirmed."""

import pytest

from app.setup.publication_pages import SAVED_BY_ANOTHER
from tests.support.arena import Arena
from tests.support.contest import load_competition
from tests.support.organizer_pages import extract_hidden_fields
from tests.support.page_requests import get_page, post_form, send_form
from tests.support.setup_pages import ORGANIZE_PATH, PUBLICATION_FIELDS
from tests.support.translations import translate_problem

pytestmark = pytest.mark.full

PATH = f"{ORGANIZE_PATH}/publication"


def test_second_save_needs_confirmation(arena: Arena) -> None:
    hidden_fields = extract_hidden_fields(get_page(arena, PATH, organizer=True).text)
    send_form(arena, PATH, PUBLICATION_FIELDS | {"finals": "2"} | hidden_fields, organizer=True)
    file_between = load_competition().file
    response = post_form(arena, PATH, PUBLICATION_FIELDS | hidden_fields, organizer=True)
    assert (response.status_code, load_competition().file) == (409, file_between)
    assert translate_problem(SAVED_BY_ANOTHER, "en") in response.text
    send_form(arena, PATH, PUBLICATION_FIELDS | extract_hidden_fields(response.text), organizer=True)
    assert load_competition().file != file_between
