"""What becomes of an upload's attempt when the upload does not become anything."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from anyio import CancelScope
from starlette.concurrency import run_in_threadpool

from anoncup.errors import Conflict, DomainError, TooMany, TooSlow, Unavailable
from app.db.models import Attempt
from app.db.transaction import transaction
from app.http.problems import Refused
from app.services.submissions import attempts


@dataclass
class Counted:
    """The attempt that a request goes on with; None if it repeats what was accepted, or has failed."""

    attempt: Attempt | None


@asynccontextmanager
async def counted(held: Counted) -> AsyncIterator[None]:
    """Take an upload in: if it fails, what becomes of its attempt is noted; what accepts it notes it itself.

    Also when the sender has gone or the request is cancelled.
    """
    try:
        yield
    except BaseException as problem:
        attempt, held.attempt = held.attempt, None
        if attempt is not None:
            with CancelScope(shield=True), suppress(Unavailable):
                await run_in_threadpool(failed, attempt, problem)
        raise


def failed(attempt: Attempt, problem: BaseException) -> None:
    """Note it; one that found a cap used up by others ends uncounted, for its retry is refused at once."""
    with transaction() as session:
        if is_ours(problem) or not is_answer(problem):
            attempts.leave(session, attempt, costs=not is_ours(problem))
        else:
            attempts.end(session, attempt, counts=not isinstance(problem, TooMany))


def is_ours(problem: BaseException) -> bool:
    """Whether a part of the service was away, or the competition changed meanwhile."""
    changed = isinstance(problem, Conflict) and problem.code == "changed_meanwhile"
    return changed or isinstance(problem, Unavailable)


def is_answer(problem: BaseException) -> bool:
    """Whether the sender was told what is wrong; not if the connection broke, or was too slow."""
    found = problem.problem if isinstance(problem, Refused) else problem
    return isinstance(found, DomainError) and not isinstance(found, TooSlow)
