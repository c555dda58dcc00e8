"""The only place that commits."""

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg.errors import LockNotAvailable
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from app import queue
from app.db import engine
from app.errors import Unavailable

DATABASE_AWAY = "database_unavailable"


@contextmanager
def transaction() -> Iterator[Session]:
    """Commit on success, roll back on error, publish deferred jobs after COMMIT.

    Publishing from here and not from an ORM event: events fire on savepoints too.
    """
    try:
        with engine.session_factory().begin() as session:
            yield session
    except OperationalError as problem:
        if isinstance(problem.orig, LockNotAvailable):
            raise Unavailable("somebody else holds what is needed") from problem
        raise Unavailable("the database cannot be reached", code=DATABASE_AWAY) from problem
    queue.publish(session.info.pop(queue.RINGS, []))
