"""Identify the committed state of the database: while the snapshot is equal, queries return the same rows.

A Postgres snapshot lists the finished transactions, and transaction numbers are never reused. If two
snapshots are equal, no process on any host has committed anything in between. Comparing a snapshot from
before some work with a later one therefore shows whether the work saw the current rows. Reading a snapshot
accesses no table.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.orm import Session

# After a crash the server may reuse a number that it had not written to disk; its start time differs then.
_SNAPSHOT_QUERY = text(
    "SELECT pg_current_snapshot()::text || ' of ' || pg_postmaster_start_time()::text, clock_timestamp()"
)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """``version`` identifies the committed state; ``read_at`` is the time of the database."""

    version: str
    read_at: datetime


def read_snapshot(session: Session) -> Snapshot:
    """Return the snapshot that a statement starting now would see."""
    return Snapshot(*session.execute(_SNAPSHOT_QUERY).one())
