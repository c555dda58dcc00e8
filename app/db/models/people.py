"""Accounts, their credentials, and teams."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from anoncup.schemas import TokenKind
from anoncup.schemas.roles import Role
from app.db.models.declarations import Base, id_column, inserted_at_column


class User(Base):
    __tablename__ = "users"

    id: Mapped[UUID] = id_column()
    name: Mapped[str]
    name_key: Mapped[str] = mapped_column(unique=True)
    """Case-insensitive form for look-up (``app.services.accounts.names.build_key``)."""
    name_look: Mapped[str] = mapped_column(unique=True)
    """Visual form, to prevent look-alikes (``app.services.accounts.names.build_look_key``)."""
    name_capitals: Mapped[str] = mapped_column(unique=True)
    """Visual form in capitals (``app.services.accounts.names.build_capitals_key``)."""
    password_hash: Mapped[str]
    role: Mapped[Role] = mapped_column(Text)
    created_at: Mapped[datetime] = inserted_at_column()


class Token(Base):
    """An API token or a browser session: 256 random bits, of which only the digest is stored."""

    __tablename__ = "tokens"

    id: Mapped[UUID] = id_column()
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    kind: Mapped[TokenKind] = mapped_column(Text)
    name: Mapped[str]
    digest: Mapped[bytes] = mapped_column(unique=True)
    scopes: Mapped[list[str]]
    created_at: Mapped[datetime] = inserted_at_column()
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]

    user: Mapped[User] = relationship(lazy="raise")


class PasswordLink(Base):
    """A one-time link for setting a new password."""

    __tablename__ = "password_links"

    id: Mapped[UUID] = id_column()
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    digest: Mapped[bytes] = mapped_column(unique=True)
    created_at: Mapped[datetime] = inserted_at_column()
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class Invite(Base):
    __tablename__ = "invites"
    __table_args__ = (CheckConstraint("uses_left >= 0", name="uses_left"),)

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    team_id: Mapped[UUID | None] = mapped_column(ForeignKey("teams.id"))
    """The team to join; None for an invite to create a team."""
    digest: Mapped[bytes] = mapped_column(unique=True)
    uses_left: Mapped[int]
    expires_at: Mapped[datetime]
    created_at: Mapped[datetime] = inserted_at_column()


class Team(Base):
    __tablename__ = "teams"
    __table_args__ = (
        UniqueConstraint("competition_id", "name_key"),
        UniqueConstraint("competition_id", "name_look"),
        UniqueConstraint("competition_id", "name_capitals"),
    )

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"))
    name: Mapped[str]
    name_key: Mapped[str]
    name_look: Mapped[str]
    name_capitals: Mapped[str]
    created_at: Mapped[datetime] = inserted_at_column()
    disqualified_at: Mapped[datetime | None]
    disqualification_reason: Mapped[str | None]
    """Reason of the disqualification, visible to the team."""
    method_description: Mapped[str | None]
    """The team's description of its method, public once the contest has closed."""
    baseline: Mapped[bool] = mapped_column(default=False)
    """Whether the organizers added it for comparison: without members, rank and target."""


class Member(Base):
    """Membership of a user in a team. The primary key allows one team per competition."""

    __tablename__ = "members"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"), primary_key=True)
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"), index=True)
