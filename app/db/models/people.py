"""Accounts, what signs them in, and the teams they form."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from anoncup.schemas import TokenKind
from anoncup.schemas.roles import Role
from app.db.models.declarations import Base, identifier, moment_of_insert


class User(Base):
    __tablename__ = "users"

    id: Mapped[UUID] = identifier()
    name: Mapped[str]
    name_key: Mapped[str] = mapped_column(unique=True)
    """How the name reads in any case (``app.services.accounts.names.key``): people are found by it."""
    name_look: Mapped[str] = mapped_column(unique=True)
    """How it looks as it is written (``app.services.accounts.names.look``)."""
    name_capitals: Mapped[str] = mapped_column(unique=True)
    """How it looks in capitals (``app.services.accounts.names.capitals``)."""
    password_hash: Mapped[str]
    role: Mapped[Role] = mapped_column(Text)
    created_at: Mapped[datetime] = moment_of_insert()


class Token(Base):
    """An API token or a browser session: 256 random bits, of which only the digest is kept."""

    __tablename__ = "tokens"

    id: Mapped[UUID] = identifier()
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    kind: Mapped[TokenKind] = mapped_column(Text)
    name: Mapped[str]
    digest: Mapped[bytes] = mapped_column(unique=True)
    scopes: Mapped[list[str]]
    created_at: Mapped[datetime] = moment_of_insert()
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]

    user: Mapped[User] = relationship(lazy="raise")


class PasswordLink(Base):
    """A code with which a person sets a new password, once."""

    __tablename__ = "password_links"

    id: Mapped[UUID] = identifier()
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    digest: Mapped[bytes] = mapped_column(unique=True)
    created_at: Mapped[datetime] = moment_of_insert()
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class Invite(Base):
    __tablename__ = "invites"
    __table_args__ = (CheckConstraint("uses_left >= 0", name="uses_left"),)

    id: Mapped[UUID] = identifier()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    team_id: Mapped[UUID | None] = mapped_column(ForeignKey("teams.id"))
    """The team that whoever uses it joins; without one, it founds a team."""
    digest: Mapped[bytes] = mapped_column(unique=True)
    uses_left: Mapped[int]
    expires_at: Mapped[datetime]
    created_at: Mapped[datetime] = moment_of_insert()


class Team(Base):
    __tablename__ = "teams"
    __table_args__ = (
        UniqueConstraint("competition_id", "name_key"),
        UniqueConstraint("competition_id", "name_look"),
        UniqueConstraint("competition_id", "name_capitals"),
    )

    id: Mapped[UUID] = identifier()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"))
    name: Mapped[str]
    name_key: Mapped[str]
    name_look: Mapped[str]
    name_capitals: Mapped[str]
    created_at: Mapped[datetime] = moment_of_insert()
    disqualified_at: Mapped[datetime | None]
    disqualified_for: Mapped[str | None]
    """Why, as the team reads it."""
    approach: Mapped[str | None]
    """How it did what it did, which everybody reads once the contest has closed."""
    baseline: Mapped[bool] = mapped_column(default=False)
    """A row for comparison that the organizers added: no members, no rank, no target."""


class Member(Base):
    """A person in a team; the key allows one team per competition."""

    __tablename__ = "members"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"), primary_key=True)
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"), index=True)
