"""Audit log: entries are written in the transaction of the act that they record."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.db.models import AuditEntry, Round, User
from app.core.identity.principal import Principal

log = structlog.get_logger(__name__)


def record(
    session: Session,
    principal: Principal | None,
    action: str,
    competition_id: UUID | None,
    *,
    subject: User | str = "",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Record an act. ``action`` is a code such as ``phase.extend``; ``subject`` is what it is about.

    Neither ``before`` nor ``after`` may contain a secret, a password or a code.
    """
    session.add(
        AuditEntry(
            competition_id=competition_id,
            user_id=principal.user_id if principal else None,
            action=action,
            person_id=subject.id if isinstance(subject, User) else None,
            thing="" if isinstance(subject, User) else subject,
            before=before,
            after=after,
        )
    )


def record_by_clock(session: Session, round_: Round, action: str, **details: object) -> None:
    """Record and log an act of the clock on a round."""
    record(session, None, action, round_.competition_id, subject=round_.address, after=details or None)
    log.info(action, competition=round_.address, **details)


def list_entries(
    session: Session, competition_id: UUID, *, cursor: int | None, limit: int | None
) -> Sequence[AuditEntry]:
    """Return a competition's entries numbered below ``cursor``, newest first; permissions are not checked."""
    query = select(AuditEntry).where(AuditEntry.competition_id == competition_id)
    if cursor is not None:
        query = query.where(AuditEntry.number < cursor)
    return session.scalars(query.order_by(AuditEntry.number.desc()).limit(limit)).all()
