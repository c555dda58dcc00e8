"""Readiness of a worker process.

Without store, keys or sandbox it takes no jobs. It logs that once and recovers by itself.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from threading import Lock

import structlog

from anoncup.errors import DomainError
from anoncup.runner import sandbox
from app.config import get_settings
from app.core import sealing
from app.jobs.readiness import check_store

log = structlog.get_logger(__name__)

_READY_CACHE_S = 2.0
"""Seconds for which a positive check is cached, since jobs may come many times a second."""
POLL_INTERVAL_S = 1.0
READY_TIMEOUT_S = 10.0
"""Seconds that an unready process holds a message. If it discarded messages immediately, it would take all of
them from the workers that are ready."""
_BACKOFF_S = 5.0
"""Seconds for which a process takes no job after one that it could not do, so that other workers get it."""


class NotReady(Exception):
    """This process cannot do jobs; the message says why."""


@dataclass(slots=True)
class Readiness:
    """Readiness of one process for one kind of job.

    Each of ``checks`` raises if something is missing. ``reason`` says why the process is not ready; it is
    logged when it changes.
    """

    checks: tuple[Callable[[], None], ...]
    reason: str | None = None
    check_valid_until: float = 0.0
    backoff_until: float = 0.0
    lock: Lock = field(default_factory=Lock)
    """Held while one thread checks for all."""

    def wait(self) -> None:
        """Wait until the process is ready, but at most for ``READY_TIMEOUT_S``."""
        deadline = time.monotonic() + READY_TIMEOUT_S
        while not self.is_ready() and time.monotonic() < deadline:
            time.sleep(POLL_INTERVAL_S)

    def is_ready(self) -> bool:
        with self.lock:
            now = time.monotonic()
            if now < self.backoff_until:
                return False
            if now >= self.check_valid_until:
                self.update_reason(self.find_problem())
                self.check_valid_until = now + _READY_CACHE_S if self.reason is None else now
            return self.reason is None

    def update_reason(self, reason: str | None) -> None:
        if reason is not None and reason != self.reason:
            log.error("takes_no_work", reason=reason)
        elif reason is None and self.reason is not None:
            log.info("takes_work_again", after=self.reason)
        self.reason = reason

    def back_off(self) -> None:
        """Take no jobs for a while."""
        self.backoff_until = time.monotonic() + _BACKOFF_S
        self.check_valid_until = 0.0

    def find_problem(self) -> str | None:
        """Run the checks; return what is missing, or None."""
        try:
            for check in self.checks:
                check()
        except (DomainError, NotReady) as problem:
            return str(problem)
        return None


def _check_keys() -> None:
    if not sealing.list_private_keys(get_settings().opening_keys_dir):
        raise NotReady("there is no private key in ANONCUP_OPENING_KEYS_DIR")


def _check_sandbox() -> None:
    settings = get_settings()
    if settings.sandbox == sandbox.REQUIRED and not sandbox.get_available().is_complete:
        raise NotReady(sandbox.explain_missing())
    private_paths = (
        (settings.data, settings.opening_keys_dir) if sandbox.choose(settings.sandbox).file_mechanism else ()
    )
    for path in filter(None, private_paths):
        if (exposing := sandbox.library_paths.find_exposing(path)) is not None:
            raise NotReady(f"{path} lies in {exposing}, which the scoring process may read")


SCORING_READINESS = Readiness((_check_sandbox, check_store, _check_keys))
"""Readiness for jobs that need opened secrets: scoring, judging, allocating."""
REPORT_READINESS = Readiness((_check_sandbox, check_store))
"""Readiness for jobs that need no secret."""


def find_missing(kinds: Collection[str]) -> str | None:
    """Return what is missing on this worker for these kinds of jobs, or None.

    The store is not asked, because it may take long to answer; what jobs have found of it counts.
    """
    readiness = REPORT_READINESS if set(kinds) == {"reports"} else SCORING_READINESS
    local_readiness = Readiness(tuple(check for check in readiness.checks if check is not check_store))
    return local_readiness.find_problem() or readiness.reason
