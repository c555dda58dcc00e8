"""What teams hand in, and how it is scored."""

from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, func, select, tuple_
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, column_property, mapped_column, relationship

from anoncup import schemas
from app.db.models.declarations import UNFINISHED, Base, Work, identifier, moment_of_insert
from app.db.models.people import Team


class Attempt(Base):
    """An upload that was begun in a phase, whatever became of it."""

    __tablename__ = "attempts"
    __table_args__ = (
        Index("ix_attempts_team_id_phase_at", "team_id", "phase", "at"),
        Index("ix_attempts_under_way", "team_id", postgresql_where=sql("ended_at IS NULL")),
    )

    id: Mapped[UUID] = identifier()
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    phase: Mapped[str]
    at: Mapped[datetime] = moment_of_insert()
    """Its entrance: what counts for deadlines and for the caps of a day."""
    ended_at: Mapped[datetime | None]
    """When it was answered. None: it is being received, its process was killed, or it may be retried."""
    key: Mapped[str | None]
    """What its sender named it; a retry under the same name goes on with it."""
    senders: Mapped[int] = mapped_column(default=1)
    """Requests that go on with it; those whose process was killed too."""
    counts: Mapped[bool] = mapped_column(default=True)
    """Towards the caps; not what the service could not take in."""


class Grant(Base):
    """More of a cap than the competition file gives. Of a daily cap: for the day of the grant."""

    __tablename__ = "grants"

    id: Mapped[UUID] = identifier()
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"), index=True)
    cap: Mapped[str]
    amount: Mapped[int]
    at: Mapped[datetime] = moment_of_insert()


class Submission(Base):
    """What a team handed in: the public part, by content hash, and when."""

    __tablename__ = "submissions"
    __table_args__ = (
        Index("ix_submissions_competition_id_received_at", "competition_id", "received_at"),
        UniqueConstraint("team_id", "idempotency_key"),
    )

    id: Mapped[UUID] = identifier()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"))
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"), index=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    received_at: Mapped[datetime]
    comment: Mapped[str]
    files: Mapped[dict[str, Any]]
    """SHA-256 of each public file, as it is kept."""
    sent: Mapped[dict[str, Any]]
    """SHA-256 of each public file as it was sent; another one where the service shuffles."""
    rows: Mapped[int]
    sizes: Mapped[dict[str, Any]]
    """What is counted of it and of the original."""
    remarks: Mapped[list[dict[str, Any]]]
    quota_left: Mapped[dict[str, Any]]
    """What was left of each cap right after this one; part of the receipt."""
    idempotency_key: Mapped[str | None]
    fingerprint: Mapped[str | None]
    """SHA-256 of all that was sent under the key."""
    final: Mapped[bool] = mapped_column(default=False)
    """Whether the team marked it."""
    disqualified_at: Mapped[datetime | None]
    disqualified_for: Mapped[str | None]
    """Why, as its team reads it."""

    if TYPE_CHECKING:
        number: Mapped[int]
        """1, 2, 3, … among the submissions of its team, in the order of receipt."""

    team: Mapped[Team] = relationship(lazy="raise")
    evaluation: Mapped["Evaluation"] = relationship(
        lazy="raise",
        viewonly=True,
        primaryjoin="and_(Evaluation.submission_id == Submission.id, Evaluation.current)",
    )
    secret: Mapped["Secret"] = relationship(lazy="raise", viewonly=True)

    @property
    def said(self) -> list[schemas.Said]:
        """The remarks, read."""
        return [schemas.Said.model_validate(one) for one in self.remarks]


up_to_this = Submission.__table__.alias("up_to_this")
Submission.number = column_property(
    select(func.count())
    .select_from(up_to_this)
    .where(up_to_this.c.team_id == Submission.team_id)
    .where(tuple_(up_to_this.c.received_at, up_to_this.c.id) <= tuple_(Submission.received_at, Submission.id))
    .scalar_subquery(),
    deferred=True,
)


class Secret(Base):
    """The source index, sealed to the workers' key, apart from the public data."""

    __tablename__ = "secrets"

    submission_id: Mapped[UUID] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    key_id: Mapped[str]
    sealed: Mapped[bytes]
    commitment: Mapped[str]
    """SHA-256 of the salt and the secret file; the salt is sealed with the secret."""


class Rescore(Base):
    """Every submission scored by other rules: to be compared, then applied or cancelled as a whole."""

    __tablename__ = "rescores"
    __table_args__ = (
        Index(
            "uq_rescores_open_competition_id",
            "competition_id",
            unique=True,
            postgresql_where=sql("applied_at IS NULL AND cancelled_at IS NULL"),
        ),
    )

    id: Mapped[UUID] = identifier()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    file: Mapped[str]
    """The competition's file as it would become."""
    scales: Mapped[dict[str, Any]]
    scored_by: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """Name and version of all that counts by its rules."""
    replaces: Mapped[str]
    """SHA-256 of the rules in force when it was begun."""
    replaced_file: Mapped[str | None]
    """The file that was in force until it was applied. None: not applied."""
    replaced_scored_by: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """What counted until it was applied."""
    created_at: Mapped[datetime] = moment_of_insert()
    applied_at: Mapped[datetime | None]
    cancelled_at: Mapped[datetime | None]


class Evaluation(Work, Base):
    """One scoring of one submission. A re-scoring is a new row: history is not rewritten."""

    __tablename__ = "evaluations"
    __table_args__ = (
        Index(
            "uq_evaluations_current_submission_id",
            "submission_id",
            unique=True,
            postgresql_where=sql("current"),
        ),
        Index("ix_evaluations_unfinished", "created_at", postgresql_where=UNFINISHED),
        Index(None, "competition_id", "started_at"),
        Index(None, "competition_id", "party_id", "started_at"),
        UniqueConstraint("rescore_id", "submission_id"),
    )

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"))
    party_id: Mapped[UUID]
    """Who takes turns with the others of the competition: the team, or the re-score set as a whole."""

    submission_id: Mapped[UUID] = mapped_column(ForeignKey("submissions.id"), index=True)
    rescore_id: Mapped[UUID | None] = mapped_column(ForeignKey("rescores.id"))
    """The set it belongs to; the rules are that set's."""
    current: Mapped[bool] = mapped_column(default=True)
    step: Mapped[int] = mapped_column(default=0)
    steps: Mapped[int] = mapped_column(default=0)
    step_name: Mapped[str] = mapped_column(default="")
    scorer: Mapped[str | None]
    """The version of the rules that gave the verdict."""
    verdict: Mapped[dict[str, Any] | None]

    submission: Mapped[Submission] = relationship(lazy="raise", viewonly=True)

    @property
    def found(self) -> schemas.Verdict | None:
        """The verdict, read."""
        return schemas.read(self.verdict) if self.verdict else None
