"""The database's clock."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session


def clock(session: Session) -> datetime:
    """The database's clock now, which inside a transaction ``now()`` is not."""
    now: datetime = session.scalars(select(func.clock_timestamp())).one()
    return now
