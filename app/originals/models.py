"""Tables that only originals use."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, ForeignKeyConstraint, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db.models import Base, inserted_at_column
from app.core.db.privileges import ADD, NONE, READ


class Seed(Base):
    """A round's seed, sealed to the workers' key when it was created. It never changes."""

    __tablename__ = "seeds"
    privileges = NONE, ADD

    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"), primary_key=True)
    key_id: Mapped[str]
    sealed: Mapped[bytes]


class SeedOpening(Base):
    """The opened seed of a closed round, shown from the reveal on."""

    __tablename__ = "seed_openings"
    privileges = READ, ADD

    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"), primary_key=True)
    seed: Mapped[bytes]


class SealedOrganizerFile(Base):
    """The content of an organizer file, sealed to the workers' key. It is deleted with the file."""

    __tablename__ = "sealed_organizer_files"
    privileges = "INSERT", READ
    __table_args__ = (
        ForeignKeyConstraint(
            ["round_id", "name"], ["organizer_files.round_id", "organizer_files.name"], ondelete="CASCADE"
        ),
    )

    round_id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    key_id: Mapped[str]
    sealed: Mapped[bytes]


class AllocatedFiles(Base):
    """The files allocated to a team, which only that team may read before the reveal."""

    __tablename__ = "allocated_files"
    privileges = READ, "SELECT, INSERT, DELETE"
    __table_args__ = (UniqueConstraint("team_id", "round_id"),)

    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"), primary_key=True)
    team: Mapped[str] = mapped_column(primary_key=True)
    """Name of the team that they were allocated to; empty for the files of all baselines."""
    team_id: Mapped[UUID | None] = mapped_column(ForeignKey("teams.id"))
    attempt: Mapped[int]
    files: Mapped[dict[str, Any]]
    """SHA-256 of each file."""
    created_at: Mapped[datetime] = inserted_at_column()
