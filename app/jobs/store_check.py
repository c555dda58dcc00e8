"""Check that the store belongs to this service: it must have files that the database lists."""

from collections.abc import Collection

from sqlalchemy import select, true, union_all
from sqlalchemy.orm import Session

from anoncup.errors import Unavailable
from app.core.db.models import Competition, Round, Submission
from app.core.db.transaction import transaction
from app.core.storage import get_store

_SAMPLE_SIZE = 3
"""Number of competitions and of submissions to check, so that one lost file does not make the check fail."""


def check_store() -> None:
    """Check that the store has one of the newest files that the database lists. Raise Unavailable otherwise.

    An empty folder in place of a missing mount would lose every file written to it. While the database lists
    no file, the store only has to be writable.
    """
    with transaction() as session:
        digests = sample_digests(session)
    require_any_stored(digests)


def require_any_stored(digests: Collection[str]) -> None:
    """Raise Unavailable unless the store has one of the files; if there is none, it must be writable."""
    if not digests:
        get_store().check_writable()
    elif not any(get_store().contains(digest) for digest in digests):
        raise Unavailable(
            "none of the files that the database lists are in the store: is it the right store?",
            code="storage_unavailable",
        )


def sample_digests(session: Session) -> list[str]:
    """Return the SHA-256 of the newest original and release files that the database lists."""
    originals = (
        select(Round.original)
        .join(Competition)
        .where(Round.original_rows.is_not(None))
        .order_by(Competition.created_at.desc())
        .limit(_SAMPLE_SIZE)
    )
    # Select the latest per competition first, which uses an index: this runs before every upload.
    submissions_of_contest = select(Submission.files, Submission.received_at).where(
        Submission.round_id == Round.id
    )
    latest_submissions = (
        submissions_of_contest.order_by(Submission.received_at.desc()).limit(_SAMPLE_SIZE).lateral()
    )
    releases = (
        select(latest_submissions.c.files)
        .select_from(Round)
        .join(latest_submissions, true())
        .order_by(latest_submissions.c.received_at.desc())
        .limit(_SAMPLE_SIZE)
    )
    return [digest for files in session.scalars(union_all(originals, releases)) for digest in files.values()]
