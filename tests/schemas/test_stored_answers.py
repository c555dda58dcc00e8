"""Stored answers are read, and returned unchanged by the API and the client."""

import pytest
from pydantic import TypeAdapter, ValidationError

from anoncup import schemas
from anoncup.client import transport
from anoncup.errors import Unavailable
from anoncup.messages import Message, describe_in_english
from anoncup.runner.results import VerdictForm
from tests import recorded
from tests.recorded import RESPONSES, build_verdict


def test_stored_verdict_is_returned_unchanged() -> None:
    violations = [
        describe_in_english(violation["code"], Message.from_json(violation))
        for violation in recorded.VERDICT["violations"]
    ]
    assert schemas.parse_verdict(recorded.VERDICT).model_dump(mode="json") == recorded.VERDICT | {
        "violations": violations
    }


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


def test_client_names_what_an_answer_of_another_version_lacks() -> None:
    earlier_guess = {name: value for name, value in RESPONSES["Guess"].items() if name != "target_id"}
    with pytest.raises(
        Unavailable, match="not of the version of this program: Guess without a valid target_id"
    ):
        transport.parse_model(schemas.Guess, earlier_guess)


def test_client_accepts_verdicts_that_workers_reject() -> None:
    submission = RESPONSES["Submission"]
    later_submission = submission | {"result": submission["result"] | {"verdict": "suspended"}}
    submission_json = transport.parse_model(schemas.Submission, later_submission).model_dump(mode="json")
    assert submission_json["result"]["verdict"] == "suspended"
    for decision in ("accepted\n", "suspended", "accept", "xaccepted"):
        with pytest.raises(ValidationError, match="verdict"):
            TypeAdapter(VerdictForm).validate_python(submission["result"] | {"verdict": decision})
