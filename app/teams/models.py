"""Tables that only teams use."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db.models import Base, id_column, inserted_at_column
from app.core.db.privileges import NONE, WRITE


class Invite(Base):
    __tablename__ = "invites"
    privileges = WRITE, NONE
    __table_args__ = (CheckConstraint("uses_left >= 0", name="uses_left"),)

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    team_id: Mapped[UUID | None] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    """The team to join; None for an invite to create a team."""
    digest: Mapped[bytes] = mapped_column(unique=True)
    uses_left: Mapped[int]
    expires_at: Mapped[datetime]
    created_at: Mapped[datetime] = inserted_at_column()
