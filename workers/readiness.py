"""Whether this process can do work: whoever lacks the store or the keys takes none, says so once, and comes
back by itself."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from mmap import mmap

import structlog

from anoncup.errors import DomainError
from app.config import get_settings
from app.crypto import sealing
from app.services.jobs.store_check import check_store
from workers import sandbox

log = structlog.get_logger(__name__)

BELIEVED_S = 2.0
"""How long a good answer stands: work comes many times a second."""
ASKED_EVERY_S = 1.0
WAITING_S = 10.0
"""Who is not fit holds a message for so long: thrown away at once, the others would never hear of it."""
FIRST_REST_S, LONGEST_REST_S = 1.0, 60.0
SHARED_BYTES = 500


class Unfit(Exception):  # the name is what happened
    """Why this process can do no work."""


@dataclass(slots=True)
class Fitness:
    """Of one process, for one kind of work. ``needs``: what raises if something is wanting.

    ``reason``: why it is not fit, said when that began.
    """

    needs: tuple[Callable[[], None], ...]
    reason: str | None = None
    shared: mmap = field(default_factory=lambda: mmap(-1, SHARED_BYTES))
    """The reason for the process that this one was forked from, which answers for all."""
    believed_until: float = 0.0
    resting_until: float = 0.0
    rest_s: float = FIRST_REST_S

    def admitted(self) -> bool:
        """Whether to take work now; waits a moment if not, for it may become so."""
        deadline = time.monotonic() + WAITING_S
        while not self.is_fit():
            if time.monotonic() > deadline:
                return False
            time.sleep(ASKED_EVERY_S)
        return True

    def is_fit(self) -> bool:
        now = time.monotonic()
        if now < self.resting_until:
            return False
        if now >= self.believed_until:
            self.note(self.wanting())
            self.believed_until = now + BELIEVED_S if self.reason is None else now
        return self.reason is None

    def note(self, reason: str | None) -> None:
        if reason is not None and reason != self.reason:
            log.error("takes_no_work", reason=reason)
        elif reason is None and self.reason is not None:
            log.info("takes_work_again", after=self.reason)
        if reason != self.reason:
            self.shared[:] = (reason or "").encode()[:SHARED_BYTES].ljust(SHARED_BYTES, b"\0")
        self.reason = reason

    def rest(self) -> None:
        """Leave what could not be done to others, longer each time."""
        self.resting_until = time.monotonic() + self.rest_s
        self.rest_s = min(2 * self.rest_s, LONGEST_REST_S)
        self.believed_until = 0.0

    def wanting(self) -> str | None:
        """What this process lacks at this moment; None if it lacks nothing."""
        try:
            for need in self.needs:
                need()
        except DomainError as problem:
            return str(problem)
        except Unfit as problem:
            return str(problem)
        return None

    def refresh(self) -> None:
        """Something could be done."""
        self.rest_s = FIRST_REST_S


def check_keys() -> None:
    if not sealing.held_keys(get_settings().opening_keys_dir):
        raise Unfit("there is no private key in ANONCUP_OPENING_KEYS_DIR")


def check_sandbox() -> None:
    settings = get_settings()
    if settings.sandbox == sandbox.REQUIRED and not sandbox.available().is_complete:
        raise Unfit(sandbox.explain_missing())
    private = (settings.data, settings.opening_keys_dir) if sandbox.choose(settings.sandbox).files else ()
    for path in filter(None, private):
        if (exposing := sandbox.library_paths.find_exposing(path)) is not None:
            raise Unfit(f"{path} lies in {exposing}, which the scoring process may read")


FOR_SECRETS = Fitness((check_sandbox, check_store, check_keys))
"""For scoring and judging."""
FOR_REPORTS = Fitness((check_sandbox, check_store))
"""For what needs no secret."""


def missing(kinds: Collection[str]) -> str | None:
    """Return what this worker lacks for such work, or None.

    Of the store and the database, its processes have noted it when work came last: a connection made here
    would be shared by those that are forked later.
    """
    fitness = FOR_REPORTS if set(kinds) == {"reports"} else FOR_SECRETS
    local = Fitness(tuple(need for need in fitness.needs if need is not check_store))
    return local.wanting() or bytes(fitness.shared).rstrip(b"\0").decode(errors="ignore") or None
