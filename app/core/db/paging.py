"""Cursor pagination of rows that are listed newest first."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Select, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

T = TypeVar("T")
Position = tuple[datetime, UUID]
"""Time and id of a row, by which rows are sorted."""


def fetch_newest_first(
    session: Session,
    query: Select[T],
    time: InstrumentedAttribute[datetime],
    row_id: InstrumentedAttribute[UUID],
    *,
    cursor: Position | None,
    limit: int | None,
) -> Sequence[T]:
    """Return up to ``limit`` rows of the query after the cursor, the position of the last row shown."""
    if cursor is not None:
        query = query.where(tuple_(time, row_id) < tuple_(*cursor))
    return session.scalars(query.order_by(time.desc(), row_id.desc()).limit(limit)).all()
