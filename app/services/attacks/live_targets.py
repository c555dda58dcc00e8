"""Live targets: each accepted release becomes a target at once and replaces the one before of its team.

The clock adds a target, a worker writes its files, and the clock then publishes it and retires the team's
earlier target. A release that is accepted after a newer one has become a target never becomes one.
"""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select
from sqlalchemy.orm import Session, aliased, joinedload

from app.db.models import Evaluation, Round, State, Submission, Target, Team
from app.db.now import read_clock
from app.services.boards.version_filter import has_same_versions
from app.services.contests import competitions, phases
from app.services.contests.contest import get_timetable

_Earlier = aliased(Submission)


def is_due(session: Session, round_: Round, now: datetime) -> bool:
    """Return whether a release is to become a target, or a target with files is to be published."""
    if not _is_running(round_, now):
        return False
    steps = or_(exists(_select_new(round_)), exists().where(_is_publishable(round_)))
    return round_.published_at is None or bool(session.scalar(select(steps)))


def has_unpublished(session: Session, round_: Round) -> bool:
    """Return whether a live target waits for its files or its publication."""
    unpublished = exists().where(Target.round_id == round_.id, Target.published_at.is_(None))
    return _is_live(round_) and bool(session.scalar(select(unpublished)))


def _is_live(round_: Round) -> bool:
    return get_timetable(round_).targets == "live"


def _is_running(round_: Round, now: datetime) -> bool:
    has_begun = phases.has_phase_begun(round_, phases.ANONYMIZATION, now)
    return _is_live(round_) and has_begun and round_.frozen_at is None


def advance(session: Session, round_id: UUID) -> bool:
    """Add and publish the targets that are due; return whether anything was."""
    round_ = competitions.lock(session, round_id)
    now = read_clock(session)
    if not is_due(session, round_, now):
        return False
    _add_targets(session, round_)
    _publish_targets(session, round_, now)
    _retire_replaced(session, round_, now)
    round_.published_at = round_.published_at or now
    return True


def _select_new(round_: Round) -> Select[Submission]:
    """Select the accepted releases that are newer than the targets of their teams."""
    newest_target = (
        select(func.max(_Earlier.received_at))
        .join(Target, Target.submission_id == _Earlier.id)
        .where(_Earlier.team_id == Submission.team_id, _Earlier.round_id == round_.id)
        .scalar_subquery()
    )
    return (
        select(Submission)
        .join(Evaluation, and_(Evaluation.submission_id == Submission.id, Evaluation.current))
        .join(Submission.team)
        .where(Submission.round_id == round_.id, Evaluation.state == State.SCORED)
        .where(Submission.disqualified_at.is_(None), Team.disqualified_at.is_(None), ~Team.baseline)
        .where(has_same_versions(round_.scored_by))
        .where(or_(newest_target.is_(None), Submission.received_at > newest_target))
        .order_by(Submission.received_at)
    )


def _add_targets(session: Session, round_: Round) -> None:
    new_submissions = session.scalars(_select_new(round_)).all()
    count = session.scalars(select(func.count()).where(Target.round_id == round_.id)).one()
    for number, submission in enumerate(new_submissions, count + 1):
        session.add(Target.from_submission(submission, f"T{number:04}"))


def _is_publishable(round_: Round) -> ColumnElement[bool]:
    return and_(Target.round_id == round_.id, Target.files.is_not(None), Target.published_at.is_(None))


def _publish_targets(session: Session, round_: Round, now: datetime) -> None:
    for target in session.scalars(select(Target).where(_is_publishable(round_))):
        target.published_at = now


def _retire_replaced(session: Session, round_: Round, now: datetime) -> None:
    """Retire all targets but the newest of each team.

    Files can be written in another order than the releases arrived in; an older target is then retired when
    it is published.
    """
    published = Target.round_id == round_.id, Target.published_at.is_not(None), Target.retired_at.is_(None)
    query = select(Target).join(Target.submission).where(*published).order_by(Submission.received_at)
    standing_targets = session.scalars(query.options(joinedload(Target.submission))).all()
    newest_by_team = {target.submission.team_id: target for target in standing_targets}
    for target in standing_targets:
        if target is not newest_by_team[target.submission.team_id]:
            target.retired_at = now
