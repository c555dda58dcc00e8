"""What the service draws by a seed, and what organizers hold."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.declarations import Base, moment_of_insert


class Seed(Base):
    """A competition's seed, sealed to the workers' key when it was made; never another one."""

    __tablename__ = "seeds"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    key_id: Mapped[str]
    sealed: Mapped[bytes]
    commitment: Mapped[str]
    """SHA-256 of the seed."""
    created_at: Mapped[datetime] = moment_of_insert()


class SeedOpening(Base):
    """The seed itself, noted when its competition had closed; apart, for before the reveal a web process may
    not read it (``app.db.privileges``)."""

    __tablename__ = "seed_openings"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    seed: Mapped[bytes]


class Truth(Base):
    """A file that only organizers know, sealed to the workers' key."""

    __tablename__ = "truths"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    key_id: Mapped[str]
    sealed: Mapped[bytes]
    commitment: Mapped[str]
    """SHA-256 of the salt and the file; the salt is sealed with the file."""
    size: Mapped[int]
    """Bytes."""
    at: Mapped[datetime] = moment_of_insert()


class Drawn(Base):
    """The files that were drawn for a team, which it alone may read before the reveal."""

    __tablename__ = "draws"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    team: Mapped[str] = mapped_column(primary_key=True)
    """The name that they were drawn for; empty: those of all baselines."""
    team_id: Mapped[UUID | None] = mapped_column(ForeignKey("teams.id"), unique=True)
    attempt: Mapped[int]
    files: Mapped[dict[str, Any]]
    """SHA-256 of each file."""
    made_at: Mapped[datetime] = moment_of_insert()
