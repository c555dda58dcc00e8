"""The database's clock, and the moments before and after all others."""

from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

BEGINNING = datetime.fromtimestamp(0, UTC)
END = datetime.max.replace(tzinfo=UTC)


def read_clock(session: Session) -> datetime:
    """Return the current time of the database; ``now()`` would return the start of the transaction."""
    now: datetime = session.scalars(select(func.clock_timestamp())).one()
    return now
