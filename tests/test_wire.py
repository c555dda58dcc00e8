"""The wire: what is stored is read, and told as it is stored."""

import ast
import inspect
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import update

from anoncup import schemas
from anoncup.client import transport
from anoncup.errors import CompetitionUnavailable
from anoncup.messages import Message, told
from anoncup.schemas.advice import EXAMPLE
from anoncup.schemas.codes import FAILURES
from app.db.models import Evaluation, State
from app.db.transaction import transaction
from app.services.boards.verdicts import numbers
from app.services.jobs import leases
from app.services.organizing import rehearsal_moves
from tests import recorded
from tests.recorded import ANSWERS, verdict
from tests.support.arena import Arena
from tests.web.reader import page
from workers import child_manager, lease_runner
from workers.job_schema import VERDICT


def test_a_verdict_is_told_as_it_is_stored() -> None:
    said = [told(one["code"], Message.from_json(one)) for one in recorded.VERDICT["violations"]]
    assert schemas.read(recorded.VERDICT).model_dump(mode="json") == recorded.VERDICT | {"violations": said}


def test_a_number_that_is_whole_stays_so() -> None:
    one = recorded.VERDICT["attackers"]["euc1"] | {"correct": 9, "rate": 1.0}
    told = schemas.read(verdict(attackers={"euc1": one})).model_dump(mode="json")["attackers"]["euc1"]
    assert (type(told["correct"]), type(told["rate"])) == (int, float)


def test_boards_read_a_stored_verdict() -> None:
    found = numbers(schemas.read(recorded.VERDICT))
    assert found.measures == {name: one["value"] for name, one in recorded.VERDICT["measures"].items()}
    assert found.rounding == {name: one["rounding"] for name, one in recorded.VERDICT["measures"].items()}
    assert found.violations == ("excessive_anonymization",)


def test_a_submission_with_a_stored_verdict_is_shown(arena: Arena) -> None:
    identifier = str(arena.submit("red").json()["id"])
    values: dict[str, Any] = {"verdict": recorded.VERDICT, "state": State.REJECTED}
    with transaction() as session:
        session.execute(update(Evaluation).values(values))
    assert arena.submission(identifier, "red")["result"]["utility"] == recorded.VERDICT["utility"]
    for path in (f"/submissions/{identifier}", "/competitions/small/submissions"):
        assert f"{recorded.VERDICT['utility']:.4f}" in page(arena, path, team="red").text


@pytest.mark.parametrize("row", [schemas.BoardRow, schemas.AttackersRow, schemas.MatrixRow])
def test_what_people_are_shown_of_a_board_stands_in_its_sheet(row: type[schemas.Line]) -> None:
    assert set(row.COLUMNS) <= set(row.columns())
    assert "own" not in row.columns()


def test_between_honest_work_and_cheats_every_threshold_is_allowed() -> None:
    found = schemas.advice(EXAMPLE)
    told = {limit: found.allows(limit) for limit in (0.04, 0.1, 0.135, 0.3, 0.32)}
    assert told == {0.04: True, 0.1: False, 0.135: True, 0.3: True, 0.32: False}


def test_a_verdict_of_a_later_format_is_not_taken_for_one_of_this() -> None:
    assert schemas.read(verdict(**schemas.FORMAT)) == schemas.read(verdict())
    with pytest.raises(ValidationError):
        schemas.read(verdict(format=2))


def test_every_code_of_a_failure_is_declared() -> None:
    """Of the child, of leases, and of what a worker may find wanting."""
    tree = ast.parse(inspect.getsource(child_manager))
    given = {
        word.value.value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for word in call.keywords
        if word.arg == "code" and isinstance(word.value, ast.Constant)
    }
    kinds = {
        kind.code for kind in (child_manager.ScoringFailed, child_manager.ChildDied, CompetitionUnavailable)
    }
    elsewhere = {leases.USED_UP, "secret_unreadable", rehearsal_moves.REFUSED}
    assert given == {"time_limit", "memory_limit"}
    assert given | kinds | lease_runner.WANTING | elsewhere == set(FAILURES)


@pytest.mark.parametrize("name", ["Competition", "RescoreSummary", "Rescore", "Guess"])
def test_the_client_passes_on_the_words_that_only_a_later_service_knows(name: str) -> None:
    field = "status" if name == "Guess" else "state"
    found = transport.told(getattr(schemas, name), ANSWERS[name] | {field: "suspended"})
    assert found.model_dump(mode="json")[field] == "suspended"


def test_the_client_lists_a_competition_that_a_later_service_cannot_read_for_a_reason_of_its_own() -> None:
    unread = {"track": None, "timezone": None, "state": "broken", "code": "later", "detail": "why"}
    found = transport.told(schemas.Listing, [ANSWERS["Competition"], ANSWERS["Competition"] | unread]).root
    assert [(type(each), each.state) for each in found][1] == (schemas.UnavailableCompetition, "broken")


def test_the_client_passes_on_a_verdict_that_a_child_may_not_find() -> None:
    known = ANSWERS["Submission"]
    later = known | {"result": known["result"] | {"verdict": "suspended"}}
    found = transport.told(schemas.Submission, later).model_dump(mode="json")
    assert found["result"]["verdict"] == "suspended"
    for decision in ("accepted\n", "suspended", "accept", "xaccepted"):
        with pytest.raises(ValidationError, match="verdict"):
            VERDICT.validate_python(known["result"] | {"verdict": decision})
