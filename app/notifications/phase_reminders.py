"""Tell of phases that have begun, and remind participants of those that end soon."""

from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.errors import CompetitionUnavailable
from app.competitions import phases
from app.core import outbox
from app.core.db.models import Round
from app.core.db.transaction import read_clock

_START_WINDOW = timedelta(hours=1)
"""A phase that began earlier is not reported any more, such as that of a competition created afterwards."""
_REMINDER_TIME = timedelta(hours=24)
"""Time before the end of a phase at which its participants are reminded."""


def add_phase_events(session: Session) -> None:
    """Record the phases that have begun lately, and those that end soon. Nothing else happens at that time.

    One reminder is sent for each phase, also if its end moves by less than the time that deliveries are kept.
    """
    now = read_clock(session)
    rounds = select(Round).where(Round.removed_at.is_(None), Round.closed_at.is_(None))
    for round_ in session.scalars(rounds):
        try:
            begun_phases = [
                phase for phase in round_.timetable.phases if phases.has_phase_begun(round_, phase.name, now)
            ]
        except CompetitionUnavailable:
            continue
        for phase in begun_phases:
            if now - _START_WINDOW < phase.start:
                outbox.add_phase_change(
                    session,
                    round_.competition_id,
                    round_.id,
                    "started",
                    phase=phase.name,
                    key=f"{round_.id} {phase.name} {phase.start.isoformat()}",
                )
            if round_.paused_at is None and now < phase.end <= now + _REMINDER_TIME:
                outbox.add_deadline(session, round_, phase.name)
