"""Turn what the database driver raises into an error that says what is wrong with the database."""

import errno
import os
import time

import structlog
from psycopg.errors import DiskFull, LockNotAvailable, OperationalError, ReadOnlySqlTransaction
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from anoncup.errors import DatabaseUnavailable, Unavailable

log = structlog.get_logger(__name__)


def is_database_failure(problem: BaseException) -> bool:
    """Return whether the database is the problem, and not what it was asked."""
    if isinstance(problem, DBAPIError):
        read_only = isinstance(problem.orig, ReadOnlySqlTransaction)
        return read_only or type(problem).__name__ in {"OperationalError", "InterfaceError"}
    return isinstance(problem, PoolTimeout)


REPEATED_EVERY_S = 60.0
"""Seconds after which the same error is logged again."""
logged: dict[tuple[str, str | None], float] = {}


def explain(problem: SQLAlchemyError) -> Unavailable:
    """Log the error class and SQLSTATE, at most once a minute, and return what to tell the caller.

    The driver's message is not logged, for it may quote values.
    """
    cause = reason_of(getattr(problem, "orig", None))
    if isinstance(cause, LockNotAvailable):
        return Unavailable("another process is using this right now; try again in a moment")
    kind, sqlstate = type(cause or problem).__name__, getattr(cause, "sqlstate", None)
    if time.monotonic() > logged.get((kind, sqlstate), float("-inf")) + REPEATED_EVERY_S:
        log.error("database_error", kind=kind, sqlstate=sqlstate)
        logged[kind, sqlstate] = time.monotonic()
    if isinstance(cause, DiskFull):
        return DatabaseUnavailable("the database's disk is full", code="database_full")
    if isinstance(cause, ReadOnlySqlTransaction):
        return DatabaseUnavailable("the database takes no changes right now", code="database_read_only")
    return DatabaseUnavailable("the database cannot be reached right now")


def reason_of(cause: BaseException | None) -> BaseException | None:
    """``cause``, or what it says: the driver passes on no SQLSTATE of a connection that Postgres refuses."""
    refused = isinstance(cause, OperationalError) and cause.sqlstate is None
    return DiskFull() if refused and os.strerror(errno.ENOSPC) in str(cause) else cause
