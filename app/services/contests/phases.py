"""Which phase a competition is in.

Windows are half-open and judged by the database's clock; while a competition is paused, that stands still.
"""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import CompetitionUnavailable, Conflict, InvalidCompetition
from anoncup.messages import Message
from anoncup.rules.rounds import Timetable, parse_timetable
from anoncup.rules.settings import Phase
from app.db.models import Competition, Submission
from app.db.now import clock

ANONYMIZATION: Literal["anonymization"] = "anonymization"
REIDENTIFICATION: Literal["reidentification"] = "reidentification"
State = schemas.State


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
            raise Conflict(
                "the {phase} phase is paused by the organizers", code="phase_paused", phase=Message(name)
            )
        if self.open is None or self.open.name != name:
            raise not_open(name)


def not_open(name: str) -> Conflict:
    return Conflict("the {phase} phase is not open", code="phase_closed", phase=Message(name))


def standing(session: Session, row: Competition) -> Standing:
    """Where the competition stands now; ask with its lock held if something is decided by it."""
    return standing_at(row, clock(session))


def standing_at(row: Competition, now: datetime) -> Standing:
    """Where the competition stands at ``now``."""
    moment = row.paused_at or now
    timetable = timetable_of(row)
    state = state_at(moment, timetable, row)
    opened = next((phase for phase in timetable.phases if phase.name == state), None)
    paused = row.paused_at is not None
    return Standing(now, state, None if paused else opened, paused)


@lru_cache(maxsize=1024)
def read_timetable(text: str) -> Timetable:
    """Parsed once per text: it is asked for far more often than it changes."""
    return parse_timetable(text)


def timetable_of(row: Competition) -> Timetable:
    """CompetitionUnavailable: its file says nothing to this version."""
    try:
        return read_timetable(row.file)
    except InvalidCompetition as problem:
        raise CompetitionUnavailable(problem.message) from None


def first_has_begun(row: Competition, now: datetime) -> bool:
    """Whether teams may have their own files: from the first phase's start on."""
    first = timetable_of(row).phase(ANONYMIZATION)
    return first is not None and first.start <= (row.paused_at or now)


def has_begun(session: Session, row: Competition) -> bool:
    """Whether the contest is under way, or was: who moves a passed start ahead takes back no submission."""
    submitted = exists().where(Submission.competition_id == row.id)
    return standing(session, row).state != "draft" or bool(session.scalar(select(submitted)))


def state_at(moment: datetime, timetable: Timetable, row: Competition) -> State:
    first, second = (timetable.phase(name) for name in (ANONYMIZATION, REIDENTIFICATION))
    begun = [phase for phase in timetable.phases if phase.start <= moment]
    if not begun:
        return "draft"
    if first and moment < first.end:
        return ANONYMIZATION
    if first and row.published_at is None:
        return "settling"
    if second and moment < second.end:
        return REIDENTIFICATION if moment >= second.start else "between"
    return "settling" if second and row.closed_at is None else "closed"


def has_ended(session: Session, row: Competition, name: str) -> bool:
    """Whether the phase is in the file and its deadline has passed."""
    return had_ended(row, name, clock(session))


def require_not_ended(session: Session, row: Competition, name: str) -> None:
    """Conflict once the deadline of the phase has passed; before it begins, files may be checked already."""
    if has_ended(session, row, name):
        raise not_open(name)


def had_ended(row: Competition, name: str, now: datetime) -> bool:
    """The same at ``now``, which a pause holds back."""
    phase = timetable_of(row).phase(name)
    return phase is not None and phase.end <= (row.paused_at or now)


def midnights(now: datetime, timezone: str) -> tuple[datetime, datetime]:
    """The last one and the next one, on the clocks of ``timezone``."""
    zone = ZoneInfo(timezone)
    today = now.astimezone(zone).date()
    return datetime.combine(today, time(), zone), datetime.combine(today + timedelta(days=1), time(), zone)
