"""Audit log: entries are written in the transaction of the act that they record."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import ColumnElement, Text, cast, func, or_, select
from sqlalchemy.orm import Session

from app.core.db.models import AuditEntry, Member, Round, Submission, Team
from app.core.identity.principal import Principal

log = structlog.get_logger(__name__)

_CLOCK_ACTOR = "anoncup"
"""Actor of acts that the clock performs without a request."""


def record(
    session: Session,
    principal: Principal | None,
    action: str,
    competition_id: UUID | None,
    *,
    subject: str = "",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Record an act. ``action`` is a code such as ``phase.extend``; ``subject`` names the affected object.

    Neither ``before`` nor ``after`` may contain a secret, a password or a code.
    """
    session.add(
        AuditEntry(
            competition_id=competition_id,
            user_id=principal.user_id if principal else None,
            actor=principal.name if principal else _CLOCK_ACTOR,
            action=action,
            subject=subject,
            before=before,
            after=after,
        )
    )


def record_by_clock(session: Session, round_: Round, action: str, **details: object) -> None:
    """Record and log an act of the clock on a round."""
    record(session, None, action, round_.competition_id, subject=round_.address, after=details or None)
    log.info(action, competition=round_.address, **details)


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Filter of audit entries; fields at their defaults do not filter.

    ``by_clock`` selects entries without a user. ``team_id`` selects acts of the team's members and acts on
    the team or its submissions.
    """

    user_id: UUID | None = None
    by_clock: bool = False
    action: str = ""
    team_id: UUID | None = None

    def build_conditions(self) -> list[ColumnElement[bool]]:
        conditions = [AuditEntry.user_id == self.user_id] if self.user_id else []
        conditions += [AuditEntry.user_id.is_(None)] if self.by_clock else []
        conditions += [AuditEntry.action == self.action] if self.action else []
        return conditions + ([_concerns_team(self.team_id)] if self.team_id else [])


NO_FILTER = AuditFilter()


def _concerns_team(team_id: UUID) -> ColumnElement[bool]:
    members = select(Member.user_id).where(Member.team_id == team_id)
    team_name = select(Team.name).where(Team.id == team_id)
    submission_ids = select(cast(Submission.id, Text)).where(Submission.team_id == team_id)
    return or_(
        AuditEntry.user_id.in_(members),
        AuditEntry.subject.in_(team_name),
        AuditEntry.subject.in_(submission_ids),
    )


def list_entries(
    session: Session,
    competition_id: UUID,
    *,
    cursor: int | None,
    limit: int | None,
    entry_filter: AuditFilter = NO_FILTER,
) -> Sequence[AuditEntry]:
    """Return a competition's entries numbered below ``cursor``, newest first; permissions are not checked."""
    query = select(AuditEntry).where(
        AuditEntry.competition_id == competition_id, *entry_filter.build_conditions()
    )
    if cursor is not None:
        query = query.where(AuditEntry.number < cursor)
    return session.scalars(query.order_by(AuditEntry.number.desc()).limit(limit)).all()


@dataclass(frozen=True, slots=True)
class AuditFilterOptions:
    """Actors (None is the clock) and actions that occur in a competition's audit log."""

    actors: tuple[tuple[UUID | None, str], ...]
    actions: tuple[str, ...]


def load_filter_options(session: Session, competition_id: UUID) -> AuditFilterOptions:
    """Return the actors and actions of a competition's entries. Permissions are not checked."""
    is_in_competition = AuditEntry.competition_id == competition_id
    actors = session.execute(
        select(AuditEntry.user_id, func.max(AuditEntry.actor))
        .where(is_in_competition)
        .group_by(AuditEntry.user_id)
    )
    actions = session.scalars(
        select(AuditEntry.action).where(is_in_competition).distinct().order_by(AuditEntry.action)
    )
    people = sorted(((user_id, actor) for user_id, actor in actors), key=lambda person: person[1])
    return AuditFilterOptions(tuple(people), tuple(actions))
