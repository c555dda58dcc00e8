"""How phases turn by themselves: freeze the finals, publish the targets, close, reveal.

Each step takes the competition's lock, reads the clock under it, looks whether it is due and not yet done,
and does it in one transaction: two clocks at once, or one that is restarted in the middle, do it once. What
takes long (writing a target's files, opening a secret) happens between the steps, per target, written once.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog
from sqlalchemy import ColumnElement, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from anoncup.errors import CompetitionUnavailable
from app.db.models import Competition, Evaluation, Guess, Opening, Secret, Submission, Target, WitnessedEnd
from app.db.now import clock
from app.services.accounts import audit
from app.services.attacks import allocation, candidates
from app.services.contests import guess_terms, observed_deadlines, phases
from app.services.contests.sealed_inputs import Box
from app.services.jobs.leases import UNFINISHED
from app.services.submissions import attempts

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A target whose files the service has still to write, and what from."""

    target_id: UUID
    competition_file: str
    original: tuple[tuple[str, str], ...]
    files: dict[str, str]
    submission_id: UUID
    competition_id: UUID
    team_id: UUID
    key_id: str
    sealed: bytes


@dataclass(frozen=True, slots=True)
class Unrevealed:
    """A target whose secret is to be published."""

    target_id: UUID
    submission_id: UUID
    key_id: str
    sealed: bytes
    commitment: str


@dataclass(frozen=True, slots=True)
class Found:
    """Competitions with a step to take; those with an end to be witnessed; those whose file cannot be read,
    with the reason; and what was noted as witnessed and is not signed."""

    due: list[UUID]
    unwitnessed: list[UUID]
    unreadable: dict[UUID, str]
    unsigned: list[WitnessedEnd]


def due(session: Session) -> Found:
    """What there is to turn. Nothing is locked: a step looks again under the lock."""
    unrevealed = select(Competition).where(
        Competition.revealed_at.is_(None), Competition.removed_at.is_(None)
    )
    rows = session.scalars(unrevealed.order_by(Competition.created_at)).all()
    now = clock(session)
    noted = observed_deadlines.book(session, [row.id for row in rows], observed_deadlines.ring())
    terms = guess_terms.list_noted(session, [row.id for row in rows])
    found = Found([], [], {}, noted.unsigned)
    for row in rows:
        seen = noted.of(row.id)
        try:
            if observed_deadlines.is_new(row, seen):
                found.unwitnessed.append(row.id)
            outdated = guess_terms.is_outdated(row, terms.get(row.id, ()))
            if outdated or is_due(row, seen, now) or allocation.is_due(session, row, now):
                found.due.append(row.id)
        except CompetitionUnavailable as problem:
            found.unreadable[row.id] = str(problem)
    return found


def is_due(row: Competition, seen: Sequence[WitnessedEnd], now: datetime) -> bool:
    if row.published_at is None:
        return row.frozen_at is not None or phases.had_ended(row, phases.ANONYMIZATION, now)
    return observed_deadlines.is_time(row, seen, now)


def locked(session: Session, competition_id: UUID) -> Competition:
    """As it stands under the lock, whatever the session has seen of it before."""
    return session.get_one(Competition, competition_id, with_for_update=True, populate_existing=True)


def next_step(session: Session, competition_id: UUID) -> bool:
    """Take the one step that the competition has before it; False if that is not due or awaits something."""
    row = session.get_one(Competition, competition_id)
    if row.frozen_at is None:
        # A deadline waits for no key.
        return freeze(session, competition_id) or commit(session, competition_id)
    if row.published_at is None:
        return publish(session, competition_id)
    if row.closed_at is None:
        return close(session, competition_id)
    return reveal(session, competition_id)


def awaits_work(session: Session, competition_id: UUID) -> bool:
    """Whether files are to be written or secrets to be opened before the next step."""
    row = session.get_one(Competition, competition_id)
    if allocation.awaited(session, row, clock(session)) is not None:
        return True
    mine = Target.competition_id == competition_id
    if session.scalar(select(exists().where(mine, Target.files.is_(None)))):
        return True
    sealed = session.scalar(select(exists().where(mine, is_sealed())))
    return bool(sealed or allocation.sealed_seed(session, row.id)) and may_open(session, row)


def commit(session: Session, competition_id: UUID) -> bool:
    """Commit to the seed of what the service draws, if it draws anything in this competition."""
    if not allocation.is_uncommitted(session, session.get_one(Competition, competition_id)):
        return False
    return allocation.commit(session, locked(session, competition_id))


def freeze(session: Session, competition_id: UUID) -> bool:
    """Take the finals, once the first deadline has passed and all that came in time has been scored."""
    row = locked(session, competition_id)
    due = row.frozen_at is None and phases.has_ended(session, row, phases.ANONYMIZATION)
    if not due or is_being_scored(session, row) or attempts.are_under_way(session, row, phases.ANONYMIZATION):
        return False
    taken = candidates.chosen(session, row)
    # Neither the order nor the number tells who it is or when it came.
    secrets.SystemRandom().shuffle(taken)
    width = max(2, len(str(len(taken))))
    for number, submission in enumerate(taken, 1):
        session.add(
            Target(
                competition_id=row.id,
                submission_id=submission.id,
                name=f"T{number:0{width}}",
                rows=submission.rows,
                sizes=submission.sizes,
            )
        )
    row.frozen_at = clock(session)
    noted(session, row, "finals.freeze", targets=len(taken))
    return True


def is_being_scored(session: Session, row: Competition) -> bool:
    waiting = (
        select(Evaluation.id)
        .join(Evaluation.submission)
        .where(Submission.competition_id == row.id, Evaluation.current, Evaluation.state.in_(UNFINISHED))
    )
    return bool(session.scalar(select(waiting.exists())))


def unwritten(session: Session, competition_id: UUID) -> list[Unwritten]:
    row = session.get_one(Competition, competition_id)
    found = session.execute(
        select(Target.id, Submission, Secret)
        .join(Target.submission)
        .join(Secret, Secret.submission_id == Submission.id)
        .where(Target.competition_id == competition_id, Target.files.is_(None))
        .order_by(Target.name)
    )
    original = tuple(sorted(row.given.items()))
    return [
        Unwritten(
            target_id,
            row.file,
            original,
            one.files,
            one.id,
            row.id,
            one.team_id,
            secret.key_id,
            secret.sealed,
        )
        for target_id, one, secret in found
    ]


def written(session: Session, target_id: UUID, files: dict[str, str]) -> None:
    """Note a target's files, unless another clock has."""
    session.execute(update(Target).where(Target.id == target_id, Target.files.is_(None)).values(files=files))


def publish(session: Session, competition_id: UUID) -> bool:
    """Make the targets available, once all their files are written."""
    row = locked(session, competition_id)
    missing = exists().where(Target.competition_id == row.id, Target.files.is_(None))
    if row.frozen_at is None or row.published_at is not None or session.scalar(select(missing)):
        return False
    row.published_at = clock(session)
    noted(session, row, "targets.publish")
    return True


def close(session: Session, competition_id: UUID) -> bool:
    """End the contest, once the reveal's time has come and every guess has been judged.

    While that waits for its notice, the end can still be moved: what was not to be so early is undone by it.
    """
    row = locked(session, competition_id)
    due = row.closed_at is None and row.published_at is not None
    if not due or not observed_deadlines.may_reveal(session, row):
        return False
    judging = exists().where(Guess.competition_id == row.id, Guess.state.in_(UNFINISHED))
    if session.scalar(select(judging)) or attempts.are_under_way(session, row, phases.REIDENTIFICATION):
        return False
    row.closed_at = clock(session)
    noted(session, row, "competition.close")
    return True


def may_open(session: Session, row: Competition) -> bool:
    """Whether the competition is closed, and in its time: what stands in a row that others can write is not
    enough."""
    return row.closed_at is not None and observed_deadlines.may_reveal(session, row)


def unrevealed(session: Session, competition_id: UUID) -> list[Unrevealed]:
    """The targets of a closed competition whose secrets are still sealed; of another, none."""
    if not may_open(session, session.get_one(Competition, competition_id)):
        return []
    found = session.execute(
        select(Target.id, Secret)
        .join(Secret, Secret.submission_id == Target.submission_id)
        .join(Submission, Submission.id == Target.submission_id)
        .where(Target.competition_id == competition_id, Submission.competition_id == competition_id)
        .where(is_sealed())
        .order_by(Target.name)
    )
    return [
        Unrevealed(target_id, secret.submission_id, secret.key_id, secret.sealed, secret.commitment)
        for target_id, secret in found
    ]


def unopened_seed(session: Session, competition_id: UUID) -> Box | None:
    """The seed of a closed competition that is still sealed; of another, none."""
    if not may_open(session, session.get_one(Competition, competition_id)):
        return None
    return allocation.sealed_seed(session, competition_id)


def is_sealed() -> ColumnElement[bool]:
    return ~exists().where(Opening.target_id == Target.id)


def opened(session: Session, target_id: UUID, *, salt: bytes, secret: str) -> None:
    """Note a target's opened secret, which is shown from the reveal on, unless another clock has."""
    opening = insert(Opening).values(target_id=target_id, salt=salt, secret=secret)
    session.execute(opening.on_conflict_do_nothing())


def reveal(session: Session, competition_id: UUID) -> bool:
    """Publish the secrets of a closed competition's targets, once all are open."""
    row = locked(session, competition_id)
    sealed = exists().where(Target.competition_id == row.id, is_sealed())
    if row.revealed_at is not None or session.scalar(select(sealed)) or not may_open(session, row):
        return False
    if allocation.sealed_seed(session, row.id) is not None:
        return False
    row.revealed_at = clock(session)
    shown = session.scalar(select(func.count()).where(Target.competition_id == row.id))
    noted(session, row, "secrets.reveal", secrets=shown)
    return True


def noted(session: Session, row: Competition, action: str, **after: object) -> None:
    audit.record(session, None, action, competition_id=row.id, subject=row.slug, after=after or None)
    log.info(action, competition=row.slug, **after)
