"""Rejudgings: rules that differ, and sets that are begun and applied."""

from typing import Any
from uuid import UUID

from httpx2 import Response
from sqlalchemy import select

from anoncup.rules.toml_text import with_tables
from app.db.models import Evaluation
from app.db.transaction import transaction
from app.services.jobs import leases
from tests.support.claimed_jobs import FAULT, claim_evaluation
from tests.support.contest import Contest
from tests.support.uploads import score_everything

STRICT = "[excessive]\nthreshold = 0.0000001"
"""A threshold that rejects everything."""


def file_of(contest: Contest) -> str:
    return contest.arena.get(f"{contest.path}/competition.toml").text


def strict(contest: Contest) -> str:
    return with_tables(file_of(contest), "excessive", STRICT)


def lenient(contest: Contest) -> str:
    return with_tables(file_of(contest), "excessive", "[excessive]\nthreshold = 0.2")


def reweighed(contest: Contest) -> str:
    """Only what mean_mae says counts in U."""
    text = with_tables(file_of(contest), "measures", "[measures.mean_mae]\nweight = 1.0\n")
    return with_tables(text, "scales", "")


def begin(contest: Contest, text: str) -> Response:
    return contest.arena.post(f"{contest.path}/rescores", content=text)


def begun(contest: Contest, text: str) -> str:
    answer = begin(contest, text)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def preview(contest: Contest, identifier: str) -> dict[str, Any]:
    answer = contest.arena.get(f"/rescores/{identifier}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def end(contest: Contest, identifier: str, word: str) -> Response:
    return contest.organize(f"/rescores/{identifier}/{word}")


def applied(contest: Contest, text: str) -> dict[str, Any]:
    """The preview of a set that was scored and put in force."""
    identifier = begun(contest, text)
    score_everything()
    found = preview(contest, identifier)
    assert end(contest, identifier, "apply").status_code == 200
    return found


def end_set_evaluation(submission: str, *, current: bool) -> None:
    """End the scoring of a submission in ERROR: by the rules in force, or by those of the set."""
    with transaction() as session:
        query = select(Evaluation.id).where(Evaluation.submission_id == UUID(submission))
        found = session.scalars(query.where(Evaluation.current.is_(current))).one()
        claimed = claim_evaluation(session, found)
        leases.fail(session, Evaluation, claimed.evaluation_id, claimed.attempt, FAULT)
