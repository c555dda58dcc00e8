"""Rescore by the organizers' pages: new rules are tried on all submissions, then applied or cancelled."""

import re

import pytest

from tests.support.arena import Arena
from tests.support.disqualification_pages import ORGANIZE_PATH, submit_release
from tests.support.organizer_pages import get_page_text
from tests.support.page_requests import assert_refused, post_form, send_form
from tests.support.translations import translate
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


def build_fields(threshold: str = "0.2", **weights: str) -> dict[str, str]:
    return {"by": "rules", "threshold": threshold} | {f"weight_{name}": w for name, w in weights.items()}


def start_rescore(arena: Arena, fields: dict[str, str]) -> str:
    response = post_form(arena, f"{ORGANIZE_PATH}/rescores", fields, organizer=True)
    assert response.status_code == 303, response.text
    return response.headers["location"].partition("?")[0].removeprefix(ORGANIZE_PATH)


def test_new_rules_are_tried_compared_and_applied(arena: Arena) -> None:
    red, _ = submit_release(arena, "red"), submit_release(arena, "blue", seed=2)
    score_everything()
    fields = build_fields("0.0001", mean_mae="3", cross_count="1", information_loss="2")
    rescore_path = start_rescore(arena, fields)
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
    assert "0.0001" in html.replace("1.0000e-04", "0.0001")
    assert arena.get_submission(red, "red")["status"] == "SCORED"  # nothing has changed yet
    send_form(arena, f"{ORGANIZE_PATH}{rescore_path}/apply", organizer=True)
    assert arena.get_submission(red, "red")["status"] == "REJECTED"
    assert translate("Applied") in get_page_text(arena, "/rescores")
    assert '"SCORED"' in get_page_text(arena, "/audit")  # with the change of each submission
    late_response = post_form(arena, f"{ORGANIZE_PATH}{rescore_path}/cancel", organizer=True)
    assert_refused(late_response, 409, "The set is applied or cancelled already.")


def test_rescore_can_be_started_from_a_file_and_cancelled(arena: Arena) -> None:
    submit_release(arena, "red")
    score_everything()
    (file,) = re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", get_page_text(arena, "/rescores"), re.DOTALL)
    fields = {"by": "file", "file": file.replace("threshold = 0.2", "threshold = 0.3")}
    rescore_path = start_rescore(arena, fields)
    score_everything()
    same = translate("No submission is accepted or rejected differently.")
    assert same in get_page_text(arena, rescore_path)
    one_is_open = translate("There is an open set: apply or cancel it before you begin another.")
    assert one_is_open in get_page_text(arena, "/rescores")
    second_response = post_form(arena, f"{ORGANIZE_PATH}/rescores", build_fields(), organizer=True)
    assert_refused(second_response, 409, "There is an open re-score set: apply or cancel it first.")
    send_form(arena, f"{ORGANIZE_PATH}{rescore_path}/cancel", organizer=True)
    assert translate("The set was cancelled; nothing changed.") in get_page_text(arena, rescore_path)
