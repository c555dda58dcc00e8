"""The submissions page of a team without scripts: upload form, errors, finals and quotas."""

import re
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.competition.parser import parse_competition
from anoncup.plugins import TRACKS
from anoncup.tracks.files import allow_any_row_count
from anoncup.tracks.linkage.permutation import write_secret
from app.db.models import Submission
from app.locale.language import LANGUAGES
from tests.support.accounts import count_rows
from tests.support.arena import Arena, build_noisy_release
from tests.support.contest import load_competition
from tests.support.database_rows import load_team_id
from tests.support.page_requests import SAME_ORIGIN, extract_words, get_page, post_form, send_form
from tests.support.translations import translate, translate_message
from tests.support.uploads import INVALID_UPLOADS, VALID_SECRET, VALID_TABLE, edit_rows, score_everything

pytestmark = pytest.mark.full

SUBMISSIONS_PAGE = "/competitions/small/submissions"
NOTHING_SUBMITTED = translate(
    "Your team has not submitted yet. Choose your files above and send them; a release is scored in a few moments."
)
SESSION_ENDED = translate(
    "Your session had ended, so nothing was sent. Sign in and send the form again; you have to choose any files again."
)
BARRED = translate("It cannot send anything or choose finals, and it is not on any board.")


def find_form_action(html: str) -> str:
    (action,) = re.findall(r'<form id="upload"[^>]* action="([^"]*)"', html)
    return str(action).replace("&amp;", "&")


def build_files(table: bytes = VALID_TABLE, secret: bytes = VALID_SECRET) -> dict[str, tuple[str, bytes]]:
    return {"anonymized": ("a.csv", table), "secret": ("s.csv", secret)}


def post_upload(arena: Arena, action: str = SUBMISSIONS_PAGE, **more: Any) -> Response:
    return post_form(arena, action, {"comment": "first try"}, files=build_files(**more), team="red")


def require_40_rows(_sizes: object, _rules: object) -> tuple[int, int]:
    return 40, 40


def test_form_states_row_limits_of_other_tracks(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    (file,) = TRACKS["microdata"].release_files
    for rows, expected in (
        (file.row_limits, "CSV, 1 to 40 rows"),
        (require_40_rows, "CSV, 40 rows"),
        (allow_any_row_count, "CSV, any number of rows"),
    ):
        changed_track = replace(
            TRACKS["microdata"], release_files=(replace(file, row_limits=rows, rows_are_individuals=False),)
        )
        monkeypatch.setitem(TRACKS, "microdata", changed_track)
        assert expected in get_page(arena, SUBMISSIONS_PAGE, team="red").text


def test_form_shows_the_expected_columns_and_the_receipt(arena: Arena) -> None:
    html = get_page(arena, SUBMISSIONS_PAGE, team="red").text
    for column in arena.table.columns:
        assert f'<th scope="row">{column}</th>' in html
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


def test_control_characters_in_a_file_are_made_visible(arena: Arena) -> None:
    html = post_upload(arena, table=b"sex,age,income,rent\nf,1\x00,1,1\n").text
    assert ">1␀<" in html
    assert "\0" not in html


EXCEL = "this is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file"
LABELLED = (
    "the first column holds row labels: write the file without them; in pandas use to_csv(…, index=False)"
)
FROM_ZERO = b"original_row\n" + b"".join(b"%d\n" % row for row in range(40))
QUOTED_FROM_ZERO = b'"original_row"\n' + b"".join(b'"%d"\n' % row for row in range(40))
FROM_ZERO_HINT = "Rows seem to be counted from 0; they count from 1, so add 1 to each number."
COMMON_MISTAKES = (
    ("anonymized", b",sex,age,income,rent\n0,f,20,1,1\n", LABELLED),
    ("anonymized", b"PK\x03\x04\x14\x00", EXCEL),
    ("anonymized", VALID_SECRET, "this looks like the secret: were the files swapped?"),
    ("secret", VALID_TABLE, "this looks like the release: were the files swapped?"),
    ("secret", FROM_ZERO, FROM_ZERO_HINT),
    ("secret", QUOTED_FROM_ZERO, FROM_ZERO_HINT),
    ("secret", b"\xd0\xcf\x11\xe0\xa1\xb1", EXCEL),
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_common_mistakes_are_recognized(arena: Arena, language: str) -> None:
    for file, content, mistake in COMMON_MISTAKES:
        _, problem_html = post_changed_file(arena, file, content, language)
        assert translate_message(mistake, language) in problem_html


def test_refused_cell_is_shown_with_its_line(arena: Arena) -> None:
    table = b'sex,age,income,rent\n"a\nb",20,<i>,1\n'
    html = post_upload(arena, table=table).text
    assert "</code>, line 2 of the file, counting the header line)" in html
    html = post_upload(arena, table=table.replace(b"a\nb", b"a")).text
    assert '(<code dir="auto">&lt;i&gt;</code>, ' in html


def test_missing_and_unknown_columns_are_named(arena: Arena) -> None:
    table = b"sex,years,rent,<b>\nf,20,1,x\n"
    html = unescape(post_upload(arena, table=table).text)
    assert translate("Missing columns: {names}.", names="age, income") in html
    assert translate("Not among the columns: {names}.", names="years, <b>") in html


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


def test_form_without_files_lists_the_missing_ones(arena: Arena) -> None:
    response = post_form(
        arena, SUBMISSIONS_PAGE, files={"anonymized": ("", b""), "secret": ("", b"")}, team="red"
    )
    assert response.status_code == 422
    assert response.text.count("No file was chosen, or it is empty.") == 2
    assert post_form(arena, SUBMISSIONS_PAGE, {"comment": "no form of ours"}, team="red").status_code == 422


def test_file_above_the_limit_gets_an_error_page(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml="[limits]\nfile_mb = 1")
    response = post_upload(arena, table=b"x" * (2**20 + 1))
    assert response.status_code == 413
    assert "anonymized is larger than 1 MB." in response.text


def test_exhausted_quota_shows_its_reset_time(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml="[limits]\nvalid_per_day = 1")
    assert post_upload(arena).status_code == 303
    response = post_upload(arena, SUBMISSIONS_PAGE + "?key=another")
    assert (response.status_code, "retry-after" in response.headers) == (429, True)
    assert "Your team has reached its limit of 1 (valid submissions a day), until " in response.text
    assert translate("Used up") in response.text
    assert "1 / 1" in response.text
    assert translate("resets") in response.text


@pytest.mark.parametrize(("opens", "closes", "state"), [(1, 2, "draft"), (-2, -1, "settling")])
def test_no_form_is_shown_outside_the_phase(client: TestClient, opens: int, closes: int, state: str) -> None:
    arena = Arena.create(client, opens=opens, closes=closes)
    html = get_page(arena, SUBMISSIONS_PAGE, team="red").text
    assert '<form id="upload"' not in html
    assert translate(f"upload_{state}") in html
    assert translate("Your team has not submitted.") in html
    assert NOTHING_SUBMITTED not in html
    assert post_upload(arena).status_code == 409
    (phase,) = parse_competition(load_competition().file).phases
    for path, label in ((SUBMISSIONS_PAGE, "Start:"), ("/competitions/small", "turn_anonymization_start")):
        content = get_page(arena, path, team="red").text.partition('<main id="main">')[2]
        start_text = f'{translate(label)} <time datetime="{phase.start.isoformat()}"'
        assert (start_text in content) is (state == "draft")
        assert state != "draft" or 'href="/competitions/small/rules"' in content


def test_paused_phase_is_not_shown_as_closed(arena: Arena) -> None:
    arena.submit("red")
    arena.post("/competitions/small/phases/anonymization/pause")
    html = get_page(arena, SUBMISSIONS_PAGE, team="red").text
    for text in ("upload_paused", "finals_paused"):
        assert translate(text) in html
    assert translate("finals_over") not in html


def test_disqualified_team_is_told_on_every_page(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    final_form = f'action="/submissions/{identifier}/final"'
    assert final_form in get_page(arena, SUBMISSIONS_PAGE, team="red").text
    disqualify(arena, f"/competitions/small/teams/{load_team_id('red')}/disqualify")
    competition = "/competitions/small"
    for path in (SUBMISSIONS_PAGE, competition, f"{competition}/rules", f"/submissions/{identifier}"):
        html = get_page(arena, path, team="red").text
        assert BARRED in html
        assert translate("What to do next") not in html
        assert final_form not in html
    assert BARRED not in get_page(arena, competition, team="blue").text
    assert translate("upload_disqualified") in get_page(arena, SUBMISSIONS_PAGE, team="red").text
    response = post_form(arena, f"/submissions/{identifier}/final", {"final": "true"}, team="red")
    assert response.status_code == 403
    assert not arena.get_submission(identifier, "red")["final"]


def test_rejected_submission_has_no_score_in_the_list(arena: Arena) -> None:
    release = edit_rows(VALID_TABLE, lambda rows: rows[:11]), write_secret(np.arange(10)[::-1])
    identifier = arena.submit("red", anonymized=release[0], secret=release[1]).json()["id"]
    score_everything()
    result = arena.get_submission(identifier, "red")["result"]
    html = get_page(arena, SUBMISSIONS_PAGE, team="red").text
    (line,) = re.findall(r'<li class="entry.*?</li>', html, re.DOTALL)
    assert translate("state_REJECTED") in line
    scores = re.findall(r'<dd class="number[^>]*>([^<]*)</dd>', line)
    assert scores == ["–", f"{result['utility']:.4f}", f"{result['security']:.4f}"]
    assert f"{result['overall']:.4f}" not in html.partition('id="timeline"')[2].partition("</figure>")[0]


def test_disqualified_submission_cannot_be_final(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    assert 'id="timeline"' in get_page(arena, SUBMISSIONS_PAGE, team="red").text
    disqualify(arena, f"/submissions/{identifier}/disqualify")
    assert 'id="timeline"' not in get_page(arena, SUBMISSIONS_PAGE, team="red").text
    for path in (f"/submissions/{identifier}/row", f"/submissions/{identifier}"):
        html = get_page(arena, path, team="red").text
        assert translate("state_DISQUALIFIED") in html
        assert translate("state_SCORED") not in html
        assert f'action="/submissions/{identifier}/final"' not in html
    assert translate("It is not on any board, and any target made of it is withdrawn.") in html


def disqualify(arena: Arena, path: str) -> None:
    assert arena.post(path).status_code == 200


def test_finals_can_be_marked_and_unmarked(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml="[ranking]\nfinals = 1")
    first, second = (arena.submit("red", seed=seed).json()["id"] for seed in (1, 2))
    score_everything()
    assert "No final is chosen. Unless you choose one" in get_page(arena, SUBMISSIONS_PAGE, team="red").text
    response = post_form(arena, f"/submissions/{first}/final", {"final": "true"}, team="red")
    assert urlsplit(response.headers["location"]).path == SUBMISSIONS_PAGE
    assert parse_qs(urlsplit(response.headers["location"]).query)["done"] == ["final_marked"]
    assert "Finals chosen: 1 of 1." in get_page(arena, SUBMISSIONS_PAGE, team="red").text
    refusal = post_form(arena, f"/submissions/{second}/final", {"final": "true"}, team="red")
    assert refusal.status_code == 409
    assert "All finals (1) are marked already; unmark one first." in refusal.text
    post_form(arena, f"/submissions/{first}/final", {"final": "false"}, team="red")
    assert not arena.get_submission(first, "red")["final"]


def test_waiting_submission_can_be_cancelled_once(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    path = f"/submissions/{identifier}/cancel"
    assert f'action="{path}"' in get_page(arena, SUBMISSIONS_PAGE, team="red").text
    send_form(arena, path, team="red")
    assert arena.get_submission(identifier, "red")["status"] == "CANCELLED"
    assert post_form(arena, path, team="red").status_code == 409


def test_single_row_equals_the_row_in_the_list(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    waiting_html = get_page(arena, f"/submissions/{identifier}/row", team="red").text
    assert f'hx-get="/submissions/{identifier}/row" hx-trigger="every 1s"' in waiting_html
    assert waiting_html.strip() in get_page(arena, SUBMISSIONS_PAGE, team="red").text
    score_everything()
    assert "hx-get" not in get_page(arena, f"/submissions/{identifier}/row", team="red").text


def test_list_is_paginated_and_only_of_the_own_team(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.web.team.submissions.PAGE_SIZE", 2)
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
