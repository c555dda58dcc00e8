"""Seeds, files allocated to teams, and files that only organizers have."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.declarations import Base, inserted_at_column


class Seed(Base):
    """A competition's seed, sealed to the workers' key when it was created. It never changes."""

    __tablename__ = "seeds"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    key_id: Mapped[str]
    sealed: Mapped[bytes]
    commitment: Mapped[str]
    """SHA-256 of the seed."""
    created_at: Mapped[datetime] = inserted_at_column()


class SeedOpening(Base):
    """The opened seed of a closed competition.

    It has a table of its own because web processes may not read it before the reveal (``app.db.privileges``).
    """

    __tablename__ = "seed_openings"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    seed: Mapped[bytes]


class OrganizerFile(Base):
    """A file that only organizers have, sealed to the workers' key."""

    __tablename__ = "organizer_files"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    key_id: Mapped[str]
    sealed: Mapped[bytes]
    commitment: Mapped[str]
    """SHA-256 of the salt and the file; the salt is sealed with the file."""
    size: Mapped[int]
    """Size in bytes."""
    created_at: Mapped[datetime] = inserted_at_column()


class AllocatedFiles(Base):
    """The files allocated to a team, which only that team may read before the reveal."""

    __tablename__ = "allocated_files"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    team: Mapped[str] = mapped_column(primary_key=True)
    """Name of the team that they were allocated to; empty for the files of all baselines."""
    team_id: Mapped[UUID | None] = mapped_column(ForeignKey("teams.id"), unique=True)
    attempt: Mapped[int]
    files: Mapped[dict[str, Any]]
    """SHA-256 of each file."""
    created_at: Mapped[datetime] = inserted_at_column()
