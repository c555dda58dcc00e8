"""Who did what, when, and what it changed: written with the act, in its transaction."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import AuditEntry
from app.services.accounts import Principal

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


def page(
    session: Session, competition_id: UUID, *, after: int | None, limit: int | None
) -> Sequence[AuditEntry]:
    """A competition's entries, newest first, those below number ``after``; who asks is not checked here."""
    query = select(AuditEntry).where(AuditEntry.competition_id == competition_id)
    if after is not None:
        query = query.where(AuditEntry.number < after)
    return session.scalars(query.order_by(AuditEntry.number.desc()).limit(limit)).all()
