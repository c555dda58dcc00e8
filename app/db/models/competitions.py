"""A competition, and what its organizers do with it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Identity, Index
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, mapped_column, relationship

from anoncup.messages import Statement
from app.db.models.declarations import UNFINISHED, Base, Work, identifier, moment_of_insert
from app.db.models.people import Team


class Competition(Base):
    __tablename__ = "competitions"
    __table_args__ = (
        # One at a time: two organizers may ask at once.
        Index(
            "uq_competitions_standing_rehearses",
            "rehearses",
            unique=True,
            postgresql_where=sql("removed_at IS NULL"),
        ),
    )

    id: Mapped[UUID] = identifier()
    slug: Mapped[str] = mapped_column(unique=True)
    file: Mapped[str]
    """competition.toml as the organizer wrote it last."""
    scales: Mapped[dict[str, Any]]
    """The scales of its utility scores: the file's own, the rest computed from the original."""
    scored_by: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """Name and version of all that counts, from the first submission on; empty before."""
    original: Mapped[dict[str, Any]]
    """SHA-256 of each file of the original; some may be missing yet."""
    drawn: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """SHA-256 of the files that the service has drawn for all, in place of those that the original lacks."""
    drawing: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """What the service draws, as its track says: ``files``, ``each_team``, and of which ``truth``; {}:
    nothing."""
    original_rows: Mapped[int | None]
    """The number of individuals, once the original is complete."""
    created_at: Mapped[datetime] = moment_of_insert()
    paused_at: Mapped[datetime | None]
    """Since when the open phase takes nothing in."""
    drawn_at: Mapped[datetime | None]
    """When the first of the teams' own files were drawn: from then on stands what they are drawn from."""
    frozen_at: Mapped[datetime | None]
    """When the finals were taken: from then on the targets are those and no others."""
    published_at: Mapped[datetime | None]
    """When the targets' files were complete and could be downloaded."""
    closed_at: Mapped[datetime | None]
    """When the last guess was scored and every score became visible."""
    revealed_at: Mapped[datetime | None]
    """When the secrets of the targets were published."""
    rehearses: Mapped[UUID | None] = mapped_column(ForeignKey("competitions.id"))
    """The competition that this one is a rehearsal of, for whose organizers alone it exists."""
    removed_at: Mapped[datetime | None]
    """When its organizers ended the rehearsal: from then on it exists for nobody."""

    @property
    def given(self) -> dict[str, str]:
        """SHA-256 of each file that everybody is given: the original's, and what is drawn for all besides."""
        return {**self.drawn, **self.original}

    @property
    def undrawn(self) -> tuple[str, ...]:
        """The files that are drawn for all and are not there yet."""
        if not self.drawing or self.drawing["each_team"]:
            return ()
        return tuple(name for name in self.drawing["files"] if name not in self.given)


class Organizer(Base):
    __tablename__ = "organizers"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)


class ThresholdReport(Work, Base):
    """The advisor's report on a competition's data, made in the background."""

    __tablename__ = "threshold_reports"
    __table_args__ = (
        Index("ix_threshold_reports_unfinished", "created_at", postgresql_where=UNFINISHED),
        # One at a time: a competition that asks for many must not take every process that makes them.
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
    """The competition's file, and the data below, as they stood when it was asked for."""
    original: Mapped[dict[str, Any]]
    question: Mapped[dict[str, Any]]
    report: Mapped[dict[str, Any] | None]


class Announcement(Base):
    """What the organizers tell everybody, in the languages they wrote it in."""

    __tablename__ = "announcements"

    id: Mapped[UUID] = identifier()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    """None: the service itself, by the clock."""
    at: Mapped[datetime] = moment_of_insert()
    text: Mapped[dict[str, Any]]
    said: Mapped[Statement | None]
    """What the service says itself, in any language; None: people."""


class Clarification(Base):
    """What a team asks the organizers about the contest, and what they answer."""

    __tablename__ = "clarifications"

    id: Mapped[UUID] = identifier()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    """Who asked."""
    asked_at: Mapped[datetime] = moment_of_insert()
    question: Mapped[str]
    answer: Mapped[str | None]
    answered_at: Mapped[datetime | None]
    public: Mapped[bool] = mapped_column(default=False, server_default=sql("false"))
    """Whether everybody reads both, not naming the team."""

    team: Mapped[Team] = relationship(lazy="raise")


class WitnessedEnd(Base):
    """The end of the last phase as the clock saw it; only inserted, and worth nothing unless it is signed."""

    __tablename__ = "witnessed_ends"

    id: Mapped[UUID] = identifier()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    phase: Mapped[str]
    ends_at: Mapped[datetime]
    notice_hours: Mapped[int]
    """How early the file asked for a reveal to be told of."""
    free: Mapped[bool]
    """Whether nothing had been submitted by then."""
    witnessed_at: Mapped[datetime]
    signature: Mapped[bytes]


class AuditEntry(Base):
    """Who did what, when, and what was there before and after; written with the act, never changed."""

    __tablename__ = "audit_entries"

    number: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    at: Mapped[datetime] = moment_of_insert()
    competition_id: Mapped[UUID | None] = mapped_column(ForeignKey("competitions.id"), index=True)
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    """None: the service itself, by the clock."""
    actor: Mapped[str]
    action: Mapped[str]
    subject: Mapped[str]
    before: Mapped[dict[str, Any] | None]
    after: Mapped[dict[str, Any] | None]


class Heartbeat(Base):
    """When a regular task last ran to its end."""

    __tablename__ = "heartbeats"

    task: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]
