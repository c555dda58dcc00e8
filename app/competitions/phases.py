"""The phases of a competition and its present state.

Phases are half-open intervals. They are compared with the database's clock or, during a pause, with the time
at which the pause began.
"""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import Conflict
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.rules.settings import Phase
from anoncup.rules.timetable import Timetable
from app.competitions import competitions
from app.core.db.models import Round
from app.core.db.transaction import read_clock

ANONYMIZATION: Literal["anonymization"] = "anonymization"
REIDENTIFICATION: Literal["reidentification"] = "reidentification"
ContestState = schemas.State


@dataclass(frozen=True, slots=True)
class PhaseStatus:
    """The state of a competition at ``now``.

    ``state``: draft (not published), upcoming (before the first phase), anonymization, settling (after a
    deadline, while uploads that came in time are scored or prepared, or the reveal waits), between,
    reidentification, or closed.
    """

    now: datetime
    state: ContestState
    paused: bool

    def is_open(self, name: str) -> bool:
        """Return whether the phase accepts uploads now."""
        return not self.paused and self.state == name

    def require_open(self, name: str) -> None:
        if self.state != name:
            raise _build_not_open_error(name)
        if self.paused:
            raise Conflict(
                "the {phase} phase is paused by the organizers", code="phase_paused", phase=Message(name)
            )


def _build_not_open_error(name: str) -> Conflict:
    return Conflict("the {phase} phase is not open", code="phase_closed", phase=Message(name))


def get_status(session: Session, round_: Round) -> PhaseStatus:
    """Return the present status; hold the competition's lock if a decision depends on it."""
    return get_status_at(round_, read_clock(session))


def get_status_at(round_: Round, now: datetime) -> PhaseStatus:
    """Return the status of the competition at ``now``."""
    moment = round_.paused_at or now
    state = _determine_state(moment, round_.timetable, round_)
    return PhaseStatus(now, state, paused=round_.paused_at is not None)


def has_phase_begun(round_: Round, name: str, now: datetime) -> bool:
    """Whether the phase exists and has begun at ``now``; a pause stops the clock."""
    phase = _find_dated_phase(round_, name)
    return phase is not None and phase.start <= (round_.paused_at or now)


def _find_dated_phase(round_: Round, name: str) -> Phase | None:
    """Return the phase; None in a draft, whose dates have no effect."""
    return round_.timetable.phase(name) if round_.competition.published_at else None


def has_contest_begun(session: Session, round_: Round) -> bool:
    """Whether the contest has begun; submissions count as a beginning even if the start is moved later.

    A draft only has those of the baselines.
    """
    state = get_status(session, round_).state
    return state != "draft" and (state != "upcoming" or competitions.has_submissions(session, round_.id))


def _determine_state(moment: datetime, timetable: Timetable, round_: Round) -> ContestState:
    """Return the state. A phase whose results are fixed is over, even if the clock was ahead at that time."""
    if round_.competition.published_at is None:
        return "draft"
    first, second = (timetable.phase(name) for name in (ANONYMIZATION, REIDENTIFICATION))
    started_phases = [phase for phase in timetable.phases if phase.start <= moment]
    if not started_phases:
        return "upcoming"
    if first and moment < first.end and round_.frozen_at is None:
        return ANONYMIZATION
    if first and round_.published_at is None:
        return "settling"
    if second and moment < second.end and round_.closed_at is None:
        return REIDENTIFICATION if moment >= second.start else "between"
    return "settling" if second and round_.closed_at is None else "closed"


def require_phase_not_ended(session: Session, round_: Round, name: str) -> None:
    """Raise Conflict after the deadline of the phase; before its start, files may already be checked."""
    if get_fixed_at(round_, name) is not None or has_phase_ended(round_, name, read_clock(session)):
        raise _build_not_open_error(name)


def has_phase_ended(round_: Round, name: str, now: datetime) -> bool:
    """Whether the phase exists and its deadline has passed at ``now``; a pause stops the clock."""
    phase = _find_dated_phase(round_, name)
    return phase is not None and phase.end <= (round_.paused_at or now)


def get_fixed_at(round_: Round, name: str) -> datetime | None:
    """Return when the results of the phase were fixed; from then on it can no longer be changed."""
    return round_.frozen_at if name == ANONYMIZATION else round_.closed_at


def build_fixed_error(name: str) -> Conflict:
    return Conflict(
        "the {phase} phase has ended and can no longer be changed", code="phase_turned", phase=Message(name)
    )


def find_midnights(now: datetime, timezone: str) -> tuple[datetime, datetime]:
    """Return the last and the next midnight in ``timezone``."""
    zone = ZoneInfo(timezone)
    today = now.astimezone(zone).date()
    return datetime.combine(today, time(), zone), datetime.combine(today + timedelta(days=1), time(), zone)


@dataclass(frozen=True, slots=True)
class PhaseBoundary:
    """A start or end of a phase."""

    phase: str
    kind: Literal["start", "end"]
    time: datetime


def find_next_boundary(rules: Rules, status: PhaseStatus) -> PhaseBoundary | None:
    """Return the next start or end of a phase, or None in drafts, during a pause and after the last one.

    If a phase begins when another one ends, it is the end: teams need their deadline.
    """
    if status.paused or status.state == "draft":
        return None
    boundaries = [PhaseBoundary(phase.name, "end", phase.end) for phase in rules.phases]
    boundaries += [PhaseBoundary(phase.name, "start", phase.start) for phase in rules.phases]
    return min(
        (boundary for boundary in boundaries if boundary.time > status.now),
        key=lambda boundary: boundary.time,
        default=None,
    )
