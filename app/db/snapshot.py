"""What the database shows, in one word: as long as it says the same, every query finds the same rows.

Postgres shows what those transactions have done that are over, and a snapshot names them. The number of one
that is over never comes back: if two snapshots are equal, nothing was committed between, by whatever process
on whatever host. Who asks before some work and again later knows whether all of it saw the rows that are
there now. To ask reads no table.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.orm import Session

# A server that went down may give a number again that it had not written down; then it started later.
QUESTION = text(
    "SELECT pg_current_snapshot()::text || ' of ' || pg_postmaster_start_time()::text, clock_timestamp()"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """``rows``: what is committed; ``at``: when, by the database's clock."""

    rows: str
    at: datetime


def seen(session: Session) -> Seen:
    """What every statement shows that begins now."""
    return Seen(*session.execute(QUESTION).one())
