"""Target pages of the re-identification phase: guesses by a form, and scores hidden until their time."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from anoncup.tracks.monthly.files import QUESTIONS
from app.db.models import Attempt, Guess, State
from app.db.transaction import transaction
from tests.support.accounts import count_rows
from tests.support.arena import ROWS, Arena
from tests.support.contest import Contest, judge_everything
from tests.support.monthly_contest import ORIGINAL, create_contest, submit_and_score
from tests.support.page_requests import assert_refused, extract_text, extract_words, get_page, post_form
from tests.support.translations import translate, translate_message

PUBLICATION = '[publication]\nfeedback = "{feedback}"'
NO_TARGETS = (
    "There is nothing to attack yet: the targets are published when the re-identification phase starts."
)


def start_attack_phase(client: TestClient, *, feedback: str = "immediate") -> tuple[Contest, str, str]:
    """Start the second phase of a contest and return it with red's submission and the target made of it."""
    contest = Contest.create(client, extra_toml=PUBLICATION.format(feedback=feedback))
    submission, _ = contest.publish_targets("red", "blue")
    return contest, submission, str(contest.find_target(submission)["id"])


def post_guess(
    contest: Contest, target: str, content: bytes, *, team: str = "blue", language: str = "en"
) -> Response:
    files = {"guess": ("guess.csv", content)}
    return post_form(contest.arena, f"/targets/{target}/guesses", files=files, team=team, language=language)


@pytest.mark.full
def test_page_before_the_second_phase_shows_its_start(contest: Contest) -> None:
    contest.submit("red")
    text = extract_text(get_page(contest.arena, f"{contest.path}/targets", team="red", language="ja"))
    assert translate(NO_TARGETS, "ja") in text
    assert translate("It starts:", "ja") in text
    contest.start_pause()  # the targets are written, but published only when the phase starts
    assert NO_TARGETS in extract_text(get_page(contest.arena, f"{contest.path}/targets", team="red"))


@pytest.mark.full
def test_page_says_that_targets_wait_for_scores(contest: Contest) -> None:
    contest.submit("red")
    contest.move_phases(anonymization=(-3, -1), reidentification=(-1, 1))  # the clock has not run since then
    text = extract_text(get_page(contest.arena, f"{contest.path}/targets", team="red"))
    for sentence in (
        "There is nothing to attack yet: the targets are published once all is ready.",
        "waits_releases",
    ):
        assert translate(sentence) in text


def test_team_sees_remaining_targets_and_its_own(client: TestClient) -> None:
    contest, _, target = start_attack_phase(client)
    response = get_page(contest.arena, f"{contest.path}/targets", team="blue")
    assert response.text.count('<tr class="own">') == 1
    assert f'href="/targets/{target}"' in response.text
    assert "red" in extract_words(response.text)
    for link in re.findall(r'href="(/api/v1/[^"]*)"', response.text):
        assert contest.arena.get(link.removeprefix("/api/v1"), team="blue").is_success


def test_immediate_feedback_shows_the_result_at_once(client: TestClient) -> None:
    contest, submission, target = start_attack_phase(client)

    def read_last_guess() -> str:
        html = get_page(contest.arena, f"/targets/{target}", team="blue").text
        (paragraph,) = re.findall(r'<p id="last-guess".*?</p>', html, re.DOTALL)
        return unescape(paragraph)

    post_response = post_guess(contest, target, contest.build_guess(submission, 7))
    assert post_response.headers["location"] == f"/targets/{target}?done=guess_submitted"
    waiting_response = get_page(contest.arena, post_response.headers["location"], team="blue")
    assert translate("guess_QUEUED") in extract_text(waiting_response)
    assert 'hx-trigger="every 3s"' in waiting_response.text
    assert translate("is being scored; the result appears here.") in read_last_guess()
    judge_everything()
    assert f"7 of {ROWS} rows are right (0.1750)." in read_last_guess()
    for path in (f"/targets/{target}", f"{contest.path}/targets"):
        response = get_page(contest.arena, path, team="blue")
        assert "0.1750" in response.text
        assert f"7 / {ROWS}" in " ".join(extract_words(response.text))
        assert "hx-trigger" not in response.text
    assert "Guesses left: 2" in extract_text(get_page(contest.arena, f"/targets/{target}", team="blue"))


@pytest.mark.full
def test_empty_guess_is_warned_about_without_scripts(client: TestClient) -> None:
    contest, _, target = start_attack_phase(client)
    post_response = post_guess(contest, target, b"original_row\n" + b"0\n" * ROWS)
    response = get_page(contest.arena, post_response.headers["location"], team="blue")
    assert translate_message("no line is answered, so the guess finds nobody") in extract_text(response)


@pytest.mark.full
@pytest.mark.parametrize("feedback", ["hidden", "daily"])
def test_hidden_score_is_on_no_page_before_its_time(client: TestClient, feedback: str) -> None:
    contest, submission, target = start_attack_phase(client, feedback=feedback)
    post_guess(contest, target, contest.build_guess(submission, 13))
    judge_everything()
    for path in (f"/targets/{target}", f"{contest.path}/targets"):
        response = get_page(contest.arena, path, team="blue")
        assert translate("hidden") in extract_words(response.text)
        assert translate(f"guess_feedback_{feedback}") in extract_text(response)
        assert "0.3250" not in response.text
    contest.close_attacks()
    assert "0.3250" in get_page(contest.arena, f"/targets/{target}", team="blue").text


LENGTH = "{found} lines after original_row; {needed} are needed, 0 for a row not guessed"
MALFORMED_GUESSES = (
    (b"", "the first line of a guess must be original_row"),
    (b"row\n" + b"1\n" * ROWS, "the first line of a guess must be original_row"),
    (b"original_row\n1\n", LENGTH),
    (b"original_row\n" + b"41\n" * ROWS, "is outside {lowest} to {highest}"),
    (b"original_row\nx\n" + b"1\n" * (ROWS - 1), "is not a row number"),
    (b"original_row\n\xff\n", "the file is not UTF-8 text"),
    (b"original_row\n\x00\n", "the file contains a NUL byte"),
)


@pytest.mark.full
def test_malformed_guess_is_explained_and_only_an_attempt(client: TestClient) -> None:
    contest, _, target = start_attack_phase(client)
    attempts_before = count_rows(Attempt)
    for number, (content, problem) in enumerate(MALFORMED_GUESSES, 1):
        response = post_guess(contest, target, content, language="ja")
        expected = translate_message(problem, "ja", found=1, needed=ROWS, lowest=0, highest=ROWS)
        assert_refused(response, 422, expected)
        assert 'role="alert"' in response.text
        assert (count_rows(Guess), count_rows(Attempt)) == (0, attempts_before + number)
    attempts_text = f"{len(MALFORMED_GUESSES)} / 50"
    assert attempts_text in extract_text(get_page(contest.arena, f"{contest.path}/targets", team="blue"))
    text = extract_text(post_guess(contest, target, b"original_row\n" + b"1\n" * 4 + b"99\n" * (ROWS - 4)))
    assert f"Rows 5–24: is outside 0 to {ROWS}" in text
    assert text.count("is outside") == 1
    assert "The first 20 of 36:" in text


@pytest.mark.full
def test_form_without_a_file_asks_for_one(client: TestClient) -> None:
    contest, _, target = start_attack_phase(client)
    files = {"other": ("x.csv", b"original_row\n")}
    response = post_form(contest.arena, f"/targets/{target}/guesses", files=files, team="blue")
    assert_refused(response, 422, "The request has no file named guess.")
    response = post_form(contest.arena, f"/targets/{target}/guesses", {"guess": "text"}, team="blue")
    assert response.status_code == 422


@pytest.mark.full
def test_same_file_is_one_guess_unless_the_service_failed(client: TestClient) -> None:
    contest, submission, target = start_attack_phase(client)
    content = contest.build_guess(submission, 3)
    assert [post_guess(contest, target, content).status_code for _ in range(2)] == [303, 303]
    assert count_rows(Guess) == 1
    with transaction() as session:
        session.scalars(select(Guess)).one().state = State.ERROR
    assert post_guess(contest, target, content).status_code == 303
    assert count_rows(Guess) == 2


@pytest.mark.full
def test_refused_guess_shows_the_reason(client: TestClient) -> None:
    contest, submission, target = start_attack_phase(client)
    own_response = post_guess(contest, target, contest.build_guess(submission, 1), team="red")
    assert_refused(own_response, 403, "This target is your own.")
    responses = [post_guess(contest, target, contest.build_guess(submission, rows)) for rows in (1, 2, 3, 4)]
    assert_refused(
        responses[-1], 429, "Your team has reached its limit of 3 (guesses on each target), which only"
    )
    assert int(responses[-1].headers["Retry-After"]) > 0
    path = f"/targets/{target}"
    no_guess_left = translate("Your team has no guess left on this target.")
    assert no_guess_left in extract_text(get_page(contest.arena, path, team="blue"))
    assert contest.post_as_organizer(f"/submissions/{submission}/disqualify", reason="test").is_success
    assert get_page(contest.arena, path, team="blue").status_code == 404
    own_text = extract_text(get_page(contest.arena, path, team="red"))
    assert (
        translate("It has been withdrawn: guesses on it do not count, and none are accepted.") not in own_text
    )
    assert translate("Withdrawn") in own_text


@pytest.mark.full
def test_page_after_the_close_shows_the_secret_and_no_form(client: TestClient) -> None:
    contest, submission, target = start_attack_phase(client)
    secret_path = f"/api/v1/targets/{target}/secret"
    assert secret_path not in get_page(contest.arena, f"/targets/{target}", team="blue").text
    contest.close_attacks()
    late_response = post_guess(contest, target, contest.build_guess(submission, 1))
    assert_refused(late_response, 409, "The reidentification phase is not open.")
    response = get_page(contest.arena, f"/targets/{target}", team="blue")
    assert "red" in extract_words(response.text)
    assert 'type="file"' not in response.text
    assert f'href="{secret_path}"' in response.text
    reveals = contest.arena.get(f"{contest.path}/reveal").json()
    (salt,) = [entry["salt"] for entry in reveals if entry["submission_id"] == submission]
    assert salt in response.text
    targets_text = extract_text(get_page(contest.arena, f"{contest.path}/targets", team="blue"))
    assert "The competition is over. Each target’s page has its secret" in targets_text
    instructions = ("How to attack", "What your team may still send", "Guesses left", "the others attack it")
    for path in (f"/targets/{target}", f"{contest.path}/targets"):
        for team in ("red", "blue"):
            text = extract_text(get_page(contest.arena, path, team=team))
            assert not any(words in text for words in instructions)


@pytest.mark.full
def test_guess_check_after_the_phase_says_so_in_the_form(client: TestClient) -> None:
    contest, submission, target = start_attack_phase(client)
    contest.move_phases(reidentification=(-1, 0))
    files = {"guess": ("guess.csv", contest.build_guess(submission, 3))}
    response = post_form(contest.arena, f"/targets/{target}/guesses/check", files=files, team="blue")
    assert response.status_code == 409
    assert 'id="guess-refused"' in response.text
    assert "is not open" in extract_text(response)


@pytest.mark.full
def test_similar_questions_are_explained_once_with_commands(client: TestClient, arena: Arena) -> None:
    contest = create_contest(client, arena, *ORIGINAL)
    submission = submit_and_score(contest, "red")
    submit_and_score(contest, "blue")
    contest.open_attacks()
    target = contest.find_target(submission)
    response = get_page(contest.arena, f"/targets/{target['id']}", team="blue")
    text = extract_text(response)
    for name in QUESTIONS:
        assert response.text.count(f'id="guessing-{name}"') == 1
        assert text.count(translate(f"question_{name}")) == 1
    assert text.count(translate("guess_guide_link_25")) == 1
    assert translate("target_file_transactions") in text
    attack_options = "--original cup-2017/customers.csv --original cup-2017/transactions.csv"
    assert f"{attack_options} --original knowledge_25=cup-2017/knowledge_25.csv" in text
    assert f"--transactions cup-2017/targets/{target['name']}/transactions.csv --into guesses" in text
    guess_command = f"anoncup guess cup-2017/{target['name']} --question link_100 --file guesses/"
    assert f"{guess_command}date_quantity.link_100.csv" in text
