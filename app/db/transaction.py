"""The only place that commits."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.db import engine, failures

AFTER_COMMIT = "after commit"
"""In ``session.info``: functions, and what each is called with, all at once, after COMMIT."""


@contextmanager
def transaction() -> Iterator[Session]:
    """Commit on success, roll back on error, publish deferred jobs after COMMIT.

    Publishing from here and not from an ORM event: events fire on savepoints too.
    """
    try:
        with engine.session_factory().begin() as session:
            yield session
    except SQLAlchemyError as problem:
        if not failures.is_database_failure(problem):
            raise
        raise failures.explain(problem) from problem
    for publish, jobs in session.info.pop(AFTER_COMMIT, {}).items():
        publish(jobs)
