"""The tables. Names are the contest's own; what a competition says is in its file, not in columns."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import (
    ARRAY,
    JSON,
    CheckConstraint,
    DateTime,
    ForeignKey,
    Index,
    MetaData,
    Text,
    UniqueConstraint,
)
from sqlalchemy import text as sql
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from app.roles import Role


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012  # SQLAlchemy reads it from the class
        str: Text,
        datetime: DateTime(timezone=True),
        # JSON and not JSONB: measures keep their order and floats every digit.
        dict[str, Any]: JSON,
        list[dict[str, Any]]: JSON,
        list[str]: ARRAY(Text),
    }


class State(StrEnum):
    """Where an evaluation stands; the first two are not the last."""

    QUEUED = "QUEUED"
    SCORING = "SCORING"
    SCORED = "SCORED"
    REJECTED = "REJECTED"
    ERROR = "ERROR"
    CANCELLED = "CANCELLED"


def identifier() -> Mapped[UUID]:
    return mapped_column(primary_key=True, default=uuid4)


def moment_of_insert() -> Mapped[datetime]:
    """The database's clock, not a process's."""
    return mapped_column(server_default=sql("clock_timestamp()"))


class User(Base):
    __tablename__ = "users"

    id: Mapped[UUID] = identifier()
    name: Mapped[str]
    name_key: Mapped[str] = mapped_column(unique=True)
    """The name after NFKC and case folding: what must be unique."""
    password_hash: Mapped[str]
    role: Mapped[Role] = mapped_column(Text)
    created_at: Mapped[datetime] = moment_of_insert()


class Token(Base):
    """An API token or a browser session: 256 random bits, of which only the digest is kept."""

    __tablename__ = "tokens"

    id: Mapped[UUID] = identifier()
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    digest: Mapped[bytes] = mapped_column(unique=True)
    scopes: Mapped[list[str]]
    created_at: Mapped[datetime] = moment_of_insert()
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]

    user: Mapped[User] = relationship(lazy="raise")


class Competition(Base):
    __tablename__ = "competitions"

    id: Mapped[UUID] = identifier()
    slug: Mapped[str] = mapped_column(unique=True)
    file: Mapped[str]
    """competition.toml as the organizer wrote it last."""
    scales: Mapped[dict[str, Any]]
    """The scales of its utility scores: the file's own, the rest computed from the original."""
    original: Mapped[dict[str, Any]]
    """SHA-256 of each file of the original; some may be missing yet."""
    original_rows: Mapped[int | None]
    """The number of individuals, once the original is complete."""
    created_at: Mapped[datetime] = moment_of_insert()


class Organizer(Base):
    __tablename__ = "organizers"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)


class Invite(Base):
    __tablename__ = "invites"
    __table_args__ = (CheckConstraint("uses_left >= 0", name="uses_left"),)

    id: Mapped[UUID] = identifier()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    digest: Mapped[bytes] = mapped_column(unique=True)
    uses_left: Mapped[int]
    expires_at: Mapped[datetime]
    created_at: Mapped[datetime] = moment_of_insert()


class Team(Base):
    __tablename__ = "teams"
    __table_args__ = (UniqueConstraint("competition_id", "name_key"),)

    id: Mapped[UUID] = identifier()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"))
    name: Mapped[str]
    name_key: Mapped[str]
    created_at: Mapped[datetime] = moment_of_insert()


class Member(Base):
    """A person in a team; the key allows one team per competition."""

    __tablename__ = "members"

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"), primary_key=True)
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"), index=True)


class Submission(Base):
    """What a team handed in: the public part, by content hash, and when."""

    __tablename__ = "submissions"
    __table_args__ = (Index("ix_submissions_competition_id_received_at", "competition_id", "received_at"),)

    id: Mapped[UUID] = identifier()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"))
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"), index=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    received_at: Mapped[datetime]
    comment: Mapped[str]
    files: Mapped[dict[str, Any]]
    """SHA-256 of each public file."""
    rows: Mapped[int]
    remarks: Mapped[list[dict[str, Any]]]

    team: Mapped[Team] = relationship(lazy="raise")
    evaluation: Mapped["Evaluation"] = relationship(
        lazy="raise",
        viewonly=True,
        primaryjoin="and_(Evaluation.submission_id == Submission.id, Evaluation.current)",
    )
    secret: Mapped["Secret"] = relationship(lazy="raise", viewonly=True)


class Secret(Base):
    """The source index, sealed to the workers' key, apart from the public data."""

    __tablename__ = "secrets"

    submission_id: Mapped[UUID] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    key_id: Mapped[str]
    sealed: Mapped[bytes]
    commitment: Mapped[str]
    """SHA-256 of the salt and the secret file; the salt is sealed with the secret."""


class Evaluation(Base):
    """One scoring of one submission. A re-scoring is a new row: history is not rewritten."""

    __tablename__ = "evaluations"
    __table_args__ = (
        Index(
            "uq_evaluations_current_submission_id",
            "submission_id",
            unique=True,
            postgresql_where=sql("current"),
        ),
        Index(
            "ix_evaluations_unfinished",
            "created_at",
            postgresql_where=sql("state IN ('QUEUED', 'SCORING')"),
        ),
    )

    id: Mapped[UUID] = identifier()
    submission_id: Mapped[UUID] = mapped_column(ForeignKey("submissions.id"), index=True)
    current: Mapped[bool] = mapped_column(default=True)
    state: Mapped[State] = mapped_column(Text, default=State.QUEUED)
    attempt: Mapped[int] = mapped_column(default=0)
    leased_until: Mapped[datetime | None]
    step: Mapped[int] = mapped_column(default=0)
    steps: Mapped[int] = mapped_column(default=0)
    step_name: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime] = moment_of_insert()
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    scorer: Mapped[str | None]
    """The version of the rules that gave the verdict."""
    verdict: Mapped[dict[str, Any] | None]
    failure: Mapped[str | None]

    submission: Mapped[Submission] = relationship(lazy="raise", viewonly=True)
