"""The only place that commits."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.db import engine, failures

AFTER_COMMIT = "after commit"
"""Key in ``session.info`` for functions to call once after COMMIT, each with all its collected jobs."""


@contextmanager
def transaction() -> Iterator[Session]:
    """Commit on success, roll back on error, publish jobs after COMMIT.

    Jobs are published here and not from an ORM event, because events also fire on savepoints.
    """
    try:
        with engine.get_session_factory().begin() as session:
            yield session
    except SQLAlchemyError as problem:
        if not failures.is_database_failure(problem):
            raise
        raise failures.convert_error(problem) from problem
    for publish, jobs in session.info.pop(AFTER_COMMIT, {}).items():
        publish(jobs)
