"""Who did what, when, and what it changed: written with the act, in its transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Text, cast, func, or_, select
from sqlalchemy.orm import Session

from app.db.models import AuditEntry, Member, Submission, Team
from app.services.accounts.accounts import Principal

CLOCK = "anoncup"
"""The actor where nobody asked: the clock."""


def record(
    session: Session,
    principal: Principal | None,
    action: str,
    *,
    competition_id: UUID | None,
    subject: str = "",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Note an act. ``action``: ``phase.extend``; ``subject``: what it was done to, in words.

    Neither ``before`` nor ``after`` may hold a secret, a password or a code.
    """
    session.add(
        AuditEntry(
            competition_id=competition_id,
            user_id=principal.user_id if principal else None,
            actor=principal.name if principal else CLOCK,
            action=action,
            subject=subject,
            before=before,
            after=after,
        )
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entries are asked for; what is left out filters nothing. ``by_clock``: those of nobody.
    ``team_id``: what its members did, and what was done to it or to one of its submissions."""

    user_id: UUID | None = None
    by_clock: bool = False
    action: str = ""
    team_id: UUID | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        asked = [AuditEntry.user_id == self.user_id] if self.user_id else []
        asked += [AuditEntry.user_id.is_(None)] if self.by_clock else []
        asked += [AuditEntry.action == self.action] if self.action else []
        return asked + ([of_team(self.team_id)] if self.team_id else [])


EVERYTHING = Wanted()


def of_team(team_id: UUID) -> ColumnElement[bool]:
    members = select(Member.user_id).where(Member.team_id == team_id)
    name = select(Team.name).where(Team.id == team_id)
    sent = select(cast(Submission.id, Text)).where(Submission.team_id == team_id)
    return or_(AuditEntry.user_id.in_(members), AuditEntry.subject.in_(name), AuditEntry.subject.in_(sent))


def page(
    session: Session,
    competition_id: UUID,
    *,
    after: int | None,
    limit: int | None,
    wanted: Wanted = EVERYTHING,
) -> Sequence[AuditEntry]:
    """A competition's entries, newest first, those below number ``after``; who asks is not checked here."""
    query = select(AuditEntry).where(AuditEntry.competition_id == competition_id, *wanted.conditions())
    if after is not None:
        query = query.where(AuditEntry.number < after)
    return session.scalars(query.order_by(AuditEntry.number.desc()).limit(limit)).all()


@dataclass(frozen=True, slots=True)
class Noted:
    """Who has acted in a competition (None: the clock), and what was done."""

    actors: tuple[tuple[UUID | None, str], ...]
    actions: tuple[str, ...]


def noted(session: Session, competition_id: UUID) -> Noted:
    """What its entries can be filtered by; who asks is not checked here."""
    of_it = AuditEntry.competition_id == competition_id
    actors = session.execute(
        select(AuditEntry.user_id, func.max(AuditEntry.actor)).where(of_it).group_by(AuditEntry.user_id)
    )
    actions = session.scalars(select(AuditEntry.action).where(of_it).distinct().order_by(AuditEntry.action))
    people = sorted(((user_id, actor) for user_id, actor in actors), key=lambda one: one[1])
    return Noted(tuple(people), tuple(actions))
