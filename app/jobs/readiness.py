"""Whether database and store accept writes, and whether the store is the right one."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from sqlalchemy import select, text

from anoncup.errors import Unavailable
from app.core.db.models import Competition, Round
from app.core.db.transaction import transaction
from app.core.storage import get_store
from app.jobs import health

_RETEST_AFTER_S = 10.0
"""Seconds for which a passed test is valid. A failed test is repeated with the next request."""
_SAMPLE_SIZE = 3
"""Number of competitions to check, so that one lost file does not make the check fail."""


@dataclass(slots=True)
class WriteTest:
    """A write test of one process. Simultaneous requests share one test."""

    write: Callable[[], None]
    """Writes something; raises Unavailable if that fails."""
    lock: Lock = field(default_factory=Lock)
    passed_at: float = float("-inf")

    def require(self) -> None:
        """Raise the error of the test unless it passes or has passed a moment ago."""
        with self.lock:
            if time.monotonic() < self.passed_at + _RETEST_AFTER_S:
                return
            self.write()
            self.passed_at = time.monotonic()


def write_to_database() -> None:
    """Write a row, and about a megabyte of temporary data, to test whether the database accepts changes.

    The row alone would fit into space that the database already has, and so succeed on a full disk.
    """
    with transaction() as session:
        session.execute(text("SET LOCAL work_mem = '64kB'"))
        session.execute(text("SELECT count(*) FROM generate_series(1, 60000)"))
        health.record_heartbeat(session, health.WRITE_TEST_TASK)


def write_to_store() -> None:
    get_store().check_writable()


def check_store() -> None:
    """Check that the store has one of the newest originals. Raise Unavailable otherwise.

    An empty folder in place of a missing mount would lose every file written to it. While there is no
    original, the store only has to be writable.
    """
    query = select(Round.original).join(Competition).where(Round.original_rows.is_not(None))
    with transaction() as session:
        originals = session.scalars(query.order_by(Competition.created_at.desc()).limit(_SAMPLE_SIZE)).all()
    digests = [digest for files in originals for digest in files.values()]
    if not digests:
        write_to_store()
    elif not any(get_store().contains(digest) for digest in digests):
        raise Unavailable(
            "none of the files that the database lists are in the store: is it the right store?",
            code="storage_unavailable",
        )
