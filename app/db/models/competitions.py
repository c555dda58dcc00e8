"""Competitions, and their announcements, clarifications, threshold reports, deadlines and audit log."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Identity, Index
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, mapped_column, relationship

from anoncup.messages import CodedMessage
from app.db.models.declarations import UNFINISHED, Base, LeasedJob, id_column, inserted_at_column
from app.db.models.people import Team


class Competition(Base):
    __tablename__ = "competitions"
    __table_args__ = (
        # One rehearsal at a time, even if two organizers start one simultaneously.
        Index(
            "uq_competitions_standing_rehearsal_of",
            "rehearsal_of",
            unique=True,
            postgresql_where=sql("removed_at IS NULL"),
        ),
    )

    id: Mapped[UUID] = id_column()
    slug: Mapped[str] = mapped_column(unique=True)
    file: Mapped[str]
    """The current competition.toml as the organizer wrote it."""
    scales: Mapped[dict[str, Any]]
    """Scales of the utility scores, from the file or computed from the original."""
    scored_by: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """Name and version of each measure and attacker that counts; empty before the first submission."""
    original: Mapped[dict[str, Any]]
    """SHA-256 of each uploaded file of the original; some may still be missing."""
    shared_files: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """SHA-256 of the files that the service has allocated to all teams together."""
    allocation: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """What the service allocates; {} if nothing. ``files``: names of the files. ``each_team``: whether every
    team gets its own. ``truth``: names of the organizers' files from which they are made."""
    original_rows: Mapped[int | None]
    """Number of individuals, once the original is complete."""
    created_at: Mapped[datetime] = inserted_at_column()
    paused_at: Mapped[datetime | None]
    """When the open phase was paused; nothing is accepted until it is resumed."""
    allocated_at: Mapped[datetime | None]
    """When the first team files were allocated; their source data cannot change afterwards."""
    frozen_at: Mapped[datetime | None]
    """When the finals were frozen; the targets cannot change afterwards."""
    published_at: Mapped[datetime | None]
    """When the files of all targets were complete and became downloadable."""
    closed_at: Mapped[datetime | None]
    """When the last guess was scored and every score became visible."""
    revealed_at: Mapped[datetime | None]
    """When the secrets of the targets were published."""
    rehearsal_of: Mapped[UUID | None] = mapped_column(ForeignKey("competitions.id"))
    """The competition that this one rehearses. Only its organizers can see the rehearsal."""
    removed_at: Mapped[datetime | None]
    """When the organizers ended the rehearsal; nobody can see it afterwards."""

    @property
    def public_files(self) -> dict[str, str]:
        """SHA-256 of each file that all teams get: the original, and the files allocated to all."""
        return {**self.shared_files, **self.original}

    @property
    def unallocated_files(self) -> tuple[str, ...]:
        """Names of the files to be allocated to all teams that do not exist yet."""
        if not self.allocation or self.allocation["each_team"]:
            return ()
        return tuple(name for name in self.allocation["files"] if name not in self.public_files)


class Organizer(Base):
    __tablename__ = "organizers"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)


class ThresholdReport(LeasedJob, Base):
    """A report of the threshold advisor on a competition's data, computed in the background."""

    __tablename__ = "threshold_reports"
    __table_args__ = (
        Index("ix_threshold_reports_unfinished", "created_at", postgresql_where=UNFINISHED),
        # One at a time, so that a competition with many reports does not occupy every process for reports.
        Index(
            "uq_threshold_reports_scoring_competition_id",
            "competition_id",
            unique=True,
            postgresql_where=sql("state = 'SCORING'"),
        ),
    )

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    file: Mapped[str]
    """The competition's file when the report was requested; ``original``: SHA-256 of its data then."""
    original: Mapped[dict[str, Any]]
    question: Mapped[dict[str, Any]]
    report: Mapped[dict[str, Any] | None]


class Announcement(Base):
    """A public announcement by the organizers or the service, with its text by language."""

    __tablename__ = "announcements"

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    """The author; None for the service itself (the clock)."""
    at: Mapped[datetime] = inserted_at_column()
    text: Mapped[dict[str, Any]]
    coded_message: Mapped[CodedMessage | None]
    """The text of an announcement by the service itself, for translation; None for one by organizers."""


class Clarification(Base):
    """A team's question to the organizers, with their answer."""

    __tablename__ = "clarifications"

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    """The member who asked."""
    asked_at: Mapped[datetime] = inserted_at_column()
    question: Mapped[str]
    answer: Mapped[str | None]
    answered_at: Mapped[datetime | None]
    public: Mapped[bool] = mapped_column(default=False, server_default=sql("false"))
    """Whether question and answer are visible to everybody, without the team's name."""

    team: Mapped[Team] = relationship(lazy="raise")


class ObservedDeadline(Base):
    """The end of the last phase as observed by the clock. Only rows with a valid signature count.

    Rows are only inserted, never updated.
    """

    __tablename__ = "observed_deadlines"

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    phase: Mapped[str]
    ends_at: Mapped[datetime]
    notice_hours: Mapped[int]
    """Notice period of a reveal in the competition's file, in hours."""
    before_submissions: Mapped[bool]
    """Whether nothing had been submitted at that time."""
    observed_at: Mapped[datetime]
    signature: Mapped[bytes]


class AuditEntry(Base):
    """An entry of the audit log, with the state before and after. Written with the action, never changed."""

    __tablename__ = "audit_entries"

    number: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    at: Mapped[datetime] = inserted_at_column()
    competition_id: Mapped[UUID | None] = mapped_column(ForeignKey("competitions.id"), index=True)
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    """None for the service itself (the clock)."""
    actor: Mapped[str]
    action: Mapped[str]
    subject: Mapped[str]
    before: Mapped[dict[str, Any] | None]
    after: Mapped[dict[str, Any] | None]


class Heartbeat(Base):
    """When a regular task last completed."""

    __tablename__ = "heartbeats"

    task: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]
