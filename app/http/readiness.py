"""Test whether the database accepts writes, for ``/readyz``."""

import time
from dataclasses import dataclass, field
from threading import Lock

from app.db.transaction import transaction
from app.services.jobs import health

_RETEST_AFTER_S = 10.0
"""Seconds for which a passed test is valid. A failed test is repeated with the next request."""


@dataclass(slots=True)
class WriteTest:
    """The write test of one process. Simultaneous requests share one test."""

    lock: Lock = field(default_factory=Lock)
    passed_at: float = float("-inf")

    def require(self) -> None:
        """Raise DatabaseUnavailable unless the database accepts writes."""
        with self.lock:
            if time.monotonic() < self.passed_at + _RETEST_AFTER_S:
                return
            with transaction() as session:
                health.write_test_rows(session)
            self.passed_at = time.monotonic()
