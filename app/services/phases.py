"""Which phase a competition is in, and what its organizers do to phases.

Windows are half-open and judged by the database's clock; while a competition is paused, that stands still.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Literal

from sqlalchemy.orm import Session

from app.db.models import Competition as CompetitionRow
from app.errors import Conflict, InvalidInput, NotFound
from app.scoring.competition import Competition, Phase
from app.scoring.competition_file import with_phases
from app.services import audit, competitions
from app.services.accounts import Principal
from app.services.leases import clock

ANONYMIZATION: Literal["anonymization"] = "anonymization"
REIDENTIFICATION: Literal["reidentification"] = "reidentification"
TOO_FAR = 3000
State = Literal["draft", "anonymization", "settling", "between", "reidentification", "closed"]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a competition stands at ``now``.

    ``state``: draft (before the first phase), anonymization, settling (a deadline has passed and what came in
    time is still being scored or prepared), between, reidentification, closed. ``open``: the phase that takes
    uploads in; None in a pause.
    """

    now: datetime
    state: State
    open: Phase | None
    paused: bool

    def require_open(self, name: str) -> None:
        if self.paused and self.state == name:
            raise Conflict(f"the {name} phase is paused by the organizers", code="phase_paused")
        if self.open is None or self.open.name != name:
            raise Conflict(f"the {name} phase is not open", code="phase_closed")


def standing(session: Session, row: CompetitionRow) -> Standing:
    """Where the competition stands now; ask with its lock held if something is decided by it."""
    return standing_at(row, clock(session))


def standing_at(row: CompetitionRow, now: datetime) -> Standing:
    """Where the competition stands at ``now``."""
    moment = row.paused_at or now
    competition = competitions.read_file(row.file)
    state = state_at(moment, competition, row)
    opened = next((phase for phase in competition.phases if phase.name == state), None)
    paused = row.paused_at is not None
    return Standing(now, state, None if paused else opened, paused)


def standings(session: Session, rows: Sequence[CompetitionRow]) -> list[Standing]:
    """Where all of them stand at one moment, by one look at the clock."""
    now = clock(session)
    return [standing_at(row, now) for row in rows]


def state_at(moment: datetime, competition: Competition, row: CompetitionRow) -> State:
    first, second = (phase_of(competition, name) for name in (ANONYMIZATION, REIDENTIFICATION))
    begun = [phase for phase in competition.phases if phase.start <= moment]
    if not begun:
        return "draft"
    if first and moment < first.end:
        return ANONYMIZATION
    if first and row.published_at is None:
        return "settling"
    if second and moment < second.end:
        return REIDENTIFICATION if moment >= second.start else "between"
    return "settling" if second and row.closed_at is None else "closed"


def phase_of(competition: Competition, name: str) -> Phase | None:
    return next((phase for phase in competition.phases if phase.name == name), None)


def has_ended(session: Session, row: CompetitionRow, name: str) -> bool:
    """Whether the phase is in the file and its deadline has passed."""
    return had_ended(row, name, clock(session))


def had_ended(row: CompetitionRow, name: str, now: datetime) -> bool:
    """The same at ``now``, which a pause holds back."""
    phase = phase_of(competitions.read_file(row.file), name)
    return phase is not None and phase.end <= (row.paused_at or now)


def is_over(row: CompetitionRow, competition: Competition) -> bool:
    """Whether no phase is left: closed, or, without a second phase, the finals frozen and published."""
    if phase_of(competition, REIDENTIFICATION) is None:
        return row.published_at is not None
    return row.closed_at is not None


def extend(
    session: Session, principal: Principal, slug: str, name: str, end: datetime, *, move_following: bool
) -> CompetitionRow:
    """Move the end of a phase that has not turned yet; also earlier, but not into the past.

    ``move_following``: later phases move by as much; else they must not be run into.
    """
    row = organizers_row(session, principal, slug)
    phase = turnable(row, name)
    if end.tzinfo is None:
        raise InvalidInput(
            "give the end with its offset, such as 2027-01-24T09:00:00+09:00", code="no_offset"
        )
    if end.year >= TOO_FAR:
        raise InvalidInput(f"a phase ends before the year {TOO_FAR}", code="end_too_far")
    if end <= max(phase.start, clock(session)):
        raise InvalidInput("the new end must lie ahead, after the phase's start", code="end_passed")
    moved = shifted(row, phase, end - phase.end, move_following=move_following)
    put_phases(session, principal, row, moved, action="phase.extend", subject=name)
    return row


def pause(session: Session, principal: Principal, slug: str, name: str) -> CompetitionRow:
    """Stop the competition's clock: the open phase takes nothing in until it is resumed."""
    row = organizers_row(session, principal, slug)
    now = standing(session, row)
    if now.paused:
        raise Conflict("the phase is paused already", code="phase_paused")
    now.require_open(known(name))
    row.paused_at = now.now
    audit.record(session, principal, "phase.pause", competition_id=row.id, subject=name)
    return row


def resume(session: Session, principal: Principal, slug: str, name: str) -> CompetitionRow:
    """Let the clock go on: the end of the phase and all that follows move by the length of the pause."""
    row = organizers_row(session, principal, slug)
    if row.paused_at is None or standing(session, row).state != known(name):
        raise Conflict("the phase is not paused", code="phase_not_paused")
    pause_lasted = clock(session) - row.paused_at
    moved = shifted(row, turnable(row, name), pause_lasted, move_following=True)
    row.paused_at = None
    put_phases(session, principal, row, moved, action="phase.resume", subject=name)
    return row


def organizers_row(session: Session, principal: Principal, slug: str) -> CompetitionRow:
    """The row under the lock that keeps acceptance and the clock out, for one of its organizers."""
    row = competitions.locked(session, slug)
    competitions.require_organizer(session, row.id, principal)
    return row


def known(name: str) -> str:
    if name not in (ANONYMIZATION, REIDENTIFICATION):
        raise NotFound("phases are anonymization and reidentification", code="no_such_phase")
    return name


def turnable(row: CompetitionRow, name: str) -> Phase:
    """The phase, if it has not turned: what was frozen stays frozen."""
    phase = phase_of(competitions.read_file(row.file), known(name))
    if phase is None:
        raise NotFound(f"the competition has no {name} phase", code="no_such_phase")
    require_not_turned(row, name)
    return phase


def require_not_turned(row: CompetitionRow, name: str) -> None:
    turned_at = row.frozen_at if name == ANONYMIZATION else row.closed_at
    if turned_at is not None:
        raise Conflict(f"the {name} phase has ended and turned", code="phase_turned")


def shifted(row: CompetitionRow, phase: Phase, by: timedelta, *, move_following: bool) -> tuple[Phase, ...]:
    """The phases with this one's end moved, and later ones moved whole."""

    def moved(one: Phase) -> Phase:
        if one.name == phase.name:
            return replace(one, end=one.end + by)
        if move_following and one.start >= phase.end:
            return replace(one, start=one.start + by, end=one.end + by)
        return one

    try:
        return tuple(moved(one) for one in competitions.read_file(row.file).phases)
    except OverflowError:
        raise InvalidInput("a later phase would move beyond all calendars", code="end_too_far") from None


def put_phases(
    session: Session,
    principal: Principal,
    row: CompetitionRow,
    phases: tuple[Phase, ...],
    *,
    action: str,
    subject: str,
) -> None:
    """Write the windows into the competition's file, which is where they stand."""
    before = windows(competitions.read_file(row.file).phases)
    if any(later.start < earlier.end for earlier, later in pairwise(phases)):
        raise Conflict("it would run into the following phase: move that as well", code="phases_overlap")
    file = with_phases(row.file, phases)
    competitions.read_file(file)  # what cannot be read is refused here, not by whoever reads it next
    row.file = file
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
