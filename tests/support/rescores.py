"""Rescores and the changed competition files that they apply."""

from typing import Any
from uuid import UUID

from httpx2 import Response
from sqlalchemy import select

from anoncup.rules.toml_text import replace_tables
from app.core.db.models import Evaluation
from app.core.db.transaction import transaction
from app.jobs import leases
from tests.support.contest import Contest, judge_everything
from tests.support.job_claims import FAILURE, claim_evaluation
from tests.support.uploads import score_everything

STRICT_SECTION = "[excessive]\nthreshold = 0.0000001"
"""This threshold rejects everything."""


def get_competition_file(contest: Contest) -> str:
    return contest.arena.get(f"{contest.path}/competition.toml").text


def build_strict_file(contest: Contest) -> str:
    return replace_tables(get_competition_file(contest), "excessive", STRICT_SECTION)


def build_lenient_file(contest: Contest) -> str:
    return replace_tables(get_competition_file(contest), "excessive", "[excessive]\nthreshold = 0.2")


def build_reweighted_file(contest: Contest) -> str:
    """Return the competition file with mean_mae as the only weighted measure."""
    text = replace_tables(get_competition_file(contest), "measures", "[measures.mean_mae]\nweight = 1.0\n")
    return replace_tables(text, "scales", "")


def post_rescore(contest: Contest, text: str) -> Response:
    return contest.arena.post(f"{contest.path}/rescores", content=text)


def begin_rescore(contest: Contest, text: str) -> str:
    response = post_rescore(contest, text)
    assert response.status_code == 202, response.text
    return str(response.json()["id"])


def get_preview(contest: Contest, identifier: str) -> dict[str, Any]:
    response = contest.arena.get(f"/rescores/{identifier}")
    assert response.status_code == 200, response.text
    preview: dict[str, Any] = response.json()
    return preview


def end_rescore(contest: Contest, identifier: str, action: str) -> Response:
    return contest.post_as_organizer(f"/rescores/{identifier}/{action}")


def apply_rescore(contest: Contest, text: str) -> dict[str, Any]:
    """Begin, score and apply a rescore. Return its preview before that."""
    identifier = begin_rescore(contest, text)
    score_everything()
    judge_everything()
    preview = get_preview(contest, identifier)
    assert end_rescore(contest, identifier, "apply").status_code == 200
    return preview


def fail_evaluation(submission: str, *, is_current: bool) -> None:
    """Fail the current evaluation of a submission, or that of its rescore."""
    with transaction() as session:
        query = select(Evaluation.id).where(Evaluation.submission_id == UUID(submission))
        evaluation_id = session.scalars(query.where(Evaluation.current.is_(is_current))).one()
        claim = claim_evaluation(session, evaluation_id)
        leases.fail(session, claim.lease, FAILURE)
