"""What becomes of an upload's attempt when the upload does not become anything."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from anyio import CancelScope
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.db.models import Attempt
from app.errors import Conflict, DomainError, TooMany, Unavailable
from app.services import attempts
from app.transaction import transaction


@asynccontextmanager
async def counted(attempt: Attempt | None) -> AsyncIterator[None]:
    """Take an upload in: if it fails, its attempt ends here; what accepts it ends it itself.

    Also when the sender has gone or the request is cancelled: whatever settles need not wait for it.
    """
    try:
        yield
    except BaseException as problem:
        if attempt is not None:
            with CancelScope(shield=True), suppress(Unavailable):
                await run_in_threadpool(failed, attempt, problem)
        raise


def failed(attempt: Attempt, problem: BaseException) -> None:
    with transaction() as session:
        outcome_of(problem)(session, attempt)


def outcome_of(problem: BaseException) -> Callable[[Session, Attempt], None]:
    """An upload that was answered has ended, whoever goes on with it; one that broke off may be going on."""
    if is_ours(problem):
        return attempts.take_back
    return attempts.end if isinstance(problem, DomainError) else attempts.break_off


def is_ours(problem: BaseException) -> bool:
    """Whether a part of the service was away, the competition changed meanwhile, or another upload took the
    last of a cap: one that knocks a moment later is refused before it is counted."""
    if isinstance(problem, Conflict):
        return problem.code == "changed_meanwhile"
    return isinstance(problem, Unavailable | TooMany)
