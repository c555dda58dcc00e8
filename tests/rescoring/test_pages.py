"""Rescore by the organizers' pages: new rules are tried on all submissions, then applied or cancelled."""

import re
from html import unescape

import pytest

from tests.support.arena import Arena
from tests.support.organizer_pages import ORGANIZE_PATH, get_page_text, submit_release
from tests.support.page_requests import assert_refused, post_form, send_form
from tests.support.translations import translate
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


def write_file(arena: Arena, *changes: tuple[str, str]) -> str:
    """Return the file as the page shows it, with these changes."""
    html = get_page_text(arena, "/rescores")
    (file,) = re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", html, re.DOTALL)
    for old, new in changes:
        assert old in file
        file = file.replace(old, new)
    return unescape(file)


def start_rescore(arena: Arena, file: str) -> str:
    response = post_form(arena, f"{ORGANIZE_PATH}/rescores", {"file": file}, organizer=True)
    assert response.status_code == 303, response.text
    return response.headers["location"].partition("?")[0].removeprefix(ORGANIZE_PATH)


def test_new_rules_are_tried_compared_and_applied(arena: Arena) -> None:
    red, _ = submit_release(arena, "red"), submit_release(arena, "blue", seed=2)
    score_everything()
    rescore_path = start_rescore(arena, write_file(arena, ("threshold = 0.2", "threshold = 0.0001")))
    waiting_html = get_page_text(arena, rescore_path)
    assert translate("This page loads itself again until everything is scored.") in waiting_html
    assert "data-refresh" in waiting_html
    assert f'action="{ORGANIZE_PATH}{rescore_path}/apply"' not in waiting_html
    early_response = post_form(arena, f"{ORGANIZE_PATH}{rescore_path}/apply", organizer=True)
    assert_refused(early_response, 409, "The set is still being scored.")
    score_everything()
    html = get_page_text(arena, rescore_path)
    assert "data-refresh" not in html
    assert f'href="/submissions/{red}"' in html
    assert html.count(translate("state_REJECTED")) >= 2
    assert "<code>excessive</code>" in html
    assert arena.get_submission(red, "red")["status"] == "SCORED"  # nothing has changed yet
    send_form(arena, f"{ORGANIZE_PATH}{rescore_path}/apply", organizer=True)
    assert arena.get_submission(red, "red")["status"] == "REJECTED"
    assert translate("Applied") in get_page_text(arena, "/rescores")
    assert '"SCORED"' in get_page_text(arena, "/audit")  # with the change of each submission
    late_response = post_form(arena, f"{ORGANIZE_PATH}{rescore_path}/cancel", organizer=True)
    assert_refused(late_response, 409, "The set is applied or cancelled already.")
