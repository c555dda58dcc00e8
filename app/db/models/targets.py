"""Targets and guesses of the second phase."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from anoncup import schemas
from app.db.models.declarations import UNFINISHED, Base, LeasedJob, id_column
from app.db.models.people import Team
from app.db.models.submissions import Submission


class Target(Base):
    """A final of the first phase, frozen for the other teams to attack."""

    __tablename__ = "targets"
    __table_args__ = (UniqueConstraint("competition_id", "name"),)

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"))
    submission_id: Mapped[UUID] = mapped_column(ForeignKey("submissions.id"), unique=True)
    name: Mapped[str]
    rows: Mapped[int]
    sizes: Mapped[dict[str, Any]]
    files: Mapped[dict[str, Any] | None]
    """SHA-256 of each file written by the service; None before that."""

    submission: Mapped[Submission] = relationship(lazy="raise", viewonly=True)
    opening: Mapped["Opening | None"] = relationship(lazy="raise", viewonly=True)


class Opening(Base):
    """The opened secret of a target in a closed competition.

    It has a table of its own because web processes may not read it before the reveal (``app.db.privileges``).
    """

    __tablename__ = "openings"

    target_id: Mapped[UUID] = mapped_column(ForeignKey("targets.id"), primary_key=True)
    salt: Mapped[bytes]
    secret: Mapped[str]
    """SHA-256 of the secret file in the store."""


class GuessTerms(Base):
    """Dates and cap for guesses, as last read by the clock from the competition's file.

    Only the clock may write them; triggers enforce them for the other processes (``migrations.guards``).
    """

    __tablename__ = "guess_terms"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    guesses_per_target: Mapped[int]
    grace_s: Mapped[int]
    """Seconds after the end in which an upload that started before it may complete."""


class SubmissionTerms(Base):
    """Dates and caps for submissions, as last read by the clock from the competition's file."""

    __tablename__ = "submission_terms"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    valid_per_day: Mapped[int]
    valid_total: Mapped[int]
    timezone: Mapped[str]
    """Time zone of the daily caps."""
    grace_s: Mapped[int]


class Guess(LeasedJob, Base):
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
    """Number of individuals for which the guess gives an answer."""
    correct: Mapped[int | None]
    outcome: Mapped[dict[str, Any] | None]
    risk: Mapped[float | None]
    """The outcome's value adjusted for chance, in [0, 1], which boards compare (``Outcome.risk``)."""
    guesses_left: Mapped[int]
    """Remaining guesses on this target after this one; part of the receipt."""
    idempotency_key: Mapped[str | None]
    fingerprint: Mapped[str | None]

    target: Mapped[Target] = relationship(lazy="raise", viewonly=True)
    team: Mapped[Team] = relationship(lazy="raise", viewonly=True)

    @property
    def parsed_outcome(self) -> schemas.GuessOutcome | None:
        """The outcome as a schema object."""
        return schemas.GuessOutcome.model_validate(self.outcome) if self.outcome else None
