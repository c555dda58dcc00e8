"""Threshold reports: asked for by organizers, made by a worker, the same as the local command's."""

from typing import Any

import pytest
from sqlalchemy import select

from anoncup.competition.parser import parse_competition
from anoncup.excessive.question import Question, answer
from anoncup.plugins import TRACKS
from anoncup.tables.csv_text import table_csv
from app.db.models import State, ThresholdReport
from app.db.transaction import transaction
from app.services.jobs import queue
from app.services.originals.threshold_reports import MOST_UNFINISHED
from tests.support.arena import Arena, competition_file
from tests.support.queue import empty_queue
from tests.support.threshold_reports import unfinished
from workers import advise, child_manager, clock

pytestmark = pytest.mark.full

PATH = "/competitions/small/threshold-reports"


def asked(arena: Arena, **question: Any) -> str:
    answered = arena.post(PATH, json={"draws": 20, **question})
    assert answered.status_code == 202, answered.text
    return str(answered.json()["id"])


def test_a_report_is_what_the_local_command_finds(arena: Arena) -> None:
    identifier = asked(arena, groups=["sex"])
    advise.advise(identifier)
    found = arena.get(f"/threshold-reports/{identifier}").json()
    assert found["status"] == "SCORED"
    rules, track = parse_competition(competition_file()), TRACKS["microdata"]
    tables, _ = track.parse_original({"original": table_csv(arena.table)}, rules)
    local = answer(Question(("sex",), draws=20), rules, track.prepare(tables, rules))
    plain = local.to_json()
    assert found["report"]["threshold"] == plain["threshold"]
    assert found["report"]["groups"] == plain["groups"] == 2
    assert [bound["fixed"] for bound in found["report"]["bounds"]] == [
        bound["fixed"] for bound in plain["bounds"]
    ]
    (listed,) = arena.get(PATH).json()
    assert listed["question"]["groups"] == ["sex"]
    assert "report" not in listed


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ({"groups": ["income"]}, "unknown_column"),
        ({"distance": "jaccard"}, "unknown_distance"),
        ({"bits": 0}, "invalid_request"),
        ({"seconds": 1e9}, "invalid_request"),
    ],
)
def test_a_question_the_advisor_cannot_answer_is_refused(
    arena: Arena, question: dict[str, Any], code: str
) -> None:
    refused = arena.post(PATH, json=question)
    assert (refused.status_code, refused.json()["code"]) == (422, code)
    assert arena.get(PATH).json() == []


def test_a_report_is_made_once_and_survives_a_lost_message_and_a_killed_child(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    identifier = asked(arena)
    empty_queue()
    with transaction() as session:
        report = session.scalars(select(ThresholdReport)).one()
        report.created_at = report.created_at.replace(year=report.created_at.year - 1)
    clock.sweep()
    assert queue.depth() == 1

    def killed(*_: object, **__: object) -> None:
        raise child_manager.ChildDied(child_manager.DIED)

    with monkeypatch.context() as patch:
        patch.setattr(child_manager, "evaluate", killed)
        advise.advise(identifier)
    waiting = arena.get(f"/threshold-reports/{identifier}").json()
    assert (waiting["status"], waiting["failure_code"]) == ("QUEUED", "child_died")
    advise.advise(identifier)
    first = arena.get(f"/threshold-reports/{identifier}").json()
    advise.advise(identifier)
    assert arena.get(f"/threshold-reports/{identifier}").json() == first
    assert first["status"] == State.SCORED


def test_there_is_no_report_before_there_are_data(arena: Arena) -> None:
    assert arena.post("/competitions", content=competition_file("empty")).status_code == 201
    refused = arena.post("/competitions/empty/threshold-reports", json={})
    assert (refused.status_code, refused.json()["code"]) == (409, "no_original")


def test_a_competition_has_so_many_unfinished_reports_and_no_more(arena: Arena) -> None:
    asked(arena)
    unfinished(MOST_UNFINISHED)
    refused = arena.post(PATH, json={"draws": 0})
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_reports")
    assert int(refused.headers["Retry-After"]) > 0
    advise.advise()
    asked(arena)
    assert arena.post(PATH, json={"draws": 0}).status_code == 429


def test_a_report_that_ends_rings_for_the_next_of_its_competition(arena: Arena) -> None:
    asked(arena)
    asked(arena)
    empty_queue()
    advise.advise()
    assert queue.depths() == {queue.SCORE: 0, queue.JUDGE: 0, queue.ADVISE: 1}
