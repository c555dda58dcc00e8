"""Quotas: how much a team may still upload. The API, the pages and the acceptance of uploads share them.

Caps count within one phase: ``valid_*`` accepted submissions, ``attempts_*`` all uploads that have begun, and
``*_per_day`` those since midnight in the competition's time zone. In the re-identification phase each target
has its own cap, so that attempts are the refused uploads only. A submission that ends in ERROR or is
cancelled no longer counts as valid, but its attempt still counts.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import BindParameter, ColumnElement, Select, Uuid, bindparam, func, select
from sqlalchemy.orm import Session

from anoncup.errors import TooManyRequests
from anoncup.messages import N_, Message
from app.competitions import competitions, phases
from app.competitions.contest import Contest
from app.competitions.phases import ANONYMIZATION, REIDENTIFICATION
from app.core.db.models import Evaluation, Guess, State, Submission, Target, Team
from app.core.db.now import read_clock
from app.core.identity.principal import Principal
from app.submissions import attempts
from app.submissions.models import Attempt, Grant


@dataclass(frozen=True, slots=True)
class _CapKind:
    counts: Literal["valid", "attempts", "guesses"]
    description: str
    is_daily: bool = False


GUESSES_PER_TARGET = "guesses_per_target"
_CAP_KINDS = {
    "valid_per_day": _CapKind("valid", N_("valid submissions a day"), is_daily=True),
    "valid_total": _CapKind("valid", N_("valid submissions in all")),
    "attempts_per_day": _CapKind("attempts", N_("attempts a day"), is_daily=True),
    "attempts_total": _CapKind("attempts", N_("attempts in all")),
    GUESSES_PER_TARGET: _CapKind("guesses", N_("guesses on each target")),
}
CAP_NAMES = tuple(_CAP_KINDS)
REFUNDED_STATES = (State.ERROR, State.CANCELLED)
FREE_GUESS_STATES = (State.ERROR, State.REFUSED)
"""States of guesses that do not count towards the cap of their target. A refused one counts as an attempt."""
MAX_RETRY_AFTER_S = 24 * 60 * 60
"""Retry-After of a cap that never resets."""


@dataclass(frozen=True, slots=True)
class QuotaCap:
    """One cap of one team.

    ``resets_at``: next midnight in the competition's time zone, or None if the cap never resets.
    """

    name: str
    used: int
    limit: int
    resets_at: datetime | None

    @property
    def is_for_attempts(self) -> bool:
        return _CAP_KINDS[self.name].counts == "attempts"

    @property
    def description(self) -> Message:
        return Message(_CAP_KINDS[self.name].description)

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


@dataclass(frozen=True, slots=True)
class CountingWindow:
    """The half-open interval in which uploads count; unbounded if both ends are None."""

    starts_at: datetime | BindParameter[datetime] | None
    resets_at: datetime | BindParameter[datetime] | None


_UNBOUNDED = CountingWindow(None, None)
_Id = UUID | BindParameter[UUID]


def load_caps(
    session: Session, contest: Contest, team_id: UUID, phase: str, now: datetime
) -> tuple[QuotaCap, ...]:
    """Return all caps on a team's uploads in ``phase`` at ``now``, in one query."""
    rules = contest.rules
    midnight, next_midnight = phases.find_midnights(now, rules.timezone)
    parameters = {
        "team": team_id,
        "round": contest.round.id,
        "since": midnight,
        "until": next_midnight,
    }
    counts = [int(count) for count in session.execute(_build_counts_query(phase), parameters).one()]
    return tuple(
        QuotaCap(
            name,
            used=max(0, used),
            limit=getattr(rules.limits, name) + granted,
            resets_at=next_midnight if kind.is_daily else None,
        )
        for (name, kind), used, granted in zip(
            _select_caps(phase).items(), counts[::2], counts[1::2], strict=True
        )
    )


@lru_cache(maxsize=2)
def _build_counts_query(phase: str) -> Select[Any]:
    """Build a query for two numbers of each cap, used and granted, with team, round and day as parameters.

    The query is cached because building it takes longer than running it.
    """
    team_id, round_id = bindparam("team", type_=Uuid), bindparam("round", type_=Uuid)
    today = CountingWindow(bindparam("since"), bindparam("until"))
    counts = []
    for name, kind in _select_caps(phase).items():
        window = today if kind.is_daily else _UNBOUNDED
        counts.append(_select_used(team_id, round_id, kind, phase, window))
        counts.append(_select_granted(team_id, round_id, name, window))
    return select(*(count.scalar_subquery() for count in counts))


def _select_caps(phase: str) -> dict[str, _CapKind]:
    """Return the caps of a phase, except those on each target."""
    counted = {"attempts"} if phase == REIDENTIFICATION else {"valid", "attempts"}
    return {name: kind for name, kind in _CAP_KINDS.items() if kind.counts in counted}


def _select_used(
    team_id: _Id, round_id: _Id, kind: _CapKind, phase: str, window: CountingWindow
) -> Select[int]:
    """Build a query that counts the uploads limited by a cap."""
    accepted_query = _select_accepted(team_id, round_id, phase, window)
    if kind.counts == "valid":
        return accepted_query
    attempts_query = _select_attempts(team_id, round_id, phase, window)
    if phase == REIDENTIFICATION:
        return select(attempts_query.scalar_subquery() - accepted_query.scalar_subquery())
    return attempts_query


def _select_attempts(team_id: _Id, round_id: _Id, phase: str, window: CountingWindow) -> Select[int]:
    query = select(func.count()).where(Attempt.team_id == team_id, Attempt.round_id == round_id)
    query = query.where(Attempt.phase == phase, Attempt.counts)
    return query.where(*_build_window_conditions(Attempt.started_at, window))


def _select_accepted(team_id: _Id, round_id: _Id, phase: str, window: CountingWindow) -> Select[int]:
    """Build a query that counts valid submissions or, in the re-identification phase, accepted guesses."""
    if phase == REIDENTIFICATION:
        guess_query = select(func.count()).where(
            Guess.team_id == team_id, Guess.round_id == round_id, Guess.state != State.REFUSED
        )
        return guess_query.where(*_build_window_conditions(Guess.received_at, window))
    valid_query = (
        select(func.count())
        .select_from(Submission)
        .join(Evaluation, Evaluation.submission_id == Submission.id)
        .where(Submission.team_id == team_id, Submission.round_id == round_id)
        .where(Evaluation.current, Evaluation.state.not_in(REFUNDED_STATES))
    )
    return valid_query.where(*_build_window_conditions(Submission.received_at, window))


def _select_granted(team_id: _Id, round_id: _Id, name: str, window: CountingWindow) -> Select[int]:
    query = select(func.coalesce(func.sum(Grant.amount), 0)).where(
        Grant.team_id == team_id, Grant.round_id == round_id, Grant.cap == name
    )
    return query.where(*_build_window_conditions(Grant.granted_at, window))


def load_guess_cap(
    session: Session, contest: Contest, team_id: UUID, target: Target, question: str
) -> QuotaCap:
    """Return the cap on a team's answers to one question about one target."""
    query = select(func.count()).where(Guess.team_id == team_id, Guess.target_id == target.id)
    used = _fetch_count(
        session, query.where(Guess.question == question, Guess.state.not_in(FREE_GUESS_STATES))
    )
    return QuotaCap(GUESSES_PER_TARGET, used, load_guess_limit(session, contest, team_id), None)


def load_guess_limit(session: Session, contest: Contest, team_id: UUID) -> int:
    extra = _fetch_count(session, _select_granted(team_id, contest.round.id, GUESSES_PER_TARGET, _UNBOUNDED))
    return contest.rules.limits.guesses_per_target + extra


def _fetch_count(session: Session, query: Any) -> int:
    return int(session.scalars(query).one())


def _build_window_conditions(column: Any, window: CountingWindow) -> tuple[ColumnElement[bool], ...]:
    """Return SQL conditions that restrict a column to the window.

    The window is bounded above, too: an upload from before midnight may be accepted after those of today.
    """
    return () if window.starts_at is None else (column >= window.starts_at, column < window.resets_at)


def require_remaining(caps: Iterable[QuotaCap], now: datetime) -> None:
    """Raise TooManyRequests for the first cap that is used up, with the time until it resets."""
    exhausted = next((cap for cap in caps if not cap.left), None)
    if exhausted is None:
        return
    if exhausted.resets_at is None:
        raise TooManyRequests(
            "your team has reached its limit of {limit} ({counted}), which only the organizers can raise",
            retry_after=MAX_RETRY_AFTER_S,
            code="quota_used_up",
            limit=exhausted.limit,
            cap=exhausted.name,
            counted=exhausted.description,
        )
    raise TooManyRequests(
        "your team has reached its limit of {limit} ({counted}), until {until}",
        retry_after=max(1, int((exhausted.resets_at - now).total_seconds()) + 1),
        code="quota_used_up",
        limit=exhausted.limit,
        cap=exhausted.name,
        counted=exhausted.description,
        until=f"{exhausted.resets_at:%Y-%m-%d %H:%M:%S %Z}",
    )


def begin_attempt(
    session: Session, contest: Contest, team: Team, user_id: UUID, *, phase: str, key: str | None
) -> Attempt:
    """Count an upload before it is read, or continue the unanswered attempt with its key.

    Competition and team must be locked. Raises Conflict if the phase is not open, TooManyRequests if a cap is
    used up.
    """
    status = phases.get_status(session, contest.round)
    attempt = attempts.find_unfinished(session, contest.round, team, phase, key)
    if attempt is None or not attempts.is_in_grace_period(attempt, status):
        status.require_open(phase)
        attempt = attempt or Attempt(
            round_id=contest.round.id, team_id=team.id, user_id=user_id, phase=phase, key=key, senders=0
        )
        attempt.started_at, attempt.counts = status.now, False
    if not attempt.counts:
        require_remaining(load_caps(session, contest, team.id, phase, status.now), status.now)
        attempt.counts = True
    attempt.senders += 1
    session.add(attempt)
    session.flush()
    return attempt


def add_valid_submission(caps: tuple[QuotaCap, ...]) -> tuple[QuotaCap, ...]:
    """Return the caps after one more attempt has become a valid submission."""
    return tuple(cap if cap.is_for_attempts else replace(cap, used=cap.used + 1) for cap in caps)


def collect_remaining(caps: tuple[QuotaCap, ...]) -> dict[str, int]:
    return {cap.name: cap.left for cap in caps}


@dataclass(frozen=True, slots=True)
class QuotaReport:
    """A team's caps in a phase."""

    phase: str
    caps: tuple[QuotaCap, ...]


def load_report(session: Session, principal: Principal, slug: str) -> QuotaReport:
    """Return the caps of the person's own team: those of the second phase once the first is over."""
    contest, team = competitions.find_for_member(session, principal, slug)
    phase = REIDENTIFICATION if contest.round.published_at else ANONYMIZATION
    return QuotaReport(phase, load_caps(session, contest, team.id, phase, read_clock(session)))
