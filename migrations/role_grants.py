"""Grant the database roles their privileges. Every migration to the newest schema ends with this."""

import logging
from collections.abc import Iterator

from sqlalchemy import Connection
from sqlalchemy.exc import ProgrammingError

from app.core.db.models import list_privileges
from app.core.db.privileges import ROLES

logger = logging.getLogger(__name__)

_IS_OWNER_QUERY = (
    "SELECT pg_has_role(current_user, tableowner, 'USAGE') FROM pg_tables"
    " WHERE schemaname = 'public' AND tablename = 'alembic_version'"
)


def apply_privileges(connection: Connection) -> None:
    """Create the roles and grant their privileges in the migration's transaction.

    If this user may not create the missing roles, only the owner keeps access to the tables. Users who do not
    own the tables change nothing.
    """
    if not owns_tables(connection):
        return
    if not _ensure_roles(connection):
        logger.warning(
            "the database's roles for web and workers are not there, and this user may not make them: "
            "they would protect secrets; docs/hosting.md says how"
        )
        return
    for statement in _build_statements():
        connection.exec_driver_sql(statement)
    logger.info("the database's roles have their privileges")


def owns_tables(connection: Connection) -> bool:
    return bool(connection.exec_driver_sql(_IS_OWNER_QUERY).scalar())


def _ensure_roles(connection: Connection) -> bool:
    """Create missing roles; return whether all exist.

    Roles belong to the whole server, so they may have been created for another of our databases.
    """
    for role in _list_missing_roles(connection):
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(f"CREATE ROLE {role} NOLOGIN")
        except ProgrammingError:
            # Not allowed, or another process has just created it.
            continue
    return not _list_missing_roles(connection)


def _list_missing_roles(connection: Connection) -> list[str]:
    return [
        role
        for role in ROLES
        if connection.exec_driver_sql("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).first() is None
    ]


def _build_statements() -> Iterator[str]:
    all_roles = ", ".join(ROLES)
    yield f"GRANT USAGE ON SCHEMA public TO {all_roles}"
    yield f"REVOKE CREATE ON SCHEMA public FROM PUBLIC, {all_roles}"
    for table, privileges_by_role in list_privileges().items():
        yield f"REVOKE ALL ON {table} FROM PUBLIC, {all_roles}"
        for role, privileges in zip(ROLES, privileges_by_role, strict=True):
            if privileges:
                yield f"GRANT {privileges} ON {table} TO {role}"
