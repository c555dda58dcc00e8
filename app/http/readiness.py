"""Test whether the database takes changes, for ``/readyz``."""

import time
from dataclasses import dataclass, field
from threading import Lock

from app.db.transaction import transaction
from app.services.jobs import health

EVERY_S = 10.0
"""Seconds for which a passed test stands. A failed one is repeated with the next request."""


@dataclass(slots=True)
class WriteTest:
    """A write test of one process; one at a time, however many requests ask."""

    lock: Lock = field(default_factory=Lock)
    passed_at: float = float("-inf")

    def require(self) -> None:
        """Raise DatabaseUnavailable unless the database takes changes."""
        with self.lock:
            if time.monotonic() < self.passed_at + EVERY_S:
                return
            with transaction() as session:
                health.write_for_test(session)
            self.passed_at = time.monotonic()
