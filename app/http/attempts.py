"""What becomes of an upload's attempt when the upload does not become anything."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from anyio import CancelScope
from starlette.concurrency import run_in_threadpool

from app.db.models import Attempt
from app.errors import Conflict, TooMany, Unavailable
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
        with CancelScope(shield=True), suppress(Unavailable):
            await run_in_threadpool(broken_off, attempt, costs=not is_ours(problem))
        raise


def broken_off(attempt: Attempt | None, *, costs: bool) -> None:
    with transaction() as session:
        if costs and attempt is not None:
            attempts.end(session, attempt)
        else:
            attempts.take_back(session, attempt)


def is_ours(problem: BaseException) -> bool:
    """Whether a part of the service was away, the competition changed meanwhile, or another upload took the
    last of a cap: one that knocks a moment later is refused before it is counted."""
    if isinstance(problem, Conflict):
        return problem.code == "changed_meanwhile"
    return isinstance(problem, Unavailable | TooMany)
