"""The home of a team as a browser without scripts meets it: the form, its refusals, finals, quotas."""

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
from anoncup.tracks.files import any_number
from anoncup.tracks.linkage.permutation import secret_csv
from app.config import Settings
from app.db.models import Submission
from app.locale.language import LANGUAGES
from tests.support.arena import Arena, competition_file, noisy_release
from tests.support.contest import competition_row
from tests.support.uploads import BAD_UPLOADS, GOOD_SECRET, GOOD_TABLE, counted, cut, score_everything
from tests.web.reader import SAME_ORIGIN, page, send, words_of
from tests.web.spoken import said, sentence

pytestmark = pytest.mark.full

PATH = "/competitions/small/submissions"


def action_of(shown: str) -> str:
    (found,) = re.findall(r'<form id="upload"[^>]* action="([^"]*)"', shown)
    return str(found).replace("&amp;", "&")


def files_of(table: bytes = GOOD_TABLE, secret: bytes = GOOD_SECRET) -> dict[str, tuple[str, bytes]]:
    return {"anonymized": ("a.csv", table), "secret": ("s.csv", secret)}


def sent(arena: Arena, action: str = PATH, **more: Any) -> Response:
    return send(arena, action, {"comment": "first try"}, files=files_of(**more), team="red")


def test_the_form_says_the_limits_of_rows_that_are_not_the_contests_own(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file,) = TRACKS["microdata"].release
    for rows, expected in ((file.rows, "1 to 40 rows"), (any_number, "any number of rows")):
        other = replace(TRACKS["microdata"], release=(replace(file, rows=rows, individuals=False),))
        monkeypatch.setitem(TRACKS, "microdata", other)
        assert expected in page(arena, PATH, team="red").text


def test_the_form_shows_what_is_expected_and_leads_to_the_receipt(arena: Arena) -> None:
    shown = page(arena, PATH, team="red").text
    for column in arena.table.columns:
        assert f'<th scope="row">{column}</th>' in shown
    assert "20 to 40 rows" in shown  # fewer than half would be rejected
    assert (
        said(
            "Your team has not submitted yet. Choose your files above and send them; a release is scored in a few moments."
        )
        in shown
    )
    answer = sent(arena, action_of(shown))
    assert answer.status_code == 303
    receipt = page(arena, answer.headers["location"], team="red").text
    assert said("done_received") in receipt
    (found,) = arena.get("/competitions/small/submissions", token=arena.team("red")).json()
    for proof in (found["id"], found["commitment"], found["sha256"]["anonymized.csv"], "first try"):
        assert proof in receipt


def test_a_form_that_is_sent_twice_gives_one_submission(arena: Arena) -> None:
    action = action_of(page(arena, PATH, team="red").text)
    first, second = sent(arena, action), sent(arena, action)
    assert first.headers["location"] == second.headers["location"]
    assert counted(Submission) == 1
    other = noisy_release(9, arena.table)
    reused = sent(arena, action, table=other[0], secret=other[1])
    assert reused.status_code == 422
    assert said("problem_idempotency_key_reused") in reused.text
    again = action_of(reused.text)
    assert again != action  # with a key of its own it is taken in
    assert sent(arena, again, table=other[0], secret=other[1]).status_code == 303


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("case", BAD_UPLOADS.values(), ids=BAD_UPLOADS)
def test_a_malformed_file_comes_back_with_what_is_wrong_beside_it(
    arena: Arena, case: tuple[str, bytes, str, int | None, bool], language: str
) -> None:
    file, content, code, row, _ = case
    files = files_of() | {file: ("x.csv", content)}
    answer = send(arena, PATH, {"comment": "kept <b>"}, files=files, team="red", language=language)
    assert answer.status_code == 422
    (box,) = re.findall(rf'<div class="problems" id="{file}-problems".*?</div>', answer.text, re.DOTALL)
    assert (code if content else "missing_file") in box
    if row is not None and content:
        assert {"en": f" {row}", "ja": f"{row} 行目"}[language] in box
    assert 'value="kept &lt;b&gt;"' in answer.text
    assert counted(Submission) == 0


def test_a_control_character_of_a_file_is_drawn(arena: Arena) -> None:
    files = files_of() | {"anonymized": ("x.csv", b"sex,age,income,rent\nf,1\x00,1,1\n")}
    answer = send(arena, PATH, files=files, team="red")
    assert answer.status_code == 422
    assert ">1␀<" in answer.text
    assert "\0" not in answer.text


MISTAKES = {
    "row labels": (
        "anonymized",
        b",sex,age,income,rent\n0,f,20,1,1\n",
        "the first column holds row labels: write the file without them; in pandas use to_csv(…, index=False)",
    ),
    "a spreadsheet": (
        "anonymized",
        b"PK\x03\x04\x14\x00",
        "this is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file",
    ),
    "exchanged": (
        "anonymized",
        GOOD_SECRET,
        "this looks like the secret: were the files swapped?",
    ),
    "the other way round": (
        "secret",
        GOOD_TABLE,
        "this looks like the release: were the files swapped?",
    ),
    "from zero": (
        "secret",
        b"original_row\n" + b"".join(b"%d\n" % row for row in range(40)),
        "Rows seem to be counted from 0; they count from 1, so add 1 to each number.",
    ),
    "a spreadsheet of lines": (
        "secret",
        b"\xd0\xcf\x11\xe0\xa1\xb1",
        "this is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("case", MISTAKES.values(), ids=MISTAKES)
def test_a_common_mistake_is_recognized(arena: Arena, case: tuple[str, bytes, str], language: str) -> None:
    file, content, mistake = case
    files = files_of() | {file: ("x.csv", content)}
    answer = send(arena, PATH, files=files, team="red", language=language)
    (box,) = re.findall(rf'<div class="problems" id="{file}-problems".*?</div>', answer.text, re.DOTALL)
    assert sentence(mistake, language) in unescape(box)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_cell_that_is_refused_is_shown_with_its_line(arena: Arena, language: str) -> None:
    table = b'sex,age,income,rent\n"a\nb",20,<i>,1\n'
    answer = send(arena, PATH, files=files_of(table=table), team="red", language=language)
    line = said("line {line} of the file, counting the header line", language, line=2)
    before, after = said(" ({text})", language).split("{text}")
    assert f"</code>{said(', ', language)}{line}{after}" in answer.text
    whole = files_of(table=table.replace(b"a\nb", b"a"))
    answer = send(arena, PATH, files=whole, team="red", language=language)
    assert f'{before}<code dir="auto">&lt;i&gt;</code>{said(", ", language)}' in answer.text


def test_columns_that_are_missing_or_too_many_are_named(arena: Arena) -> None:
    table = b"sex,years,rent,<b>\nf,20,1,x\n"
    shown = unescape(sent(arena, table=table).text)
    assert said("Missing columns: {names}.", names="age, income") in shown
    assert said("Not among the columns: {names}.", names="years, <b>") in shown


def test_a_form_that_came_after_the_session_is_said_to_be_lost(arena: Arena) -> None:
    headers = SAME_ORIGIN | {"Referer": f"http://localhost{PATH}?cursor=x"}
    answer = arena.client.post(PATH, files=files_of(), headers=headers, follow_redirects=False)
    assert answer.status_code == 303
    shown = page(arena, answer.headers["location"]).text
    assert (
        said(
            "Your session had ended, so nothing was sent. Sign in and send the form again; you have to choose any files again."
        )
        in shown
    )
    assert f'name="to" value="{PATH}"' in shown
    assert (
        said(
            "Your session had ended, so nothing was sent. Sign in and send the form again; you have to choose any files again."
        )
        not in page(arena, "/sign-in").text
    )


def test_the_state_changes_with_the_list_the_quota_and_the_phase(arena: Arena) -> None:
    def tag() -> str:
        found: str = page(arena, PATH + "/state", team="red").text
        assert f'data-tag="{found}"' in page(arena, PATH, team="red").text
        return found

    seen = [tag()]
    assert tag() == seen[0]
    identifier = arena.submit("red").json()["id"]
    seen.append(tag())
    score_everything()
    seen.append(tag())
    send(arena, f"/submissions/{identifier}/final", {"final": "true"}, team="red")
    seen.append(tag())
    sent(arena, table=b"malformed")  # an attempt
    seen.append(tag())
    judge(arena, f"/submissions/{identifier}/disqualify")
    seen.append(tag())
    arena.submit("blue")
    assert tag() == seen[-1]  # what others send is theirs
    arena.post("/competitions/small/phases/anonymization/pause")
    seen.append(tag())
    assert len(set(seen)) == len(seen)


def test_a_form_without_files_names_each_that_is_missing(arena: Arena) -> None:
    answer = send(arena, PATH, files={"anonymized": ("", b""), "secret": ("", b"")}, team="red")
    assert answer.status_code == 422
    assert answer.text.count("No file was chosen, or it is empty.") == 2
    assert send(arena, PATH, {"comment": "no form of ours"}, team="red").status_code == 422


def test_a_file_beyond_the_limit_is_a_page_too(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file(more="[limits]\nfile_mb = 1"))
    answer = sent(arena, table=b"x" * (2**20 + 1))
    assert answer.status_code == 413
    assert "anonymized is larger than 1 MB." in answer.text


def test_a_quota_that_is_used_up_is_said_with_its_reset(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file(more="[limits]\nvalid_per_day = 1"))
    assert sent(arena).status_code == 303
    answer = sent(arena, PATH + "?key=another")
    assert (answer.status_code, "retry-after" in answer.headers) == (429, True)
    assert said("problem_quota_used_up") in answer.text
    assert said("Used up") in answer.text
    assert "1 / 1" in answer.text
    assert said("resets") in answer.text


@pytest.mark.parametrize(
    ("opens", "closes", "why"), [(1, 2, "draft"), (-2, -1, "settling")], ids=["before", "after"]
)
def test_outside_its_phase_there_is_no_form(
    client: TestClient, opens: float, closes: float, why: str
) -> None:
    arena = Arena.opened(client, file=competition_file(opens=opens, closes=closes))
    shown = page(arena, PATH, team="red").text
    assert '<form id="upload"' not in shown
    assert said(f"upload_{why}") in shown
    assert said("Your team has not submitted.") in shown
    assert (
        said(
            "Your team has not submitted yet. Choose your files above and send them; a release is scored in a few moments."
        )
        not in shown
    )
    assert sent(arena).status_code == 409


def test_before_the_start_the_team_is_told_when_and_led_to_the_rules(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file(opens=1, closes=2))
    (start,) = (phase.start for phase in parse_competition(competition_row().file).phases)
    for path, what in ((PATH, "Start:"), ("/competitions/small", "turn_anonymization_start")):
        shown = page(arena, path, team="red").text
        content = shown[shown.index('<main id="main">') :]
        assert f'{said(what)} <time datetime="{start.isoformat()}"' in content
        assert 'href="/competitions/small/rules"' in content


def test_a_pause_is_no_closed_phase(arena: Arena) -> None:
    arena.submit("red")
    arena.post("/competitions/small/phases/anonymization/pause")
    shown = page(arena, PATH, team="red").text
    for text in ("upload_paused", "finals_paused"):
        assert said(text) in shown
    assert said("finals_over") not in shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_disqualified_team_is_told_on_every_page_and_offered_nothing(arena: Arena, language: str) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    offered = page(arena, PATH, team="red").text
    judge(arena, f"/competitions/small/teams/{team_of(arena, 'red')}/disqualify")
    for path in (PATH, "/competitions/small", "/competitions/small/rules", f"/submissions/{identifier}"):
        shown = page(arena, path, team="red", language=language).text
        assert (
            said(
                "It cannot send anything or choose finals, and it is not on any board.",
                language,
            )
            in shown
        )
        assert said("What to do next", language) not in shown
        assert f'action="/submissions/{identifier}/final"' not in shown
    assert f'action="/submissions/{identifier}/final"' in offered
    rivals = page(arena, "/competitions/small", team="blue", language=language).text
    assert (
        said(
            "It cannot send anything or choose finals, and it is not on any board.",
            language,
        )
        not in rivals
    )
    assert said("upload_disqualified") in page(arena, PATH, team="red").text
    assert send(arena, f"/submissions/{identifier}/final", {"final": "true"}, team="red").status_code == 403
    assert not arena.submission(identifier, "red")["final"]


def test_a_rejected_submission_has_no_overall_score_in_the_list(arena: Arena) -> None:
    few = cut(GOOD_TABLE, lambda rows: rows[:11]), secret_csv(np.arange(10)[::-1])
    identifier = arena.submit("red", anonymized=few[0], secret=few[1]).json()["id"]
    score_everything()
    result = arena.submission(identifier, "red")["result"]
    (line,) = re.findall(r'<li class="entry.*?</li>', page(arena, PATH, team="red").text, re.DOTALL)
    assert said("state_REJECTED") in line
    scores = re.findall(r'<dd class="number[^>]*>([^<]*)</dd>', line)
    assert scores == ["–", f"{result['utility']:.4f}", f"{result['security']:.4f}"]
    picture = page(arena, PATH, team="red").text.partition('id="course"')[2].partition("</figure>")[0]
    assert f"{result['overall']:.4f}" not in picture


def test_a_disqualified_submission_is_only_that_and_cannot_be_chosen(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    assert 'id="course"' in page(arena, PATH, team="red").text
    judge(arena, f"/submissions/{identifier}/disqualify")
    assert 'id="course"' not in page(arena, PATH, team="red").text
    for path in (f"/submissions/{identifier}/row", f"/submissions/{identifier}"):
        shown = page(arena, path, team="red").text
        assert said("state_DISQUALIFIED") in shown
        assert said("state_SCORED") not in shown
        assert f'action="/submissions/{identifier}/final"' not in shown
    assert said("It is not on any board, and any target made of it is withdrawn.") in shown


def judge(arena: Arena, path: str) -> None:
    assert arena.post(path).status_code == 200


def team_of(arena: Arena, name: str) -> str:
    found = arena.get("/competitions/small/teams").json()
    return str(next(each["id"] for each in found if each["name"] == name))


def test_finals_are_chosen_and_left_by_forms(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file(more="[ranking]\nfinals = 1"))
    first, second = (arena.submit("red", seed=seed).json()["id"] for seed in (1, 2))
    score_everything()
    assert (
        said(
            "No final is chosen. Unless you choose one, your best accepted submission is taken at the deadline.",
        )
        in page(arena, PATH, team="red").text
    )
    answer = send(arena, f"/submissions/{first}/final", {"final": "true"}, team="red")
    assert urlsplit(answer.headers["location"]).path == PATH
    assert parse_qs(urlsplit(answer.headers["location"]).query)["done"] == ["final_marked"]
    assert "Finals chosen: 1 of 1." in page(arena, PATH, team="red").text
    refused = send(arena, f"/submissions/{second}/final", {"final": "true"}, team="red")
    assert refused.status_code == 409
    assert "All finals (1) are marked already; unmark one first." in refused.text
    send(arena, f"/submissions/{first}/final", {"final": "false"}, team="red")
    assert not arena.submission(first, "red")["final"]


def test_a_submission_that_waits_is_cancelled_by_a_form_once(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    path = f"/submissions/{identifier}/cancel"
    assert f'action="{path}"' in page(arena, PATH, team="red").text
    assert send(arena, path, team="red").status_code == 303
    assert arena.submission(identifier, "red")["status"] == "CANCELLED"
    assert send(arena, path, team="red").status_code == 409


def test_a_row_alone_is_that_of_the_list(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    waiting = page(arena, f"/submissions/{identifier}/row", team="red").text
    assert f'data-live="/submissions/{identifier}/row"' in waiting
    assert waiting.strip() in page(arena, PATH, team="red").text
    score_everything()
    assert "data-live" not in page(arena, f"/submissions/{identifier}/row", team="red").text


def test_a_long_list_comes_in_pages(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.web.team.submissions.PAGE", 2)
    sent_ids = [arena.submit("red", seed=seed).json()["id"] for seed in range(3)]
    shown = page(arena, PATH, team="red").text
    (older,) = re.findall(r'href="([^"]*cursor=[^"]*)"', shown)
    assert [identifier in shown for identifier in sent_ids] == [False, True, True]
    following = page(arena, older, team="red").text
    assert [f'id="s-{identifier}"' in following for identifier in sent_ids] == [True, False, False]
    assert page(arena, PATH + "?cursor=nonsense", team="red").status_code == 422


def test_another_teams_list_is_not_shown(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    shown = page(arena, PATH, team="blue").text
    assert identifier not in shown
    assert "red" not in words_of(shown)
