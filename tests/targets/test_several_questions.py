"""A contest with two questions: each has its own file, form, limit, score and best guess."""

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.rules.toml_text import replace_tables
from app.core.db.models import Round
from app.core.db.transaction import transaction
from app.targets.guesses import GuessUpload
from tests.support.contest import Contest, judge_everything
from tests.support.membership_contest import GUESSES, MembershipContest, create_contest
from tests.support.page_requests import assert_refused, get_page, post_form
from tests.support.translations import translate

pytestmark = pytest.mark.full


@pytest.fixture
def opened_contest(client: TestClient) -> MembershipContest:
    """A contest that asks for members and a hidden column, in its second phase."""
    opened = create_contest(client)
    opened.contest.open_attacks()
    return opened


def send_guess(opened: MembershipContest, question: str, *, asks: str = "", key: str = "") -> Response:
    """Send a guess of team blue about red's release; ``asks`` names another question than that of the file."""
    contest, target = opened.contest, opened.contest.find_target(opened.submissions["red"])["id"]
    return contest.submit_guess("blue", target, GUESSES[question], key=key or None, question=asks or question)


def list_guesses(contest: Contest) -> list[dict[str, Any]]:
    guesses: list[dict[str, Any]] = contest.arena.get(f"{contest.path}/guesses", team="blue").json()
    return guesses


def test_each_question_is_parsed_judged_and_counted_separately(opened_contest: MembershipContest) -> None:
    contest = opened_contest.contest
    responses = [send_guess(opened_contest, "attribute") for _ in range(4)]
    assert [response.status_code for response in responses] == [202, 202, 202, 429]
    assert [response.json()["guesses_left"] for response in responses[:3]] == [2, 1, 0]
    target = next(row for row in contest.list_targets("blue") if not row["own"])
    receipt = contest.submit_guess("blue", target["id"], GUESSES["membership"]).json()
    assert (receipt["question"], receipt["answered"], receipt["guesses_left"]) == ("membership", 60, 2)
    judge_everything()
    membership, *_, attribute = list_guesses(contest)
    assert (membership["question"], membership["rate"], membership["correct"]) == ("membership", 0.01, None)
    assert (attribute["question"], attribute["rate"]) == ("attribute", 0.0)
    assert attribute["correct"] == attribute["outcome"]["correct"] > 0
    assert [guess["outcome"]["baseline"] for guess in (membership, attribute)] == [0.01, 0.0]
    target = next(row for row in contest.list_targets("blue") if not row["own"])
    assert target["guesses_left_by_question"] == {"membership": 2, "attribute": 0}
    assert target["guesses_left"] == 2


def test_commands_name_the_questions(opened_contest: MembershipContest) -> None:
    page = get_page(opened_contest.arena, f"{opened_contest.contest.path}/targets", team="blue").text
    assert re.findall(r"--file FOLDER (.*?)</pre>", page) == [
        "--question membership",
        "--question attribute",
    ]


def test_unknown_question_is_refused_with_the_valid_ones(opened_contest: MembershipContest) -> None:
    for name in ("link", "Membership", "../membership"):
        refusal = send_guess(opened_contest, "membership", asks=name).json()
        assert (refusal["status"], refusal["code"]) == (422, "unknown_question")
        assert refusal["detail"].endswith("asked here are membership, attribute")
    assert list_guesses(opened_contest.contest) == []


def test_question_removed_while_a_guess_is_read_is_refused(
    opened_contest: MembershipContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_guess = GuessUpload.parse_files

    def remove_question(upload: GuessUpload, files: Mapping[str, bytes]) -> None:
        read_guess(upload, files)
        with transaction() as session:
            competition = session.get_one(Round, upload.round.id).competition
            competition.file = replace_tables(competition.file, "questions", "")

    monkeypatch.setattr(GuessUpload, "parse_files", remove_question)
    refusal = send_guess(opened_contest, "attribute").json()
    assert (refusal["status"], refusal["code"]) == (422, "unknown_question")
    assert list_guesses(opened_contest.contest) == []


def test_idempotency_key_is_valid_for_one_question(opened_contest: MembershipContest) -> None:
    first, retry = (send_guess(opened_contest, "attribute", key="once") for _ in range(2))
    assert (first.status_code, retry.json()) == (202, first.json())
    refusal = send_guess(opened_contest, "attribute", asks="membership", key="once")
    assert (refusal.status_code, refusal.json()["code"]) == (422, "idempotency_key_reused")
    assert len(list_guesses(opened_contest.contest)) == 1


def post_guess(opened: MembershipContest, content: bytes, question: str) -> Response:
    target = opened.contest.find_target(opened.submissions["red"])["id"]
    files = {"guess": ("guess.csv", content)}
    return post_form(
        opened.arena, f"/targets/{target}/guesses", {"question": question}, files=files, team="blue"
    )


def split_forms(text: str) -> dict[str, str]:
    """Return the markup between the heading and the end of the form of each question."""
    matches = re.findall(r"<h3>(\w[^<]*)</h3>(.*?)</form>", text, re.DOTALL)
    return {unescape(name): form for name, form in matches}


def test_refused_guess_is_explained_in_the_form_of_its_question(opened_contest: MembershipContest) -> None:
    refusal = post_guess(opened_contest, b"disease\nnone\n", "attribute")
    assert refusal.status_code == 422
    question_forms = split_forms(refusal.text)
    (refused_form,) = (name for name, form in question_forms.items() if 'class="note bad"' in form)
    assert refused_form == translate("question_attribute")
    assert "The table has 1 row instead of 60" in unescape(question_forms[refused_form])
    unknown_response = post_guess(opened_contest, GUESSES["attribute"], "who")
    assert_refused(unknown_response, 422, "asked here are membership, attribute")
