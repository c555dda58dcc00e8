"""Preview of a change to the phases: it is made in a savepoint, its result is read, and it is rolled back.

A preview therefore cannot differ from the real change, nor allow what the change would refuse.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from anoncup.errors import Conflict
from anoncup.rules.settings import Phase
from app.db.models import Round
from app.services.accounts.principal import Principal
from app.services.contests import competitions, phases
from app.services.contests.contest import Contest
from app.services.contests.phases import PhaseStatus


@dataclass(frozen=True, slots=True)
class PhaseSnapshot:
    """The phases of a competition and their status at one moment."""

    phases: tuple[Phase, ...]
    status: PhaseStatus


@dataclass(frozen=True, slots=True)
class PhasePreview:
    current: PhaseSnapshot
    proposed: PhaseSnapshot


def preview_phases(session: Session, contest: Contest, action: Callable[[], object]) -> PhasePreview:
    """Return the phases before and after ``action``, then roll it back."""
    current = _take_snapshot(session, contest)
    with session.begin_nested() as savepoint:
        action()
        proposed = _take_snapshot(session, contest)
        savepoint.rollback()
    session.get_one(Round, contest.round.id, populate_existing=True)
    return PhasePreview(current, proposed)


def _take_snapshot(session: Session, contest: Contest) -> PhaseSnapshot:
    return PhaseSnapshot(contest.rules.phases, phases.get_status(session, contest.round))


def require_phases_as_previewed(session: Session, principal: Principal, slug: str, fingerprint: str) -> None:
    """Lock the competition and raise Conflict if its phases have changed since the preview."""
    contest = competitions.lock_for_organizer(session, principal, slug)
    if fingerprint_phases(contest.rules.phases, contest.round.paused_at) != fingerprint:
        raise Conflict("the phases have changed since the preview; look again", code="changed_meanwhile")


def fingerprint_phases(scheduled_phases: tuple[Phase, ...], paused_at: datetime | None) -> str:
    """Return a text that differs whenever the phases or the pause differ."""
    moments = [moment for phase in scheduled_phases for moment in (phase.start, phase.end)]
    return " ".join(str(moment and moment.timestamp()) for moment in (*moments, paused_at))
