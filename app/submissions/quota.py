"""Quotas: how much a team may still upload. The API, the pages and the acceptance of uploads share them.

Caps count within one phase: ``valid_*`` accepted submissions, ``attempts_*`` all uploads that have begun, and
``*_per_day`` those since midnight in the competition's time zone. In the re-identification phase each target
has its own cap, so that attempts are the refused uploads only. A submission that ends in ERROR or is
cancelled no longer counts as valid, but its attempt still counts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, select, true
from sqlalchemy.orm import Session

from anoncup.errors import TooManyRequests
from anoncup.messages import N_, Message
from app.competitions import competitions, phases
from app.competitions.phases import ANONYMIZATION, REIDENTIFICATION
from app.core.db.models import Evaluation, Guess, Round, State, Submission, Target
from app.core.db.transaction import read_clock
from app.core.identity.principal import Principal
from app.submissions.models import Attempt, Grant

GUESSES_PER_TARGET = "guesses_per_target"
_DESCRIPTIONS = {
    "valid_per_day": N_("valid submissions a day"),
    "valid_total": N_("valid submissions in all"),
    "attempts_per_day": N_("attempts a day"),
    "attempts_total": N_("attempts in all"),
    GUESSES_PER_TARGET: N_("guesses on each target"),
}
CAP_NAMES = tuple(_DESCRIPTIONS)
_CAPS = {ANONYMIZATION: CAP_NAMES[:4], REIDENTIFICATION: CAP_NAMES[2:4]}
"""The caps of each phase, except those on each target."""
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
        return self.name.startswith("attempts")

    @property
    def description(self) -> Message:
        return Message(_DESCRIPTIONS[self.name])

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


def load_caps(
    session: Session, round_: Round, team_id: UUID, phase: str, now: datetime
) -> tuple[QuotaCap, ...]:
    """Return all caps on a team's uploads in ``phase`` at ``now``, in one query.

    A day is bounded above, too: an upload from before midnight may be accepted after those of today.
    """
    midnight, next_midnight = phases.find_midnights(now, round_.rules.timezone)
    parameters = {
        "team_id": team_id,
        "round_id": round_.id,
        "phase": phase,
        "midnight": midnight,
        "next_midnight": next_midnight,
    }
    counts = list(map(int, session.execute(_select_used_and_granted(phase), parameters).one()))
    return tuple(
        QuotaCap(
            name,
            used=max(0, used),
            limit=getattr(round_.rules.limits, name) + granted,
            resets_at=next_midnight if name.endswith("per_day") else None,
        )
        for name, used, granted in zip(_CAPS[phase], counts[::2], counts[1::2], strict=True)
    )


@lru_cache(maxsize=len(_CAPS))
def _select_used_and_granted(phase: str) -> Select[*tuple[int, ...]]:
    """Build the statement. It is cached because building it takes longer than running it."""
    begun = _count(Attempt.started_at).where(
        _is_own(Attempt), Attempt.phase == bindparam("phase"), Attempt.counts
    )
    if phase == REIDENTIFICATION:
        accepted = _count(Guess.received_at).where(_is_own(Guess), Guess.state != State.REFUSED)
    else:
        accepted = (
            _count(Submission.received_at)
            .join_from(Submission, Evaluation, Evaluation.submission_id == Submission.id)
            .where(_is_own(Submission), Evaluation.current, Evaluation.state.not_in(REFUNDED_STATES))
        )
    begun_counts, accepted_counts = begun.subquery(), accepted.subquery()
    columns = list[ColumnElement[int]]()
    for name in _CAPS[phase]:
        counted, _, period = name.partition("_")
        used = begun_counts.c[period] if counted == "attempts" else accepted_counts.c[period]
        columns.append(used - accepted_counts.c[period] if phase == REIDENTIFICATION else used)
        grants = _select_granted(name)
        columns.append(
            (grants.where(_is_today(Grant.granted_at)) if period == "per_day" else grants).scalar_subquery()
        )
    return select(*columns).select_from(begun_counts.join(accepted_counts, true()))


def _count(moment: Any) -> Select[int, int]:
    return select(func.count().label("total"), func.count().filter(_is_today(moment)).label("per_day"))


def _is_own(table: Any) -> ColumnElement[bool]:
    return and_(table.team_id == bindparam("team_id"), table.round_id == bindparam("round_id"))


def _is_today(moment: Any) -> ColumnElement[bool]:
    return and_(moment >= bindparam("midnight"), moment < bindparam("next_midnight"))


def _select_granted(name: str) -> Select[int]:
    return select(func.coalesce(func.sum(Grant.amount), 0)).where(_is_own(Grant), Grant.cap == name)


def load_guess_cap(session: Session, round_: Round, team_id: UUID, target: Target, question: str) -> QuotaCap:
    """Return the cap on a team's answers to one question about one target."""
    query = select(func.count()).where(Guess.team_id == team_id, Guess.target_id == target.id)
    query = query.where(Guess.question == question, Guess.state.not_in(FREE_GUESS_STATES))
    limit = load_guess_limit(session, round_, team_id)
    return QuotaCap(GUESSES_PER_TARGET, session.scalars(query).one(), limit, None)


def load_guess_limit(session: Session, round_: Round, team_id: UUID) -> int:
    own = {"team_id": team_id, "round_id": round_.id}
    extra = session.scalars(_select_granted(GUESSES_PER_TARGET), own).one()
    return round_.rules.limits.guesses_per_target + int(extra)


def require_remaining(caps: Iterable[QuotaCap], now: datetime) -> None:
    """Raise TooManyRequests for the first cap that is used up, with the time until it resets."""
    exhausted = next((cap for cap in caps if not cap.left), None)
    if exhausted is None:
        return
    text = N_("your team has reached its limit of {limit} ({counted}), which only the organizers can raise")
    retry_after, reset = MAX_RETRY_AFTER_S, {}
    if exhausted.resets_at is not None:
        text = N_("your team has reached its limit of {limit} ({counted}), until {until}")
        retry_after = max(1, int((exhausted.resets_at - now).total_seconds()) + 1)
        reset = {"until": f"{exhausted.resets_at:%Y-%m-%d %H:%M:%S %Z}"}
    raise TooManyRequests(
        text,
        retry_after=retry_after,
        code="quota_used_up",
        limit=exhausted.limit,
        cap=exhausted.name,
        counted=exhausted.description,
        **reset,
    )


class QuotaReport(NamedTuple):
    """A team's caps in a phase."""

    phase: str
    caps: tuple[QuotaCap, ...]


def load_report(session: Session, principal: Principal, slug: str) -> QuotaReport:
    """Return the caps of the person's own team: those of the second phase once the first is over."""
    round_, team = competitions.find_for_member(session, principal, slug)
    phase = REIDENTIFICATION if round_.published_at else ANONYMIZATION
    return QuotaReport(phase, load_caps(session, round_, team.id, phase, read_clock(session)))
