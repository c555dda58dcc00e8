"""The editor of the competition file: comparison, saving, upload and download."""

import re

import pytest

from anoncup.competition.drafts import create_draft
from app.core.locale.language import LANGUAGES
from tests.support.arena import Arena, build_competition_toml
from tests.support.contest import load_competition
from tests.support.page_requests import assert_refused, extract_text, get_page, post_form
from tests.support.setup_pages import ORGANIZE_PATH

pytestmark = pytest.mark.full


def test_changes_are_compared_before_saving(arena: Arena) -> None:
    path, file_before = f"{ORGANIZE_PATH}/file", load_competition().file
    changed_file = file_before.replace("threshold = 0.2", "threshold = 0.25") + "[limits]\nfile_mb = 9\n"
    response = post_form(
        arena, path, {"text": changed_file.replace("\n", "\r\n"), "do": "compare"}, organizer=True
    )
    assert response.status_code == 200
    assert "<ins>+ threshold = 0.25</ins>" in response.text
    assert "<del>- threshold = 0.2</del>" in response.text
    assert "Parts of the file that change: excessive anonymization excessive, quotas" in extract_text(
        response
    )
    assert load_competition().file == file_before
    (digest,) = re.findall(r'name="of" value="(\w+)"', response.text)
    save_response = post_form(arena, path, {"text": changed_file, "do": "save", "of": digest}, organizer=True)
    assert save_response.status_code == 303
    assert load_competition().file == changed_file
    stale_response = post_form(arena, path, {"text": file_before, "do": "save", "of": digest}, organizer=True)
    assert stale_response.status_code == 409
    assert "<ins>+ threshold = 0.2</ins>" in stale_response.text


def test_uploaded_file_is_validated(arena: Arena) -> None:
    path, valid_file = f"{ORGANIZE_PATH}/file", build_competition_toml(threshold=0.3)
    response = post_form(
        arena, path, {"do": "compare"}, files={"upload": ("c.toml", valid_file.encode())}, organizer=True
    )
    assert "<ins>+ threshold = 0.3</ins>" in response.text
    invalid_response = post_form(
        arena, path, {"text": "colour = 1\n" + valid_file, "do": "compare"}, organizer=True, language="ja"
    )
    assert invalid_response.status_code == 422
    assert "設定項目 colour は存在しません。" in invalid_response.text
    assert "colour is not a key of the format" not in invalid_response.text
    assert "colour = 1" in invalid_response.text.split("<textarea")[1]
    text = get_page(arena, f"{ORGANIZE_PATH}/competition.toml", organizer=True)
    assert text.text == load_competition().file
    assert "attachment" in text.headers["content-disposition"]


def test_changing_columns_warns_that_the_data_will_be_dropped(arena: Arena) -> None:
    fields = {"text": load_competition().file.replace('"sex", "age"', '"sex", "years"'), "do": "compare"}
    response = post_form(arena, f"{ORGANIZE_PATH}/file", fields, organizer=True)
    assert "saving deletes the data" in response.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_preview_shows_the_rules_page_of_the_typed_text(arena: Arena, language: str) -> None:
    path, file_before = f"{ORGANIZE_PATH}/file/preview", load_competition().file
    text = file_before.replace("threshold = 0.2", "threshold = 0.375").replace("Small cup", "Bigger cup")
    response = post_form(arena, path, {"text": text}, organizer=True, language=language)
    assert response.status_code == 200
    assert "0.375" in extract_text(response)
    assert "Bigger cup" in response.text or language != "en"
    assert load_competition().file == file_before
    for invalid_text, code in ((text + "colour = 1\n", 422), ("\x00", 422), ("", 422)):
        assert post_form(arena, path, {"text": invalid_text}, organizer=True).status_code == code
    other_track = create_draft("2016").replace('slug = "draft"', 'slug = "small"')
    assert_refused(post_form(arena, path, {"text": other_track}, organizer=True), 409, "track")
