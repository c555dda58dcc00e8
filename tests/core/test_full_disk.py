"""A full disk that Postgres reports at a connection."""

import psycopg
from sqlalchemy.exc import OperationalError

from app.core.db.transaction import convert_error

DISK_FULL_MESSAGE = "connection failed: FATAL:  could not write init file: No space left on device"


def build_error(reason: str) -> OperationalError:
    return OperationalError("SELECT 1", {}, psycopg.OperationalError(reason))


def test_full_disk_at_connection_is_reported() -> None:
    assert convert_error(build_error(DISK_FULL_MESSAGE)).code == "database_full"


def test_other_connection_errors_are_not_a_full_disk() -> None:
    assert convert_error(build_error("connection failed: Connection refused")).code == "database_unavailable"
