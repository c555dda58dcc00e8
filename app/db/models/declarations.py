"""Base class, column types and shared columns of the models."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import ARRAY, JSON, DateTime, Dialect, MetaData, Text, TypeDecorator
from sqlalchemy import text as sql
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from anoncup.messages import CodedMessage


class CodedMessageType(TypeDecorator[CodedMessage]):
    """Column type for a CodedMessage, stored as JSON so that it can be translated to any language."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: CodedMessage | None, _: Dialect) -> dict[str, Any] | None:
        return None if value is None else value.to_json()

    def process_result_value(self, value: Any, _: Dialect) -> CodedMessage | None:
        return None if value is None else CodedMessage.from_json(value)


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
        # JSON and not JSONB, to keep the order of measures and every digit of floats.
        dict[str, Any]: JSON,
        list[dict[str, Any]]: JSON,
        list[str]: ARRAY(Text),
        CodedMessage: CodedMessageType,
    }


class State(StrEnum):
    """State of a job. QUEUED and SCORING are unfinished, all others are final."""

    QUEUED = "QUEUED"
    SCORING = "SCORING"
    SCORED = "SCORED"
    REJECTED = "REJECTED"
    ERROR = "ERROR"
    CANCELLED = "CANCELLED"


def id_column() -> Mapped[UUID]:
    return mapped_column(primary_key=True, default=uuid4)


def inserted_at_column() -> Mapped[datetime]:
    """Return a column with the insertion time by the database's clock."""
    return mapped_column(server_default=sql("clock_timestamp()"))


class LeasedJob:
    """Columns of jobs that a worker leases and finishes once.

    Jobs are evaluations, guesses, threshold reports and rehearsal moves.
    """

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    state: Mapped[State] = mapped_column(Text, default=State.QUEUED)
    attempt: Mapped[int] = mapped_column(default=0)
    excused: Mapped[int] = mapped_column(default=0, server_default=sql("0"))
    """Attempts that failed because a worker lacked something that another may have; they do not count."""
    not_before: Mapped[datetime | None]
    """No worker claims the job before this time: the end of a backoff, or when a rehearsal move is due."""
    missing_since: Mapped[datetime | None]
    """When a worker with a reachable store first found one of the job's files missing or damaged."""
    leased_until: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=sql("clock_timestamp()"))
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    failure: Mapped[CodedMessage | None]
    """Reason for the state ERROR, or for the last time that a worker released the job unfinished."""


UNFINISHED = sql("state IN ('QUEUED', 'SCORING')")
