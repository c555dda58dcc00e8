"""The second phase as pages: what is left to attack, guesses by a form, and nothing told before its time."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select

from app.db.models import Attempt, Guess, State
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from tests.support.arena import ROWS
from tests.support.contest import Contest, judge_everything
from tests.support.target_pages import text_of
from tests.web.reader import page, send, words_of
from tests.web.spoken import said, sentence

FEEDBACK = '[publication]\nfeedback = "{feedback}"'


def attacked(client: TestClient, *, feedback: str = "immediate") -> tuple[Contest, str, str]:
    """A contest in its second phase; the submission of red and the target that it became."""
    contest = Contest.opened(client, more=FEEDBACK.format(feedback=feedback))
    submission = contest.submit("red")
    contest.submit("blue")
    contest.attack()
    return contest, submission, str(contest.target_of(submission)["id"])


def guess(
    contest: Contest, target: str, content: bytes, *, team: str = "blue", language: str = "en"
) -> Response:
    files = {"guess": ("guess.csv", content)}
    return send(contest.arena, f"/targets/{target}/guesses", files=files, team=team, language=language)


def count(kind: type[Guess] | type[Attempt]) -> int:
    with transaction() as session:
        return session.scalars(select(func.count()).select_from(kind)).one()


@pytest.mark.full
def test_before_the_second_phase_the_page_says_when_it_starts(client: TestClient) -> None:
    contest = Contest.opened(client)
    contest.submit("red")
    shown = page(contest.arena, f"{contest.path}/targets", team="red", language="ja")
    assert shown.status_code == 200
    assert said(
        "There is nothing to attack yet: the targets are published when the re-identification phase starts.",
        "ja",
    ) in text_of(shown)
    assert said("It starts:", "ja") in text_of(shown)
    contest.between()  # written, but published only when the phase starts
    assert said(
        "There is nothing to attack yet: the targets are published when the re-identification phase starts."
    ) in text_of(page(contest.arena, f"{contest.path}/targets", team="red"))


def test_a_team_sees_what_is_left_to_attack_and_which_is_its_own(client: TestClient) -> None:
    contest, _, target = attacked(client)
    shown = page(contest.arena, f"{contest.path}/targets", team="blue")
    assert shown.text.count('<tr class="own">') == 1
    assert f'href="/targets/{target}"' in shown.text
    assert "red" in words_of(shown.text)
    for link in re.findall(r'href="(/api/v1/[^"]*)"', shown.text):
        assert contest.arena.get(link.removeprefix("/api/v1"), token=contest.arena.team("blue")).is_success


def test_a_guess_from_the_page_is_judged_and_told_at_once_where_that_is_the_rule(client: TestClient) -> None:
    contest, submission, target = attacked(client)
    answer = guess(contest, target, contest.right_on(submission, 7))
    assert answer.headers["location"] == f"/targets/{target}?done=guessed"
    waiting = page(contest.arena, answer.headers["location"], team="blue")
    assert said("guess_QUEUED") in text_of(waiting)
    assert 'hx-trigger="every 3s"' in waiting.text
    judge_everything()
    for path in (f"/targets/{target}", f"{contest.path}/targets"):
        shown = page(contest.arena, path, team="blue")
        assert "0.1750" in shown.text  # 7 of 40
        assert f"7 / {ROWS}" in " ".join(words_of(shown.text))
        assert "hx-trigger" not in shown.text
    left = re.search(r"Guesses left: (\d)", text_of(page(contest.arena, f"/targets/{target}", team="blue")))
    assert left
    assert left[1] == "2"


@pytest.mark.full
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_became_of_the_last_guess_is_said_on_top(client: TestClient, language: str) -> None:
    contest, submission, target = attacked(client)
    guess(contest, target, contest.right_on(submission, 7))

    def last() -> str:
        shown = page(contest.arena, f"/targets/{target}", team="blue", language=language).text
        (found,) = re.findall(r'<p id="last-guess".*?</p>', shown, re.DOTALL)
        return str(found)

    assert said("is being scored; the result appears here.", language) in last()
    judge_everything()
    told = said("{right} of {rows} rows are right ({rate}).", language, right=7, rows=ROWS, rate="0.1750")
    assert told in unescape(last())


@pytest.mark.full
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_guess_that_answers_nothing_is_warned_of_where_no_script_checks_it(
    client: TestClient, language: str
) -> None:
    contest, _, target = attacked(client)
    answer = guess(contest, target, b"original_row\n" + b"0\n" * ROWS)
    shown = page(contest.arena, answer.headers["location"], team="blue", language=language)
    assert sentence("no line is answered, so the guess finds nobody", language) in text_of(shown)


@pytest.mark.full
@pytest.mark.parametrize("feedback", ["hidden", "daily"])
def test_a_hidden_score_is_on_no_page_until_it_is_shown(client: TestClient, feedback: str) -> None:
    contest, submission, target = attacked(client, feedback=feedback)
    guess(contest, target, contest.right_on(submission, 13))
    judge_everything()
    for path in (f"/targets/{target}", f"{contest.path}/targets"):
        shown = page(contest.arena, path, team="blue")
        assert said("hidden") in words_of(shown.text)
        assert said(f"guess_feedback_{feedback}") in text_of(shown)
        assert "0.3250" not in shown.text
    spoken = " ".join(words_of(page(contest.arena, f"/targets/{target}", team="blue", language="ja").text))
    assert f"{said('Scored.', 'ja')} {said(f'guess_feedback_{feedback}', 'ja')}" in spoken
    contest.close()
    assert "0.3250" in page(contest.arena, f"/targets/{target}", team="blue").text


@pytest.mark.full
@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param(b"", "the first line of a guess must be original_row", marks=pytest.mark.full),
        (b"row\n" + b"1\n" * ROWS, "the first line of a guess must be original_row"),
        (
            b"original_row\n1\n",
            "{found} lines after original_row; {needed} are needed, 0 for a row not guessed",
        ),
        (b"original_row\n" + b"41\n" * ROWS, "is outside {lowest} to {highest}"),
        (b"original_row\nx\n" + b"1\n" * (ROWS - 1), "is not a row number"),
        pytest.param(b"original_row\n\xff\n", "the file is not UTF-8 text", marks=pytest.mark.full),
        (b"original_row\n\x00\n", "the file contains a NUL byte"),
    ],
)
def test_a_malformed_guess_is_explained_and_costs_no_guess(
    client: TestClient, content: bytes, why: str
) -> None:
    contest, _, target = attacked(client)
    before = count(Attempt)
    answer = guess(contest, target, content, language="ja")
    assert answer.status_code == 422
    expected = sentence(why, "ja", found=1, needed=ROWS, lowest=0, highest=ROWS)
    assert expected in text_of(answer)
    assert 'role="alert"' in answer.text
    assert (count(Guess), count(Attempt)) == (0, before + 1)
    shown = text_of(page(contest.arena, f"{contest.path}/targets", team="blue"))
    assert "1 / 50" in shown


@pytest.mark.full
def test_the_rows_that_are_wrong_are_named(client: TestClient) -> None:
    contest, _, target = attacked(client)
    shown = text_of(guess(contest, target, b"original_row\n" + b"1\n" * 4 + b"99\n" * (ROWS - 4)))
    assert f"Rows 5–24: is outside 0 to {ROWS}" in shown
    assert shown.count("is outside") == 1
    assert "The first 20 of 36:" in shown


@pytest.mark.full
def test_a_form_without_its_file_asks_for_one(client: TestClient) -> None:
    contest, _, target = attacked(client)
    files = {"other": ("x.csv", b"original_row\n")}
    answer = send(contest.arena, f"/targets/{target}/guesses", files=files, team="blue")
    assert (answer.status_code, "The request has no file named guess." in text_of(answer)) == (422, True)
    answer = send(contest.arena, f"/targets/{target}/guesses", {"guess": "text"}, team="blue")
    assert answer.status_code == 422


@pytest.mark.full
def test_the_same_file_sent_twice_is_one_guess_unless_the_service_failed_on_it(client: TestClient) -> None:
    contest, submission, target = attacked(client)
    content = contest.right_on(submission, 3)
    assert [guess(contest, target, content).status_code for _ in range(2)] == [303, 303]
    assert count(Guess) == 1
    with transaction() as session:
        session.scalars(select(Guess)).one().state = State.ERROR
    assert guess(contest, target, content).status_code == 303
    assert count(Guess) == 2


@pytest.mark.full
def test_what_cannot_be_attacked_says_why(client: TestClient) -> None:
    contest, submission, target = attacked(client)
    content = contest.right_on(submission, 1)
    own = guess(contest, target, content, team="red")
    assert (own.status_code, "This target is your own." in text_of(own)) == (403, True)
    for rows in (1, 2, 3):
        guess(contest, target, contest.right_on(submission, rows))
    full = guess(contest, target, contest.right_on(submission, 4))
    assert (full.status_code, said("problem_quota_used_up") in text_of(full)) == (429, True)
    assert int(full.headers["Retry-After"]) > 0
    assert said("Your team has no guess left on this target.") in text_of(
        page(contest.arena, f"/targets/{target}", team="blue")
    )
    assert contest.organize(f"/submissions/{submission}/disqualify", reason="test").is_success
    assert page(contest.arena, f"/targets/{target}", team="blue").status_code == 404
    assert said("It has been withdrawn: guesses on it do not count, and none are accepted.") not in text_of(
        page(contest.arena, f"/targets/{target}", team="red")
    )
    assert said("Withdrawn") in words_of(page(contest.arena, f"/targets/{target}", team="red").text)


@pytest.mark.full
def test_after_the_close_the_page_takes_no_guess_and_opens_the_secret(client: TestClient) -> None:
    contest, submission, target = attacked(client)
    before = page(contest.arena, f"/targets/{target}", team="blue")
    assert f"/api/v1/targets/{target}/secret" not in before.text
    contest.close()
    after = guess(contest, target, contest.right_on(submission, 1))
    assert (after.status_code, "The reidentification phase is not open." in text_of(after)) == (
        409,
        True,
    )
    shown = page(contest.arena, f"/targets/{target}", team="blue")
    assert "red" in words_of(shown.text)
    assert 'type="file"' not in shown.text
    assert f'href="/api/v1/targets/{target}/secret"' in shown.text
    (revealed,) = [
        one
        for one in contest.arena.get(f"{contest.path}/reveal").json()
        if one["submission_id"] == submission
    ]
    assert revealed["salt"] in shown.text
    assert said(
        "The competition is over. Each target’s page has its secret and the salt that proves its commitment."
    ) in text_of(page(contest.arena, f"{contest.path}/targets", team="blue"))
    for path in (
        f"/targets/{target}",
        f"{contest.path}/targets",
    ):  # nothing is left to send, or to be told how
        for team in ("red", "blue"):
            text = text_of(page(contest.arena, path, team=team))
            for words in (
                "How to attack",
                "What your team may still send",
                "Guesses left",
                "the others attack it",
            ):
                assert words not in text
