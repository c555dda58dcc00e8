"""Upload attempts, submissions and their evaluations."""

from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, func, select, tuple_
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, column_property, mapped_column, relationship

from anoncup import schemas
from app.db.models.declarations import UNFINISHED, Base, LeasedJob, id_column, inserted_at_column
from app.db.models.people import Team


class Attempt(Base):
    """An upload started in a phase, successful or not."""

    __tablename__ = "attempts"
    __table_args__ = (
        Index("ix_attempts_team_id_phase_started_at", "team_id", "phase", "started_at"),
        Index("ix_attempts_under_way", "team_id", postgresql_where=sql("ended_at IS NULL")),
    )

    id: Mapped[UUID] = id_column()
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    phase: Mapped[str]
    started_at: Mapped[datetime] = inserted_at_column()
    """Start of the upload, which counts for deadlines and daily caps."""
    ended_at: Mapped[datetime | None]
    """When it ended. None while it is received, after its process was killed, or if it may be retried."""
    key: Mapped[str | None]
    """Idempotency key of the sender; a retry under the same key continues this attempt."""
    senders: Mapped[int] = mapped_column(default=1)
    """Requests that use this attempt, including those whose process was killed."""
    counts: Mapped[bool] = mapped_column(default=True)
    """Whether it counts towards the caps; False if the service could not accept it."""


class Grant(Base):
    """An increase of a cap for one team. A daily cap is increased for the day of the grant only."""

    __tablename__ = "grants"

    id: Mapped[UUID] = id_column()
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"), index=True)
    cap: Mapped[str]
    amount: Mapped[int]
    granted_at: Mapped[datetime] = inserted_at_column()


class Submission(Base):
    """A team's submission: its public files by content hash, and metadata."""

    __tablename__ = "submissions"
    __table_args__ = (
        Index("ix_submissions_competition_id_received_at", "competition_id", "received_at"),
        UniqueConstraint("team_id", "idempotency_key"),
    )

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"))
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"), index=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    received_at: Mapped[datetime]
    comment: Mapped[str]
    files: Mapped[dict[str, Any]]
    """SHA-256 of each public file as stored."""
    uploaded_sha256: Mapped[dict[str, Any]]
    """SHA-256 of each public file as uploaded, which differs from ``files`` if the service shuffles rows."""
    rows: Mapped[int]
    sizes: Mapped[dict[str, Any]]
    """Counts of the release and of the original."""
    remarks: Mapped[list[dict[str, Any]]]
    quota_left: Mapped[dict[str, Any]]
    """Remaining amount of each cap after this submission; part of the receipt."""
    idempotency_key: Mapped[str | None]
    fingerprint: Mapped[str | None]
    """SHA-256 of the complete upload under the idempotency key."""
    final: Mapped[bool] = mapped_column(default=False)
    """Whether the team marked it as its final."""
    disqualified_at: Mapped[datetime | None]
    disqualification_reason: Mapped[str | None]
    """Reason of the disqualification, visible to the team."""

    if TYPE_CHECKING:
        number: Mapped[int]
        """Number among the team's submissions in the order of receipt, from 1."""

    team: Mapped[Team] = relationship(lazy="raise")
    evaluation: Mapped["Evaluation"] = relationship(
        lazy="raise",
        viewonly=True,
        primaryjoin="and_(Evaluation.submission_id == Submission.id, Evaluation.current)",
    )
    secret: Mapped["Secret"] = relationship(lazy="raise", viewonly=True)

    @property
    def parsed_remarks(self) -> list[schemas.Notice]:
        """The remarks as schema objects."""
        return [schemas.Notice.model_validate(remark) for remark in self.remarks]


_submissions_so_far = Submission.__table__.alias("up_to_this")
Submission.number = column_property(
    select(func.count())
    .select_from(_submissions_so_far)
    .where(_submissions_so_far.c.team_id == Submission.team_id)
    .where(
        tuple_(_submissions_so_far.c.received_at, _submissions_so_far.c.id)
        <= tuple_(Submission.received_at, Submission.id)
    )
    .scalar_subquery(),
    deferred=True,
)


class Secret(Base):
    """The secret of a submission (the source index), sealed to the workers' key, apart from public data."""

    __tablename__ = "secrets"

    submission_id: Mapped[UUID] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    key_id: Mapped[str]
    sealed: Mapped[bytes]
    commitment: Mapped[str]
    """SHA-256 of the salt and the secret file; the salt is sealed with the secret."""


class Rescore(Base):
    """A rescore: all submissions are scored by changed rules, compared, and then applied or cancelled."""

    __tablename__ = "rescores"
    __table_args__ = (
        Index(
            "uq_rescores_open_competition_id",
            "competition_id",
            unique=True,
            postgresql_where=sql("applied_at IS NULL AND cancelled_at IS NULL"),
        ),
    )

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    file: Mapped[str]
    """The competition's file with the changed rules."""
    scales: Mapped[dict[str, Any]]
    scored_by: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """Name and version of each measure and attacker that counts under the changed rules."""
    replaces: Mapped[str]
    """SHA-256 of the competition's file in force when the rescore began."""
    replaced_file: Mapped[str | None]
    """The file in force until the rescore was applied; None if it was not applied."""
    replaced_scored_by: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """Versions that counted until the rescore was applied."""
    created_at: Mapped[datetime] = inserted_at_column()
    applied_at: Mapped[datetime | None]
    cancelled_at: Mapped[datetime | None]


class Evaluation(LeasedJob, Base):
    """One evaluation of one submission. Scoring it again adds a row and changes no earlier one."""

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
    """Unit of fair scheduling within the competition: the team, or the whole rescore."""

    submission_id: Mapped[UUID] = mapped_column(ForeignKey("submissions.id"), index=True)
    rescore_id: Mapped[UUID | None] = mapped_column(ForeignKey("rescores.id"))
    """The rescore whose rules apply; None for the rules in force."""
    current: Mapped[bool] = mapped_column(default=True)
    step: Mapped[int] = mapped_column(default=0)
    steps: Mapped[int] = mapped_column(default=0)
    step_name: Mapped[str] = mapped_column(default="")
    scorer: Mapped[str | None]
    """Version of the scorer that computed the verdict."""
    verdict: Mapped[dict[str, Any] | None]

    submission: Mapped[Submission] = relationship(lazy="raise", viewonly=True)

    @property
    def parsed_verdict(self) -> schemas.Verdict | None:
        """The verdict as a schema object."""
        return schemas.parse_verdict(self.verdict) if self.verdict else None
