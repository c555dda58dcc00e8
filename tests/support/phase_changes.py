"""Submissions, audit entries and killed processes for tests of phase changes."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from sqlalchemy import select, update

from app.core.db.models import AuditEntry, Evaluation, Round, Target
from app.core.db.transaction import transaction
from app.core.identity.principal import Principal
from app.submissions.uploads import ReleaseUpload
from tests.support.arena import Arena, build_noisy_release, load_principal
from tests.support.contest import Contest
from tests.support.database_rows import load_all, load_one
from tests.support.job_claims import claim_evaluation
from tests.support.standings import record_verdict
from workers import tasks


def get_principal(arena: Arena, team: str) -> Principal:
    token = arena.get_team_token(team)
    with transaction() as session:
        return load_principal(session, token)


def begin_upload(arena: Arena, team: str, *, key: str | None = None) -> tuple[Principal, ReleaseUpload]:
    """Begin an upload, as if its web process ended right afterwards."""
    principal, upload = get_principal(arena, team), ReleaseUpload(arena.slug, key=key)
    with transaction() as session:
        upload.begin(session, principal)
    return principal, upload


def receive_upload(arena: Arena, team: str, *, seed: int = 1) -> tuple[Principal, ReleaseUpload]:
    """Begin and parse an upload without accepting it."""
    principal, upload = begin_upload(arena, team)
    table, secret = build_noisy_release(seed, arena.table)
    upload.parse({"anonymized": table, "secret": secret}, {})
    return principal, upload


def accept_upload(principal: Principal, upload: ReleaseUpload) -> str:
    with transaction() as session:
        return str(upload.accept(session, principal).id)


def list_targets() -> list[Target]:
    return load_all(select(Target).order_by(Target.name))


def list_audit_actions() -> list[str]:
    return load_all(select(AuditEntry.action).order_by(AuditEntry.number))


def score_submission(identifier: str) -> None:
    """Score the next submission, which must be this one."""
    tasks.score()
    query = select(Evaluation.finished_at).where(Evaluation.submission_id == UUID(identifier))
    assert load_one(query.where(Evaluation.current)) is not None


def submit_with_verdict(contest: Contest, team: str) -> str:
    """Submit a release and record a made-up verdict. Return its identifier."""
    identifier = contest.submit(team, score=False)
    with transaction() as session:
        session.execute(update(Round).values(scored_by={}))  # the verdict names no versions
        query = select(Evaluation.id).where(Evaluation.submission_id == UUID(identifier))
        claim = claim_evaluation(session, session.scalars(query).one())
        verdict = {"verdict": "accepted", "overall": 0.5, "utility": 0.5, "security": 0.5}
        record_verdict(session, claim, verdict | {"violations": [], "measures": {}, "attackers": {}})
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
