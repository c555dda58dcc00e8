"""Tables that only clarifications use."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core.db.models import Base, Team, id_column, inserted_at_column
from app.core.db.privileges import NONE, WRITE


class Clarification(Base):
    """A team's question to the organizers, with their answer."""

    __tablename__ = "clarifications"
    privileges = WRITE, NONE

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    team_id: Mapped[UUID | None] = mapped_column(ForeignKey("teams.id", ondelete="SET NULL"))
    """None if the team is gone."""
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    """The member who asked."""
    asked_at: Mapped[datetime] = inserted_at_column()
    question: Mapped[str]
    answer: Mapped[str | None]
    answered_at: Mapped[datetime | None]
    public: Mapped[bool] = mapped_column(default=False, server_default=sql("false"))
    """Whether question and answer are visible to everybody, without the team's name."""

    team: Mapped[Team | None] = relationship(lazy="raise")
