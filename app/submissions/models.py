"""Tables that only submissions use."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, mapped_column

from anoncup.messages import CodedMessage
from app.core.db.models import Base, id_column, inserted_at_column
from app.core.db.privileges import ADD, NONE, READ, WRITE


class Attempt(Base):
    """An upload started in a phase of a round, successful or not."""

    __tablename__ = "attempts"
    privileges = WRITE, READ
    __table_args__ = (
        Index(None, "team_id", "round_id", "phase", "started_at"),
        Index("ix_attempts_under_way", "team_id", postgresql_where=sql("ended_at IS NULL")),
    )

    id: Mapped[UUID] = id_column()
    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"))
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    phase: Mapped[str]
    started_at: Mapped[datetime] = inserted_at_column()
    """Start of the upload, which counts for deadlines and daily caps."""
    ended_at: Mapped[datetime | None]
    """When it ended. None while it is received, after its process was killed, or if it may be retried."""
    key: Mapped[str | None]
    """Idempotency key of the sender; a retry under the same key continues this attempt."""
    senders: Mapped[int] = mapped_column(default=1)
    """Requests that use this attempt, including those whose process was killed."""
    counts: Mapped[bool] = mapped_column(default=True)
    """Whether it counts towards the caps; False if the service could not accept it."""
    failure: Mapped[CodedMessage | None]
    """Why the code of a package could not read it, for organizers."""
    traceback: Mapped[str | None]


class Grant(Base):
    """An increase of a cap for one team in a round. A daily cap increases for the day of the grant only."""

    __tablename__ = "grants"
    privileges = ADD, NONE

    id: Mapped[UUID] = id_column()
    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"))
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    cap: Mapped[str]
    amount: Mapped[int]
    granted_at: Mapped[datetime] = inserted_at_column()
