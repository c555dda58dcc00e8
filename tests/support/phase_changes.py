"""Contests whose phases change within moments."""

from uuid import UUID

from sqlalchemy import select, update

from app.config import Settings
from app.db.models import AuditEntry, Competition, Evaluation, Target
from app.db.transaction import transaction
from app.services.accounts import accounts
from app.services.accounts.accounts import Principal
from app.services.submissions import evaluations, submissions
from app.services.submissions.uploads import Upload
from tests.support.arena import Arena
from tests.support.claimed_jobs import claim_evaluation
from tests.support.contest import Contest
from workers import score as scoring


def member(arena: Arena, team: str) -> Principal:
    token = arena.team(team)
    with transaction() as session:
        return accounts.authenticate(session, token)


def accept(principal: Principal, upload: Upload, settings: Settings) -> str:
    with transaction() as session:
        made = submissions.accept(session, principal, upload, sealing_key=settings.sealing_key_file)
    return str(made.submission.id)


def targets() -> list[Target]:
    with transaction() as session:
        return list(session.scalars(select(Target).order_by(Target.name)))


def acts() -> list[str]:
    with transaction() as session:
        return list(session.scalars(select(AuditEntry.action).order_by(AuditEntry.number)))


def score(identifier: str) -> None:
    with transaction() as session:
        query = select(Evaluation.id).where(Evaluation.submission_id == UUID(identifier))
        found = session.scalars(query).one()
    scoring.score(str(found))


def quick(contest: Contest, team: str) -> str:
    """A submission with a verdict by hand."""
    identifier = contest.submit(team, scored=False)
    with transaction() as session:
        session.execute(update(Competition).values(scored_by={}))  # which the verdict does not name
        query = select(Evaluation.id).where(Evaluation.submission_id == UUID(identifier))
        claimed = claim_evaluation(session, session.scalars(query).one())
        verdict = {"verdict": "accepted", "overall": 0.5, "utility": 0.5, "security": 0.5}
        evaluations.record(
            session,
            claimed,
            verdict=verdict | {"violations": [], "measures": {}, "attackers": {}},
            scorer="x",
        )
    return identifier
