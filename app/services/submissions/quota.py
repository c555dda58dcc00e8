"""How much a team may still hand in: one computation for the API, the pages and the gate.

A cap counts in one phase: ``valid_*`` the submissions that became one, ``attempts_*`` every upload that was
begun; ``*_per_day`` those since midnight in the competition's zone. In re-identification, where each target
has a cap of its own, the attempts are the refused uploads only. ERROR and cancellation give the valid
submission back, never the attempt.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, cast
from uuid import UUID

from sqlalchemy import ColumnElement, Select, bindparam, func, select
from sqlalchemy.orm import Session

from anoncup.errors import TooMany
from app.db.models import Attempt, Competition, Evaluation, Grant, Guess, State, Submission, Target, Team
from app.db.now import clock
from app.services.accounts import memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, phases
from app.services.contests.contest import Contest
from app.services.contests.phases import ANONYMIZATION, REIDENTIFICATION
from app.services.submissions import attempts

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
    def is_of_valid(self) -> bool:
        return self.name.startswith("valid")

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


@dataclass(frozen=True, slots=True)
class Window:
    """What counts: since when, and until when it will have been reset."""

    since: datetime | None
    resets_at: datetime | None


FOR_EVER = Window(None, None)


def caps(session: Session, contest: Contest, team_id: UUID, phase: str, now: datetime) -> tuple[Cap, ...]:
    """All caps on a team's uploads in ``phase``, as they stand at ``now``; asked at once."""
    rules = contest.rules
    day = Window(*phases.midnights(now, rules.timezone))
    asked = {"team": team_id, "since": day.since, "until": day.resets_at}
    found = [int(count) for count in session.execute(counts(phase), asked).one()]
    return tuple(
        Cap(
            name,
            max(0, uploads),
            getattr(rules.limits, name) + granted,
            day.resets_at if is_daily(name) else None,
        )
        for name, uploads, granted in zip(caps_in(phase), found[::2], found[1::2], strict=True)
    )


@lru_cache(maxsize=2)
def counts(phase: str) -> Select[Any]:
    """For each cap in ``phase`` what is used and what is granted, of a team and a day to be named.

    Built once, for that takes longer than to ask.
    """
    team, since, until = (cast("Any", bindparam(name)) for name in ("team", "since", "until"))
    day = Window(since, until)
    windows = {name: day if is_daily(name) else FOR_EVER for name in caps_in(phase)}
    return select(
        *(
            count.scalar_subquery()
            for name, window in windows.items()
            for count in (used(team, name, phase, window), granted_more(team, name, window))
        )
    )


def caps_in(phase: str) -> tuple[str, ...]:
    kinds = ("attempts",) if phase == REIDENTIFICATION else ("valid", "attempts")
    return tuple(name for name in CAPS if name.startswith(kinds))


def is_daily(name: str) -> bool:
    return name.endswith("_per_day")


def used(team_id: UUID, name: str, phase: str, window: Window) -> Select[int]:
    """Return the query that counts what a cap limits."""
    if name.startswith("valid"):
        return accepted(team_id, phase, window)
    begun = uploads_begun(team_id, phase, window)
    if phase == REIDENTIFICATION:
        return select(begun.scalar_subquery() - accepted(team_id, phase, window).scalar_subquery())
    return begun


def uploads_begun(team_id: UUID, phase: str, window: Window) -> Select[int]:
    mine = select(func.count()).where(Attempt.team_id == team_id, Attempt.phase == phase, Attempt.counts)
    return mine.where(*within(Attempt.at, window))


def accepted(team_id: UUID, phase: str, window: Window) -> Select[int]:
    """Submissions that count as valid; in re-identification, guesses that were taken in."""
    if phase == REIDENTIFICATION:
        guesses = select(func.count()).where(Guess.team_id == team_id)
        return guesses.where(*within(Guess.received_at, window))
    valid = (
        select(func.count())
        .select_from(Submission)
        .join(Evaluation, Evaluation.submission_id == Submission.id)
        .where(Submission.team_id == team_id, Evaluation.current, Evaluation.state.not_in(GIVEN_BACK))
    )
    return valid.where(*within(Submission.received_at, window))


def granted_more(team_id: UUID, name: str, window: Window) -> Select[int]:
    granted = select(func.coalesce(func.sum(Grant.amount), 0)).where(
        Grant.team_id == team_id, Grant.cap == name
    )
    return granted.where(*within(Grant.at, window))


def guesses_on(session: Session, contest: Contest, team_id: UUID, target: Target, question: str) -> Cap:
    """The cap on a team's answers to one question about one target."""
    mine = select(func.count()).where(Guess.team_id == team_id, Guess.target_id == target.id)
    used = one(session, mine.where(Guess.question == question, Guess.state != State.ERROR))
    return Cap(GUESSES_PER_TARGET, used, guess_limit(session, contest, team_id), None)


def guess_limit(session: Session, contest: Contest, team_id: UUID) -> int:
    more = one(session, granted_more(team_id, GUESSES_PER_TARGET, FOR_EVER))
    return contest.rules.limits.guesses_per_target + more


def one(session: Session, query: Any) -> int:
    return int(session.scalars(query).one())


def within(moment: Any, window: Window) -> tuple[ColumnElement[bool], ...]:
    """Bounded above as well: an upload of before midnight may be accepted when others of today have been."""
    return () if window.since is None else (moment >= window.since, moment < window.resets_at)


def require_room(found: tuple[Cap, ...], now: datetime) -> None:
    """TooMany with the wait until there is room again, for the first cap that is used up."""
    for full in (cap for cap in found if not cap.left):
        used: dict[str, str | int] = {"limit": full.limit, "cap": full.name}
        if full.resets_at is None:
            raise TooMany(
                "your team has used all {limit} of {cap}, which only the organizers can raise",
                retry_after=LONGEST_WAIT_S,
                code="quota_used_up",
                **used,
            )
        raise TooMany(
            "your team has used all {limit} of {cap}, until {until}",
            retry_after=max(1, int((full.resets_at - now).total_seconds()) + 1),
            code="quota_used_up",
            until=f"{full.resets_at:%Y-%m-%d %H:%M:%S %Z}",
            **used,
        )


def lock(session: Session, row: Competition, team: Team) -> None:
    """The competition's, shared: a phase that turns knows of everything that entered before. The team's: of
    many uploads at once none slips past a cap, and a retry knows of what was accepted."""
    session.refresh(row, with_for_update={"read": True})
    session.refresh(team, with_for_update=True)


def begin_attempt(
    session: Session, contest: Contest, team: Team, user_id: UUID, *, phase: str, key: str | None
) -> Attempt:
    """Count an upload before it is read; refuse it if the phase is not open, or any cap has no room for it.

    To be called under the locks of ``lock``.
    """
    now = phases.standing(session, contest.row)
    known = attempts.unfinished(session, team, phase, key)
    in_time = known is not None and now.now <= known.at + attempts.grace()
    if not in_time:
        now.require_open(phase)
    if known is None:
        require_room(caps(session, contest, team.id, phase, now.now), now.now)
        known = Attempt(team_id=team.id, user_id=user_id, phase=phase, at=now.now, key=key, senders=0)
        session.add(known)
    elif not (in_time and known.counts):
        known.counts = False
        session.flush()
        require_room(caps(session, contest, team.id, phase, now.now), now.now)
        known.counts, known.at = True, known.at if in_time else now.now
    known.senders += 1
    session.flush()
    return known


def with_one_more(found: tuple[Cap, ...]) -> tuple[Cap, ...]:
    """The caps when one more of the attempts they count has become a valid submission."""
    return tuple(replace(cap, used=cap.used + 1) if cap.is_of_valid else cap for cap in found)


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
    contest = competitions.find(session, principal, slug)
    team = memberships.require_team(session, contest.id, principal)
    phase = ANONYMIZATION if contest.row.published_at is None else REIDENTIFICATION
    return Report(phase, caps(session, contest, team.id, phase, clock(session)))
