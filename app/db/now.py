"""The database's clock."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session


def read_clock(session: Session) -> datetime:
    """Return the current time of the database; ``now()`` would return the start of the transaction."""
    now: datetime = session.scalars(select(func.clock_timestamp())).one()
    return now
