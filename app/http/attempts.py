"""Record the attempt of an upload that fails."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from anyio import CancelScope
from starlette.concurrency import run_in_threadpool

from anoncup.errors import Conflict, DomainError, TooManyRequests, TooSlow, Unavailable
from app.db.models import Attempt
from app.db.transaction import transaction
from app.http.problems import DomainHTTPException
from app.services.submissions import attempts


@dataclass
class CurrentAttempt:
    """The attempt of a request; None if it repeats an accepted upload, or once its failure is recorded."""

    attempt: Attempt | None


@asynccontextmanager
async def settle_on_error(current_attempt: CurrentAttempt) -> AsyncIterator[None]:
    """Record the failure of the attempt if the context raises, even if the request was cancelled.

    A success is recorded by the code that accepts the upload.
    """
    try:
        yield
    except BaseException as problem:
        attempt, current_attempt.attempt = current_attempt.attempt, None
        if attempt is not None:
            with CancelScope(shield=True), suppress(Unavailable):
                await run_in_threadpool(_record_failure, attempt, problem)
        raise


def _record_failure(attempt: Attempt, problem: BaseException) -> None:
    """Abandon the attempt after a server fault or a broken connection; otherwise end it.

    An abandoned attempt can be retried under its key. Attempts that failed by a server fault are not counted,
    and neither are those refused because a cap was used up, since their retries are refused at once.
    """
    with transaction() as session:
        if _is_server_fault(problem) or not _is_client_error(problem):
            attempts.abandon(session, attempt, costs=not _is_server_fault(problem))
        else:
            attempts.end(session, attempt, counts=not isinstance(problem, TooManyRequests))


def _is_server_fault(problem: BaseException) -> bool:
    """Return whether a part of the service was unavailable or the competition changed during the request."""
    has_changed = isinstance(problem, Conflict) and problem.code == "changed_meanwhile"
    return has_changed or isinstance(problem, Unavailable)


def _is_client_error(problem: BaseException) -> bool:
    """Return whether the client got an error response; not if its connection broke or was too slow."""
    error = problem.error if isinstance(problem, DomainHTTPException) else problem
    return isinstance(error, DomainError) and not isinstance(error, TooSlow)
