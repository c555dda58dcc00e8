"""Test whether database and store accept writes, for ``/readyz``."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from app.core.db.transaction import transaction
from app.core.storage import get_store
from app.jobs import health

_RETEST_AFTER_S = 10.0
"""Seconds for which a passed test is valid. A failed test is repeated with the next request."""


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
    with transaction() as session:
        health.write_test_rows(session)


def write_to_store() -> None:
    get_store().check_writable()
