"""Files that every process must find in its store, if it is the store of this service."""

from sqlalchemy import select, true
from sqlalchemy.orm import Session

from anoncup.errors import Unavailable
from app.db.models import Competition, Submission
from app.db.transaction import transaction
from app.storage import store

NEWEST = 3
"""Competitions and submissions that are asked about: one lost file must not make a store look foreign."""


def check_store() -> None:
    """The store can be read, and it is the one that the others write to: it has a file that the rows name.

    Unavailable if not: an empty folder where another was to be mounted would lose what is put into it.
    """
    with transaction() as session:
        named = known_files(session)
    if not named:
        store().check()
    elif not any(store().holds(digest) for digest in named):
        raise Unavailable(
            "none of the files that the database lists are in the store: is it the right store?",
            code="storage_unavailable",
        )


def known_files(session: Session) -> list[str]:
    """SHA-256 of some files that the rows name, the newest of each kind; empty while none is named."""
    originals = select(Competition.original).where(Competition.original_rows.is_not(None))
    # Of each competition first, which an index finds: this is asked before every upload.
    each = select(Submission.files, Submission.received_at).where(Submission.competition_id == Competition.id)
    last = each.order_by(Submission.received_at.desc()).limit(NEWEST).lateral()
    releases = select(last.c.files).select_from(Competition).join(last, true())
    newest = [
        *session.scalars(originals.order_by(Competition.created_at.desc()).limit(NEWEST)),
        *session.scalars(releases.order_by(last.c.received_at.desc()).limit(NEWEST)),
    ]
    return [digest for files in newest for digest in files.values()]
