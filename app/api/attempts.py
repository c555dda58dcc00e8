"""What an upload costs when it is not the team's fault that it was not taken in."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from app.errors import Conflict, Unavailable
from app.services import uploads
from app.transaction import transaction


@contextmanager
def fairly_counted(attempt_id: UUID | None) -> Iterator[None]:
    """Take the attempt back if a part of the service was away or the competition changed meanwhile."""
    try:
        yield
    except (Unavailable, Conflict) as problem:
        if isinstance(problem, Unavailable) or problem.code == "changed_meanwhile":
            with transaction() as session:
                uploads.uncount(session, attempt_id)
        raise
