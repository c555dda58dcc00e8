"""A contest of two questions, played through the service: each has its file, its limit and its score."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from app.locale.language import LANGUAGES
from tests.support.arena import ROWS
from tests.support.contest import Contest, judge_everything
from tests.support.several_questions_contest import claims, played
from tests.support.several_questions_track import ASKED, RIDDLES
from tests.support.track_package import installed
from tests.web.reader import page

pytestmark = pytest.mark.full

UNCOUNTED = "".join(f"[attackers.{name}]\ncounts = false\n" for name in RIDDLES.attackers)


@pytest.fixture(autouse=True, scope="module")
def riddles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with installed(RIDDLES, "tests.support.several_questions_track", tmp_path_factory.mktemp("packages")):
        yield


def answer(
    contest: Contest, submission: str, content: bytes, question: str | None = None, *, key: str = ""
) -> Response:
    """Blue's, about the target that a submission has become."""
    target = contest.target_of(submission)["id"]
    found: Response = contest.arena.client.post(
        f"/api/v1/targets/{target}/guesses",
        headers={"Authorization": f"Bearer {contest.arena.team('blue')}"}
        | ({"Idempotency-Key": key} if key else {}),
        files={"guess": ("g.csv", content)},
        data={"question": question} if question is not None else {},
    )
    return found


def listed(contest: Contest) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = contest.arena.get(
        f"{contest.path}/guesses", token=contest.arena.team("blue")
    ).json()
    return found


def test_each_question_is_read_judged_and_counted_for_itself(client: TestClient) -> None:
    contest, red = played(client)
    values = answer(contest, red, claims(contest, red, 30), "value")
    assert (values.status_code, values.json()["question"], values.json()["answered"]) == (202, "value", 30)
    linked = answer(contest, red, contest.right_on(red, 10))
    assert (linked.json()["question"], linked.json()["guesses_left"]) == ("link", 2)
    judge_everything()
    link, value = listed(contest)
    assert (link["question"], link["rate"], link["correct"]) == ("link", 10 / ROWS, 10)
    assert (value["question"], value["rate"], value["correct"]) == ("value", 30 / ROWS, None)
    assert value["outcome"]["baseline"] == 0.5
    assert value["outcome"]["details"] == {"columns": 3.0}
    target = next(one for one in contest.targets("blue") if not one["own"])
    assert target["guesses_left_by_question"] == {"link": 2, "value": 2}
    assert target["guesses_left"] == 4


@pytest.mark.parametrize(("credit", "right", "counted"), [(0.5, 15, None), (0.5, 10, 5), (1.0, 15, 15)])
def test_what_is_no_whole_number_is_told_exactly_and_is_no_count(
    client: TestClient, credit: float, right: int, counted: int | None
) -> None:
    contest, red = played(client, asked=f"{ASKED}credit = {credit}\n")
    answer(contest, red, claims(contest, red, right), "value")
    judge_everything()
    (found,) = listed(contest)
    assert (found["status"], found["correct"], found["rate"]) == ("SCORED", counted, right / ROWS)
    assert (found["outcome"]["correct"], found["outcome"]["trials"]) == (credit * right, ROWS)
    target = found["target_id"]
    for language in LANGUAGES:
        shown = page(contest.arena, f"/targets/{target}", team="blue", language=language)
        assert (shown.status_code, "None" in shown.text) == (200, False)


def test_a_question_that_is_not_asked_is_refused_with_those_that_are(client: TestClient) -> None:
    contest, red = played(client, asked="")
    for name in ("value", "Link", "", "../link"):
        refused = answer(contest, red, contest.right_on(red, 1), name).json()
        assert (refused["status"], refused["code"]) == (422, "unknown_question")
        assert refused["detail"].endswith("asked here are link")
    assert answer(contest, red, contest.right_on(red, 1), "link").status_code == 202
    assert next(one for one in contest.targets("blue") if not one["own"])["guesses_left"] == 2


def test_a_question_that_comes_as_a_file_is_not_taken_for_none(client: TestClient) -> None:
    contest, red = played(client)
    files = {"guess": ("g.csv", contest.right_on(red, 1)), "question": ("q.txt", b"value")}
    refused = contest.arena.client.post(
        f"/api/v1/targets/{contest.target_of(red)['id']}/guesses",
        headers={"Authorization": f"Bearer {contest.arena.team('blue')}"},
        files=files,
    )
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_question")


def test_the_limit_of_one_question_leaves_the_other_open(client: TestClient) -> None:
    contest, red = played(client)
    sent = [answer(contest, red, claims(contest, red, right), "value") for right in range(4)]
    assert [one.status_code for one in sent] == [202, 202, 202, 429]
    assert [one.json()["guesses_left"] for one in sent[:3]] == [2, 1, 0]
    assert answer(contest, red, contest.right_on(red, 1), "link").json()["guesses_left"] == 2


def test_a_file_for_the_other_question_is_malformed(client: TestClient) -> None:
    contest, red = played(client)
    crossed = (
        answer(contest, red, claims(contest, red, 3)),
        answer(contest, red, b"original_row\n1\n", "value"),
    )
    assert [one.json()["errors"][0]["code"] for one in crossed] == ["guess_header", "header"]


def test_a_key_stands_for_one_question(client: TestClient) -> None:
    contest, red = played(client)
    content = claims(contest, red, 5)
    first, again = (answer(contest, red, content, "value", key="once") for _ in range(2))
    assert (first.status_code, again.json()) == (202, first.json())
    reused = answer(contest, red, content, "link", key="once")
    assert (reused.status_code, reused.json()["code"]) == (422, "idempotency_key_reused")
    assert len(listed(contest)) == 1


def test_boards_take_what_each_question_found_beyond_chance(client: TestClient) -> None:
    contest, red = played(client, ASKED + UNCOUNTED)
    before = next(row for row in contest.board()["rows"] if row["team"] == "red")
    assert before["security"] == 0.0
    for content, question in (
        (claims(contest, red, 8), "value"),  # less than chance
        (claims(contest, red, 34), "value"),
        (contest.right_on(red, 10), "link"),
    ):
        assert answer(contest, red, content, question).status_code == 202
    judge_everything()
    beyond = (34 / ROWS - 0.5) / 0.5
    rows = contest.board("reidentification", organizer=True)["rows"]
    row = next(one for one in rows if one["team"] == "blue")
    assert row["identified"] is None
    assert row["score"] == pytest.approx(max(beyond, 10 / ROWS))
    assert row["by_question"] == {"link": 10 / ROWS, "value": pytest.approx(beyond)}
    contest.close()
    after = next(row for row in contest.board()["rows"] if row["team"] == "red")
    assert after["security"] == pytest.approx(beyond)
