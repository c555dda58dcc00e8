"""The ends of a competition's last phase as the clock has witnessed them, and when the reveal comes.

Whoever can write to the database can move an end, set ``closed_at``, or add a row here; none of that opens a
secret before its time, for what counts is signed with a key that only the clock and the workers hold.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog
from sqlalchemy import Text, cast, exists, func, select
from sqlalchemy.orm import Session

from anoncup.errors import CompetitionUnavailable
from anoncup.messages import N_, Message, Statement
from anoncup.rules.settings import Phase
from app.config import get_settings
from app.crypto import deadline_signing
from app.crypto.deadline_signing import Ring
from app.db.models import Announcement, AuditEntry, Competition, Submission, WitnessedEnd
from app.db.now import clock
from app.locale.language import ENGLISH
from app.services.accounts import audit
from app.services.contests import phases
from app.services.contests.reveal_schedule import Witness, reveal_time

log = structlog.get_logger(__name__)

UNSIGNED = "end.unsigned"
"""The audit log's word for a row that somebody without the key has written."""


MOVED = N_(
    "The end of the re-identification phase has moved from {before} to {end} ({zone}). "
    "The secrets of the targets are revealed at {reveal}."
)
MOVED_AND_WAITS = N_(
    "The end of the re-identification phase has moved from {before} to {end} ({zone}). "
    "The secrets of the targets are revealed at {reveal}.\n\n"
    "That is later than the end because an earlier reveal must be announced in advance. "
    "Until then the end can still be moved: if something is wrong, tell the organizers now."
)


@dataclass(frozen=True, slots=True)
class Book:
    """What is noted of some competitions. ``signed``: all that counts, in the order of time; ``unsigned``:
    what the organizers are told of."""

    signed: dict[UUID, list[WitnessedEnd]] = field(default_factory=lambda: defaultdict(list))
    unsigned: list[WitnessedEnd] = field(default_factory=list)

    def of(self, competition_id: UUID) -> Sequence[WitnessedEnd]:
        return self.signed.get(competition_id, ())


def ring() -> Ring:
    """The keys of this process; the web application has none."""
    return deadline_signing.held(get_settings().opening_keys_dir)


def book(session: Session, competition_ids: Iterable[UUID], keys: Ring) -> Book:
    """All that is noted of these competitions, told apart by its signature."""
    wanted = WitnessedEnd.competition_id.in_(list(competition_ids))
    found = Book()
    for one in session.scalars(select(WitnessedEnd).where(wanted).order_by(WitnessedEnd.witnessed_at)):
        if keys.verifies(message_of(one), one.signature):
            found.signed[one.competition_id].append(one)
        else:
            found.unsigned.append(one)
    return found


def message_of(one: WitnessedEnd) -> bytes:
    ends, at = (moment.astimezone(UTC).isoformat() for moment in (one.ends_at, one.witnessed_at))
    return deadline_signing.message_of((one.competition_id, one.phase, ends, one.notice_hours, one.free, at))


def last_phase(row: Competition) -> Phase | None:
    """The phase whose end is followed by the reveal; CompetitionUnavailable."""
    return phases.timetable_of(row).phase(phases.REIDENTIFICATION)


def is_new(row: Competition, seen: Sequence[WitnessedEnd]) -> bool:
    """Whether the end, or the notice, is not the one that was witnessed last."""
    phase = last_phase(row)
    return phase is not None and (not seen or standing(seen[-1]) != (phase.end, notice_of(row)))


def standing(one: WitnessedEnd) -> tuple[datetime, timedelta]:
    return one.ends_at, timedelta(hours=one.notice_hours)


def notice_of(row: Competition) -> timedelta:
    return phases.timetable_of(row).notice


def witness(session: Session, competition_id: UUID) -> bool:
    """Sign the end of the last phase as it stands now, once for each value; True if it was a new one.

    It holds the competition's lock, so that what is submitted afterwards is not overlooked.
    """
    row = session.get_one(Competition, competition_id, with_for_update=True, populate_existing=True)
    keys, phase = ring(), last_phase(row)
    seen = book(session, [row.id], keys).of(row.id)
    if phase is None or not is_new(row, seen):
        return False
    made = WitnessedEnd(
        competition_id=row.id,
        phase=phase.name,
        ends_at=phase.end,
        notice_hours=notice_of(row) // timedelta(hours=1),
        free=not session.scalar(select(exists().where(Submission.competition_id == row.id))),
        witnessed_at=clock(session),
    )
    made.signature = keys.sign(message_of(made))
    session.add(made)
    session.flush()
    log.info("end.witness", competition=row.slug, end=phase.end.isoformat())
    if phases.has_begun(session, row) and seen and seen[-1].ends_at != phase.end:
        tell(session, row, before=seen[-1].ends_at, reveal=reveal_at(row, [*seen, made]))
    return True


def tell(session: Session, row: Competition, *, before: datetime, reveal: datetime | None) -> None:
    """Announce an end that has moved, whoever moved it and however."""
    phase, zone = last_phase(row), phases.timetable_of(row).zone
    assert phase is not None  # noqa: S101  # its end is what has moved
    assert reveal is not None  # noqa: S101  # its end has just been witnessed
    moments = {"before": before, "end": phase.end, "reveal": reveal}
    times = {name: f"{at.astimezone(zone):%Y-%m-%d %H:%M}" for name, at in moments.items()}
    moved = Message(MOVED_AND_WAITS if reveal > phase.end else MOVED, zone=zone.key, **times)
    session.add(
        Announcement(competition_id=row.id, text={ENGLISH: str(moved)}, said=Statement("end_moved", moved))
    )


def reveal_at(row: Competition, seen: Iterable[WitnessedEnd]) -> datetime | None:
    """When the secrets are revealed; None: there is no last phase, or its end is not witnessed yet."""
    phase = last_phase(row)
    return None if phase is None else reveal_time(phase.end, map(as_witness, seen))


def as_witness(one: WitnessedEnd) -> Witness:
    end, notice = standing(one)
    return Witness(end, notice, one.witnessed_at, one.free)


def is_time(row: Competition, seen: Iterable[WitnessedEnd], now: datetime) -> bool:
    """Whether the last phase is over and its reveal may come; a pause holds back both."""
    moment = reveal_at(row, seen)
    ended = phases.had_ended(row, phases.REIDENTIFICATION, now)
    return ended and moment is not None and moment <= now


def may_reveal(session: Session, row: Competition) -> bool:
    """The same by what this process can verify: without the keys, never."""
    return is_time(row, book(session, [row.id], ring()).of(row.id), clock(session))


def expected(session: Session, rows: Sequence[Competition]) -> dict[UUID, datetime]:
    """When reveals are to be expected, for pages: all counts that the clock has not found unsigned.

    The web application has no key to verify with; the clock and the workers go by the signatures. Left out:
    competitions without a last phase, or whose end is not witnessed yet, or whose file cannot be read.
    """
    mine = WitnessedEnd.competition_id.in_([row.id for row in rows])
    noted = exists().where(AuditEntry.action == UNSIGNED, AuditEntry.subject == cast(WitnessedEnd.id, Text))
    seen: dict[UUID, list[WitnessedEnd]] = defaultdict(list)
    for one in session.scalars(select(WitnessedEnd).where(mine, ~noted)):
        seen[one.competition_id].append(one)
    found = {}
    for row in rows:
        with suppress(CompetitionUnavailable):
            found[row.id] = reveal_at(row, seen[row.id])
    return {key: moment for key, moment in found.items() if moment is not None}


def unsigned(session: Session, competition_id: UUID) -> int:
    """How many rows somebody without the key has written, as far as the clock has noted them."""
    mine = AuditEntry.competition_id == competition_id, AuditEntry.action == UNSIGNED
    return session.scalars(select(func.count()).select_from(AuditEntry).where(*mine)).one()


def note_unsigned(session: Session, found: Iterable[WitnessedEnd]) -> None:
    """Tell the organizers, once, of rows that somebody without the key has written."""
    for one in found:
        entry = exists().where(AuditEntry.action == UNSIGNED, AuditEntry.subject == str(one.id))
        if not session.scalar(select(entry)):
            what = {"end": one.ends_at.isoformat(), "witnessed_at": one.witnessed_at.isoformat()}
            audit.record(
                session, None, UNSIGNED, competition_id=one.competition_id, subject=str(one.id), after=what
            )
            log.error(UNSIGNED, competition=str(one.competition_id), **what)
