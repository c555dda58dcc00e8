"""What teams ask the organizers: who reads it, who answers, and what is refused."""

from typing import Any

import pytest

from app.services.contests import clarifications
from tests.support.arena import Arena
from tests.web.reader import page, send

pytestmark = pytest.mark.full

QUESTION = "May a release have\r\nfewer rows?"
KEPT = "May a release have\nfewer rows?"


def path(arena: Arena) -> str:
    return f"/competitions/{arena.slug}/clarifications"


def ask(arena: Arena, question: str = QUESTION, team: str = "red") -> Any:
    return arena.post(path(arena), token=arena.team(team), json={"question": question})


def answer(arena: Arena, identifier: str, text: str = "Yes.", **more: bool) -> Any:
    return arena.put(f"/clarifications/{identifier}/answer", json={"answer": text, **more})


def read_by(arena: Arena, token: str | None) -> list[dict[str, Any]]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    found = arena.client.get(f"/api/v1{path(arena)}", headers=headers)
    assert found.status_code == 200, found.text
    listed: list[dict[str, Any]] = found.json()
    return listed


def test_the_team_and_the_organizers_read_a_question_and_nobody_else(arena: Arena) -> None:
    asked = ask(arena).json()
    assert (asked["question"], asked["answer"], asked["own"], asked["team"]) == (KEPT, None, True, "red")
    red, blue = arena.team("red"), arena.team("blue")
    answer(arena, asked["id"])
    for token, seen in ((red, ["red"]), (arena.organizer, ["red"]), (blue, []), (None, [])):
        assert [each["team"] for each in read_by(arena, token)] == seen
    assert [each["answer"] for each in read_by(arena, red)] == ["Yes."]


def test_what_is_answered_to_everybody_does_not_name_the_team(arena: Arena) -> None:
    asked = ask(arena).json()["id"]
    assert answer(arena, asked, public=True).json()["team"] == "red"
    for token in (None, arena.team("blue")):
        (seen,) = read_by(arena, token)
        assert (seen["question"], seen["answer"], seen["own"], seen["team"]) == (KEPT, "Yes.", False, None)
    answer(arena, asked, "Only you need to know: yes.")
    assert read_by(arena, None) == []


def test_answers_are_in_the_audit_log_with_what_stood_before(arena: Arena) -> None:
    asked = ask(arena).json()["id"]
    answer(arena, asked)
    answer(arena, asked, "No.", public=True)
    last, first = arena.get(f"/competitions/{arena.slug}/audit").json()[:2]
    assert (first["action"], first["before"]) == ("clarification.answer", None)
    assert first["after"] == last["before"] == {"answer": "Yes.", "public": False}
    assert last["after"] == {"answer": "No.", "public": True}


@pytest.mark.parametrize("text", ["", " \n ", "a\x00b", "x" * (clarifications.LONGEST + 1)])
def test_a_text_that_cannot_be_read_is_refused(arena: Arena, text: str) -> None:
    asked = ask(arena).json()["id"]
    for refused in (ask(arena, text), answer(arena, asked, text)):
        assert refused.status_code == 422
        assert refused.json()["code"] in ("clarification_text", "invalid_request")
    assert len(read_by(arena, arena.organizer)) == 1


def test_a_team_asks_on_when_it_has_answers(arena: Arena) -> None:
    asked = [ask(arena, f"question {number}").json()["id"] for number in range(clarifications.MOST_OPEN)]
    refused = ask(arena, "one more")
    assert (refused.status_code, refused.json()["code"]) == (409, "questions_wait")
    assert ask(arena, team="blue").status_code == 201
    answer(arena, asked[0])
    assert ask(arena, "one more").status_code == 201


def test_pages_of_questions_come_newest_first(arena: Arena) -> None:
    for number in range(3):
        ask(arena, f"question {number}")
    first = arena.get(f"{path(arena)}?limit=2")
    assert [each["question"] for each in first.json()] == ["question 2", "question 1"]
    rest = arena.client.get(
        first.links["next"]["url"], headers={"Authorization": f"Bearer {arena.organizer}"}
    )
    assert [each["question"] for each in rest.json()] == ["question 0"]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_question_is_asked_and_answered_on_pages(arena: Arena, language: str) -> None:
    home = f"/competitions/{arena.slug}"
    asked = send(arena, f"{home}/clarifications", {"question": "行は <b>減らせますか</b>？"}, team="crimson")
    assert asked.status_code == 303
    desk = page(arena, f"{home}/organize/clarifications", organizer=True, language=language).text
    assert "行は &lt;b&gt;減らせますか&lt;/b&gt;？" in desk
    assert f"{home}/organize/clarifications" in page(arena, f"{home}/organize", organizer=True).text
    (one,) = read_by(arena, arena.organizer)
    done = {"text": "はい。", "public": "true"}
    assert send(arena, f"{home}/organize/clarifications/{one['id']}", done, organizer=True).status_code == 303
    for team in (None, "blue"):
        shown = page(arena, f"{home}/clarifications", team=team, language=language).text
        assert "はい。" in shown
        assert "crimson" not in shown
    refused = send(arena, f"{home}/clarifications", {"question": " "}, team="crimson", language=language)
    assert refused.status_code == 422
    assert 'role="alert"' in refused.text
