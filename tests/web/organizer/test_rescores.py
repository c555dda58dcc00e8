"""Rescore by the organizers' pages: new rules are tried on all submissions, then applied or cancelled."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient

from tests.support.arena import Arena, build_competition_toml
from tests.support.disqualification_pages import ORGANIZE_PATH, submit_release
from tests.support.organizer_pages import get_page_text
from tests.support.page_requests import assert_refused, get_page, post_form, send_form
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
    rescore_path = start_rescore(
        arena, build_fields("0.0001", mean_mae="3", cross_count="1", information_loss="2")
    )
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
    assert translate("state_SCORED") in get_page_text(
        arena, "/audit"
    )  # the log lists the change of each submission
    late_response = post_form(arena, f"{ORGANIZE_PATH}{rescore_path}/cancel", organizer=True)
    assert_refused(late_response, 409, "The set is applied or cancelled already.")


def test_applied_rescore_suggests_an_announcement(arena: Arena) -> None:
    submit_release(arena, "red")
    score_everything()
    fields = {"by": "rules", "threshold": "0.31", "weight_mean_mae": "3"}
    location = post_form(arena, f"{ORGANIZE_PATH}/rescores", fields, organizer=True).headers["location"]
    assert translate("done_rescore_begun") in get_page(arena, location, organizer=True).text
    score_everything()
    ready_html = unescape(get_page(arena, location, organizer=True).text)
    assert translate("done_rescore_begun") not in ready_html
    assert translate("Ranks by the new rules come once everything is scored.") not in ready_html
    path = location.partition("?")[0]
    assert f'<form method="post" action="{path}/apply">' in ready_html
    post_form(arena, path + "/apply", organizer=True)
    (draft_path,) = re.findall(
        r'href="/competitions/small/organize(/announcements\?rescore=[^"]+)"',
        get_page_text(arena, path[len(ORGANIZE_PATH) :]),
    )
    for language, text_language in (("ja", "en"), ("en", "ja")):  # the draft is in both languages
        html = get_page_text(arena, draft_path, language=language)
        assert (
            translate(
                "- {name}: {before} → {after}",
                text_language,
                name=translate("Threshold", text_language),
                before="0.2",
                after="0.31",
            )
            in html
        )
        name = translate("measure_mean_mae", text_language)
        assert (
            translate("- {name}: {before} → {after}", text_language, name=name, before="1", after="3") in html
        )
    assert translate(
        "The rules have changed, and all submissions have been scored again:"
    ) not in get_page_text(arena, "/announcements?rescore=nonsense")


def test_rescore_can_be_started_from_a_file_and_cancelled(arena: Arena) -> None:
    submit_release(arena, "red")
    score_everything()
    (file,) = re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", get_page_text(arena, "/rescores"), re.DOTALL)
    rescore_path = start_rescore(
        arena, {"by": "file", "file": file.replace("threshold = 0.2", "threshold = 0.3")}
    )
    score_everything()
    assert translate("No submission is accepted or rejected differently.") in get_page_text(
        arena, rescore_path
    )
    assert translate("There is an open set: apply or cancel it before you begin another.") in get_page_text(
        arena, "/rescores"
    )
    second_response = post_form(arena, f"{ORGANIZE_PATH}/rescores", build_fields(), organizer=True)
    assert_refused(second_response, 409, "There is an open re-score set: apply or cancel it first.")
    send_form(arena, f"{ORGANIZE_PATH}{rescore_path}/cancel", organizer=True)
    assert translate("The set was cancelled; nothing changed.") in get_page_text(arena, rescore_path)


def test_invalid_rules_are_refused_and_kept_in_the_form(arena: Arena) -> None:
    for fields in (
        build_fields("much"),
        build_fields("-1"),
        build_fields(mean_mae="nan"),
        build_fields(magic="1"),
        build_fields(k_min="1"),
    ):
        response = post_form(arena, f"{ORGANIZE_PATH}/rescores", fields, organizer=True)
        assert response.status_code == 422, fields
        assert 'role="alert"' in response.text
        assert f'value="{fields["threshold"]}"' in response.text
    invalid_response = post_form(
        arena, f"{ORGANIZE_PATH}/rescores", {"by": "file", "file": "slug = <b>"}, organizer=True
    )
    assert invalid_response.status_code == 422
    assert "slug = &lt;b&gt;" in invalid_response.text
    other_columns = build_competition_toml().replace('"income", "rent"', '"income"')
    columns_response = post_form(
        arena, f"{ORGANIZE_PATH}/rescores", {"by": "file", "file": other_columns}, organizer=True
    )
    assert columns_response.status_code in {409, 422}


def test_rescore_of_another_competition_is_not_found(client: TestClient, arena: Arena) -> None:
    other_arena = Arena.create(client, slug="elsewhere")
    response = other_arena.post(
        "/competitions/elsewhere/rescores", content=build_competition_toml("elsewhere")
    )
    path = f"{ORGANIZE_PATH}/rescores/{response.json()['id']}"
    assert get_page(arena, path, organizer=True).status_code == 404
    assert post_form(arena, path + "/cancel", organizer=True).status_code == 404
