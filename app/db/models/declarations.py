"""What the tables' classes are built from."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import ARRAY, JSON, DateTime, Dialect, MetaData, Text, TypeDecorator
from sqlalchemy import text as sql
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from anoncup.messages import Statement


class Stated(TypeDecorator[Statement]):
    """A statement with its values, to be said in any language."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: Statement | None, _: Dialect) -> dict[str, Any] | None:
        return None if value is None else value.to_json()

    def process_result_value(self, value: Any, _: Dialect) -> Statement | None:
        return None if value is None else Statement.from_json(value)


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
        Statement: Stated,
    }


class State(StrEnum):
    """Where a piece of work stands; the first two are not the last."""

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


class Work:
    """What a worker does under a lease and finishes once: columns of evaluations, guesses and reports."""

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    state: Mapped[State] = mapped_column(Text, default=State.QUEUED)
    attempt: Mapped[int] = mapped_column(default=0)
    excused: Mapped[int] = mapped_column(default=0, server_default=sql("0"))
    """Attempts that ended for want of what another worker may have; they do not count against it."""
    not_before: Mapped[datetime | None]
    """Until then nobody takes it: given back, so that another worker looks at it first."""
    missing_since: Mapped[datetime | None]
    """When a worker whose store answers first found one of its files missing or damaged."""
    leased_until: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=sql("clock_timestamp()"))
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    failure: Mapped[Statement | None]
    """Why it ended in ERROR, or was given back last."""


UNFINISHED = sql("state IN ('QUEUED', 'SCORING')")
