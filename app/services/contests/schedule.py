"""What organizers do to phases: extend, pause, resume."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from sqlalchemy import and_, cast, func, or_, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, InvalidInput, NotFound
from anoncup.messages import Message
from anoncup.rules.rounds import with_phases
from anoncup.rules.settings import Phase
from app.db.models import AuditEntry, Competition
from app.db.now import clock
from app.services.accounts import audit
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, rehearsal_schedule, revisions
from app.services.contests.contest import Contest, parsed
from app.services.contests.phases import ANONYMIZATION, REIDENTIFICATION, standing, timetable_of

TOO_FAR = 3000
SHOWN_IN_CALENDARS = ("phases", "title")
"""The parts of a competition's file that its calendar shows."""


@dataclass(frozen=True, slots=True)
class Moves:
    """How often what a calendar shows has changed, and when it did last."""

    times: int
    last: datetime


def moves(session: Session, row: Competition) -> Moves:
    """As the record of acts knows it; never less than before."""
    changed = cast(AuditEntry.after["changed"], JSONB)
    acts = or_(
        AuditEntry.action.startswith("phase."),
        and_(
            AuditEntry.action == "competition.revise",
            or_(*(changed.contains([part]) for part in SHOWN_IN_CALENDARS)),
        ),
    )
    found = select(func.count(), func.max(AuditEntry.at)).where(AuditEntry.competition_id == row.id, acts)
    times, last = session.execute(found).one()
    return Moves(times, last or row.created_at)


def extend(
    session: Session, principal: Principal, slug: str, name: str, end: datetime, *, move_following: bool
) -> Contest:
    """Move the end of a phase that has not turned yet; also earlier, but not into the past.

    ``move_following``: later phases move by as much; else they must not be run into.
    """
    row = competitions.locked_for_organizer(session, principal, slug).row
    phase = turnable(row, name)
    if end.year >= TOO_FAR:
        raise InvalidInput("a phase ends before the year {year}", code="end_too_far", year=str(TOO_FAR))
    if end <= max(phase.start, clock(session)):
        raise InvalidInput("the new end must lie ahead, after the phase's start", code="end_passed")
    moved = shifted(row, phase, end - phase.end, move_following=move_following)
    put_phases(session, principal, row, moved, action="phase.extend", subject=name)
    return Contest(row)


def pause(session: Session, principal: Principal, slug: str, name: str) -> Contest:
    """Stop the competition's clock: the open phase takes nothing in until it is resumed."""
    row = competitions.locked_for_organizer(session, principal, slug).row
    now = standing(session, row)
    if now.paused:
        raise Conflict("the phase is paused already", code="phase_paused")
    now.require_open(known(name))
    row.paused_at = now.now
    audit.record(session, principal, "phase.pause", competition_id=row.id, subject=name)
    return Contest(row)


def resume(session: Session, principal: Principal, slug: str, name: str) -> Contest:
    """Let the clock go on: the end of the phase and all that follows move by the length of the pause."""
    row = competitions.locked_for_organizer(session, principal, slug).row
    if row.paused_at is None or standing(session, row).state != known(name):
        raise Conflict("the phase is not paused", code="phase_not_paused")
    pause_lasted = clock(session) - row.paused_at
    moved = shifted(row, turnable(row, name), pause_lasted, move_following=True)
    row.paused_at = None
    put_phases(session, principal, row, moved, action="phase.resume", subject=name)
    return Contest(row)


def known(name: str) -> str:
    if name not in (ANONYMIZATION, REIDENTIFICATION):
        raise NotFound("phases are anonymization and reidentification", code="no_such_phase")
    return name


def turnable(row: Competition, name: str) -> Phase:
    """The phase, if it has not turned: what was frozen stays frozen."""
    phase = timetable_of(row).phase(known(name))
    if phase is None:
        raise NotFound("the competition has no {phase} phase", code="no_such_phase", phase=Message(name))
    require_not_turned(row, name)
    return phase


def require_not_turned(row: Competition, name: str) -> None:
    turned_at = row.frozen_at if name == ANONYMIZATION else row.closed_at
    if turned_at is not None:
        raise Conflict(
            "the {phase} phase has ended and can no longer be changed",
            code="phase_turned",
            phase=Message(name),
        )


def shifted(row: Competition, phase: Phase, by: timedelta, *, move_following: bool) -> tuple[Phase, ...]:
    """The phases with this one's end moved, and later ones moved whole."""

    def moved(one: Phase) -> Phase:
        if one.name == phase.name:
            return replace(one, end=one.end + by)
        if move_following and one.start >= phase.end:
            return replace(one, start=one.start + by, end=one.end + by)
        return one

    try:
        return tuple(moved(one) for one in timetable_of(row).phases)
    except OverflowError:
        raise InvalidInput("a later phase would move too far into the future", code="end_too_far") from None


def put_phases(
    session: Session,
    principal: Principal,
    row: Competition,
    phases: tuple[Phase, ...],
    *,
    action: str,
    subject: str,
) -> None:
    """Write the windows into the competition's file, which is where they stand."""
    before = windows(timetable_of(row).phases)
    if any(later.start < earlier.end for earlier, later in pairwise(phases)):
        raise Conflict("the phase would overlap with the next one: move that as well", code="phases_overlap")
    file = with_phases(row.file, phases)
    parsed(file)  # what cannot be read is refused here, not by whoever reads it next
    revisions.require_confirmed_ends(session, principal, row, phases)
    row.file = file
    rehearsal_schedule.follow(session, row)
    audit.record(
        session,
        principal,
        action,
        competition_id=row.id,
        subject=subject,
        before=before,
        after=windows(phases),
    )


def windows(phases: tuple[Phase, ...]) -> dict[str, list[str]]:
    return {phase.name: [phase.start.isoformat(), phase.end.isoformat()] for phase in phases}
