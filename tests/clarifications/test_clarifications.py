"""Clarifications: who may ask, read and answer, and which texts are refused."""

from typing import Any

import pytest

from app.clarifications import clarifications
from tests.support.arena import Arena
from tests.support.page_requests import extract_words, get_page, post_form, send_form

pytestmark = pytest.mark.full

QUESTION = "May a release have\r\nfewer rows?"
STORED_QUESTION = "May a release have\nfewer rows?"


def build_path(arena: Arena) -> str:
    return f"/competitions/{arena.slug}/clarifications"


def ask(arena: Arena, question: str = QUESTION, team: str = "red") -> Any:
    return arena.post(build_path(arena), team=team, json={"question": question})


def answer(arena: Arena, identifier: str, text: str = "Yes.", **more: bool) -> Any:
    return arena.put(f"/clarifications/{identifier}/answer", json={"answer": text, **more})


def list_clarifications(arena: Arena, token: str | None) -> list[dict[str, Any]]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    response = arena.client.get(f"/api/v1{build_path(arena)}", headers=headers)
    assert response.status_code == 200, response.text
    rows: list[dict[str, Any]] = response.json()
    return rows


def test_only_the_team_and_organizers_read_a_question(arena: Arena) -> None:
    question = ask(arena).json()
    assert (question["question"], question["answer"], question["own"], question["team"]) == (
        STORED_QUESTION,
        None,
        True,
        "red",
    )
    red, blue = arena.get_team_token("red"), arena.get_team_token("blue")
    answer(arena, question["id"])
    for token, teams in ((red, ["red"]), (arena.organizer_token, ["red"]), (blue, []), (None, [])):
        assert [clarification["team"] for clarification in list_clarifications(arena, token)] == teams
    assert [clarification["answer"] for clarification in list_clarifications(arena, red)] == ["Yes."]


def test_public_answer_does_not_name_the_team(arena: Arena) -> None:
    question_id = ask(arena).json()["id"]
    assert answer(arena, question_id, public=True).json()["team"] == "red"
    for token in (None, arena.get_team_token("blue")):
        (clarification,) = list_clarifications(arena, token)
        assert (
            clarification["question"],
            clarification["answer"],
            clarification["own"],
            clarification["team"],
        ) == (STORED_QUESTION, "Yes.", False, None)
    answer(arena, question_id, "Only you need to know: yes.")
    assert list_clarifications(arena, None) == []


def test_audit_log_has_each_answer_with_the_previous_one(arena: Arena) -> None:
    question_id = ask(arena).json()["id"]
    answer(arena, question_id)
    answer(arena, question_id, "No.", public=True)
    last, first = arena.get(f"/competitions/{arena.slug}/audit").json()[:2]
    assert (first["action"], first["before"]) == ("clarification.answer", None)
    assert first["after"] == last["before"] == {"answer": "Yes.", "public": False}
    assert last["after"] == {"answer": "No.", "public": True}


@pytest.mark.parametrize("text", ["", " \n ", "a\x00b", "x" * (clarifications.MAX_LENGTH + 1)])
def test_unreadable_text_is_refused(arena: Arena, text: str) -> None:
    question_id = ask(arena).json()["id"]
    for response in (ask(arena, text), answer(arena, question_id, text)):
        assert response.status_code == 422
        assert response.json()["code"] in ("clarification_text", "invalid_request")
    assert len(list_clarifications(arena, arena.organizer_token)) == 1


def test_team_may_ask_again_after_an_answer(arena: Arena) -> None:
    question_ids = [
        ask(arena, f"question {number}").json()["id"] for number in range(clarifications.MAX_UNANSWERED)
    ]
    refusal = ask(arena, "one more")
    assert (refusal.status_code, refusal.json()["code"]) == (409, "questions_wait")
    assert ask(arena, team="blue").status_code == 201
    answer(arena, question_ids[0])
    assert ask(arena, "one more").status_code == 201


def test_questions_are_paginated_newest_first(arena: Arena) -> None:
    for number in range(3):
        ask(arena, f"question {number}")
    first = arena.get(f"{build_path(arena)}?limit=2")
    assert [clarification["question"] for clarification in first.json()] == ["question 2", "question 1"]
    rest = arena.client.get(
        first.links["next"]["url"], headers={"Authorization": f"Bearer {arena.organizer_token}"}
    )
    assert [clarification["question"] for clarification in rest.json()] == ["question 0"]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_question_can_be_asked_and_answered_in_the_browser(arena: Arena, language: str) -> None:
    competition_path = f"/competitions/{arena.slug}"
    response = post_form(
        arena,
        f"{competition_path}/clarifications",
        {"question": "行は <b>減らせますか</b>？"},
        team="crimson",
    )
    assert response.status_code == 303
    organizer_html = get_page(
        arena, f"{competition_path}/organize/clarifications", organizer=True, language=language
    ).text
    assert "行は &lt;b&gt;減らせますか&lt;/b&gt;？" in organizer_html
    assert (
        f"{competition_path}/organize/clarifications"
        in get_page(arena, f"{competition_path}/organize", organizer=True).text
    )
    (clarification,) = list_clarifications(arena, arena.organizer_token)
    fields = {"text": "はい。", "public": "true"}
    send_form(
        arena, f"{competition_path}/organize/clarifications/{clarification['id']}", fields, organizer=True
    )
    for team in (None, "blue"):
        html = get_page(arena, f"{competition_path}/clarifications", team=team, language=language).text
        assert "はい。" in html
        assert "crimson" not in html
    refusal = post_form(
        arena, f"{competition_path}/clarifications", {"question": " "}, team="crimson", language=language
    )
    assert refusal.status_code == 422
    assert 'role="alert"' in refusal.text


def test_readable_answers_are_counted_on_the_overview(arena: Arena) -> None:
    for team, public in (("red", True), ("red", False), ("blue", False)):
        answer(arena, ask(arena, team=team).json()["id"], public=public)
    ask(arena)
    viewers: list[tuple[int, dict[str, Any]]] = [(1, {}), (2, {"team": "red"}), (2, {"team": "blue"})]
    for count, viewer in [*viewers, (3, {"organizer": True})]:
        words = extract_words(get_page(arena, f"/competitions/{arena.slug}", **viewer).text)
        assert f"({count} answered)" in " ".join(words)
