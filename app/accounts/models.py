"""Tables that only accounts use."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db.models import Base, id_column, inserted_at_column
from app.core.db.privileges import ALL, NONE


class UserIdentity(Base):
    """A user's account at a sign-in provider."""

    __tablename__ = "identities"
    privileges = "SELECT, INSERT, DELETE", NONE
    __table_args__ = (UniqueConstraint("issuer", "subject"),)

    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    issuer: Mapped[str]
    subject: Mapped[str]
    """Permanent identifier of the account at the provider."""
    created_at: Mapped[datetime] = inserted_at_column()


class PasswordLink(Base):
    """A one-time link for setting a new password."""

    __tablename__ = "password_links"
    privileges = ALL, "INSERT"

    id: Mapped[UUID] = id_column()
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    digest: Mapped[bytes] = mapped_column(unique=True)
    mailed: Mapped[bool] = mapped_column(default=False)
    """Whether it was sent to the user's own address, and not made by an organizer or administrator."""
    created_at: Mapped[datetime] = inserted_at_column()
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
