"""What an upload costs when it is not the team's fault that it was not taken in."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from app.errors import Conflict, TooMany, Unavailable
from app.services import uploads
from app.transaction import transaction


@contextmanager
def fairly_counted(attempt_id: UUID | None) -> Iterator[None]:
    """Take the attempt back if a part of the service was away, the competition changed meanwhile, or another
    upload took the last of a cap: one that knocks a moment later is refused before it is counted."""
    try:
        yield
    except (Unavailable, TooMany, Conflict) as problem:
        if not isinstance(problem, Conflict) or problem.code == "changed_meanwhile":
            with transaction() as session:
                uploads.uncount(session, attempt_id)
        raise
