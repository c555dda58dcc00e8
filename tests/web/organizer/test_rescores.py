"""Rescore by the organizers' pages: new rules are tried on all submissions, then applied or cancelled."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, update

from anoncup.messages import CodedMessage, Message
from app.db.models import Evaluation, Rejudgement
from app.locale.language import LANGUAGES
from tests.support.arena import Arena, build_competition_toml
from tests.support.contest import Contest, build_outcome
from tests.support.database_rows import execute
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


def test_applied_rescore_suggests_an_announcement(arena: Arena) -> None:
    submit_release(arena, "red")
    score_everything()
    fields, begun = build_fields("0.31", mean_mae="3"), translate("done_rescore_begun")
    location = send_form(arena, f"{ORGANIZE_PATH}/rescores", fields, organizer=True).headers["location"]
    assert begun in get_page(arena, location, organizer=True).text
    score_everything()
    ready_html = unescape(get_page(arena, location, organizer=True).text)
    assert begun not in ready_html
    assert translate("Ranks and scores by the new rules come once everything is scored.") not in ready_html
    path = location.partition("?")[0]
    assert f'<form method="post" action="{path}/apply">' in ready_html
    send_form(arena, path + "/apply", organizer=True)
    html = get_page_text(arena, path[len(ORGANIZE_PATH) :])
    (draft_path,) = re.findall(r'href="/competitions/small/organize(/announcements\?rescore=[^"]+)"', html)
    html = get_page_text(arena, draft_path)
    for language in LANGUAGES:  # the draft is in both
        for label, before, after in (("Threshold", "0.2", "0.31"), ("measure_mean_mae", "1", "3")):
            values = {"name": translate(label, language), "before": before, "after": after}
            assert translate("- {name}: {before} → {after}", language, **values) in html
    introduction = translate("The rules have changed, and all submissions have been scored again:")
    assert introduction in html
    assert introduction not in get_page_text(arena, "/announcements?rescore=nonsense")


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


def test_invalid_rules_are_refused_and_kept_in_the_form(arena: Arena) -> None:
    path, weights = f"{ORGANIZE_PATH}/rescores", ({"mean_mae": "nan"}, {"magic": "1"}, {"k_min": "1"})
    forms = [build_fields("much"), build_fields("-1"), *(build_fields(**weight) for weight in weights)]
    for fields in forms:
        response = post_form(arena, path, fields, organizer=True)
        assert response.status_code == 422, fields
        assert 'role="alert"' in response.text
        assert f'value="{fields["threshold"]}"' in response.text
    invalid = post_form(arena, path, {"by": "file", "file": "slug = <b>"}, organizer=True)
    assert (invalid.status_code, "slug = &lt;b&gt;" in invalid.text) == (422, True)
    other_columns = build_competition_toml().replace('"income", "rent"', '"income"')
    refusal = post_form(arena, path, {"by": "file", "file": other_columns}, organizer=True)
    assert refusal.status_code in {409, 422}


def test_rescore_of_another_competition_is_not_found(client: TestClient, arena: Arena) -> None:
    other_arena, file = Arena.create(client, slug="elsewhere"), build_competition_toml("elsewhere")
    response = other_arena.post("/competitions/elsewhere/rescores", content=file)
    path = f"{ORGANIZE_PATH}/rescores/{response.json()['id']}"
    assert get_page(arena, path, organizer=True).status_code == 404
    assert post_form(arena, path + "/cancel", organizer=True).status_code == 404


def test_page_and_announcement_name_the_guesses_that_are_judged_again(client: TestClient) -> None:
    contest = Contest.create(client)
    contest.arena.get_team_token("blue")
    (red,) = contest.publish_targets("red")
    contest.submit_correct_guess("blue", red, 4)
    arena = contest.arena
    assert translate("Guesses that would be scored: {n}.", n=1) in get_page_text(arena, "/rescores")
    rescore_path = start_rescore(arena, build_fields("0.31"))
    progress = translate("Guesses scored again: {finished} of {total}", finished=0, total=1)
    assert progress in get_page_text(arena, rescore_path)
    score_everything()
    execute(update(Rejudgement).values(state="SCORED", correct=8, risk=0.2, outcome=build_outcome(8)))
    failure = CodedMessage("package_failed", Message("enter a whole number"))
    for model in (Rejudgement, Evaluation):
        execute(update(model).values(traceback="KeyError", failure=failure, finished_at=func.now()))
    health_html, target = get_page_text(arena, "/health"), contest.find_target(red)
    for sender, address in (
        (f"<b>blue</b> → {target['name']} ", f"/targets/{target['id']}"),
        (f"<b>red</b> {translate('No. {n}', n=1)} ", f"{ORGANIZE_PATH}/submissions/{red}"),
    ):
        assert sender in health_html
        assert f'<a href="{address}">' in health_html
    html = get_page_text(arena, rescore_path)
    assert re.search(r'<td class="number">0\.10*</td><td class="number">0\.20*</td>', html)
    assert "1 guess gets another result." in html
    send_form(arena, f"{ORGANIZE_PATH}{rescore_path}/apply", organizer=True)
    html = get_page_text(arena, f"/announcements?rescore={rescore_path.rpartition('/')[2]}")
    introduction = "The rules have changed; all submissions and guesses have been scored again:"
    for language in LANGUAGES:
        assert translate(introduction, language) in html
