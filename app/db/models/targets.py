"""The second phase: what may be attacked, and the attacks."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from anoncup import schemas
from app.db.models.declarations import UNFINISHED, Base, Work, identifier
from app.db.models.people import Team
from app.db.models.submissions import Submission


class Target(Base):
    """A final of the first phase, frozen for the other teams to attack."""

    __tablename__ = "targets"
    __table_args__ = (UniqueConstraint("competition_id", "name"),)

    id: Mapped[UUID] = identifier()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"))
    submission_id: Mapped[UUID] = mapped_column(ForeignKey("submissions.id"), unique=True)
    name: Mapped[str]
    rows: Mapped[int]
    sizes: Mapped[dict[str, Any]]
    files: Mapped[dict[str, Any] | None]
    """SHA-256 of each file as the service wrote it; None until it has."""

    submission: Mapped[Submission] = relationship(lazy="raise", viewonly=True)
    opening: Mapped["Opening | None"] = relationship(lazy="raise", viewonly=True)


class Opening(Base):
    """A target's secret, opened when its competition had closed; apart, for before the reveal a web process
    may not read it (``app.db.privileges``)."""

    __tablename__ = "openings"

    target_id: Mapped[UUID] = mapped_column(ForeignKey("targets.id"), primary_key=True)
    salt: Mapped[bytes]
    secret: Mapped[str]
    """SHA-256 of the secret file in the store."""


class GuessTerms(Base):
    """When a competition takes guesses and how many, as the clock last read it from the competition's file.

    The database holds the other processes to it (``migrations.guards``); only the clock may write it.
    """

    __tablename__ = "guess_terms"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    guesses_per_target: Mapped[int]
    grace_s: Mapped[int]
    """How many seconds after the end a guess may arrive that entered before it."""


class SubmissionTerms(Base):
    """When a competition takes submissions and how many, as the clock last read it from its file."""

    __tablename__ = "submission_terms"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    valid_per_day: Mapped[int]
    valid_total: Mapped[int]
    timezone: Mapped[str]
    """Its midnights begin the days."""
    grace_s: Mapped[int]


class Guess(Work, Base):
    """A team's attempt to answer a question about a target."""

    __tablename__ = "guesses"
    __table_args__ = (
        Index("ix_guesses_competition_id_received_at", "competition_id", "received_at"),
        Index("ix_guesses_unfinished", "created_at", postgresql_where=UNFINISHED),
        Index(None, "competition_id", "started_at"),
        Index(None, "competition_id", "team_id", "started_at"),
        UniqueConstraint("team_id", "idempotency_key"),
    )

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"))
    target_id: Mapped[UUID] = mapped_column(ForeignKey("targets.id"), index=True)
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    received_at: Mapped[datetime]
    question: Mapped[str]
    file: Mapped[str]
    """SHA-256 of the guess file."""
    answered: Mapped[int]
    """Of how many it says anything."""
    correct: Mapped[int | None]
    outcome: Mapped[dict[str, Any] | None]
    risk: Mapped[float | None]
    """Of what it came to, what is beyond chance, in [0, 1]: what boards compare."""
    guesses_left: Mapped[int]
    """What was left for this target right after this one; part of the receipt."""
    idempotency_key: Mapped[str | None]
    fingerprint: Mapped[str | None]

    target: Mapped[Target] = relationship(lazy="raise", viewonly=True)
    team: Mapped[Team] = relationship(lazy="raise", viewonly=True)

    @property
    def judged(self) -> schemas.Judged | None:
        """What it came to, read."""
        return schemas.Judged.model_validate(self.outcome) if self.outcome else None
