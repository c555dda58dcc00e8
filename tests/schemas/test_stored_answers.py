"""Stored answers are read, and returned unchanged by the API and the client."""

import pytest
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import select, update

from anoncup import schemas
from anoncup.client import transport
from anoncup.messages import Message, describe_in_english
from anoncup.runner.results import VerdictForm
from app.boards.verdicts import extract_numbers
from app.core.db.models import Evaluation, RecordedVerdict, State
from app.core.db.transaction import transaction
from tests import recorded
from tests.recorded import RESPONSES, build_verdict
from tests.support.arena import Arena
from tests.support.page_requests import get_page


def test_stored_verdict_is_returned_unchanged() -> None:
    violations = [
        describe_in_english(violation["code"], Message.from_json(violation))
        for violation in recorded.VERDICT["violations"]
    ]
    assert schemas.parse_verdict(recorded.VERDICT).model_dump(mode="json") == recorded.VERDICT | {
        "violations": violations
    }


def test_whole_numbers_keep_their_type() -> None:
    attacker = recorded.VERDICT["attackers"]["euc1"] | {"correct": 9, "rate": 1.0}
    attacker_json = schemas.parse_verdict(build_verdict(attackers={"euc1": attacker})).model_dump(
        mode="json"
    )["attackers"]["euc1"]
    assert (type(attacker_json["correct"]), type(attacker_json["rate"])) == (int, float)


def test_boards_read_stored_verdicts() -> None:
    scores = extract_numbers(recorded.VERDICT)
    assert scores.measures == {name: value["value"] for name, value in recorded.VERDICT["measures"].items()}
    assert scores.rounding == {
        name: value["rounding"] for name, value in recorded.VERDICT["measures"].items()
    }
    assert scores.violations == ("excessive_anonymization",)


def test_pages_show_a_stored_verdict(arena: Arena) -> None:
    identifier = str(arena.submit("red").json()["id"])
    with transaction() as session:
        session.execute(update(Evaluation).values(state=State.REJECTED))
        evaluation_id = session.scalars(select(Evaluation.id)).one()
        session.add(RecordedVerdict(evaluation_id=evaluation_id, scorer="1", content=recorded.VERDICT))
    assert arena.get_submission(identifier, "red")["result"]["utility"] == recorded.VERDICT["utility"]
    for path in (f"/submissions/{identifier}", "/competitions/small/submissions"):
        assert f"{recorded.VERDICT['utility']:.4f}" in get_page(arena, path, team="red").text


@pytest.mark.parametrize("row", [schemas.BoardRow, schemas.AttackersRow, schemas.MatrixRow])
def test_spreadsheet_has_all_columns_of_the_board_page(row: type[schemas.BoardLine]) -> None:
    assert set(row.COLUMNS) <= set(row.columns())
    assert "own" not in row.columns()


def test_verdicts_of_a_later_format_are_refused() -> None:
    assert schemas.parse_verdict(build_verdict(**schemas.FORMAT)) == schemas.parse_verdict(build_verdict())
    with pytest.raises(ValidationError):
        schemas.parse_verdict(build_verdict(format=2))


@pytest.mark.parametrize("name", ["Competition", "RescoreSummary", "Rescore", "Guess"])
def test_client_accepts_unknown_states_of_a_later_service(name: str) -> None:
    field = "status" if name == "Guess" else "state"
    model = transport.parse_model(getattr(schemas, name), RESPONSES[name] | {field: "suspended"})
    assert model.model_dump(mode="json")[field] == "suspended"


def test_client_accepts_unknown_reasons_for_unreadable_competitions() -> None:
    unavailable = {"track": None, "timezone": None, "state": "broken", "code": "later", "detail": "why"}
    competitions = transport.parse_model(
        schemas.CompetitionList, [RESPONSES["Competition"], RESPONSES["Competition"] | unavailable]
    ).root
    assert [(type(competition), competition.state) for competition in competitions][1] == (
        schemas.UnavailableCompetition,
        "broken",
    )


def test_client_accepts_verdicts_that_workers_reject() -> None:
    submission = RESPONSES["Submission"]
    later_submission = submission | {"result": submission["result"] | {"verdict": "suspended"}}
    submission_json = transport.parse_model(schemas.Submission, later_submission).model_dump(mode="json")
    assert submission_json["result"]["verdict"] == "suspended"
    for decision in ("accepted\n", "suspended", "accept", "xaccepted"):
        with pytest.raises(ValidationError, match="verdict"):
            TypeAdapter(VerdictForm).validate_python(submission["result"] | {"verdict": decision})
