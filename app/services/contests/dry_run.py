"""What an act on the phases would do: it is done, looked at, and taken back.

So a preview cannot differ from the act, nor allow what the act would refuse.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from anoncup.errors import Conflict
from anoncup.rules.settings import Phase
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, phases
from app.services.contests.contest import Contest
from app.services.contests.phases import Standing


@dataclass(frozen=True, slots=True)
class Look:
    """A competition's windows and where it stands, at one moment."""

    phases: tuple[Phase, ...]
    standing: Standing


@dataclass(frozen=True, slots=True)
class Preview:
    before: Look
    after: Look


def previewed(session: Session, contest: Contest, act: Callable[[], object]) -> Preview:
    """What ``act`` would make of the competition; nothing of it stays."""
    before = look(session, contest)
    with session.begin_nested() as trial:
        act()
        after = look(session, contest)
        trial.rollback()
    session.refresh(contest.row)
    return Preview(before, after)


def look(session: Session, contest: Contest) -> Look:
    return Look(contest.rules.phases, phases.standing(session, contest.row))


def require_unmoved(session: Session, principal: Principal, slug: str, seen: str) -> None:
    """Refuse to act on windows that are not those a preview has shown; holds the competition's lock."""
    contest = competitions.locked_for_organizer(session, principal, slug)
    if mark(contest.rules.phases, contest.row.paused_at) != seen:
        raise Conflict("the phases have changed since the preview; look again", code="changed_meanwhile")


def mark(shown: tuple[Phase, ...], paused_at: datetime | None) -> str:
    """Tells one state of the windows from another."""
    moments = [moment for phase in shown for moment in (phase.start, phase.end)]
    return " ".join(str(moment and moment.timestamp()) for moment in (*moments, paused_at))
