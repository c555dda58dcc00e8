"""The submissions page of a team without scripts: upload form, errors, finals and quotas."""

import re
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from app.core.db.models import Submission
from tests.support.accounts import count_rows
from tests.support.arena import Arena, build_noisy_release
from tests.support.page_requests import SAME_ORIGIN, extract_words, get_page, post_form
from tests.support.translations import translate
from tests.support.uploads import INVALID_UPLOADS, VALID_SECRET, VALID_TABLE, score_everything

pytestmark = pytest.mark.full

SUBMISSIONS_PAGE = "/competitions/small/submissions"
NOTHING_SUBMITTED = translate(
    "Your team has not submitted yet. Choose your files above and send them; a release is scored in a few moments."
)
SESSION_ENDED = translate(
    "Your session had ended, so nothing was sent. Sign in and send the form again; you have to choose any files again."
)


def find_form_action(html: str) -> str:
    (action,) = re.findall(r'<form id="upload"[^>]* action="([^"]*)"', html)
    return str(action).replace("&amp;", "&")


def build_files(table: bytes = VALID_TABLE, secret: bytes = VALID_SECRET) -> dict[str, tuple[str, bytes]]:
    return {"anonymized": ("a.csv", table), "secret": ("s.csv", secret)}


def post_upload(arena: Arena, action: str = SUBMISSIONS_PAGE, **more: Any) -> Response:
    return post_form(arena, action, {"comment": "first try"}, files=build_files(**more), team="red")


def test_form_shows_the_limits_and_the_receipt(arena: Arena) -> None:
    html = get_page(arena, SUBMISSIONS_PAGE, team="red").text
    assert "20 to 40 rows" in html  # releases of fewer than half of the rows are rejected
    assert NOTHING_SUBMITTED in html
    response = post_upload(arena, find_form_action(html))
    assert response.status_code == 303
    receipt = get_page(arena, response.headers["location"], team="red").text
    (submission,) = arena.get("/competitions/small/submissions", team="red").json()
    digest = submission["sha256"]["anonymized.csv"]
    for text in (translate("done_received"), submission["id"], submission["commitment"], digest, "first try"):
        assert text in receipt


def test_form_sent_twice_creates_one_submission(arena: Arena) -> None:
    action = find_form_action(get_page(arena, SUBMISSIONS_PAGE, team="red").text)
    first, second = post_upload(arena, action), post_upload(arena, action)
    assert first.headers["location"] == second.headers["location"]
    assert count_rows(Submission) == 1
    other_release = build_noisy_release(9, arena.table)
    reused_response = post_upload(arena, action, table=other_release[0], secret=other_release[1])
    assert reused_response.status_code == 422
    assert translate("problem_idempotency_key_reused") in reused_response.text
    new_action = find_form_action(reused_response.text)
    assert new_action != action  # with a new key it is accepted
    assert post_upload(arena, new_action, table=other_release[0], secret=other_release[1]).status_code == 303


def post_changed_file(arena: Arena, file: str, content: bytes, language: str = "en") -> tuple[Response, str]:
    """Send a release with one file replaced. Return the response and its part about that file."""
    files, fields = build_files() | {file: ("x.csv", content)}, {"comment": "kept <b>"}
    response = post_form(arena, SUBMISSIONS_PAGE, fields, files=files, team="red", language=language)
    assert response.status_code == 422
    pattern = rf'<div class="problems" id="{file}-problems".*?</div>'
    (problem_html,) = re.findall(pattern, response.text, re.DOTALL)
    return response, unescape(problem_html)


def test_malformed_file_is_shown_with_its_errors(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml="[limits]\nattempts_per_day = 100\nattempts_total = 100")
    for name, (file, content, code, row, _) in INVALID_UPLOADS.items():
        response, problem_html = post_changed_file(arena, file, content)
        assert (code if content else "missing_file") in problem_html, name
        assert row is None or not content or f" {row}" in problem_html, name
        assert 'value="kept &lt;b&gt;"' in response.text
    assert count_rows(Submission) == 0


def test_refused_cell_is_shown_with_its_line(arena: Arena) -> None:
    table = b'sex,age,income,rent\n"a\nb",20,<i>,1\n'
    html = post_upload(arena, table=table).text
    assert "</code>, line 2 of the file, counting the header line)" in html
    html = post_upload(arena, table=table.replace(b"a\nb", b"a")).text
    assert '(<code dir="auto">&lt;i&gt;</code>, ' in html


def test_form_sent_after_the_session_ended_is_reported_as_lost(arena: Arena) -> None:
    headers = SAME_ORIGIN | {"Referer": f"http://localhost{SUBMISSIONS_PAGE}?cursor=x"}
    response = arena.client.post(
        SUBMISSIONS_PAGE, files=build_files(), headers=headers, follow_redirects=False
    )
    assert response.status_code == 303
    html = get_page(arena, response.headers["location"]).text
    assert SESSION_ENDED in html
    assert f'name="to" value="{SUBMISSIONS_PAGE}"' in html
    assert SESSION_ENDED not in get_page(arena, "/sign-in").text


def test_state_tag_changes_with_list_quota_and_phase(arena: Arena) -> None:
    def read_tag() -> str:
        value: str = get_page(arena, SUBMISSIONS_PAGE + "/state", team="red").text
        assert f'data-tag="{value}"' in get_page(arena, SUBMISSIONS_PAGE, team="red").text
        return value

    tags = [read_tag()]
    assert read_tag() == tags[0]
    identifier = arena.submit("red").json()["id"]
    tags.append(read_tag())
    score_everything()
    tags.append(read_tag())
    post_form(arena, f"/submissions/{identifier}/final", {"final": "true"}, team="red")
    tags.append(read_tag())
    post_upload(arena, table=b"malformed")  # counts as an attempt
    tags.append(read_tag())
    disqualify(arena, f"/submissions/{identifier}/disqualify")
    tags.append(read_tag())
    arena.submit("blue")
    assert read_tag() == tags[-1]  # submissions of other teams do not change it
    arena.post("/competitions/small/phases/anonymization/pause")
    tags.append(read_tag())
    assert len(set(tags)) == len(tags)


def disqualify(arena: Arena, path: str) -> None:
    assert arena.post(path).status_code == 200


def test_single_row_equals_the_row_in_the_list(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    waiting_html = get_page(arena, f"/submissions/{identifier}/row", team="red").text
    assert f'hx-get="/submissions/{identifier}/row" hx-trigger="every 1s"' in waiting_html
    assert waiting_html.strip() in get_page(arena, SUBMISSIONS_PAGE, team="red").text
    score_everything()
    assert "hx-get" not in get_page(arena, f"/submissions/{identifier}/row", team="red").text


def test_list_is_paginated_and_only_of_the_own_team(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.submissions.pages.PAGE_SIZE", 2)
    submission_ids = [arena.submit("red", seed=seed).json()["id"] for seed in range(3)]
    html = get_page(arena, SUBMISSIONS_PAGE, team="red").text
    (older_path,) = re.findall(r'href="([^"]*cursor=[^"]*)"', html)
    assert [identifier in html for identifier in submission_ids] == [False, True, True]
    older_html = get_page(arena, older_path, team="red").text
    assert [f'id="s-{identifier}"' in older_html for identifier in submission_ids] == [True, False, False]
    assert get_page(arena, SUBMISSIONS_PAGE + "?cursor=nonsense", team="red").status_code == 422
    rivals_html = get_page(arena, SUBMISSIONS_PAGE, team="blue").text
    assert not any(identifier in rivals_html for identifier in submission_ids)
    assert "red" not in extract_words(rivals_html)
