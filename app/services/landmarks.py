"""Files that every process must find in its store, if it is the store of this service."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Competition, Submission

NEWEST = 3
"""Competitions and submissions that are asked about: one lost file must not make a store look foreign."""


def landmarks(session: Session) -> list[str]:
    """SHA-256 of some files that the rows name, the newest of each kind; empty while none is named."""
    originals = select(Competition.original).where(Competition.original_rows.is_not(None))
    releases = select(Submission.files)
    newest = [
        *session.scalars(originals.order_by(Competition.created_at.desc()).limit(NEWEST)),
        *session.scalars(releases.order_by(Submission.received_at.desc()).limit(NEWEST)),
    ]
    return [digest for files in newest for digest in files.values()]
