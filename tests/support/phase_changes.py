"""Submissions, audit entries and killed processes for tests of phase changes."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from sqlalchemy import select, update

from app.config import Settings
from app.db.models import AuditEntry, Competition, Evaluation, Target
from app.db.transaction import transaction
from app.services.accounts import accounts
from app.services.accounts.accounts import Principal
from app.services.submissions import evaluations, submissions
from app.services.submissions.uploads import PendingRelease
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.job_claims import claim_evaluation
from workers import score as scoring


def get_principal(arena: Arena, team: str) -> Principal:
    token = arena.get_team_token(team)
    with transaction() as session:
        return accounts.authenticate(session, token)


def accept_upload(principal: Principal, upload: PendingRelease, settings: Settings) -> str:
    with transaction() as session:
        acceptance = submissions.accept(session, principal, upload, sealing_key=settings.sealing_key_file)
    return str(acceptance.submission.id)


def list_targets() -> list[Target]:
    with transaction() as session:
        return list(session.scalars(select(Target).order_by(Target.name)))


def list_audit_actions() -> list[str]:
    with transaction() as session:
        return list(session.scalars(select(AuditEntry.action).order_by(AuditEntry.number)))


def score_submission(identifier: str) -> None:
    with transaction() as session:
        query = select(Evaluation.id).where(Evaluation.submission_id == UUID(identifier))
        evaluation_id = session.scalars(query).one()
    scoring.score(str(evaluation_id))


def submit_with_verdict(contest: Contest, team: str) -> str:
    """Submit a release and record a made-up verdict. Return its identifier."""
    identifier = contest.submit(team, score=False)
    with transaction() as session:
        session.execute(update(Competition).values(scored_by={}))  # the verdict names no versions
        query = select(Evaluation.id).where(Evaluation.submission_id == UUID(identifier))
        claim = claim_evaluation(session, session.scalars(query).one())
        verdict = {"verdict": "accepted", "overall": 0.5, "utility": 0.5, "security": 0.5}
        evaluations.record(
            session,
            claim,
            verdict=verdict | {"violations": [], "measures": {}, "attackers": {}},
            scorer="x",
        )
    return identifier


class SimulatedKill(BaseException):
    """Simulates the end of the process. It is a ``BaseException``, so nothing catches it."""


def kill_at_call(call: Callable[..., Any], *, kills_before: bool, call_number: int = 1) -> Callable[..., Any]:
    """Wrap ``call``: the call of this number raises ``SimulatedKill``, before or right after its work."""
    calls = iter(range(1, 1000))

    def call_and_maybe_die(*arguments: Any, **keywords: Any) -> Any:
        number = next(calls)
        if kills_before and number == call_number:
            raise SimulatedKill
        result = call(*arguments, **keywords)
        if number == call_number:
            raise SimulatedKill
        return result

    return call_and_maybe_die
