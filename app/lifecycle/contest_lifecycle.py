"""Contest lifecycle: freeze the finals, publish the targets, close, reveal.

Each step locks the competition, reads the clock under the lock, checks that the step is due and not yet done,
and performs it in one transaction. Two clock processes, or one that is restarted midway, therefore perform it
once. Long work (writing the files of a target, opening a secret) runs between the steps, target by target,
and is recorded once.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import InstrumentedAttribute, Session

from anoncup.errors import CompetitionUnavailable
from app.boards import standing_updates
from app.competitions import competitions, phases, reveal_notice
from app.core import audit, outbox
from app.core.db.models import (
    Competition,
    Evaluation,
    Guess,
    Opening,
    Round,
    Secret,
    Submission,
    Target,
)
from app.core.db.transaction import read_clock
from app.jobs.leases import UNFINISHED
from app.lifecycle.finals import choose_finals
from app.originals.sealed_inputs import SealedBox
from app.submissions import attempts
from app.targets import allocation


@dataclass(frozen=True, slots=True)
class DueWork:
    """Work that is due in the contests.

    ``due_ids`` lists competitions with a step to take. ``unreadable`` maps competitions whose file cannot be
    read to the reason.
    """

    due_ids: list[UUID]
    unreadable: dict[UUID, str]


def find_due_work(session: Session) -> DueWork:
    """Return the due work. Nothing is locked here; each step checks again under the lock."""
    unrevealed = (
        select(Round).join(Competition).where(Round.revealed_at.is_(None), Round.removed_at.is_(None))
    )
    rows = session.scalars(unrevealed.order_by(Competition.created_at)).all()
    now, due_work = read_clock(session), DueWork([], {})
    for round_ in rows:
        try:
            if _is_due(round_, now) or allocation.is_due(session, round_, now):
                due_work.due_ids.append(round_.id)
        except CompetitionUnavailable as problem:
            due_work.unreadable[round_.id] = str(problem)
    return due_work


def _is_due(round_: Round, now: datetime) -> bool:
    if round_.frozen_at is None:
        return phases.has_phase_ended(round_, phases.ANONYMIZATION, now)
    return round_.published_at is None or reveal_notice.is_reveal_due(round_, now)


def take_next_step(session: Session, round_id: UUID) -> bool:
    """Take the next step of the competition; return False if it is not due or must wait."""
    round_ = session.get_one(Round, round_id)
    if round_.frozen_at is None:
        # Freezing comes first: the deadline must not wait for a key.
        return freeze(session, round_id) or allocation.commit_seed(
            session, competitions.lock(session, round_id)
        )
    if round_.published_at is None:
        return publish(session, round_id)
    if round_.closed_at is None:
        return close(session, round_id)
    return reveal(session, round_id)


def has_long_work(session: Session, round_id: UUID) -> bool:
    """Return whether a worker must allocate or write files, or open secrets, before the next step."""
    round_ = session.get_one(Round, round_id)
    if allocation.find_pending(session, round_, read_clock(session)) is not None:
        return True
    in_round = Target.round_id == round_id
    if _exists(session, in_round, Target.files.is_(None)):
        return True
    is_sealed = _exists(session, in_round, _is_sealed()) or allocation.find_sealed_seed(session, round_.id)
    return bool(is_sealed) and _can_open_secrets(session, round_)


def _exists(session: Session, *conditions: ColumnElement[bool] | InstrumentedAttribute[bool]) -> bool:
    return bool(session.scalar(select(exists().where(*conditions))))


def _record(session: Session, round_: Round, action: str, change: outbox.PhaseChange, **details: Any) -> None:
    audit.record_by_clock(session, round_, action, **details)
    outbox.add_phase_change(session, round_.competition_id, round_.id, change)


def freeze(session: Session, round_id: UUID) -> bool:
    """Freeze the finals once the first deadline has passed and all timely submissions have been scored."""
    round_ = competitions.lock(session, round_id)
    now, in_round = read_clock(session), Evaluation.round_id == round_.id
    if (
        round_.frozen_at is not None
        or not phases.has_phase_ended(round_, phases.ANONYMIZATION, now)
        or _exists(session, in_round, Evaluation.current, Evaluation.state.in_(UNFINISHED))
        or attempts.has_pending_uploads(session, round_, phases.ANONYMIZATION)
    ):
        return False
    finals = choose_finals(session, round_)
    # Shuffle, so that target names reveal neither the team nor the time of receipt.
    secrets.SystemRandom().shuffle(finals)
    width = max(2, len(str(len(finals))))
    for number, submission in enumerate(finals, 1):
        session.add(Target.from_submission(submission, f"T{number:0{width}}"))
    round_.frozen_at = read_clock(session)
    _record(session, round_, "finals.freeze", "finals_frozen", targets=len(finals))
    return True


def list_targets_without_files(session: Session, round_id: UUID) -> Sequence[UUID]:
    without_files = select(Target.id).where(Target.round_id == round_id, Target.files.is_(None))
    return session.scalars(without_files.order_by(Target.name)).all()


def record_files(session: Session, target_id: UUID, files: dict[str, str]) -> None:
    """Record the files of a target, unless another process has recorded them."""
    session.execute(update(Target).where(Target.id == target_id, Target.files.is_(None)).values(files=files))


def publish(session: Session, round_id: UUID) -> bool:
    """Publish the targets once all their files are written."""
    round_ = competitions.lock(session, round_id)
    if (
        round_.frozen_at is None
        or round_.published_at is not None
        or _exists(session, Target.round_id == round_.id, Target.files.is_(None))
    ):
        return False
    round_.published_at = read_clock(session)
    standing_updates.refresh(session, round_id, since=round_.published_at)
    _record(session, round_, "targets.publish", "targets_published")
    return True


def close(session: Session, round_id: UUID) -> bool:
    """Close the contest once the reveal is due and every guess has been judged.

    If the end was moved to an earlier time, the reveal waits for the notice period. Until then organizers can
    move the end again, so that an accidental change can be undone.
    """
    round_ = competitions.lock(session, round_id)
    if (
        round_.closed_at is not None
        or round_.published_at is None
        or not reveal_notice.is_reveal_due(round_, read_clock(session))
        or _exists(session, Guess.round_id == round_.id, Guess.state.in_(UNFINISHED))
        or attempts.has_pending_uploads(session, round_, phases.REIDENTIFICATION)
    ):
        return False
    round_.closed_at = read_clock(session)
    # Functions of later rounds may read from now on what was hidden.
    standing_updates.refresh(session, round_id, since=round_.closed_at)
    _record(session, round_, "competition.close", "closed")
    return True


def _can_open_secrets(session: Session, round_: Round) -> bool:
    """Return whether secrets may be opened: the competition is closed and the reveal is due."""
    return round_.closed_at is not None and reveal_notice.is_reveal_due(round_, read_clock(session))


def list_sealed_secrets(session: Session, round_id: UUID) -> dict[UUID, SealedBox]:
    """Return the secrets that are still sealed, by target; none unless secrets may be opened."""
    if not _can_open_secrets(session, session.get_one(Round, round_id)):
        return {}
    sealed = (
        select(Target.id, Secret.submission_id, Secret.key_id, Secret.sealed, Submission.commitment)
        .join(Secret, Secret.submission_id == Target.submission_id)
        .join(Submission, Submission.id == Target.submission_id)
        .where(Target.round_id == round_id, _is_sealed())
        .order_by(Target.name)
    )
    return {
        target_id: SealedBox(submission_id, key_id, box, commitment)
        for target_id, submission_id, key_id, box, commitment in session.execute(sealed)
    }


def find_unopened_seed(session: Session, round_id: UUID) -> SealedBox | None:
    """Return the seed if it is still sealed; None unless secrets may be opened."""
    if not _can_open_secrets(session, session.get_one(Round, round_id)):
        return None
    return allocation.find_sealed_seed(session, round_id)


def _is_sealed() -> ColumnElement[bool]:
    return ~exists().where(Opening.target_id == Target.id)


def record_opening(session: Session, target_id: UUID, *, salt: bytes, secret: str) -> None:
    """Record the opened secret of a target, which is shown from the reveal on.

    It is ignored if another process has recorded it.
    """
    opening = insert(Opening).values(target_id=target_id, salt=salt, secret=secret)
    session.execute(opening.on_conflict_do_nothing())


def reveal(session: Session, round_id: UUID) -> bool:
    """Reveal the secrets of the targets once all are opened."""
    round_ = competitions.lock(session, round_id)
    if (
        round_.revealed_at is not None
        or _exists(session, Target.round_id == round_.id, _is_sealed())
        or not _can_open_secrets(session, round_)
        or allocation.find_sealed_seed(session, round_.id) is not None
    ):
        return False
    round_.revealed_at = read_clock(session)
    secret_count = session.scalar(select(func.count()).where(Target.round_id == round_.id))
    _record(session, round_, "secrets.reveal", "revealed", secrets=secret_count)
    return True
