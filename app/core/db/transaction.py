"""The only place that commits. It converts errors of the database driver to domain errors."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import structlog
from psycopg.errors import DiskFull, LockNotAvailable, OperationalError, ReadOnlySqlTransaction
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from anoncup.errors import DatabaseUnavailable, Unavailable
from app.core.db import engine

log = structlog.get_logger(__name__)

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
        if not _is_database_failure(problem):
            raise
        raise convert_error(problem) from problem
    for publish, jobs in session.info.pop(AFTER_COMMIT, {}).items():
        publish(jobs)


def _is_database_failure(problem: BaseException) -> bool:
    """Return whether the database itself failed, rather than the statement being wrong."""
    if isinstance(problem, DBAPIError):
        read_only = isinstance(problem.orig, ReadOnlySqlTransaction)
        return read_only or type(problem).__name__ in {"OperationalError", "InterfaceError"}
    return isinstance(problem, PoolTimeout)


def convert_error(problem: SQLAlchemyError) -> Unavailable:
    """Log the error class and SQLSTATE, and return the error for the caller.

    The driver's message is not logged, because it may contain values.
    """
    cause = _detect_cause(getattr(problem, "orig", None))
    if isinstance(cause, LockNotAvailable):
        return Unavailable("another process is using this right now; try again in a moment")
    kind, sqlstate = type(cause or problem).__name__, getattr(cause, "sqlstate", None)
    log.error("database_error", kind=kind, sqlstate=sqlstate)
    if isinstance(cause, DiskFull):
        return DatabaseUnavailable("the database's disk is full", code="database_full")
    if isinstance(cause, ReadOnlySqlTransaction):
        return DatabaseUnavailable("the database takes no changes right now", code="database_read_only")
    return DatabaseUnavailable("the database cannot be reached right now")


def _detect_cause(cause: BaseException | None) -> BaseException | None:
    """Return ``cause``, or DiskFull if its message says so.

    The driver sets no SQLSTATE when Postgres refuses a connection.
    """
    is_refused = isinstance(cause, OperationalError) and cause.sqlstate is None
    return DiskFull() if is_refused and os.strerror(errno.ENOSPC) in str(cause) else cause


BEGINNING = datetime.fromtimestamp(0, UTC)
END = datetime.max.replace(tzinfo=UTC)


def read_clock(session: Session) -> datetime:
    """Return the current time of the database; ``now()`` would return the start of the transaction."""
    now: datetime = session.scalars(select(func.clock_timestamp())).one()
    return now
