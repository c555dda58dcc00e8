"""How much a team may still hand in: one computation for the API, the pages and the gate.

A cap counts in one phase: ``valid_*`` the submissions that became one, ``attempts_*`` every upload that was
begun; ``*_per_day`` those since midnight in the competition's zone. In re-identification, where each target
has a cap of its own, the attempts are the refused uploads only. ERROR and cancellation give the valid
submission back, never the attempt.
"""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from app.db.models import Attempt, Evaluation, Grant, Guess, State, Submission, Target, Team
from app.db.models import Competition as CompetitionRow
from app.errors import TooMany
from app.scoring.competition import Competition
from app.services import competitions, teams
from app.services.accounts import Principal
from app.services.leases import clock
from app.services.phases import ANONYMIZATION, REIDENTIFICATION

GUESSES_PER_TARGET = "guesses_per_target"
CAPS = ("valid_per_day", "valid_total", "attempts_per_day", "attempts_total", GUESSES_PER_TARGET)
GIVEN_BACK = (State.ERROR, State.CANCELLED)
LONGEST_WAIT_S = 24 * 60 * 60
"""The Retry-After of a cap that never resets."""


@dataclass(frozen=True, slots=True)
class Cap:
    """One cap of one team. ``resets_at``: the next midnight of the competition's zone; None: it does not."""

    name: str
    used: int
    limit: int
    resets_at: datetime | None

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


@dataclass(frozen=True, slots=True)
class Window:
    """What counts: since when, and until when it will have been reset."""

    since: datetime | None
    resets_at: datetime | None


def day_of(now: datetime, timezone: str) -> Window:
    """From the last midnight to the next one, on the clocks of ``timezone``."""
    zone = ZoneInfo(timezone)
    today = now.astimezone(zone).date()
    midnights = [datetime.combine(today + timedelta(days=days), time(), zone) for days in (0, 1)]
    return Window(*midnights)


FOR_EVER = Window(None, None)


def caps(session: Session, row: CompetitionRow, team_id: UUID, phase: str, now: datetime) -> tuple[Cap, ...]:
    """All caps on a team's uploads in ``phase``, as they stand at ``now``."""
    competition = competitions.read_file(row.file)
    day = day_of(now, competition.timezone)
    names = [name for name in CAPS if name != GUESSES_PER_TARGET]
    if phase == REIDENTIFICATION:
        names = [name for name in names if name.startswith("attempts")]
    return tuple(
        cap(
            session,
            competition,
            team_id,
            name,
            phase=phase,
            window=day if name.endswith("_per_day") else FOR_EVER,
        )
        for name in names
    )


def cap(
    session: Session, competition: Competition, team_id: UUID, name: str, *, phase: str, window: Window
) -> Cap:
    valid = accepted(session, team_id, phase, window)
    used = valid if name.startswith("valid") else attempts(session, team_id, phase, window)
    if phase == REIDENTIFICATION:
        used = max(0, used - valid)  # guesses of before entrances counted bear the time of their acceptance
    granted = granted_more(session, team_id, name, window)
    return Cap(name, used, getattr(competition.limits, name) + granted, window.resets_at)


def attempts(session: Session, team_id: UUID, phase: str, window: Window) -> int:
    mine = select(func.count()).where(Attempt.team_id == team_id, Attempt.phase == phase)
    return one(session, mine.where(*within(Attempt.at, window)))


def accepted(session: Session, team_id: UUID, phase: str, window: Window) -> int:
    """Submissions that count as valid; in re-identification, guesses that were taken in."""
    if phase == REIDENTIFICATION:
        guesses = select(func.count()).where(Guess.team_id == team_id)
        return one(session, guesses.where(*within(Guess.received_at, window)))
    valid = (
        select(func.count())
        .select_from(Submission)
        .join(Evaluation, Evaluation.submission_id == Submission.id)
        .where(Submission.team_id == team_id, Evaluation.current, Evaluation.state.not_in(GIVEN_BACK))
    )
    return one(session, valid.where(*within(Submission.received_at, window)))


def granted_more(session: Session, team_id: UUID, name: str, window: Window) -> int:
    granted = select(func.coalesce(func.sum(Grant.amount), 0)).where(
        Grant.team_id == team_id, Grant.cap == name
    )
    return one(session, granted.where(*within(Grant.at, window)))


def guesses_on(session: Session, row: CompetitionRow, team_id: UUID, target: Target) -> Cap:
    """The cap on a team's guesses on one target."""
    mine = select(func.count()).where(Guess.team_id == team_id, Guess.target_id == target.id)
    used = one(session, mine.where(Guess.state != State.ERROR))
    return Cap(GUESSES_PER_TARGET, used, guess_limit(session, row, team_id), None)


def guess_limit(session: Session, row: CompetitionRow, team_id: UUID) -> int:
    more = granted_more(session, team_id, GUESSES_PER_TARGET, FOR_EVER)
    return competitions.read_file(row.file).limits.guesses_per_target + more


def one(session: Session, query: Any) -> int:
    return int(session.scalars(query).one())


def within(moment: Any, window: Window) -> tuple[ColumnElement[bool], ...]:
    """Bounded above as well: an upload of before midnight may be accepted when others of today have been."""
    return () if window.since is None else (moment >= window.since, moment < window.resets_at)


def require_room(found: tuple[Cap, ...], now: datetime) -> None:
    """TooMany with the wait until there is room again, for the first cap that is used up."""
    for full in (cap for cap in found if not cap.left):
        if full.resets_at is None:
            message, wait = "which only the organizers can raise", LONGEST_WAIT_S
        else:
            message = f"until {full.resets_at.isoformat()}"
            wait = max(1, int((full.resets_at - now).total_seconds()) + 1)
        raise TooMany(
            f"your team has used all {full.limit} of {full.name}, {message}",
            retry_after=wait,
            code="quota_used_up",
        )


def begin_attempt(
    session: Session, row: CompetitionRow, team: Team, user_id: UUID, *, phase: str, now: datetime
) -> Attempt:
    """Count an upload before it is read; refuse it if any cap has no room for it.

    Under the team's lock: of many uploads at once none slips past the cap.
    """
    session.refresh(team, with_for_update=True)
    require_room(caps(session, row, team.id, phase, now), now)
    attempt = Attempt(team_id=team.id, user_id=user_id, phase=phase, at=now)
    session.add(attempt)
    session.flush()
    return attempt


def left(found: tuple[Cap, ...]) -> dict[str, int]:
    return {cap.name: cap.left for cap in found}


@dataclass(frozen=True, slots=True)
class Report:
    """A team's caps in the phase that is open, or that was last."""

    phase: str
    caps: tuple[Cap, ...]


def report(session: Session, principal: Principal, slug: str) -> Report:
    """What the person's own team has used and what is left."""
    principal.require("read")
    row = competitions.find(session, slug)
    team = teams.require_team(session, row.id, principal)
    phase = ANONYMIZATION if row.published_at is None else REIDENTIFICATION
    return Report(phase, caps(session, row, team.id, phase, clock(session)))
