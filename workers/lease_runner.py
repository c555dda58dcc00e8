"""Work in the limited child under a lease: keep the claim while it runs, and say how it went wrong."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

import structlog
from celery.exceptions import Ignore

from anoncup.errors import CompetitionUnavailable, DatabaseUnavailable, DomainError, NotFound, Unavailable
from app.config import get_settings
from app.db.models import ThresholdReport
from app.db.models.declarations import Work
from app.db.transaction import transaction
from app.services.jobs import leases
from workers.child_manager import ChildDied, ScoringFailed, Step
from workers.readiness import Fitness

log = structlog.get_logger(__name__)

KEY_MISSING = "opening_key_missing"
WANTING = {KEY_MISSING, "storage_unavailable", "file_lost", "file_damaged"}
"""What may be wanting on one worker and not on another."""

TOLD_EVERY_S = 0.2
"""Nobody looks more often; the steps of a small table are quicker than writing them down."""

T = TypeVar("T")


class LostClaim(Exception):  # not an error: another worker goes on
    """The lease ran out and another worker has taken over."""


@contextmanager
def left_to_sweep() -> Iterator[None]:
    """Work whose database is lost waits for the sweep. That is logged already: Celery says "ignored" only."""
    try:
        yield
    except DatabaseUnavailable:
        raise Ignore from None


def done(
    do: Callable[[Callable[[Step], None]], T],
    kind: type[Work],
    identifier: UUID,
    attempt: int,
    *,
    fitness: Fitness,
    progress: Callable[[Step], dict[str, Any]] = lambda _: {},
) -> T | None:
    """What ``do`` found; None if it could not be finished, which is noted on the work.

    ``fitness``: of this process for such work; ``progress``: the columns that a step fills.
    """
    try:
        found = do(renewal(kind, identifier, attempt, progress))
        fitness.refresh()
        return found
    except ScoringFailed as problem:
        end_in_error(kind, identifier, attempt, problem)
    except LostClaim:
        log.info("claim_lost", work=kind.__name__, id=str(identifier), attempt=attempt)
    except CompetitionUnavailable as problem:
        leave_unreadable(kind, identifier, attempt, problem)
    except (NotFound, Unavailable) as problem:
        if problem.code in WANTING:
            turn_away(kind, identifier, attempt, problem, fitness)
        else:
            give_back(kind, identifier, attempt, problem)
    except ChildDied as problem:
        give_back(kind, identifier, attempt, problem)
    return None


def renewal(
    kind: type[Work], identifier: UUID, attempt: int, progress: Callable[[Step], dict[str, Any]]
) -> Callable[[Step], None]:
    """Called at every step and every few seconds between them: keeps the claim, or stops the work."""
    lease = timedelta(seconds=get_settings().lease_s)
    told, of = -math.inf, 0

    def renew(step: Step) -> None:
        nonlocal told, of
        if (of or not step.of) and time.monotonic() < told + TOLD_EVERY_S:
            return
        told, of = time.monotonic(), step.of
        with transaction() as session:
            held = leases.renew(session, kind, identifier, attempt, lease=lease, **progress(step))
        if not held:
            raise LostClaim

    return renew


def turn_away(
    kind: type[Work], identifier: UUID, attempt: int, problem: NotFound | Unavailable, fitness: Fitness
) -> None:
    """Something is wanting: here, where it costs the work nothing, or in the store itself."""
    here = fitness.wanting()
    log.warning("work_turned_away", work=kind.__name__, id=str(identifier), reason=str(problem), here=here)
    patience = timedelta(seconds=get_settings().lost_after_s)
    with transaction() as session:
        if here is not None or problem.code == KEY_MISSING:
            leases.excuse(session, kind, identifier, attempt, problem.statement)
        else:
            leases.miss(session, kind, identifier, attempt, problem.statement, patience=patience)
    fitness.rest()


def leave_unreadable(
    kind: type[Work], identifier: UUID, attempt: int, problem: CompetitionUnavailable
) -> None:
    """Its organizers can put the file right, and nothing is lost until then; a report has a copy of its own,
    which nobody can."""
    if kind is ThresholdReport:
        end_in_error(kind, identifier, attempt, problem)
        return
    log.error("competition_unreadable", work=kind.__name__, id=str(identifier), reason=str(problem))
    with transaction() as session:
        leases.excuse(session, kind, identifier, attempt, problem.statement)


def end_in_error(kind: type[Work], identifier: UUID, attempt: int, problem: DomainError) -> None:
    log.error("scoring_failed", work=kind.__name__, id=str(identifier), reason=str(problem))
    with transaction() as session:
        leases.fail(session, kind, identifier, attempt, problem.statement)


def give_back(kind: type[Work], identifier: UUID, attempt: int, problem: DomainError) -> None:
    """A part was away or the child was killed: the sweep tries again, up to the cap of attempts."""
    if not isinstance(problem, DatabaseUnavailable):  # which is logged already
        log.warning("scoring_postponed", work=kind.__name__, id=str(identifier), reason=str(problem))
    with transaction() as session:
        leases.give_back(session, kind, identifier, attempt, problem.statement)
