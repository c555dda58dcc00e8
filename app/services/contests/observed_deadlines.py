"""Signed observations of the end of a competition's last phase, and the reveal time that follows from them.

The clock process records every end of the last phase that it observes. Secrets are never revealed earlier
than announced with enough notice: the rule uses the observations and not the present competition file, so
that nobody who can write the file can bring the reveal forward.

An attacker who can write to the database can move an end, set ``closed_at``, or add an observation. None of
that reveals a secret early, because only rows signed with the key of the clock and the workers count.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog
from sqlalchemy import Text, cast, exists, func, select
from sqlalchemy.orm import Session

from anoncup.errors import CompetitionUnavailable
from anoncup.messages import N_, CodedMessage, Message
from anoncup.rules.settings import Phase
from app.config import get_settings
from app.crypto import deadline_signing
from app.crypto.deadline_signing import SigningKeys
from app.db.models import Announcement, AuditEntry, ObservedDeadline, Round
from app.db.now import read_clock
from app.locale.language import ENGLISH
from app.services.accounts import audit
from app.services.contests import competitions, phases
from app.services.contests.contest import get_timetable
from app.services.jobs import outbox

log = structlog.get_logger(__name__)

UNSIGNED_ACTION = "end.unsigned"
"""Audit action for an observation without a valid signature."""
_DeadlinesById = defaultdict[UUID, list[ObservedDeadline]]
"""Observed deadlines by competition."""

_END_MOVED = N_(
    "The end of the re-identification phase has moved from {before} to {end} ({zone}). "
    "The secrets of the targets are revealed at {reveal}."
)
_END_MOVED_REVEAL_LATER = N_(
    "The end of the re-identification phase has moved from {before} to {end} ({zone}). "
    "The secrets of the targets are revealed at {reveal}.\n\n"
    "That is later than the end because an earlier reveal must be announced in advance. "
    "Until then the end can still be moved: if something is wrong, tell the organizers now."
)


def load_keys() -> SigningKeys:
    """Load the signing keys of this process; the web application has none."""
    return deadline_signing.load_signing_keys(get_settings().opening_keys_dir)


def load_records(
    session: Session, round_ids: Iterable[UUID], keys: SigningKeys
) -> tuple[_DeadlinesById, list[ObservedDeadline]]:
    """Load the observations of these competitions with a valid signature, oldest first, and the others."""
    condition = ObservedDeadline.round_id.in_(list(round_ids))
    signed: _DeadlinesById = defaultdict(list)
    unsigned = []
    for deadline in session.scalars(
        select(ObservedDeadline).where(condition).order_by(ObservedDeadline.observed_at)
    ):
        if keys.verify(build_signed_message(deadline), deadline.signature):
            signed[deadline.round_id].append(deadline)
        else:
            unsigned.append(deadline)
    return signed, unsigned


def build_signed_message(deadline: ObservedDeadline) -> bytes:
    ends_at, observed_at = (
        moment.astimezone(UTC).isoformat() for moment in (deadline.ends_at, deadline.observed_at)
    )
    return deadline_signing.build_message(
        (
            deadline.round_id,
            deadline.phase,
            ends_at,
            deadline.notice_hours,
            deadline.before_submissions,
            observed_at,
        )
    )


def _get_last_phase(round_: Round) -> Phase | None:
    """Return the phase after which the secrets are revealed; raises CompetitionUnavailable."""
    return get_timetable(round_).phase(phases.REIDENTIFICATION)


def has_new_deadline(round_: Round, deadlines: Sequence[ObservedDeadline]) -> bool:
    """Whether the end or the notice period differs from the latest observation."""
    phase = _get_last_phase(round_)
    return phase is not None and (
        not deadlines
        or (deadlines[-1].ends_at, deadlines[-1].notice) != (phase.end, _get_reveal_notice(round_))
    )


def _get_reveal_notice(round_: Round) -> timedelta:
    return get_timetable(round_).reveal_notice


def observe_deadline(session: Session, round_id: UUID) -> bool:
    """Sign and store the present end of the last phase; return whether it was new.

    The competition is locked, so that no submission slips in between the check and the observation.
    """
    round_ = competitions.lock(session, round_id)
    keys, phase = load_keys(), _get_last_phase(round_)
    deadlines = load_records(session, [round_.id], keys)[0][round_.id]
    if phase is None or not has_new_deadline(round_, deadlines):
        return False
    deadline = ObservedDeadline(
        round_id=round_.id,
        phase=phase.name,
        ends_at=phase.end,
        notice_hours=_get_reveal_notice(round_) // timedelta(hours=1),
        before_submissions=not competitions.has_submissions(session, round_.id),
        observed_at=read_clock(session),
    )
    deadline.signature = keys.sign(build_signed_message(deadline))
    session.add(deadline)
    session.flush()
    log.info("end.witness", competition=round_.address, end=phase.end.isoformat())
    if phases.has_contest_begun(session, round_) and deadlines and deadlines[-1].ends_at != phase.end:
        _announce_moved_end(
            session,
            round_,
            previous_end=deadlines[-1].ends_at,
            reveal_at=_get_reveal_time(round_, [*deadlines, deadline]),
        )
    return True


def _announce_moved_end(
    session: Session, round_: Round, *, previous_end: datetime, reveal_at: datetime | None
) -> None:
    """Announce a moved end, regardless of who moved it."""
    phase, zone = _get_last_phase(round_), get_timetable(round_).zone
    assert phase is not None  # noqa: S101  # its end is what has moved
    assert reveal_at is not None  # noqa: S101  # its end has just been observed
    moments = {"before": previous_end, "end": phase.end, "reveal": reveal_at}
    times = {name: f"{moment.astimezone(zone):%Y-%m-%d %H:%M}" for name, moment in moments.items()}
    message = Message(
        _END_MOVED_REVEAL_LATER if reveal_at > phase.end else _END_MOVED, zone=zone.key, **times
    )
    announcement = Announcement(
        competition_id=round_.competition_id,
        text={ENGLISH: str(message)},
        coded_message=CodedMessage("end_moved", message),
    )
    session.add(announcement)
    session.flush()
    outbox.add_announcement(session, round_.competition_id, announcement.id)


def _get_reveal_time(round_: Round, deadlines: Iterable[ObservedDeadline]) -> datetime | None:
    """Return the reveal time; None without a last phase or before its end has been observed."""
    phase = _get_last_phase(round_)
    return None if phase is None else compute_reveal_time(phase.end, deadlines)


def is_reveal_due(round_: Round, deadlines: Iterable[ObservedDeadline], now: datetime) -> bool:
    """Whether the last phase has ended and the reveal time has passed; a pause delays both."""
    reveal_at = _get_reveal_time(round_, deadlines)
    has_ended = phases.has_phase_ended(round_, phases.REIDENTIFICATION, now)
    return has_ended and reveal_at is not None and reveal_at <= now


def can_reveal(session: Session, round_: Round) -> bool:
    """Whether the reveal is due by the observations that this process can verify; never without keys."""
    signed, _ = load_records(session, [round_.id], load_keys())
    return is_reveal_due(round_, signed[round_.id], read_clock(session))


def load_reveal_times(session: Session, rows: Sequence[Round]) -> dict[UUID, datetime]:
    """Return the expected reveal times by competition, for display.

    The web application cannot verify signatures, so all observations count that the clock has not reported as
    unsigned. Competitions are left out if they have no last phase, no observed end, or an unreadable file.
    """
    condition = ObservedDeadline.round_id.in_([row.id for row in rows])
    is_reported = exists().where(
        AuditEntry.action == UNSIGNED_ACTION, AuditEntry.subject == cast(ObservedDeadline.id, Text)
    )
    deadlines: _DeadlinesById = defaultdict(list)
    for deadline in session.scalars(select(ObservedDeadline).where(condition, ~is_reported)):
        deadlines[deadline.round_id].append(deadline)
    reveal_times = {}
    for row in rows:
        with suppress(CompetitionUnavailable):
            if (reveal_at := _get_reveal_time(row, deadlines[row.id])) is not None:
                reveal_times[row.id] = reveal_at
    return reveal_times


def count_unsigned(session: Session, competition_id: UUID) -> int:
    """Count the unsigned observations that the clock has reported."""
    conditions = AuditEntry.competition_id == competition_id, AuditEntry.action == UNSIGNED_ACTION
    return session.scalars(select(func.count()).select_from(AuditEntry).where(*conditions)).one()


def audit_unsigned(session: Session, deadlines: Iterable[ObservedDeadline]) -> None:
    """Report each unsigned observation once in the audit log."""
    for deadline in deadlines:
        entry = exists().where(AuditEntry.action == UNSIGNED_ACTION, AuditEntry.subject == str(deadline.id))
        if not session.scalar(select(entry)):
            details = {"end": deadline.ends_at.isoformat(), "observed_at": deadline.observed_at.isoformat()}
            audit.record(
                session,
                None,
                UNSIGNED_ACTION,
                session.get_one(Round, deadline.round_id).competition_id,
                subject=str(deadline.id),
                after=details,
            )
            log.error(UNSIGNED_ACTION, round=str(deadline.round_id), **details)


def compute_reveal_time(end: datetime, deadlines: Iterable[ObservedDeadline]) -> datetime | None:
    """Return the reveal time of a contest whose last phase ends at ``end``; None before any observation.

    The reveal comes at the end, but never before an end that was observed early enough, that is before the
    first submission or at least the notice period ahead. A later end therefore takes effect at once, and an
    earlier end only after its notice period. The notice period is the longest one observed since the first
    submission, so that shortening it cannot make an earlier end take effect.
    """
    reveal_at: datetime | None = None
    notice = timedelta(0)
    for deadline in sorted(deadlines, key=lambda item: (item.observed_at, item.ends_at)):
        notice = deadline.notice if deadline.before_submissions else max(notice, deadline.notice)
        effective_at = max(
            deadline.ends_at,
            deadline.observed_at if deadline.before_submissions else deadline.observed_at + notice,
        )
        if reveal_at is None or deadline.before_submissions:
            reveal_at = effective_at
        else:
            reveal_at = deadline.ends_at if deadline.ends_at >= reveal_at else min(reveal_at, effective_at)
    return None if reveal_at is None else max(end, reveal_at)
