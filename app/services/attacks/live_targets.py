"""Live targets: each accepted release becomes a target at once and replaces the one before of its team.

The clock adds a target, a worker writes its files, and the clock then publishes it and retires the team's
earlier target. A release that is accepted after a newer one has become a target never becomes one.
"""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, and_, exists, func, or_, select
from sqlalchemy.orm import Session, aliased, joinedload

from app.db.models import Evaluation, Round, State, Submission, Target, Team
from app.db.now import read_clock
from app.services.boards.version_filter import has_same_versions
from app.services.contests import competitions, phases
from app.services.contests.contest import get_timetable

_Earlier = aliased(Submission)


def is_due(session: Session, round_: Round, now: datetime) -> bool:
    """Return whether a release is to become a target, or a target waits for its files or its publication."""
    if not _is_running(round_, now):
        return False
    unpublished = exists().where(Target.round_id == round_.id, Target.published_at.is_(None))
    is_incomplete = session.scalar(select(or_(exists(_select_new(round_)), unpublished)))
    return round_.published_at is None or bool(is_incomplete)


def _is_running(round_: Round, now: datetime) -> bool:
    is_live = get_timetable(round_).targets == "live"
    return is_live and round_.frozen_at is None and phases.has_phase_begun(round_, phases.ANONYMIZATION, now)


def advance(session: Session, round_id: UUID) -> bool:
    """Add and publish the targets that can be; return whether anything was done."""
    round_ = competitions.lock(session, round_id)
    now = read_clock(session)
    if not _is_running(round_, now):
        return False
    is_first_step = round_.published_at is None
    round_.published_at = round_.published_at or now
    added_count = _add_targets(session, round_)
    published_count = _publish_targets(session, round_, now)
    return bool(is_first_step or added_count or published_count)


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


def _add_targets(session: Session, round_: Round) -> int:
    new_submissions = session.scalars(_select_new(round_)).all()
    count = session.scalars(select(func.count()).where(Target.round_id == round_.id)).one()
    for number, submission in enumerate(new_submissions, count + 1):
        session.add(Target.from_submission(submission, f"T{number:04}"))
    return len(new_submissions)


def _publish_targets(session: Session, round_: Round, now: datetime) -> int:
    """Publish the targets that have files, retire all but the newest of each team, and return their number.

    Files can be written in another order than the releases arrived in; an older target is then retired when
    it is published.
    """
    with_files = Target.round_id == round_.id, Target.files.is_not(None), Target.retired_at.is_(None)
    query = select(Target).join(Target.submission).where(*with_files).order_by(Submission.received_at)
    targets = session.scalars(query.options(joinedload(Target.submission))).all()
    new_targets = [target for target in targets if target.published_at is None]
    for target in new_targets:
        target.published_at = now
    newest_by_team = {target.submission.team_id: target for target in targets}
    for target in targets:
        if target is not newest_by_team[target.submission.team_id]:
            target.retired_at = now
    return len(new_targets)
