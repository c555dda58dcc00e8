"""Threshold reports: the advisor's work on a competition's data, done by a worker and kept."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, NotFound, TooMany
from anoncup.excessive.question import Question, checked
from app.db.models import State, ThresholdReport
from app.services.accounts import audit
from app.services.accounts.accounts import Principal
from app.services.contests import competitions
from app.services.jobs import leases, queue

MOST_UNFINISHED = 20
"""Reports of a competition that wait or are being made."""
RETRY_AFTER_S = 60


@dataclass(frozen=True, slots=True)
class Claim:
    """What a worker needs to make a report, and the attempt that is its right to record."""

    report_id: UUID
    attempt: int
    competition_file: str
    original: dict[str, str]
    question: dict[str, Any]


def ask(session: Session, principal: Principal, slug: str, question: Question) -> ThresholdReport:
    """Queue a report on the competition's data as they stand now."""
    contest = competitions.locked_for_organizer(session, principal, slug)
    if contest.row.rehearses is not None:
        raise Conflict("ask for a report at the competition that is rehearsed", code="is_rehearsal")
    if contest.row.original_rows is None:
        raise Conflict("the competition has no original data yet", code="no_original")
    require_room(session, contest.id)
    asked = asdict(checked(question, contest.rules))
    made = ThresholdReport(
        competition_id=contest.id,
        user_id=principal.user_id,
        file=contest.row.file,
        original=contest.row.original,
        question=asked,
    )
    session.add(made)
    session.flush()
    queue.defer(session, queue.ADVISE)
    audit.record(session, principal, "threshold.ask", competition_id=contest.id, subject=str(made.id))
    return made


def require_room(session: Session, competition_id: UUID) -> None:
    """One report takes minutes; ask with the competition's lock held."""
    unfinished = ThresholdReport.state.in_(leases.UNFINISHED)
    asked = select(func.count()).where(ThresholdReport.competition_id == competition_id, unfinished)
    if session.scalars(asked).one() >= MOST_UNFINISHED:
        raise TooMany(
            "{most} reports of this competition are unfinished: ask again when one is finished",
            retry_after=RETRY_AFTER_S,
            code="too_many_reports",
            most=MOST_UNFINISHED,
        )


def listed(session: Session, principal: Principal, slug: str) -> Sequence[ThresholdReport]:
    """A competition's reports, newest first; for its organizers."""
    contest = competitions.for_organizer(session, principal, slug)
    found = select(ThresholdReport).where(ThresholdReport.competition_id == contest.id)
    return session.scalars(found.order_by(ThresholdReport.created_at.desc())).all()


def visible(session: Session, principal: Principal, report_id: UUID) -> ThresholdReport:
    report = session.get(ThresholdReport, report_id)
    if report is None or not competitions.is_organizer(session, report.competition_id, principal):
        raise NotFound("there is no such report", code="no_such_report")
    principal.require("organize")
    return report


def claim_next(session: Session, *, lease: timedelta, attempts: int) -> Claim | None:
    """Take the report that is fairly next for this worker; None if none waits, or only such of competitions
    of which one is being made."""
    report = leases.claim_next(session, ThresholdReport, lease=lease, attempts=attempts)
    if report is None:
        return None
    return Claim(report.id, report.attempt, report.file, report.original, report.question)


def record(session: Session, claimed: Claim, found: dict[str, Any]) -> bool:
    """Store a report, once: False if another worker has taken it since."""
    report = leases.held(session, ThresholdReport, claimed.report_id, claimed.attempt)
    if report is None:
        return False
    leases.finish(session, report, State.SCORED)
    report.report, report.failure = found, None
    # Another one of the competition had to wait for this one, and whoever was rung for it found nothing.
    queue.defer(session, queue.ADVISE)
    return True
